"""Rules as an editor writes them: one save of everything, their parts, entities, alerts and action templates.

A rule is a workflow of the form `rule`. Its actions and edges have ids that stay the same through saves. They are in
the text of its versions, and not in rows of their own.
"""
