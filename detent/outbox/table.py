"""The table `detent_outbox`, and the row of one start in it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

NAME: Final = "detent_outbox"
#: In place of a workflow: the row is a change of a record. No workflow can have that name.
EVENT: Final = "/event"

#: `seq` is the order in which rows are started. A row with an `error` is not read again until a person sets it to NULL.
CREATE: Final[Mapping[str, str]] = {
    "sqlite": f"""create table if not exists {NAME} (
        seq integer primary key autoincrement, id text not null unique, workflow text not null, body text not null,
        options text not null, created_at integer not null, error text)""",
    "postgresql": f"""create table if not exists {NAME} (
        seq bigint generated always as identity primary key, id text not null unique, workflow text not null,
        body text not null, options text not null, created_at bigint not null, error text)""",
    "mysql": f"""create table if not exists {NAME} (
        seq bigint not null auto_increment primary key, id varchar(32) not null unique, workflow varchar(255) not null,
        body longtext not null, options longtext not null, created_at bigint not null, error text)
        engine=InnoDB default charset=utf8mb4 collate=utf8mb4_bin""",
}
INSERT: Final = f"""insert into {NAME} (id, workflow, body, options, created_at)
values (:id, :workflow, :body, :options, :created_at)"""
#: When the oldest row was written that waits to be read.
OLDEST: Final = f"select min(created_at) from {NAME} where error is null"
BATCH: Final = 100


class OutboxRow(NamedTuple):
    """One start that waits in the outbox."""

    seq: int
    id: str
    workflow: str
    body: str
    options: str


def read(without: Sequence[int]) -> str:
    """Return the query for the next rows, except `without`."""
    others = f" and seq not in ({', '.join(str(int(seq)) for seq in without)})" if without else ""
    return f"select seq, id, workflow, body, options from {NAME} where error is null{others} order by seq limit {BATCH}"


def event_row(id_: bytes, data: bytes, created_at: int) -> dict[str, str | int]:
    """Return the values of a row that is a change of a record. `data` is the event as JSON."""
    return {"id": id_.hex(), "workflow": EVENT, "body": data.decode(), "options": "{}", "created_at": created_at}


def row_of(id_: bytes, workflow: str, body: Any, options: Mapping[str, Any], created_at: int) -> dict[str, str | int]:
    """Return the values of a row. `options` are those of the start, by name; `None` values are left out."""
    given = {name: value for name, value in options.items() if value is not None}
    return {
        "id": id_.hex(),
        "workflow": workflow,
        "body": msgspec.json.encode(body).decode(),
        "options": json.dumps(given),
        "created_at": created_at,
    }
