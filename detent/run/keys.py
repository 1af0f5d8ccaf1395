"""The keys of what a durable function waits for: a step has its name, everything else begins with an `@`."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")


class Op(StrEnum):
    """What an operation is; all but steps are told by how their key begins."""

    STEP = ""
    SLEEP = "@sleep"
    TIMER = "@timer"
    WAIT = "@wait"
    SIGNAL = "@signal"  # that came
    ASK = "@ask"  # for a signal
    CHILD = "@child"
    NOW = "@now"
    CONTINUE = "@continue"


def is_name(text: str) -> bool:
    """Whether a step, a wait or a signal of a durable function can be called so."""
    return _NAME.fullmatch(text) is not None


def op_of(key: str) -> Op:
    """What the operation of that key is."""
    if not key.startswith("@"):
        return Op.STEP
    return Op(key.partition(":")[0].partition("#")[0])


def name_of(key: str) -> str:
    """What was asked for, without how often."""
    return key.partition(":")[2].partition("#")[0]


def signal_key(name: str, number: int) -> str:
    """The key of the signal of that name that comes as that number, from 1."""
    return f"{Op.SIGNAL}:{name}" if number == 1 else f"{Op.SIGNAL}:{name}#{number}"
