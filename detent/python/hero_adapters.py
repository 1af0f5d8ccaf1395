"""Heroes that are models of SQLAlchemy or Django. Django need not be installed."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any, Final
from uuid import UUID

from sqlalchemy.exc import UnboundExecutionError
from sqlalchemy.types import TypeDecorator

from detent.errors import InvalidInput

Reader = Callable[[Any], Any]

_HERE: Final = (None, "", "localhost", "127.0.0.1", "::1")
#: How the text of an id becomes a value of that type again.
_READERS: Final[dict[type[Any], Reader]] = {
    str: str,
    bool: lambda part: {"true": True, "false": False}[str(part).lower()],
    int: int,
    float: float,
    UUID: UUID,
    Decimal: Decimal,
    date: date.fromisoformat,
    datetime: datetime.fromisoformat,
    time: time.fromisoformat,
}


class UnreadableHero(InvalidInput):
    """The stored id of a hero is not a valid key of its model. This does not mean that the hero is gone."""


def write_id(id_: object) -> str:
    """Return an id as text. Raise InvalidInput if it has no text of its own, only a `repr`."""
    if isinstance(id_, str):
        return str.__str__(id_)
    if isinstance(id_, int | float) and not isinstance(id_, bool):
        return str(id_.real)
    if isinstance(id_, bool | bytes | bytearray) or type(id_).__str__ is object.__str__:
        raise InvalidInput(
            f"{id_!r:.80} cannot be the id of a hero; give a text or a number, or a value whose text identifies it, "
            "such as a UUID"
        )
    return str(id_)


class SqlAlchemyModel:
    """One mapped class. Its id is its primary key; a composite one is written as a JSON list."""

    def __init__(self, session: Callable[[], Any] | None, model: type[Any]) -> None:
        mapper = getattr(model, "__mapper__", None)
        if mapper is None:
            raise InvalidInput(f"{model.__qualname__} is not a mapped class of SQLAlchemy")
        self._session, self._model, self.name = session, model, model.__name__
        self._keys = [mapper.get_property_by_column(column).key for column in mapper.primary_key]
        self._readers = [_reader(column) for column in mapper.primary_key]
        #: Types of key columns whose values only their own code can parse from a text.
        self._opaque = [type(column.type).__name__ for column in mapper.primary_key if _is_opaque(column)]
        self.load: Callable[[str], Any] = self._load_async if _is_async(session) else self._load

    @classmethod
    def of(cls, hero: Any) -> SqlAlchemyModel | None:
        """Return the adapter of a mapped object, or None for any other object."""
        return cls(None, type(hero)) if hasattr(type(hero), "__mapper__") else None

    def id_of(self, hero: Any) -> Any:
        """Return the primary key, a composite one as text, or None if the object has none yet."""
        parts = [getattr(hero, key) for key in self._keys]
        if None in parts:
            return None
        return parts[0] if len(parts) == 1 else json.dumps(parts, default=str, separators=(",", ":"))

    def _identity(self, id_: str) -> Any:
        try:
            parts = [id_] if len(self._keys) == 1 else json.loads(id_)
            values = tuple(read(part) for read, part in zip(self._readers, parts, strict=True))
        except (ValueError, TypeError, LookupError, ArithmeticError):
            raise UnreadableHero(f"{id_!r} is not the key of a {self.name}") from None
        return values if len(values) > 1 else values[0]

    def _load(self, id_: str) -> Any:
        assert self._session is not None
        with self._session() as session:
            found = session.get(self._model, self._identity(id_))
            if found is not None:
                session.expunge(found)
            return self._checked(id_, found)

    async def _load_async(self, id_: str) -> Any:
        assert self._session is not None
        async with self._session() as session:
            found = await session.get(self._model, self._identity(id_))
            if found is not None:
                session.expunge(found)
            return self._checked(id_, found)

    def _checked(self, id_: str, found: Any) -> Any:
        """Return the row, or None if it is gone. Raise UnreadableHero if the key was perhaps parsed wrongly."""
        if found is None and self._opaque:
            raise UnreadableHero(
                f"no {self.name} has the key {id_!r}, but {self._opaque[0]}, the type of its column, may "
                f"write it otherwise; give a loader that reads it: heroes.register({self.name!r}, load=...)"
            )
        return found

    def is_at_home(self, session: Any) -> bool:
        """Return whether that session, plain or async, uses the database that heroes are loaded from."""
        if self._session is None:
            return False
        own = self._session()
        return _place(own, self._model) == _place(session, self._model)

    def load_in(self, session: Any, hero: Any) -> Any:
        """Load a hero again in that session. Return its row, or an awaitable of it if the session is async."""
        return session.get(self._model, tuple(getattr(hero, key) for key in self._keys))


def owner_of(load: Callable[[str], Any] | None) -> SqlAlchemyModel | None:
    """Return the adapter that owns this loader, or None if the loader is the user's own."""
    owner = getattr(load, "__self__", None)
    return owner if isinstance(owner, SqlAlchemyModel) else None


class DjangoModel:
    """One model of Django. `name` is its label, `app_label.Model`."""

    def __init__(self, model: type[Any]) -> None:
        meta = getattr(model, "_meta", None)
        if meta is None or not hasattr(meta, "label"):
            raise InvalidInput(f"{model.__qualname__} is not a model of Django")
        self._model, self.name = model, str(meta.label)

    @classmethod
    def of(cls, hero: Any) -> DjangoModel | None:
        """Return the adapter of a Django object, or None for any other object."""
        return cls(type(hero)) if hasattr(getattr(hero, "_meta", None), "label") else None

    def id_of(self, hero: Any) -> Any:
        """Return the primary key, or None if the object has none yet."""
        return hero.pk

    def load(self, id_: str) -> Any:
        """Return the object, or None if it is gone. Raise UnreadableHero if the id is not a valid key.

        This is a plain function because Django's connections belong to threads. A connection that the server has closed
        is opened again.
        """
        from django.core.exceptions import ValidationError
        from django.db import close_old_connections

        close_old_connections()
        try:
            key = self._model._meta.pk.to_python(id_)  # noqa: SLF001 - the documented way to the fields of a model
        except (ValidationError, ValueError, TypeError):
            raise UnreadableHero(f"{id_!r} is not the key of a {self.name}") from None
        return self._model._base_manager.filter(pk=key).first()  # noqa: SLF001 - the way to rows a manager hides


def _is_async(session: Any) -> bool:
    """Return whether a session maker makes async sessions, which have `__aenter__`."""
    made = getattr(session, "class_", None) or (session if isinstance(session, type) else None)
    return hasattr(made, "__aenter__") if made is not None else inspect.iscoroutinefunction(session)


def _place(session: Any, model: type[Any]) -> tuple[Any, ...] | None:
    """Return the database of a session, whatever its driver, or None if it has none. Open no connection."""
    try:
        url = session.get_bind(model.__mapper__).engine.url
    except UnboundExecutionError:
        return None
    return url.get_backend_name(), "" if url.host in _HERE else url.host, url.port, url.database


def _python_type(column: Any) -> type[Any] | None:
    try:
        found: type[Any] = column.type.python_type
    except NotImplementedError:
        return None
    return found


def _is_opaque(column: Any) -> bool:
    """Return whether only the column's own code can parse a key: a user's TypeDecorator, or an unknown Python type."""
    own = isinstance(column.type, TypeDecorator)
    overrides = own and type(column.type).process_bind_param is not TypeDecorator.process_bind_param
    return overrides or (_python_type(column) not in _READERS and not _is_enum(_python_type(column)))


def _is_enum(kind: type[Any] | None) -> bool:
    return kind is not None and issubclass(kind, Enum)


def _reader(column: Any) -> Reader:
    """Return the function that parses the value of a key column from its text or its part of a composite key."""
    kind = _python_type(column)
    if kind is None or not issubclass(kind, Enum):
        return str if kind is None else _READERS.get(kind, str)
    # A member is found by the text that we write, then by its name or value, which other programs may have sent.
    members = list(kind.__members__.items())
    texts = {str(member.value): member for _, member in members} | dict(members)
    texts |= {write_id(member): member for _, member in members}
    return lambda part: texts[str(part)]
