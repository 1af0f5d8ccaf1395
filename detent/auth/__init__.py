"""Auth: every command runs as a caller, which has a tenant and a name."""
