"""Auth: who asks, what the caller may do, and the one table of what each operation needs."""
