"""What every form checks of the names that expressions use: parts of a value, results of steps, callback URLs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar, Final

from detent.expressions import SECRETS, Reference, is_secret_name
from detent.forms.kinds import CORE_PREFIX, WrittenMap
from detent.forms.templates import Read
from detent.forms.written_work import WrittenWork
from detent.graph.check import Upstream
from detent.graph.model import StepKind
from detent.values.fields import Problems, shown

#: The kinds whose parameters are sent. Only they may have secrets.
_SENDING: Final = (StepKind.HTTP, StepKind.ACTION)
_NO_SECRETS: Final = (
    "a secret can only be sent: in the url, the headers or the body of an HTTP request, or in a parameter of an action"
)
#: The kinds that only last: the planner stores until when.
_LASTING: Final = (StepKind.SLEEP, StepKind.WAIT)
#: The parts of a sensitive result that are not sealed.
_UNSEALED: Final = ("status", "status_code", "error", "run_id")
#: The names of an item in the templates of a map.
ITEM_NAMES: Final = ("item", "index")
RESULTS: Final = ("status", "status_code", "headers", "query", "body", "encoding", "output", "error")


class ScopeCheck:
    """Checks reads against the existing steps. A kind of `None` is a step whose own problem is already reported.

    A form says what each of its names may be followed by (`_problem`), what it calls a step (`noun`, with its article
    `a_noun`), and the key that makes a step a map (`map_key`).
    """

    noun: ClassVar = "step"
    a_noun: ClassVar = "a step"
    map_key: ClassVar = "for_each"
    #: The names that the view of a step is read by.
    views: ClassVar[tuple[str, ...]] = ("steps",)

    def __init__(
        self, kinds: Mapping[str, StepKind | None], upstream: Upstream, variables: Collection[str], problems: Problems
    ) -> None:
        self._kinds = kinds
        self._upstream = upstream
        self._vars = variables
        self._problems = problems
        self._waits = [name for name, kind in kinds.items() if kind is StepKind.WAIT]
        self._also: tuple[str, ...] = ()
        #: The steps whose results are sealed.
        self.sensitive: frozenset[str] = frozenset()

    def check_output(self, read: Read) -> None:
        """Report what is wrong with one read of the output of the workflow."""
        self.check(read, None)
        self._check_sealed(read, "the output of a run is stored and shown")

    def check(self, read: Read, reader: str | None, also: tuple[str, ...] = ()) -> None:
        """Report what is wrong with one read of the step `reader` (`None`: the workflow's output).

        `also` has names that it may use beside those of its form."""
        self._also = also
        root = read.reference.path[0]
        if root == SECRETS and root in also:
            self._check_secret(read)
        elif root not in also:
            self._report(read, self._problem(read.reference, reader))
        self._also = ()

    def check_planned(self, read: Read, reader: str, also: tuple[str, ...] = ()) -> None:
        """Report what is wrong with one read of an expression that is evaluated before `reader` has an attempt."""
        self.check(read, reader, also)

    def check_step(self, name: str, written: WrittenWork) -> None:
        """Report what is wrong with the reads of a step: of its config, its map and its repeat."""
        items = ITEM_NAMES if written.map is not None else ()
        sent = (*items, SECRETS) if written.kind in _SENDING else items
        opened = self._opened_by(written) if self.sensitive else None
        for read in written.reads:
            self.check(read, name, sent)
            self._check_sealed(read, opened)
        for read in written.planned_reads:
            self.check_planned(read, name, items)
            self._check_sealed(read, opened if written.kind in _LASTING else None)
        if written.map is not None:
            self.check_map(written.map, name)
            for read in (*written.map.reads, *written.map.collect_reads):
                self._check_sealed(read, opened)
        for read in written.repeat_reads:
            self.check(read, name, (*items, "result"))

    def check_edge(self, read: Read, source: str) -> None:
        """Report what is wrong with one read of the condition of an edge from `source`, which reads that step too."""
        match read.reference.path:
            case (root, str(name), *rest) if root in self.views and name == source:
                self._report(read, self._part(f"{root}.{name}", rest, self._parts_of(name)))
            case _:
                self.check_planned(read, source)

    def check_map(self, written: WrittenMap, reader: str) -> None:
        """Report what is wrong with the reads of a map: those of its list, and of what it collects."""
        for read in written.reads:
            self.check(read, reader)
        for read in written.collect_reads:
            self.check(read, reader, (*ITEM_NAMES, "result"))

    def _opened_by(self, written: WrittenWork) -> str | None:
        """Return why what a step reads would be stored as it is, or `None`."""
        if written.map is not None:
            return f"what {self.a_noun} with {self.map_key} reads is stored with its items"
        if written.kind is StepKind.SUBWORKFLOW:
            return "the input of a child run is stored"
        if written.kind in _LASTING:
            return f"when {self.a_noun} goes on is stored and shown"
        action = str(written.config.get("action"))
        if written.kind is StepKind.ACTION and action.startswith(CORE_PREFIX) and not written.sensitive:
            return f"{action} would store it; write 'sensitive' there too, or take it out"
        return None

    def _check_sealed(self, read: Read, why: str | None) -> None:
        """Report a read of a sealed result at a place that would show it. Its status can be read everywhere."""
        if why is None:
            return
        match read.reference.path:
            case (root, str(name), *rest) if root in self.views and name in self.sensitive:
                is_open = bool(rest) and rest[0] in _UNSEALED
            case ("context", "data", str(name), *_) if name in self.sensitive:
                is_open = False
            case _:
                return
        if not is_open:
            at = f" (at character {read.reference.position + 1})"
            message = f"the result of {name!r} is sensitive, and {why}"
            self._problems.add(read.field, f"{shown(read.reference.text)}: {message}{at}")

    def _check_secret(self, read: Read) -> None:
        name = str(read.reference.path[1])
        if not is_secret_name(name):
            message = f"{shown(name)} cannot be the name of a secret; it has letters, digits, _ and -, at most 100"
            self._problems.add(read.field, message)

    def _report(self, read: Read, message: str | None) -> None:
        if read.reference.path[0] == SECRETS:
            message = _NO_SECRETS
        if message:
            at = f" (at character {read.reference.position + 1})"
            self._problems.add(read.field, f"{shown(read.reference.text)}: {message}{at}")

    def _problem(self, reference: Reference, reader: str | None) -> str | None:
        raise NotImplementedError

    def _unknown_name(self, root: str, roots: tuple[str, ...]) -> str:
        """Return what is wrong with a name that is not one of the form."""
        if root in ITEM_NAMES:
            return f"only the templates of {self.a_noun} with {self.map_key} know {root!r}"
        if root == "result":
            return "only 'collect' and 'until' know 'result'"
        names = (*roots, *self._also)
        hint = self._problems.did_you_mean(root, names) or f"; there is {', '.join(names)}"
        return f"unknown name {shown(root)}{hint}"

    def _part(self, whole: str, rest: list[str | int], parts: tuple[str, ...]) -> str | None:
        if rest and rest[0] in parts:
            return None
        choices = ", ".join(f"{whole}.{part}" for part in parts)
        if not rest:
            return f"name a part: {choices}"
        hint = self._problems.did_you_mean(str(rest[0]), parts) or f"; there is {choices}"
        return f"{whole} has no {rest[0]!r}{hint}"

    def _unread(self, name: str, reader: str | None) -> str | None:
        """Return why the result of a step cannot be read, or `None`."""
        if name not in self._kinds:
            return f"no {self.noun} {shown(name)}{self._problems.did_you_mean(name, self._kinds)}"
        if name == reader:
            return f"{self.a_noun} cannot read its own result"
        if reader is not None and reader in self._upstream and not self._upstream.includes(reader, name):
            return self._unneeded(name, reader)
        return None

    def _unneeded(self, name: str, reader: str) -> str:
        return f"no path of edges leads from {name!r} to {reader!r}, so its result may not be there"

    def _parts_of(self, name: str) -> tuple[str, ...]:
        """Return the parts of the result of a step."""
        return (*RESULTS, "run_id", "items") if self._kinds[name] is StepKind.SUBWORKFLOW else (*RESULTS, "items")

    def _variable(self, name: str) -> str | None:
        hint = self._problems.did_you_mean(name, self._vars) or "; write it under vars"
        return None if name in self._vars else f"no variable {shown(name)}{hint}"

    def _callback(self, name: str) -> str | None:
        if name not in self._kinds:
            return f"no {self.noun} {shown(name)}{self._problems.did_you_mean(name, self._waits or self._kinds)}"
        if self._kinds[name] not in {StepKind.WAIT, None}:
            return f"{name!r} is not a wait {self.noun}, so it has no callback URL"
        return None
