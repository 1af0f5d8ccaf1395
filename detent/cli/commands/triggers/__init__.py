"""Commands on triggers, and events that fire them."""
