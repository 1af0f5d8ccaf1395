"""Heroes that are models of SQLAlchemy or Django. Django need not be installed."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from sqlalchemy.exc import UnboundExecutionError

from detent.errors import InvalidInput

_HERE: Final = (None, "", "localhost", "127.0.0.1", "::1")


class SqlAlchemyModel:
    """One mapped class. Its id is its primary key; a composite one is written as a JSON list."""

    def __init__(self, session: Callable[[], Any] | None, model: type[Any]) -> None:
        mapper = getattr(model, "__mapper__", None)
        if mapper is None:
            raise InvalidInput(f"{model.__qualname__} is not a mapped class of SQLAlchemy")
        self._session, self._model, self.name = session, model, model.__name__
        self._keys = [mapper.get_property_by_column(column).key for column in mapper.primary_key]
        self._types = [_python_type(column) for column in mapper.primary_key]
        self.load: Callable[[str], Any] = self._load_async if _is_async(session) else self._load

    @classmethod
    def of(cls, hero: Any) -> SqlAlchemyModel | None:
        """The adapter of an object, if it is one of these."""
        return cls(None, type(hero)) if hasattr(type(hero), "__mapper__") else None

    def id_of(self, hero: Any) -> Any:
        """The primary key, a composite one as text; null while it has none."""
        parts = [getattr(hero, key) for key in self._keys]
        if None in parts:
            return None
        return parts[0] if len(parts) == 1 else json.dumps(parts, default=str, separators=(",", ":"))

    def _identity(self, id_: str) -> Any:
        try:
            parts = [id_] if len(self._keys) == 1 else json.loads(id_)
            values = tuple(make(part) for make, part in zip(self._types, parts, strict=True))
        except (ValueError, TypeError):
            raise InvalidInput(f"{id_!r} is not the key of a {self.name}") from None
        return values if len(values) > 1 else values[0]

    def _load(self, id_: str) -> Any:
        assert self._session is not None
        with self._session() as session:
            found = session.get(self._model, self._identity(id_))
            if found is not None:
                session.expunge(found)
            return found

    async def _load_async(self, id_: str) -> Any:
        assert self._session is not None
        async with self._session() as session:
            found = await session.get(self._model, self._identity(id_))
            if found is not None:
                session.expunge(found)
            return found

    def is_at_home(self, session: Any) -> bool:
        """Whether that session, plain or async, is of the database that heroes are loaded from."""
        if self._session is None:
            return False
        own = self._session()
        return _place(own, self._model) == _place(session, self._model)

    def load_in(self, session: Any, hero: Any) -> Any:
        """The row of a hero that was loaded before, in that session; an awaitable if the session is async."""
        return session.get(self._model, tuple(getattr(hero, key) for key in self._keys))


def owner_of(load: Callable[[str], Any] | None) -> SqlAlchemyModel | None:
    """The adapter whose loader this is; null if it is the user's own."""
    owner = getattr(load, "__self__", None)
    return owner if isinstance(owner, SqlAlchemyModel) else None


class DjangoModel:
    """One model. `name` is `app_label.Model`, as Django spells it everywhere."""

    def __init__(self, model: type[Any]) -> None:
        meta = getattr(model, "_meta", None)
        if meta is None or not hasattr(meta, "label"):
            raise InvalidInput(f"{model.__qualname__} is not a model of Django")
        self._model, self.name = model, str(meta.label)

    @classmethod
    def of(cls, hero: Any) -> DjangoModel | None:
        """The adapter of an object, if it is one of these."""
        return cls(type(hero)) if hasattr(getattr(hero, "_meta", None), "label") else None

    def id_of(self, hero: Any) -> Any:
        """The primary key; null while it has none."""
        return hero.pk

    def load(self, id_: str) -> Any:
        """The object, or null. A plain function: Django's connections belong to threads, and one that its server has
        closed meanwhile is opened anew."""
        from django.db import close_old_connections

        close_old_connections()
        return self._model._base_manager.filter(pk=id_).first()  # noqa: SLF001 - the way to rows a manager hides


def _is_async(session: Any) -> bool:
    """Whether a session maker makes async sessions, which are entered asynchronously."""
    made = getattr(session, "class_", None) or (session if isinstance(session, type) else None)
    return hasattr(made, "__aenter__") if made is not None else inspect.iscoroutinefunction(session)


def _place(session: Any, model: type[Any]) -> tuple[Any, ...] | None:
    """The database of a session, however its driver is called; nothing is connected to. Null if it has none."""
    try:
        url = session.get_bind(model.__mapper__).engine.url
    except UnboundExecutionError:
        return None
    return url.get_backend_name(), "" if url.host in _HERE else url.host, url.port, url.database


def _python_type(column: Any) -> Callable[[str], Any]:
    try:
        kind = column.type.python_type
    except NotImplementedError:
        return str
    return kind if kind in (int, UUID) else str
