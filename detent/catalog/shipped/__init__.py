"""The connectors that Detent ships, as manifests. `load_shipped` reads them once per process."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from detent.catalog.connector import Connector
from detent.catalog.manifest import read_manifest


@cache
def shipped_fingerprint() -> str:
    """Return a text that changes whenever a shipped manifest does. It costs less than reading them."""
    digest = hashlib.sha256()
    for entry in sorted(files(__package__).iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".yaml"):
            digest.update(entry.name.encode() + b"\0" + entry.read_bytes())
    return digest.hexdigest()


@cache
def load_shipped() -> tuple[Connector, ...]:
    """Return the shipped connectors, by id."""
    folder = files(__package__)
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".yaml"))
    return tuple(read_manifest((folder / name).read_bytes(), filename=name) for name in names)


def shipped_actions(text: bytes | None = None) -> tuple[str, ...]:
    """Return the names of the actions that every installation has. A text that names none of their connectors has none
    of them: then the manifests are not read."""
    names = [entry.name.removesuffix(".yaml").encode() for entry in files(__package__).iterdir()]
    if text is not None and not any(name + b"." in text for name in names):
        return ()
    return tuple(f"{connector.id}.{action.id}" for connector in load_shipped() for action in connector.actions)
