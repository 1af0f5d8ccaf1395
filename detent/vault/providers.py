"""Where else the operator's secrets are: variables, files, and a HashiCorp Vault.

Their values stay in memory for five minutes and are never in the database. `DETENT_SECRET_PROVIDERS` lists them:

    env:STRIPE_KEY                        the variable STRIPE_KEY of the node, as secrets.STRIPE_KEY
    file:/run/secrets                     the files of a folder; the name of a file is that of the secret
    vault:https://vault.example/v1/kv/data/detent   the keys of one secret of a KV store, version 2
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, Final, Protocol

from detent.errors import InvalidInput, Problem
from detent.expressions import is_secret_name
from detent.vault.redaction import SHORTEST_SECRET
from detent.vault.secrets import LARGEST_SECRET, UNAVAILABLE, SecretProvider, SecretUnavailable

SETTING: Final = "DETENT_SECRET_PROVIDERS"
TOKEN: Final = "VAULT_TOKEN"
_FRESH_SECONDS: Final = 300.0


class ReadJson(Protocol):
    """Sends a GET and returns the JSON of its answer."""

    async def __call__(self, url: str, headers: Mapping[str, str]) -> Any:
        """Return the decoded answer. Raise SecretUnavailable if there is none."""


def build_providers(
    written: Sequence[str], read_json: ReadJson, *, environ: Mapping[str, str] = os.environ
) -> list[SecretProvider]:
    """Return the providers that the setting lists, in its order. Raise InvalidInput for one that cannot be read."""
    names: list[str] = []
    found: list[SecretProvider] = []
    for one in written:
        kind, _, rest = one.partition(":")
        if kind == "env" and is_secret_name(rest):
            names.append(rest)
        elif kind == "file" and Path(rest).is_absolute():
            found.append(FileProvider(Path(rest)))
        elif kind == "vault" and rest.startswith(("https://", "http://")):
            found.append(KvProvider(rest, environ.get(TOKEN, ""), read_json))
        else:
            message = f"{one!r} is not env:NAME, file:/path/of/a/folder or vault:https://host/v1/kv/data/path"
            raise InvalidInput("invalid settings", [Problem(SETTING, message)])
    return [EnvironmentProvider(names, environ), *found] if names else found


class EnvironmentProvider:
    """Variables of the node's environment that the operator has named. No other variable can be read."""

    def __init__(self, names: Sequence[str], environ: Mapping[str, str]) -> None:
        self._values = {name: environ[name] for name in names if name in environ}

    async def read(self, name: str) -> str | None:
        return _usable(name, self._values.get(name))

    async def close(self) -> None:
        return None


class FileProvider:
    """The files of a folder, as container platforms mount them. One line end at the end is not part of the value."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def read(self, name: str) -> str | None:
        return _usable(name, await asyncio.to_thread(self._read, name)) if is_secret_name(name) else None

    def _read(self, name: str) -> str | None:
        try:
            with (self._folder / name).open("rb") as file:
                return file.read(LARGEST_SECRET + 1).decode().removesuffix("\n").removesuffix("\r")
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise _unavailable(f"the file of the secret {name!r} cannot be read: {error}") from None

    async def close(self) -> None:
        return None


class KvProvider:
    """The keys of one secret of a KV store of version 2. They are read together, at most every five minutes."""

    def __init__(self, url: str, token: str, read_json: ReadJson, now: Callable[[], float] = monotonic) -> None:
        self._url = url
        self._token = token
        self._read_json = read_json
        self._now = now
        self._values: dict[str, Any] = {}
        self._until = -1.0
        self._reading = asyncio.Lock()

    async def read(self, name: str) -> str | None:
        async with self._reading:
            if self._now() >= self._until:
                answer = await self._read_json(self._url, {"X-Vault-Token": self._token})
                data = answer.get("data") if isinstance(answer, dict) else None
                values = data.get("data") if isinstance(data, dict) else None
                if not isinstance(values, dict):
                    raise _unavailable("the vault answered no secret of version 2; its address has /data/ in it")
                self._values, self._until = values, self._now() + _FRESH_SECONDS
        value = self._values.get(name)
        return _usable(name, value) if isinstance(value, str) else None

    async def close(self) -> None:
        self._values.clear()


def _usable(name: str, value: str | None) -> str | None:
    if value is None or SHORTEST_SECRET <= len(value.encode()) <= LARGEST_SECRET:
        return value
    message = f"the secret {name!r} has {len(value.encode())} bytes; it must have {SHORTEST_SECRET} to {LARGEST_SECRET}"
    raise SecretUnavailable(message, code=UNAVAILABLE)


def _unavailable(message: str) -> SecretUnavailable:
    return SecretUnavailable(message, code=UNAVAILABLE, retry=True)
