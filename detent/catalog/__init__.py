"""The catalog: what steps can call, described as data.

An action is described by its id, version, schemas and effect, whether its work is Python code or one HTTP request.
Connectors group actions. Workflow templates are definitions with places for values; those of Detent are files here.
Nothing here does further I/O: the store keeps the rows, and `steps/` runs the actions.
"""
