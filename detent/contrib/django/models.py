"""Detent's tables are its own affair: there are no models. Django calls an app that has migrations only with this."""
