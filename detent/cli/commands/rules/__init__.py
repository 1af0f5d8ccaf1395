"""Commands on rules, the entities that they watch, and the alerts that they raise."""
