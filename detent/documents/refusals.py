"""Documents of errors: the same for every request."""

from __future__ import annotations

import msgspec

from detent.documents.answers import FieldProblem
from detent.documents.rehearsal import RehearsalDocument
from detent.documents.rules import StaleRuleDocument


class Details(msgspec.Struct, omit_defaults=True):
    """More about an error: the problems of fields, the run that blocks a start (`already_active`), the rehearsal of a
    draft that is not published (`rehearsal_failed`), or what a rule has become since it was read
    (`precondition_failed`)."""

    validation_errors: list[FieldProblem] = []
    run_id: str | None = None
    rehearsal: RehearsalDocument | None = None
    current: StaleRuleDocument | None = None


class Refusal(msgspec.Struct, omit_defaults=True):
    """An error, the same for every request."""

    error: str
    code: str
    message: str
    details: Details | None = None
