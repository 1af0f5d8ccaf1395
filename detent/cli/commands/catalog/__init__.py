"""Commands on what steps can call."""
