"""Routes of identities: keys, logins, people and sessions."""
