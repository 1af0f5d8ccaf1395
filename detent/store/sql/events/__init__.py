"""Entity events on SQL databases: their table, and the verbs that are the same on every one."""
