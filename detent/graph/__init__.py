"""The graph: the one compiled shape every form becomes. `model` is the shape, `check` its rules, `codec` its bytes."""
