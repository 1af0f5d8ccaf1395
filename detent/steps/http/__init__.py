"""Steps that send one HTTP request."""
