"""The texts and numbers of a start that stand in columns of their own: what no database would take is refused here.

Only the caller who gave it is told so. Once it is in a flush, it is in the way of every other run of the node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Protocol

from detent.errors import InvalidInput, Problem

#: So many characters have room in every database's columns and indexes.
LONGEST_WORD: Final = 255
LONGEST_LABEL: Final = 1_000
#: A column of 32 bits.
LARGEST_PRIORITY: Final = 2**31 - 1


class Words(Protocol):
    """What is looked at. Whoever calls from Python may have given anything."""

    @property
    def request_id(self) -> Any: ...
    @property
    def hero(self) -> Any: ...
    @property
    def labels(self) -> Any: ...
    @property
    def priority(self) -> Any: ...


def check_words(options: Words) -> None:
    """InvalidInput, with all that is wrong, unless every database can keep these options."""
    if options.request_id is None and options.hero is None and not options.labels and options.priority is None:
        return
    problems = list(_problems(options))
    if problems:
        told = "; ".join(map(str, problems))
        raise InvalidInput(f"the run cannot be started: {told}", problems)


def _problems(options: Words) -> Iterator[Problem]:
    if options.request_id is not None:
        yield from _word("request_id", options.request_id, LONGEST_WORD)
    if options.hero is not None:
        yield from _hero(options.hero)
    if options.labels:
        yield from _labels(options.labels)
    if options.priority is not None:
        yield from _priority(options.priority)


def _hero(hero: Any) -> Iterator[Problem]:
    if not isinstance(hero, tuple) or len(hero) != 2:
        yield Problem("hero", "is a type and an id")
        return
    for name, part in zip(("hero.type", "hero.id"), hero, strict=True):
        yield from _word(name, part, LONGEST_WORD)


def _labels(labels: Any) -> Iterator[Problem]:
    if not isinstance(labels, Mapping):
        yield Problem("labels", "are names with their texts")
        return
    for name, value in labels.items():
        wrong = list(_word("labels", name, LONGEST_LABEL))
        yield from wrong or _word(f"labels.{name}", value, LONGEST_LABEL)


def _priority(priority: Any) -> Iterator[Problem]:
    if not isinstance(priority, int) or isinstance(priority, bool):
        yield Problem("priority", f"is a whole number, not {type(priority).__name__}")
    elif not -LARGEST_PRIORITY <= priority <= LARGEST_PRIORITY:
        yield Problem("priority", f"lies between -{LARGEST_PRIORITY} and {LARGEST_PRIORITY}")


def _word(field: str, word: Any, most: int) -> Iterator[Problem]:
    if not isinstance(word, str):
        yield Problem(field, f"is a text, not {type(word).__name__}")
    elif len(word) > most:
        yield Problem(field, f"has {len(word)} characters; at most {most} are allowed")
    elif "\x00" in word:
        yield Problem(field, "holds a NUL character, which cannot be kept")
    elif not _is_text(word):
        yield Problem(field, "holds half of a surrogate pair, which is no character")


def _is_text(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True
