"""Values of an environment in the text of a definition: `${config.NAME}`, as in workflow templates.

Only the scalars that have a place are written again, so comments and the order of keys stay. The result is compared
with the filled definition; if it differs, the whole definition is written again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

import yaml

from detent.catalog.workflow_template import fill_values, has_places
from detent.errors import InvalidDefinition
from detent.forms.definition import read_definition
from detent.values.yaml import dump_yaml

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BLOCKS: Final = ("|", ">")
_Path = tuple[str | int, ...]


def fill_text(text: str, values: Mapping[str, Any], *, filename: str) -> str:
    """Return the text of a definition with values in place of every `${config.NAME}`. Raise InvalidInput."""
    if not has_places(text):
        return text
    definition = read_definition(text, filename=filename)
    filled = fill_values(definition, values)
    if filename.lower().endswith(".json"):
        return json.dumps(filled, indent=2, ensure_ascii=False)
    with suppress(InvalidDefinition):
        written = _with_scalars(text, filled)
        if read_definition(written, filename=filename) == filled:
            return written
    return dump_yaml(filled)


def _with_scalars(text: str, filled: Mapping[str, Any]) -> str:
    """Write the scalars that have a place again, from the last one to the first."""
    for path, event in reversed(list(_scalars(text))):
        if has_places(event.value):
            end = "\n" if event.style in _BLOCKS else ""
            value = json.dumps(_at(filled, path), ensure_ascii=False)
            text = text[: event.start_mark.index] + value + end + text[event.end_mark.index :]
    return text


def _at(value: Any, path: _Path) -> Any:
    for key in path:
        value = value[key]
    return value


def _scalars(text: str) -> Iterator[tuple[_Path, Any]]:
    """Yield every scalar that is a value, with its path. The text is valid YAML whose keys are texts."""
    path: list[str | int] = []
    kinds: list[bool] = []  # of the open collections: whether it is a mapping
    at_key: list[bool] = []

    def next_value() -> None:
        if kinds and kinds[-1]:
            at_key[-1] = not at_key[-1]
        elif kinds:
            path[-1] = int(path[-1]) + 1

    for event in yaml.parse(text, Loader=_LOADER):
        match event:
            case yaml.ScalarEvent():
                if kinds and kinds[-1] and at_key[-1]:
                    path[-1] = event.value
                else:
                    yield tuple(path), event
                next_value()
            case yaml.AliasEvent():
                next_value()
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                is_mapping = isinstance(event, yaml.MappingStartEvent)
                kinds.append(is_mapping)
                at_key.append(is_mapping)
                path.append("" if is_mapping else 0)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                kinds.pop()
                at_key.pop()
                path.pop()
                next_value()
