"""The graph, which every form compiles to. `model` is its shape, `check` its rules, `codec` its bytes."""
