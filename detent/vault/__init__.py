"""The vault: seals secrets, so that the database never has them in clear text, and opens them for the node."""
