"""Changes of Django's models as entity events, written in the transaction that changes them.

    DETENT = {"ENTITIES": {"shop.Order": "order"}}

`Model.save()` and `Model.delete()` are recorded, also those of the admin. `QuerySet.update()`, `bulk_create()` and
`bulk_update()` send no signals and are not; record them with `detent.sync.record_change`. Deleting a query set is
recorded row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, Final

from django.db.models import Model
from django.db.models.signals import post_delete, post_save, pre_save

from detent.embed.changes import build_change, build_events, write_changes
from detent.embed.recorded_models import add_recorded_models
from detent.triggers.entities.event import RecordOperation

#: Who changes records in this context; a middleware may set it.
actor: Final[ContextVar[Any]] = ContextVar("detent_actor", default=None)
_BEFORE: Final = "_detent_before"


def record_changes(entities: Mapping[type[Model], str]) -> Callable[[], None]:
    """Record the changes of these models from now on. Return a function that stops it."""
    add_recorded_models(model.__name__ for model in entities)
    stops = [_listen(model, name) for model, name in entities.items()]

    def stop() -> None:
        for one in stops:
            one()

    return stop


def _listen(model: type[Model], entity: str) -> Callable[[], None]:
    columns = list(model._meta.concrete_fields)  # noqa: SLF001 - a documented name of Django

    names = [field.attname for field in columns]

    def read(sender: Any, *, instance: Any, raw: bool, using: str, **more: Any) -> None:
        before = None
        if not raw and not instance._state.adding:  # noqa: SLF001 - so are these
            rows = model._base_manager.using(using).filter(pk=instance.pk)  # noqa: SLF001
            before = rows.values(*names).first()
        setattr(instance, _BEFORE, before)

    def saved(sender: Any, *, instance: Any, created: bool, raw: bool, using: str, **more: Any) -> None:
        before = instance.__dict__.pop(_BEFORE, None)
        if raw:  # a fixture
            return
        after = _record(instance, columns)
        if created:
            _write(entity, RecordOperation.CREATE, instance, None, after, using)
        elif before != after:
            _write(entity, RecordOperation.UPDATE, instance, before, after, using)

    def deleted(sender: Any, *, instance: Any, using: str, **more: Any) -> None:
        _write(entity, RecordOperation.DELETE, instance, _record(instance, columns), None, using)

    pre_save.connect(read, sender=model, weak=False)
    post_save.connect(saved, sender=model, weak=False)
    post_delete.connect(deleted, sender=model, weak=False)

    def stop() -> None:
        pre_save.disconnect(read, sender=model)
        post_save.disconnect(saved, sender=model)
        post_delete.disconnect(deleted, sender=model)

    return stop


def _record(instance: Any, columns: list[Any]) -> dict[str, Any]:
    """Return the columns of an instance. A value that was assigned as text becomes what the column holds."""
    return {field.attname: field.to_python(getattr(instance, field.attname)) for field in columns}


def _write(
    entity: str,
    operation: RecordOperation,
    instance: Any,
    before: dict[str, Any] | None,
    after: dict[str, Any] | None,
    using: str,
) -> None:
    change = build_change(entity, operation, instance.pk, before, after, actor.get())
    write_changes(build_events([change]), None, using)
