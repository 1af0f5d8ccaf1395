"""Credentials of connectors: which token an action uses to call its service.

The first provider reads `CONNECTOR_<ID>_TOKEN` from the environment of the node. A token is passed to the code of an
action and to nothing else: templates cannot read it, and no journal has it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final, Protocol

from detent.steps.errors import Permanent

_OTHER: Final = re.compile(r"[^A-Z0-9]")
MISSING: Final = "missing_credential"


class Credentials(Protocol):
    """Where the node finds the tokens of connectors."""

    def token(self, connector: str) -> str | None:
        """Return the token of a connector, or `None` if the operator has set none."""


class EnvironmentCredentials:
    """Reads each token from a variable of the environment, when it is asked for."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ

    def token(self, connector: str) -> str | None:
        return self._environ.get(variable_of(connector)) or None


def variable_of(connector: str) -> str:
    """Return the name of the variable with the token of a connector: `my-shop` has `CONNECTOR_MY_SHOP_TOKEN`."""
    return f"CONNECTOR_{_OTHER.sub('_', connector.upper())}_TOKEN"


def required_token(credentials: Credentials, connector: str) -> str:
    """Return the token of a connector. Raise Permanent with the name of the variable if there is none."""
    found = credentials.token(connector)
    if found is None:
        message = f"there is no credential of the connector {connector[:80]!r}; set {variable_of(connector)}"
        raise Permanent(message, code=MISSING)
    return found
