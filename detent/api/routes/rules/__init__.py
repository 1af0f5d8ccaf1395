"""The routes of rules, and of what belongs to them: entities, types, alerts and action templates."""
