"""Regular expressions in linear time: `matches(text, pattern)`.

The pattern becomes a nondeterministic automaton (Thompson), and its states are found for one character after the
other. All possible matches are followed at once, so nothing is ever tried again: `(a+)+$` is as cheap as `a+$`. Sets of
states that were met before are found in a table (a deterministic automaton that is built as far as the text needs it).
One table serves all calls of an evaluation, and no other: else the work of an evaluation would depend on earlier ones.

    a  .  [a-z]  [^a-z]  \\d \\w \\s \\D \\W \\S  \\n \\r \\t \\uXXXX  \\.      characters; `.` is all but a line feed
    ab  a|b  (a)  (?:a)                                            one after the other, one of both, groups
    a*  a+  a?  a{3}  a{2,}  a{2,5}                                repetitions; `a*?` means the same here
    ^  $  \\b  \\B                                                   start and end of the text, edges of words

`\\d` and `\\w` know ASCII only, as in JavaScript. There are no backreferences and no lookarounds: these cannot be
matched in linear time.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from detent.expressions.errors import Budget, EvaluationError

PATTERN_LIMIT: Final = 1_000
STATE_LIMIT: Final = 2_000
REPEAT_LIMIT: Final = 1_000
GROUP_LIMIT: Final = 50
CHARACTERS_PER_STEP: Final = 8
IGNORE_CASE: Final = "i"

_PUNCTUATION: Final = frozenset("\\^$.|?*+()[]{}/-,:;!=<>@#%&~'\"` ")
_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}


def _is_word(char: str) -> bool:
    return char == "_" or (char.isascii() and char.isalnum())


_CATEGORIES: Final = {
    "d": lambda char: "0" <= char <= "9",
    "w": _is_word,
    "s": str.isspace,
}


# The tree of a pattern.


@dataclass(frozen=True, slots=True)
class _Chars:
    """One character of a set: in one of the ranges or categories. An upper case category has all others."""

    ranges: tuple[tuple[str, str], ...] = ()
    categories: str = ""
    is_negated: bool = False

    def has(self, char: str) -> bool:
        return self._lists(char) is not self.is_negated

    def has_any_case(self, char: str) -> bool:
        cases = (one for one in (char, char.lower(), char.upper()) if len(one) == 1)
        return any(map(self._lists, cases)) is not self.is_negated

    def _lists(self, char: str) -> bool:
        return any(low <= char <= high for low, high in self.ranges) or any(
            _CATEGORIES[name.lower()](char) is name.islower() for name in self.categories
        )


@dataclass(frozen=True, slots=True)
class _Assertion:
    """A place in the text: `^`, `$`, `b` (edge of a word) or `B` (no edge of a word)."""

    kind: str


@dataclass(frozen=True, slots=True)
class _Sequence:
    parts: tuple["_Node", ...]


@dataclass(frozen=True, slots=True)
class _Either:
    branches: tuple["_Node", ...]


@dataclass(frozen=True, slots=True)
class _Repeat:
    part: "_Node"
    least: int
    most: int | None


_Node = _Chars | _Assertion | _Sequence | _Either | _Repeat


class _PatternParser:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.index = 0
        self.depth = 0

    def wrong(self, message: str, at: int | None = None) -> EvaluationError:
        where = self.index if at is None else at
        return EvaluationError(f"the pattern is not valid: {message} (at character {where + 1} of the pattern)")

    def peek(self) -> str:
        return self.pattern[self.index : self.index + 1]

    def accept(self, text: str) -> bool:
        found = self.pattern.startswith(text, self.index)
        if found:
            self.index += len(text)
        return found

    def whole(self) -> _Node:
        node = self.either()
        if self.peek():
            raise self.wrong("')' closes nothing; write \\) for the character")
        return node

    def either(self) -> _Node:
        branches = [self.sequence()]
        while self.accept("|"):
            branches.append(self.sequence())
        return branches[0] if len(branches) == 1 else _Either(tuple(branches))

    def sequence(self) -> _Node:
        parts: list[_Node] = []
        while self.peek() not in ("", "|", ")"):
            parts.append(self.repeated())
        return parts[0] if len(parts) == 1 else _Sequence(tuple(parts))

    def repeated(self) -> _Node:
        start = self.index
        node = self.single()
        is_repeated = False
        while (bounds := self.bounds()) is not None:
            if is_repeated or isinstance(node, _Assertion):
                raise self.wrong("there is nothing to repeat", start)
            self.accept("?")  # a lazy repetition matches the same texts
            node = _Repeat(node, *bounds)
            is_repeated = True
        return node

    def bounds(self) -> tuple[int, int | None] | None:
        """Read what follows a part: how often it is repeated. Return None if it is not."""
        if self.accept("*"):
            return 0, None
        if self.accept("+"):
            return 1, None
        if self.accept("?"):
            return 0, 1
        start = self.index
        if not self.accept("{"):
            return None
        least = self.count()
        most: int | None = least
        if self.accept(","):
            most = None if self.peek() == "}" else self.count()
        if not self.accept("}"):
            raise self.wrong("a repetition is {3}, {2,} or {2,5}; write \\{ for the character", start)
        if most is not None and most < least:
            raise self.wrong("a repetition has its smaller number first", start)
        return least, most

    def count(self) -> int:
        start = self.index
        while self.peek() and self.peek() in "0123456789":
            self.index += 1
        digits = self.pattern[start : self.index]
        if not digits:
            raise self.wrong("a repetition is {3}, {2,} or {2,5}; write \\{ for the character", start)
        if len(digits) > 4 or int(digits) > REPEAT_LIMIT:
            raise self.wrong(f"a repetition has at most {REPEAT_LIMIT} times", start)
        return int(digits)

    def single(self) -> _Node:
        start = self.index
        char = self.pattern[start]
        self.index += 1
        match char:
            case "(":
                return self.group(start)
            case "[":
                return self.set(start)
            case ".":
                return _Chars((("\n", "\n"),), is_negated=True)
            case "^" | "$":
                return _Assertion(char)
            case "\\":
                return self.escape(start)
            case "*" | "+" | "?" | "{":
                raise self.wrong(f"there is nothing to repeat; write \\{char} for the character", start)
        return _Chars(((char, char),))

    def group(self, start: int) -> _Node:
        if self.accept("?") and not self.accept(":"):
            raise self.wrong("only (...) and (?:...) are supported; others do not match in linear time", start)
        self.depth += 1
        if self.depth > GROUP_LIMIT:
            raise self.wrong(f"groups are nested more than {GROUP_LIMIT} levels deep", start)
        node = self.either()
        self.depth -= 1
        if not self.accept(")"):
            raise self.wrong("'(' is not closed; write \\( for the character", start)
        return node

    def escape(self, start: int) -> _Node:
        letter = self.peek()
        if letter and letter in "bB":
            self.index += 1
            return _Assertion(letter)
        if letter and letter in "dwsDWS":
            self.index += 1
            return _Chars(categories=letter)
        char = self.escaped(start)
        return _Chars(((char, char),))

    def escaped(self, start: int) -> str:
        """Read the character behind a backslash."""
        letter = self.peek()
        self.index += 1
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if letter in ("u", "x"):
            length = 4 if letter == "u" else 2
            digits = self.pattern[self.index : self.index + length]
            if len(digits) == length and all(digit in "0123456789abcdefABCDEF" for digit in digits):
                self.index += length
                return chr(int(digits, 16))
        elif letter and letter in _PUNCTUATION:
            return letter
        if letter and letter in "123456789":
            raise self.wrong("there are no backreferences; they do not match in linear time", start)
        raise self.wrong(f"unknown escape '\\{letter}'", start)

    def set(self, start: int) -> _Node:
        is_negated = self.accept("^")
        ranges: list[tuple[str, str]] = []
        categories = ""
        if self.peek() == "]":
            raise self.wrong("[] has no characters; write \\] for the character", start)
        while not self.accept("]"):
            if not self.peek():
                raise self.wrong("'[' is not closed; write \\[ for the character", start)
            low = self.set_item()
            if len(low) == 2:
                categories += low[1]
                continue
            high = low
            at = self.index
            if self.peek() == "-" and self.pattern[at + 1 : at + 2] not in ("]", ""):
                self.index += 1
                high = self.set_item()
            if len(high) == 2 or high < low:
                raise self.wrong("a range is from a smaller to a larger character", at)
            ranges.append((low, high))
        return _Chars(tuple(ranges), categories, is_negated)

    def set_item(self) -> str:
        """Read one character of a set, or a category as a backslash and its letter."""
        start = self.index
        self.index += 1
        if self.pattern[start] != "\\":
            return self.pattern[start]
        letter = self.peek()
        if letter and letter in "dwsDWS":
            self.index += 1
            return f"\\{letter}"
        return self.escaped(start)


# The automaton: a list of states. Each has characters to read and one next state, or reads nothing and has some.


@dataclass(slots=True)
class _State:
    """`chars` is the number of a set of characters. Without one the state reads nothing, if its `assertion` holds."""

    following: list[int]
    chars: int | None = None
    assertion: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled pattern. State 0 is the end; `start` is the first one."""

    states: tuple[_State, ...]
    start: int
    sets: tuple[_Chars, ...]
    has_edges: bool
    ignores_case: bool


def _size(node: _Node) -> int:
    """Return about how many states a tree needs, without building them."""
    match node:
        case _Sequence(parts) | _Either(parts):
            return 1 + sum(map(_size, parts)) + len(parts)
        case _Repeat(part, least, most):
            return 1 + (_size(part) + 1) * (least + 1 if most is None else most)
    return 1


class _Assembler:
    """Builds states from the end of the pattern to its start."""

    def __init__(self) -> None:
        self.states = [_State([])]
        self.sets: dict[_Chars, int] = {}

    def add(self, following: list[int], chars: int | None = None, assertion: str = "") -> int:
        self.states.append(_State(following, chars, assertion))
        return len(self.states) - 1

    def build(self, node: _Node, end: int) -> int:
        """Build the states of a tree that go on at `end`. Return the first of them."""
        match node:
            case _Chars():
                return self.add([end], self.sets.setdefault(node, len(self.sets)))
            case _Assertion(kind):
                return self.add([end], assertion=kind)
            case _Sequence(parts):
                for part in reversed(parts):
                    end = self.build(part, end)
                return end
            case _Either(branches):
                return self.add([self.build(branch, end) for branch in branches])
            case _:
                return self.repeat(node, end)

    def repeat(self, node: _Repeat, end: int) -> int:
        part, least, most = node.part, node.least, node.most
        if most is None:
            loop = self.add([end])
            self.states[loop].following.append(self.build(part, loop))
            end = loop
        else:
            for _ in range(most - least):
                end = self.add([self.build(part, end), end])
        for _ in range(least):
            end = self.build(part, end)
        return end


@lru_cache(maxsize=512)
def compile_pattern(pattern: str, flags: str = "") -> Program:
    """Compile a pattern. Raise EvaluationError with the place of what is wrong in it."""
    if flags not in ("", IGNORE_CASE):
        raise EvaluationError(f"there is no flag {flags[:20]!r}; there is 'i', which ignores case")
    if len(pattern) > PATTERN_LIMIT:
        raise EvaluationError(f"the pattern is longer than {PATTERN_LIMIT} characters")
    node = _PatternParser(pattern).whole()
    if _size(node) > STATE_LIMIT:
        raise EvaluationError(f"the pattern is too large: its repetitions need more than {STATE_LIMIT} states")
    assembler = _Assembler()
    start = assembler.build(node, 0)
    has_edges = any(state.assertion in ("b", "B") for state in assembler.states)
    return Program(tuple(assembler.states), start, tuple(assembler.sets), has_edges, flags == IGNORE_CASE)


@dataclass(slots=True, eq=False)
class _Situation:
    """All states that the automaton can be in between two characters, before empty steps are followed."""

    states: frozenset[int]
    is_start: bool
    after_word: bool
    moves: dict[str, "_Situation | None"] = field(default_factory=dict)  # by character; None: the text matches
    moves_of_kinds: dict[int, "_Situation | None"] = field(default_factory=dict)


class Automaton:
    """A program with the situations that were met so far. It belongs to one evaluation, which pays for them."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._kinds: dict[str, int] = {}
        self._signatures: dict[tuple[bool, ...], int] = {}
        self._situations: dict[tuple[frozenset[int], bool], _Situation] = {}
        self._start = _Situation(frozenset({program.start}), is_start=True, after_word=False)

    def is_in(self, text: str, budget: Budget) -> bool:
        """Return whether a part of the text matches."""
        budget.spend(1 + len(text) // CHARACTERS_PER_STEP)
        situation = self._start
        for char in text:
            try:
                following = situation.moves[char]
            except KeyError:
                following = situation.moves[char] = self._move(situation, char, budget)
            if following is None:
                return True
            situation = following
        return 0 in self._reachable(situation, None, budget)

    def _move(self, situation: _Situation, char: str, budget: Budget) -> _Situation | None:
        budget.spend(1)
        kind = self._kind(char, budget)
        if kind not in situation.moves_of_kinds:
            situation.moves_of_kinds[kind] = self._find(situation, char, budget)
        return situation.moves_of_kinds[kind]

    def _kind(self, char: str, budget: Budget) -> int:
        """Return the number of all characters that the pattern cannot tell from this one."""
        kind = self._kinds.get(char)
        if kind is None:
            program = self._program
            budget.spend(1 + len(program.sets))
            found: Iterable[bool]
            if program.ignores_case:
                found = (chars.has_any_case(char) for chars in program.sets)
            else:
                found = (chars.has(char) for chars in program.sets)
            signature = (*found, program.has_edges and _is_word(char))
            kind = self._kinds[char] = self._signatures.setdefault(signature, len(self._signatures))
        return kind

    def _find(self, situation: _Situation, char: str, budget: Budget) -> _Situation | None:
        program = self._program
        reachable = self._reachable(situation, char, budget)
        if 0 in reachable:
            return None
        following = {program.start}  # a match may begin at every character
        for index in reachable:
            state = program.states[index]
            if state.chars is not None and self._reads(state.chars, char):
                following.update(state.following)
        states, after_word = frozenset(following), program.has_edges and _is_word(char)
        known = self._situations.get((states, after_word))
        if known is None:
            known = self._situations[states, after_word] = _Situation(states, is_start=False, after_word=after_word)
        return known

    def _reads(self, number: int, char: str) -> bool:
        chars = self._program.sets[number]
        return chars.has_any_case(char) if self._program.ignores_case else chars.has(char)

    def _reachable(self, situation: _Situation, char: str | None, budget: Budget) -> set[int]:
        """Return the states that empty steps lead to, before `char` (`None`: at the end of the text)."""
        holding = set(_holding(situation, char))
        reachable = set(situation.states)
        pending = list(reachable)
        while pending:
            state = self._program.states[pending.pop()]
            budget.spend(1 + len(state.following))
            if state.chars is None and (not state.assertion or state.assertion in holding):
                new = [one for one in state.following if one not in reachable]
                reachable.update(new)
                pending.extend(new)
        return reachable


def _holding(situation: _Situation, char: str | None) -> Iterator[str]:
    """Yield the assertions that are true in this place."""
    if situation.is_start:
        yield "^"
    if char is None:
        yield "$"
    yield "b" if situation.after_word is not (char is not None and _is_word(char)) else "B"


def matches(budget: Budget, text: str, pattern: str, flags: str = "") -> bool:
    """Return whether a part of the text matches the pattern, in time linear in the length of the text."""
    if budget.automata is None:
        budget.automata = {}
    automaton = budget.automata.get((pattern, flags))
    if automaton is None:
        budget.spend_text(pattern)
        program = compile_pattern(pattern, flags)
        budget.spend(len(program.states))
        automaton = budget.automata[pattern, flags] = Automaton(program)
    found: bool = automaton.is_in(text, budget)
    return found
