"""Forms: functions from a document that a person wrote to the one Graph. No form knows another.

`documents` reads text strictly, `steps_form` compiles the steps form, `compiled` is what every form returns.
"""
