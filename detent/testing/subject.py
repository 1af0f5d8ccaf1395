"""What is tested: a workflow however it is given, what it is started with, and what it is about."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Final

from detent.access.orders import UNSET, named, order_of, plain
from detent.engine.commands import Commands, Given
from detent.errors import InvalidDefinition, InvalidInput, NotFound
from detent.python.heroes import HeroRef, heroes
from detent.python.registry import CodeKind, registry
from detent.steps.actions import is_core
from detent.testing.answers import Response

_FILES: Final = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Definition:
    """A workflow that is text."""

    text: str
    filename: str | None = None


@dataclass(slots=True)
class Subject:
    """`name` is known when it was saved, if it is a definition."""

    name: str
    body: Any
    hero: tuple[str, str] | None
    definition: Definition | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)

    @property
    def given(self) -> Given:
        """What it is started with."""
        return Given(self.body, self.headers, self.query)

    async def save(self, commands: Commands) -> set[str]:
        """Save it, and every Python workflow it could start; gives the code that a node must have to run them."""
        code: set[str] = set()
        for one in registry.all():
            await commands.save_python(one.compiled, one.source)
            code.update(one.compiled.code)
        if self.definition is not None:
            code.update(await self._save_definition(commands, self.definition))
        return code

    async def _save_definition(self, commands: Commands, given: Definition) -> list[str]:
        try:
            row, _, compiled = await commands.save_workflow(given.text, filename=given.filename, replace=True)
        except InvalidDefinition as error:
            for problem in error.problems:
                error.add_note(f"  {problem}")
            raise
        self.name = row.name
        return [name for name in compiled.code if not is_core(name)]


def subject_of(workflow: Any, args: tuple[Any, ...], *, hero: Any, given: Any) -> Subject:
    """What the arguments of a test mean, or InvalidInput. `given` is UNSET if there is no input."""
    definition = _definition(workflow)
    known = named(workflow)[1] if definition is None else None
    if (known is None or known.kind is CodeKind.CHAIN) and len(args) == 1 and given is UNSET:
        given, args = args[0], ()
    pair = None if hero is None else ref_of(hero)
    if definition is None:
        order = order_of(workflow, args, {}, hero=pair, input=given)
        return Subject(order.workflow, order.body, order.hero)
    if args:
        raise InvalidInput("a definition takes one input and no other arguments")
    if isinstance(given, Response):
        return Subject("", plain(given.body), pair, definition, given.headers, given.query)
    return Subject("", plain({} if given is UNSET else given), pair, definition)


def _definition(workflow: Any) -> Definition | None:
    """The text of a definition; null for what is code."""
    match workflow:
        case Mapping():
            return Definition(json.dumps(workflow))
        case bytes():
            return Definition(workflow.decode())
        case PurePath():
            return _read(Path(workflow))
        case str() if "\n" in workflow or workflow.lstrip().startswith("{"):
            return Definition(workflow)
        case str() if workflow.endswith(_FILES):
            return _read(Path(workflow))
        case str() if named(workflow)[1] is None:
            known = ", ".join(registry.names()) or "none: import the module that defines it"
            raise NotFound(f"there is no workflow {workflow!r} here; there are {known}")
    return None


def _read(path: Path) -> Definition:
    try:
        return Definition(path.read_text(), path.name)
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from None


# -- heroes


def ref_of(hero: Any) -> HeroRef:
    """Type and id of any object: what nobody has registered is called by its class."""
    try:
        return heroes.ref(hero)
    except InvalidInput:
        if isinstance(hero, tuple) or not _is_plain(hero):
            raise
        id_ = next((found for name in ("id", "pk") if (found := getattr(hero, name, None)) is not None), 1)
        return HeroRef(type(hero).__name__, str(id_))


def _is_plain(hero: Any) -> bool:
    """Whether it is an object of some class of the test's, and no value such as a text."""
    return type(hero).__module__ != "builtins"


@contextmanager
def standing_in(hero: Any) -> Iterator[None]:
    """While this lasts, a hero whose type has no loader is loaded as this very object, refreshed if it can be."""
    if hero is None or isinstance(hero, tuple):
        yield
        return
    ref = ref_of(hero)
    loader = heroes.find_loader(ref.type)
    with ExitStack() as stack:
        if loader is None:
            loader = _StandIns()
            stack.enter_context(heroes.scoped())
            heroes.register(ref.type, load=loader)
        if isinstance(loader, _StandIns):
            stack.callback(loader.objects.pop, ref.id, None)
            loader.objects[ref.id] = hero
        yield


class _StandIns:
    """The loader of a type that has none of its own."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}

    def __call__(self, id_: str) -> Any:
        found = self.objects.get(id_)
        return None if found is None else _refreshed(found)


def _refreshed(hero: Any) -> Any:
    refresh = getattr(hero, "refresh_from_db", None)
    if refresh is not None:
        refresh()
    return hero
