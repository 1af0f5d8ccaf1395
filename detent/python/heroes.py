"""Heroes: the object that a run is about, as (type, id), and how a step loads it.

    heroes.register("User", load=find_user, cls=User)   # find_user(id) -> User | None, sync or async
    @heroes.loader("Order")
    async def load_order(id: str) -> Order | None: ...
    heroes.sqlalchemy(Session, User, Order)
    heroes.django(User)

A run stores only the type and the id. A loader returns None if the hero is gone.
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
    """The reference to a hero that a run stores."""

    type: str
    id: str


class HeroType(NamedTuple):
    """One type of heroes: how to load them by id, how to read their id, and their class."""

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
        """Register a type of heroes. Raise Conflict if the type is registered for another class.

        `load` loads a hero by its id. Objects of `cls` are heroes of this type; `of` returns the id of one, by default
        its attribute `id` (or `pk`).
        """
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
        """Register the decorated function as the loader of a type. The function itself is unchanged."""

        def register(function: Function) -> Function:
            self.register(name, load=function, cls=cls)
            return function

        return register

    def sqlalchemy(self, session: Callable[[], Any], *models: type[Any]) -> None:
        """Register models of SQLAlchemy. The type is the name of the class, the id is the primary key.

        Each hero is loaded in its own session from `session` (a sessionmaker or async_sessionmaker) and detached from
        it. A step loads the relations it needs by itself.
        """
        for model in models:
            adapter = SqlAlchemyModel(session, model)
            self.register(model.__name__, load=adapter.load, of=adapter.id_of, cls=model)

    def django(self, *models: type[Any]) -> None:
        """Register models of Django. The type is `app_label.Model`, the id is the primary key."""
        for model in models:
            adapter = DjangoModel(model)
            self.register(adapter.name, load=adapter.load, of=adapter.id_of, cls=model)

    @contextmanager
    def scoped(self) -> Iterator[None]:
        """Forget at the end of the `with` block what was registered inside it."""
        types, classes = dict(self._types), dict(self._classes)
        try:
            yield
        finally:
            for known, before in ((self._types, types), (self._classes, classes)):
                known.clear()
                known.update(before)  # type: ignore[arg-type]  # each pair has one type

    def find_loader(self, name: str) -> Loader | None:
        """Return the loader of a type, or None if its heroes stay references."""
        known = self._types.get(name)
        return None if known is None else known.load

    def ref(self, hero: Any) -> HeroRef:
        """Return the type and id of a hero. Raise InvalidInput if the object is not a hero.

        A hero is an object of a registered class, a ("type", id) pair, a model of Django or SQLAlchemy, or an object
        with `hero_type` and `hero_id`.
        """
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
    """Return the text if it is valid, else raise InvalidInput. A query must be able to find runs by `type:id`."""
    if isinstance(text, str) and text.strip() and len(text) <= LONGEST and not _NEVER[what].search(text):
        return text
    without = "no control character" + (" and no colon" if what == "type" else "")
    raise InvalidInput(
        f"{text!r:.80} cannot be the {what} of a hero; it is text of 1 to {LONGEST} characters, {without}"
    )


def _is_same(known: type[Any], cls: type[Any]) -> bool:
    """Return whether both are one class. A module that is loaded again defines the same class again."""
    return known is cls or (known.__module__, known.__qualname__) == (cls.__module__, cls.__qualname__)


heroes: Final = Heroes()
hero: Final = heroes.ref
