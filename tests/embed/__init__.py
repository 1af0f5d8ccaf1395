"""How programs reach Detent: doors, handles, scopes, transactions."""
