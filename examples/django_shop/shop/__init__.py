"""Orders and their fulfilment."""
