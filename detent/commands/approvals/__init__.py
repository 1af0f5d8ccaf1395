"""Answers to waits that say what they ask: who may give one, whether it fits, and when an approval is decided."""
