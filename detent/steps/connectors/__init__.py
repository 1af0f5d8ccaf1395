"""The connectors that Detent has in Python, because they are not HTTP requests: e-mail, SQL, S3, notifications.

Each needs an extra of the package. Their addresses come from named connections of the operator, never from a workflow.
"""
