"""Heroes: what a run is about, as (type, id), and how the object is found again.

    heroes.register("User", load=find_user, cls=User)   # find_user(id) -> User | None, sync or async
    @heroes.loader("Order")
    async def load_order(id: str) -> Order | None: ...
    heroes.sqlalchemy(Session, User, Order)
    heroes.django(User)

A run keeps only the type and the id. A loader that gives None says that the hero is gone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, TypeVar

from detent.errors import Conflict, InvalidInput
from detent.python.hero_adapters import DjangoModel, SqlAlchemyModel, write_id
from detent.values.nearest import nearest

Loader = Callable[[str], Any]
Function = TypeVar("Function", bound=Callable[..., Any])
LONGEST: Final = 200
_NEVER: Final = {
    "type": re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff:]"),
    "id": re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"),
}


class HeroRef(NamedTuple):
    """What a run keeps of its hero."""

    type: str
    id: str


class HeroType(NamedTuple):
    """How heroes of one type are found by their id, and known by their class."""

    name: str
    load: Loader | None
    id_of: Callable[[Any], Any]
    cls: type[Any] | None


class Heroes:
    """The types of heroes this process knows."""

    def __init__(self) -> None:
        self._types: dict[str, HeroType] = {}
        self._classes: dict[type[Any], HeroType] = {}

    def register(
        self,
        name: str,
        *,
        load: Loader | None = None,
        of: Callable[[Any], Any] | None = None,
        cls: type[Any] | None = None,
    ) -> None:
        """Say how heroes of that type are loaded (`load`), and how objects of `cls` are named: `of` gives the id, by
        default their attribute `id` (or `pk`)."""
        _check(name, "type")
        known = self._types.get(name)
        if known is not None and cls is not None and known.cls is not None and not _is_same(known.cls, cls):
            raise Conflict(f"heroes of type {name!r} are {known.cls.__qualname__} already, not {cls.__qualname__}")
        load = load or (known.load if known else None)
        one = HeroType(name, load, of or (known.id_of if known else _id_of), cls or (known.cls if known else None))
        self._types[name] = one
        if one.cls is not None:
            self._classes[one.cls] = one

    def loader(self, name: str, cls: type[Any] | None = None) -> Callable[[Function], Function]:
        """Register the decorated function as the loader of a type; it stays callable as it was."""

        def register(function: Function) -> Function:
            self.register(name, load=function, cls=cls)
            return function

        return register

    def sqlalchemy(self, session: Callable[[], Any], *models: type[Any]) -> None:
        """Models of SQLAlchemy: named by their class, known by their primary key, loaded in a session of their own that
        `session` makes (a sessionmaker or async_sessionmaker). They are detached from it: what a step needs of their
        relations it loads itself."""
        for model in models:
            adapter = SqlAlchemyModel(session, model)
            self.register(model.__name__, load=adapter.load, of=adapter.id_of, cls=model)

    def django(self, *models: type[Any]) -> None:
        """Models of Django: named `app_label.Model`, known by their primary key."""
        for model in models:
            adapter = DjangoModel(model)
            self.register(adapter.name, load=adapter.load, of=adapter.id_of, cls=model)

    @contextmanager
    def scoped(self) -> Iterator[None]:
        """What is registered while this lasts is forgotten afterwards."""
        types, classes = dict(self._types), dict(self._classes)
        try:
            yield
        finally:
            for known, before in ((self._types, types), (self._classes, classes)):
                known.clear()
                known.update(before)  # type: ignore[arg-type]  # each with what it had itself

    def find_loader(self, name: str) -> Loader | None:
        """The loader of a type; null where its heroes stay references."""
        known = self._types.get(name)
        return None if known is None else known.load

    def ref(self, hero: Any) -> HeroRef:
        """The type and id of a hero: of a registered class, a ("type", id) pair, or an object with `hero_type` and
        `hero_id`. InvalidInput if it is none of these."""
        if isinstance(hero, tuple) and len(hero) == 2:
            return _checked(*hero)
        for kind in type(hero).__mro__:
            known = self._classes.get(kind)
            if known is not None:
                return _checked(known.name, known.id_of(hero))
        if hasattr(hero, "hero_type") and hasattr(hero, "hero_id"):
            return _checked(hero.hero_type, hero.hero_id)
        adapter = DjangoModel.of(hero) or SqlAlchemyModel.of(hero)
        if adapter is not None:
            return _checked(adapter.name, adapter.id_of(hero))
        name = type(hero).__qualname__
        near = nearest(name, self._types)
        hint = f"; did you mean {near!r}?" if near and near != name else ""
        raise InvalidInput(
            f"a {name} is not known as a hero: register its class with heroes.register, or give (type, id){hint}"
        )


def _id_of(hero: Any) -> Any:
    return getattr(hero, "id", None) if hasattr(hero, "id") else getattr(hero, "pk", None)


def _checked(name: object, id_: object) -> HeroRef:
    if id_ is None:
        raise InvalidInput(f"a hero of type {name!r} has no id yet; save it first")
    return HeroRef(_check(name, "type"), _check(write_id(id_), "id"))


def _check(text: object, what: str) -> str:
    """Whatever it is, runs must be found by it: as `type:id`, in a query."""
    if isinstance(text, str) and text.strip() and len(text) <= LONGEST and not _NEVER[what].search(text):
        return text
    without = "no control character" + (" and no colon" if what == "type" else "")
    raise InvalidInput(
        f"{text!r:.80} cannot be the {what} of a hero; it is text of 1 to {LONGEST} characters, {without}"
    )


def _is_same(known: type[Any], cls: type[Any]) -> bool:
    """A module that is loaded again defines the same class again."""
    return known is cls or (known.__module__, known.__qualname__) == (cls.__module__, cls.__qualname__)


heroes: Final = Heroes()
hero: Final = heroes.ref
