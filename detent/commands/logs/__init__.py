"""What the steps of runs log."""
