"""Forms: functions from a document that a person wrote to a Graph. No form depends on another.

`definition` reads text strictly, `steps` compiles the steps form, and `compiled` is what every form returns.
"""
