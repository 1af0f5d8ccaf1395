"""The child process that renders documents. `Renderer` starts it as a script; it imports nothing of Detent.

It reads requests and writes answers, each as four bytes of length and JSON. Before its first request it gives up what a
template could misuse: it can open no file, start no process, and use no more memory than its limit. A request that
takes too long ends the process by a signal, which no code here can delay.
"""

from __future__ import annotations

import json
import re
import resource
import signal
import sys
from typing import Any, BinaryIO, Final

from minijinja import Environment, TemplateError

#: How many instructions of the template engine one document may take.
FUEL: Final = 5_000_000
_LENGTH: Final = 4
_NOTHING: Final[dict[str, Any]] = {"answers": {}, "extras": {}}
_WITHOUT_PLACE: Final = re.compile(r" \(in document\.[a-z]+:\d+\)$")
#: The engine escapes HTML by the ending of the name.
_HTML: Final = ".html"
#: Words of the engine's language, which cannot be names.
_WORDS: Final = frozenset(
    (
        "and",
        "break",
        "else",
        "false",
        "False",
        "if",
        "in",
        "is",
        "loop",
        "none",
        "None",
        "not",
        "or",
        "self",
        "true",
        "True",
    )
)


def main() -> None:
    """Answer requests until the input ends. The argument has the limits as JSON: seconds, memory and bytes."""
    limits: dict[str, Any] = json.loads(sys.argv[1])
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    _answer({"body": "{{ missing }}", "format": "html", "data": _NOTHING}, 0)  # the engine loads modules for its errors
    _lock_down(limits["memory"])
    _write(answers, {})
    while (request := _read(requests)) is not None:
        signal.setitimer(signal.ITIMER_REAL, limits["seconds"])
        answer = _answer(request, limits["bytes"])
        signal.setitimer(signal.ITIMER_REAL, 0)
        _write(answers, answer)


def _lock_down(memory: int) -> None:
    """Give up everything but memory and the two open streams."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    if sys.platform == "linux":  # macOS refuses to limit the address space
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(kind, (most, most))


def _answer(request: dict[str, Any], most: int) -> dict[str, Any]:
    """Render a document, or only check its body if there is no data. Return its text, or why there is none."""
    environment = Environment(
        fuel=FUEL,
        debug=False,
        undefined_behavior="strict",
        finalizer=_shown,
        auto_escape_callback=_escaping,
        keep_trailing_newline=True,
        pycompat=False,
    )
    environment.remove_global("debug")
    name, data = "document" + (_HTML if request["format"] == "html" else ".txt"), request["data"]
    try:
        environment.add_template(name, request["body"])
        if data is None:
            return {"text": ""}
        environment.add_template(name, _assignments(data) + request["body"])
        text = environment.render_template(name)
    except TemplateError as error:
        return {"error": error.detail or _WITHOUT_PLACE.sub("", error.message), "line": error.line}
    except MemoryError:
        return {"error": "it needs too much memory", "line": None}
    size = len(text.encode())
    return {"text": text} if size <= most else {"size": size}


def _assignments(data: dict[str, dict[str, Any]]) -> str:
    """Return the data as assignments, on one line.

    A value that is passed to the engine would be a Python object with methods. A literal is a value of the engine."""
    names = [f"{{% set {name} = {_literal(value)} %}}" for name, value in data.items()]
    known = (
        name
        for name in data["answers"]
        if name.isidentifier() and name.isascii() and name not in _WORDS and name not in data
    )
    return "".join([*(f"{{% set {name} = answers.{name} %}}" for name in known), *names][::-1])


def _literal(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {_literal(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return "none" if value is None else json.dumps(value)


def _shown(value: Any) -> Any:
    """Write nothing for null."""
    return "" if value is None else NotImplemented


def _escaping(name: str) -> str | None:
    return "html" if name.endswith(_HTML) else None


def _read(stream: BinaryIO) -> dict[str, Any] | None:
    length = int.from_bytes(stream.read(_LENGTH), "big")
    request: dict[str, Any] | None = json.loads(stream.read(length)) if length else None
    return request


def _write(stream: BinaryIO, answer: dict[str, Any]) -> None:
    data = json.dumps(answer).encode()
    stream.write(len(data).to_bytes(_LENGTH, "big") + data)
    stream.flush()


if __name__ == "__main__":
    main()
