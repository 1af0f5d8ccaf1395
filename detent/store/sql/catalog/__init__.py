"""The catalog on a SQL database: its tables, its statements and its verbs."""
