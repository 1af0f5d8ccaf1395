"""The HTTP API. A handler reads its request, calls one command and renders the answer. No rule is in this package.

`app` builds the application from the `routes/`. `request` and `filters` read requests. `errors` renders every error; no
other module has status codes of errors. `server/` listens on a socket, `openapi/` describes the routes.
"""
