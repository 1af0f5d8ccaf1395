"""Callbacks from a hostile world against a real server: early, repeated, late, replayed, forged, and killed under."""
