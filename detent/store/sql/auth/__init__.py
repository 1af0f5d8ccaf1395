"""Who may ask, and what was asked: keys, people, sessions and the audit, the same on every SQL database."""
