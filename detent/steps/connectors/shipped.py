"""The shipped connectors that are code, and how a process gets them."""

from __future__ import annotations

from typing import Final

from detent.steps.actions import registry
from detent.steps.connectors import email, notify, s3, sql
from detent.steps.connectors.library import SHIPPED

#: What the catalog lists of each.
CONNECTORS: Final = (email.CONNECTOR, notify.CONNECTOR, s3.CONNECTOR, sql.CONNECTOR)


def offer_shipped() -> None:
    """Offer the actions of the shipped connectors in this process, unless user code has one of the same name."""
    registry.adopt(SHIPPED)
