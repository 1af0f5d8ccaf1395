"""Stores keep runs. `protocol` says how; every other module here is one way to do it."""

from detent.store.protocol import Store

__all__ = ["Store"]
