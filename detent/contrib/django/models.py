"""Detent's tables are its own affair: there are no models. Django tells an app of its migrations only if it has this."""
