"""The rule form: actions and edges over a change of an entity, as an editor writes them. `form` compiles it, `action`
reads one action, `conditions` decides which changes match, `schema` is its JSON Schema."""
