"""Commands on large payloads."""
