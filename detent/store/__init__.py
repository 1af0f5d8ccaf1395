"""The stores of runs. `protocol` is the contract; every other module implements it for one database."""

from detent.store.protocol import Store

__all__ = ["Store"]
