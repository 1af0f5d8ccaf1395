"""What the connectors in Python share: their registry, and the libraries that extras of the package install."""

from __future__ import annotations

import base64
import binascii
import importlib
from importlib.util import find_spec
from typing import Any, Final

from detent.catalog.action import ActionSource
from detent.catalog.connector import Auth, AuthType, Connector
from detent.steps.actions import Registry
from detent.steps.errors import InvalidParameters, Permanent
from detent.version import install_hint

#: The actions of the shipped connectors that are code.
SHIPPED: Final = Registry()
#: The extra of the package that each of them needs, and the packages that it installs.
EXTRAS: Final = {
    "email": ("aiosmtplib",),
    "sql": ("psycopg", "pymysql"),
    "s3": ("obstore",),
    "notify": ("apprise",),
}
MISSING_EXTRA: Final = "missing_extra"


def describe(id_: str, title: str, description: str, auth: AuthType = AuthType.NONE) -> Connector:
    """Return what the catalog lists of a connector that is code. It has no `base_url`: the operator has it."""
    return Connector(id_, "1.0.0", title, description, auth=Auth(auth), source=ActionSource.PYTHON)


def load(module: str, extra: str) -> Any:
    """Return a module of an optional package. Raise Permanent with the extra that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        message = f"this node lacks the package {module.partition('.')[0]!r}: {install_hint(extra)} ({error})"
        raise Permanent(message, code=MISSING_EXTRA) from None


def missing_package(connector: str) -> str | None:
    """Return the first package that a connector needs and this process lacks."""
    return next((name for name in EXTRAS.get(connector, ()) if find_spec(name) is None), None)


def decode_base64(text: str, place: str) -> bytes:
    """Return the bytes of a base64 text. Raise InvalidParameters with the parameter that has it."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidParameters(f"{place}: is not valid base64") from None
