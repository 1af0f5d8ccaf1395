"""The messages of a conversation as JSON, for the input or the output of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter

from detent.contrib.pydantic_ai.errors import MessagesTooLarge
from detent.values.limits import INPUT_LIMIT


def dump_messages(messages: Sequence[ModelMessage]) -> list[Any]:
    """Return the messages as JSON values. Raise MessagesTooLarge if a run cannot store them."""
    found: list[Any] = ModelMessagesTypeAdapter.dump_python(list(messages), mode="json")
    size = len(msgspec.json.encode(found))
    if size > INPUT_LIMIT:
        raise MessagesTooLarge(len(found), size)
    return found


def load_messages(values: Sequence[Any]) -> list[ModelMessage]:
    """Return the messages that `dump_messages` wrote. Raise pydantic's ValidationError if they are something else."""
    return ModelMessagesTypeAdapter.validate_python(list(values))
