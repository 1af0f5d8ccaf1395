"""The store on PostgreSQL: many nodes, also across machines."""
