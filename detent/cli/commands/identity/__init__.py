"""Commands about identities: keys, people, the file that has the keys of servers, and the audit."""
