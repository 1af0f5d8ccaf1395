"""The store in memory: dictionaries with the semantics of many nodes, and the model that the simulator wraps."""
