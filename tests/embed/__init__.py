"""How programs reach Detent: transports, handles, scopes, transactions."""
