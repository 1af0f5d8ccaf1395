"""Real servers for tests: a PostgreSQL, a proxy that breaks connections, an HTTP target that keeps a ledger."""
