"""Tenants on a SQL database: their verbs, and the table of statements that are about every tenant."""
