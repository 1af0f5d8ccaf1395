"""Routes of large payloads."""
