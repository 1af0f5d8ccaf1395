"""The graph form: nodes with outgoing edges. `form` compiles it, `node` reads one node, `schema` is its JSON Schema."""
