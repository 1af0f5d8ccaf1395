"""Conversion: a workflow of one form as a document of another, or every step and edge that the other form cannot hold.

`convert` is the entry; `steps` and `graph` write the documents of their form, `parts` what both share. No expression is
rewritten: `scope` names the aliases that it uses. The result is compiled, and must have the same fingerprint.
"""
