"""Asks: what a wait shows to people, what it accepts, and who may decide it.

A wait without an ask accepts any body. The ask of a wait is rendered once, when the wait becomes active, and stored
with its callback. So a workflow that changes under an open approval does not change what was asked. Its `digest` is a
part of the ending.

Reminders and the escalation follow from the time at which the ask was opened. The planner journals them as notes of the
wait (`Agenda`), and the wait goes on: its URL and its deadline stay the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from detent.instant import Instant, iso, micros

#: The key of an ask in the config of a wait step.
ASK: Final = "ask"
#: An ask as it is stored has at most this many bytes.
LARGEST_ASK: Final = 64 * 1024
LONGEST_TITLE: Final = 200
LONGEST_TEXT: Final = 4_000
LONGEST_COMMENT: Final = 2_000
MOST_ASSIGNEES: Final = 50
MOST_QUORUM: Final = 20
MOST_REMINDERS: Final = 50
MOST_BUTTONS: Final = 10
#: The value of `not_by` that excludes the principal of the run.
STARTER: Final = "starter"
#: What the end of the time of an approval becomes.
FAILS: Final = "fail"
BECOMES: Final = (FAILS, "approve", "reject")
#: An assignee that is a role begins with this.
ROLE: Final = "role:"


class Button(msgspec.Struct, frozen=True):
    """A button of a page: pressing it sends `body`."""

    label: str
    body: Any = None


class WaitAsk(msgspec.Struct, omit_defaults=True, frozen=True):
    """What a wait asks. `schema` is the JSON Schema of its body, or of the `answer` of an approval.

    `is_form`: people fill in a form made of the schema. `page`: its URL shows a page. `assignees` may decide an
    approval, and after `after` seconds also those in `to`; without assignees everyone may who can answer waits.
    `by_link`: the URL decides too, although there are assignees. The approval ends with the approval number `quorum` of
    different people, or with the first rejection. Every `every` seconds there is a reminder, `most` in all. `others`
    are the waits that end when this one is answered.
    """

    is_approval: bool = False
    title: str | None = None
    text: str | None = None
    data: Any = None
    schema: dict[str, Any] | None = None
    is_form: bool = False
    buttons: tuple[Button, ...] = ()
    page: bool = True
    assignees: tuple[str, ...] = ()
    quorum: int = 1
    not_by: str | None = None
    by_link: bool = False
    every: float | None = None
    most: int = 0
    after: float | None = None
    to: tuple[str, ...] = ()
    on_timeout: str = FAILS
    others: tuple[str, ...] = ()
    opened_at: int = 0

    def digest(self) -> str:
        """Return the SHA-256 of what people are shown: title, text, data, form and buttons."""
        shown = {
            "title": self.title,
            "text": self.text,
            "data": self.data,
            "form": self.schema,
            "buttons": [[button.label, button.body] for button in self.buttons],
        }
        canonical = json.dumps(shown, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return "sha256:" + hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()

    def reminders(self, now: Instant) -> int:
        """Return how many reminders there were until then."""
        if self.every is None:
            return 0
        return max(0, min(self.most, (now - self.opened_at) // micros(self.every)))

    def is_escalated(self, now: Instant) -> bool:
        """Return whether those in `to` may decide too."""
        return self.after is not None and now >= self.opened_at + micros(self.after)

    def may_decide(self, now: Instant) -> tuple[str, ...]:
        """Return who may decide at that time. It is empty for everyone."""
        return (*self.assignees, *self.to) if self.assignees and self.is_escalated(now) else self.assignees

    def takes_link(self) -> bool:
        """Return whether the URL is a permission to answer."""
        return not self.is_approval or self.by_link or not (self.assignees or self.not_by)


class AskError(ValueError):
    """The rendered ask cannot be used. The message says what is wrong."""


def build_ask(given: Mapping[str, Any], *, now: Instant, others: Sequence[str] = ()) -> bytes:
    """Build the stored form of an ask from its rendered config. Raise AskError."""
    fields = dict(given)
    for name in ("assignees", "to"):
        is_written = name in fields
        fields[name] = _people(name, fields.get(name))
        if is_written and not fields[name]:
            raise AskError(f"{name}: is empty, so everyone could decide; name a person or {ROLE}NAME, or leave it out")
    for name, most in (("title", LONGEST_TITLE), ("text", LONGEST_TEXT)):
        if fields.get(name) is not None:
            fields[name] = _text(name, fields[name], most)
    try:
        ask = msgspec.convert({**fields, "others": tuple(others), "opened_at": now}, WaitAsk)
    except msgspec.ValidationError as error:
        raise AskError(str(error)) from None
    stored = _encode(ask)
    if len(stored) > LARGEST_ASK:
        raise AskError(f"what is asked has {len(stored)} bytes; at most {LARGEST_ASK} are allowed: show less `data`")
    return stored


def _people(name: str, given: Any) -> tuple[str, ...]:
    """Return the people in a list, whose items may be lists themselves after rendering."""
    if given is None:
        return ()
    found: list[Any] = []
    for one in given if isinstance(given, list | tuple) else [given]:
        found += one if isinstance(one, list) else [one]
    if any(not isinstance(one, str) or not one.strip() for one in found):
        raise AskError(f"{name}: each must be the id or e-mail address of a person, or {ROLE}NAME")
    if len(found) > MOST_ASSIGNEES:
        raise AskError(f"{name}: has {len(found)} people; at most {MOST_ASSIGNEES} are allowed")
    return tuple(dict.fromkeys(one.strip() for one in found))


def _text(name: str, given: Any, most: int) -> str:
    text = given if isinstance(given, str) else _encode(given).decode()
    if len(text) > most:
        raise AskError(f"{name}: has {len(text)} characters; at most {most} are allowed")
    return text


_encode = msgspec.json.Encoder().encode
_ask_decoder = msgspec.json.Decoder(WaitAsk)


def read_ask(stored: str | bytes) -> WaitAsk:
    """Return an ask from its stored form."""
    return _ask_decoder.decode(stored)


# What the planner knows of an ask: constants of the workflow, so that no rendering is journalled.


class Note(NamedTuple):
    """A reminder, by its number, or the escalation, whose number is 0."""

    at: Instant
    reminder: int


class Agenda(NamedTuple):
    """When a wait reminds and escalates, and what the end of its time becomes."""

    every: float | None
    most: int
    after: float | None
    on_timeout: str

    def note(self, since: Instant, done: int) -> Note | None:
        """Return the next note of a wait that became active then, after so many notes; `None` if there are no more."""
        notes = [] if self.every is None else [Note(since + micros(self.every) * k, k) for k in range(1, self.most + 1)]
        if self.after is not None:
            notes.append(Note(since + micros(self.after), 0))
        notes.sort()
        return notes[done] if done < len(notes) else None


def agenda_of(config: Mapping[str, Any]) -> Agenda | None:
    """Return the agenda in the config of a wait, `None` if it has nothing to do before its end."""
    ask = config.get(ASK) or {}
    agenda = Agenda(ask.get("every"), ask.get("most", 0), ask.get("after"), ask.get("on_timeout", FAILS))
    return None if agenda == _IDLE else agenda


def asks_people(config: Mapping[str, Any]) -> bool:
    """Return whether the config of a wait asks people: it has an approval, a form or buttons."""
    ask = config.get(ASK) or {}
    return any(ask.get(name) for name in ("is_approval", "is_form", "buttons"))


_IDLE: Final = Agenda(None, 0, None, FAILS)


class Decision(msgspec.Struct, omit_defaults=True, frozen=True):
    """The decision of one person. `by` identifies the person, `link` if only the URL was known. `message_id` is that of
    the request."""

    by: str
    approved: bool
    at: str
    name: str | None = None
    comment: str | None = None
    answer: Any = None
    message_id: str | None = None


#: The `by` of a decision by the URL of an approval.
BY_LINK: Final = "link"
_decisions = msgspec.json.Decoder(tuple[Decision, ...])


def read_decisions(stored: str | bytes | None) -> tuple[Decision, ...]:
    """Return the decisions that a callback stores."""
    return () if not stored else _decisions.decode(stored)


def encode_decisions(decisions: Sequence[Decision]) -> str:
    return _encode(decisions).decode()


def is_decided(ask: WaitAsk, decisions: Sequence[Decision]) -> bool:
    """Return whether these decisions end the approval: one rejection, or as many approvals as the quorum."""
    return any(not one.approved for one in decisions) or len(decisions) >= ask.quorum


def approval_result(ask: WaitAsk, decisions: Sequence[Decision]) -> bytes:
    """Return the result of an approval that these decisions end."""
    last = decisions[-1]
    return _encode(
        {
            "output": {
                "approved": last.approved,
                "by": last.by,
                "name": last.name,
                "at": last.at,
                "comment": last.comment,
                "answer": last.answer,
                "decisions": [_shown(one) for one in decisions],
                "digest": ask.digest(),
                "timed_out": False,
            }
        }
    )


def _shown(decision: Decision) -> dict[str, Any]:
    return {
        "by": decision.by,
        "name": decision.name,
        "at": decision.at,
        "approved": decision.approved,
        "comment": decision.comment,
        "answer": decision.answer,
    }


def note_of(decision: Decision, ask: WaitAsk, count: int) -> bytes:
    """Return the note of a decision that does not end its approval yet."""
    return _encode({"decision": _shown(decision), "count": count, "quorum": ask.quorum})


def timed_out_result(on_timeout: str, now: Instant) -> bytes:
    """Return the result of an approval whose time is over, if that becomes a decision."""
    output: dict[str, Any] = {
        "approved": on_timeout == "approve",
        "by": None,
        "name": None,
        "at": iso(now),
        "comment": None,
        "answer": None,
        "decisions": [],
        "digest": None,
        "timed_out": True,
    }
    return _encode({"output": output})
