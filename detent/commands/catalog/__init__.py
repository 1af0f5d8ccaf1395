"""The catalog: connectors and actions that callers list, add, enable and remove, and that workflows pin."""
