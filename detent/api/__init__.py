"""The HTTP API. A handler reads what came, calls one command, and renders the answer; no rule lives here.

`application` is the table of routes, `wire` the documents, `bodies` what comes in, `problems` every error and the only
place that knows status codes of errors.
"""
