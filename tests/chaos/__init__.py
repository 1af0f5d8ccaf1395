"""Real nodes, a real database and a real HTTP target under fire: processes are killed, stopped and restarted under
load, and afterwards every promise is checked against the database, the target's ledger and the clients' own log."""
