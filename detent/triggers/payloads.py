"""The body of a request from outside, read as what it is: JSON, a form, text, or bytes."""

from __future__ import annotations

import base64
from typing import Any, Final
from urllib.parse import parse_qsl

from detent.authoring.documents import decode_json
from detent.engine.commands import INPUT_LIMIT
from detent.errors import InvalidInput

_MOST_FIELDS: Final = 1_000
_FORM: Final = "application/x-www-form-urlencoded"
