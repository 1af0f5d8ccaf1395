"""Routes of the catalog: connectors, their actions, and imports."""
