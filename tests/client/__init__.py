"""The client: its two faces, its transports, its patience, and what it says to a real Detent."""
