"""What tenants may do: their actions and hosts, how long their runs are stored, and what a process knows of it."""
