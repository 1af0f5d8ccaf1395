"""The text of a stored workflow, as others may read it."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from detent.errors import InvalidDefinition
from detent.forms.definition import read_definition
from detent.forms.triggers import HIDDEN, without_secrets
from detent.values.yaml import dump_yaml


def text_of(source: str) -> tuple[str, str]:
    """Return a stored text without the secrets of its trigger, and its media type. Comments and the order of keys stay
    as they were written, unless a secret cannot be found in the text as it is."""
    kind = "application/json" if source.lstrip().startswith("{") else "application/yaml"
    definition = read_definition(source)
    shown = without_secrets(definition)
    if shown == definition:
        return source, kind
    for hidden in (HIDDEN, json.dumps(HIDDEN)):  # a secret without quotes needs them: an asterisk is an alias in YAML
        text = source
        for secret in _secrets(definition):
            text = text.replace(secret, hidden)
        with suppress(InvalidDefinition):
            if read_definition(text) == shown:
                return text, kind
    return (json.dumps(shown, indent=2, ensure_ascii=False) if kind.endswith("json") else dump_yaml(shown)), kind


def _secrets(definition: dict[str, Any]) -> list[str]:
    secrets = definition["trigger"]["signature"]["secrets"]
    return [one for one in (secrets if isinstance(secrets, list) else [secrets]) if isinstance(one, str)]
