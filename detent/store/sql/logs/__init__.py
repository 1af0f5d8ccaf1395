"""Step logs on a SQL database: their table and their verbs."""
