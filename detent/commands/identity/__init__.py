"""The commands on identities: keys, people and their sessions."""
