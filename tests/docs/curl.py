"""Carries out the `curl` lines of a page against a server, and compares answers with the ones on the page."""

import asyncio
import json
import re
import shlex
from typing import Any, Final

import aiohttp

SERVER: Final = "http://127.0.0.1:8080"
#: What differs from run to run: ids, instants, and texts with an ellipsis in them.
_ID: Final = re.compile(r"[a-z]+_01k…")
_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
PATIENCE: Final = 300.0


def commands(text: str) -> list[str]:
    """The commands of a console block: each begins with `$ ` and may go on over lines."""
    return [part.strip() for part in re.split(r"^\$ ", text, flags=re.MULTILINE) if part.strip()]


class Session:
    """A shell that knows curl, `$RUN` and `$URL`."""

    def __init__(self, http: aiohttp.ClientSession, server: str) -> None:
        self._http, self._server = http, server
        self._names: dict[str, str] = {}

    async def curl(self, command: str) -> tuple[int, Any]:
        """Status and JSON of the answer."""
        program, *words = shlex.split(command)
        assert program == "curl"
        method, headers, data, url = "GET", {}, None, ""
        rest = iter(words)
        for word in rest:
            match word:
                case "-s":
                    continue
                case "-X":
                    method = next(rest)
                case "-H":
                    name, _, value = next(rest).partition(": ")
                    headers[name] = value
                case "-d":
                    data = next(rest)
                case _:
                    url = self._filled_in(word)
        if data is not None:
            headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
        async with self._http.request(method, url, headers=headers, data=data) as answer:
            body = await answer.json()
        self._remember(body)
        return answer.status, body

    async def curl_until(self, command: str, wanted: str) -> tuple[int, Any]:
        """The answer once the run, or one of its steps, reads `wanted`."""
        async with asyncio.timeout(PATIENCE):
            while True:
                status, body = await self.curl(command)
                run = body["data"]
                if wanted in {run["status"], *(step["status"] for step in run["tasks"].values())}:
                    return status, body
                await asyncio.sleep(0.02)

    def _filled_in(self, url: str) -> str:
        for name, value in self._names.items():
            url = url.replace(f"${name}", value)
        return url.replace(SERVER, self._server)

    def _remember(self, body: Any) -> None:
        data = body.get("data")
        if isinstance(data, dict):
            if "run_id" in data:
                self._names["RUN"] = data["run_id"]
            for callback in data.get("callbacks", []):
                self._names["URL"] = callback["url"]


def differences(shown: Any, found: Any, path: str = "") -> list[str]:
    """Where an answer is not as the page shows it. A page may leave keys out, and show less of an object."""
    if isinstance(shown, dict) and isinstance(found, dict):
        missing = [f"{path}.{key} is not there" for key in shown if key not in found]
        inside = [differences(value, found[key], f"{path}.{key}") for key, value in shown.items() if key in found]
        return [*missing, *(one for many in inside for one in many)]
    if isinstance(shown, list) and isinstance(found, list) and len(shown) == len(found):
        return [
            one
            for number, pair in enumerate(zip(shown, found, strict=True))
            for one in differences(*pair, f"{path}[{number}]")
        ]
    return [] if _same(shown, found) else [f"{path} is {json.dumps(found)}, not {json.dumps(shown)}"]


def _same(shown: Any, found: Any) -> bool:
    if isinstance(shown, float) and not isinstance(found, bool):
        return isinstance(found, int | float)
    if not isinstance(shown, str) or not isinstance(found, str):
        return type(shown) is type(found) and bool(shown == found)
    if _INSTANT.fullmatch(shown):
        return _INSTANT.fullmatch(found) is not None
    if "…" not in shown:
        return shown == found
    if _ID.fullmatch(shown):
        return found.startswith(shown.partition("_")[0] + "_")
    before, _, after = shown.replace(SERVER, "").partition("…")
    return before.removesuffix("AZ") in found and found.endswith(after)
