"""The table of statements that are about rows of every tenant, each with its reason.

Every other statement has the tenant in its conditions. A row of another tenant is then not found, as if it did not
exist, and no code compares tenants afterwards. A test walks all statements and refuses one that has neither the
condition nor a line here.

A key is a module below `detent.store.sql`, or a module and the name of one of its statements.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_NODE: Final = "the engine's own loops: a node owns runs of every tenant, and each row has its tenant"
_SWEEP: Final = "retention and maintenance: what is old is deleted by its age"
_WORK: Final = "the workers of triggers and events: due work of every tenant, and each row has its tenant"
_BY_TOKEN: Final = "a callback is found by its token, whose signature is the permission"
_ADDRESS: Final = "a public address has no tenant in it; its id finds the tenant"
_HANDSHAKE: Final = "a login has no tenant yet; the random id of its handshake is the permission"
_IDENTITY: Final = "the authenticator finds the tenant of a caller"
_INSTALLATION: Final = "numbers of the whole installation, which need the scope metrics:read"
_PART: Final = "a part of other statements, which add the condition"

ENGINE_STATEMENTS: Final[Mapping[str, str]] = {
    # Whole modules.
    "postgres.node": _NODE,
    "postgres.flush": _NODE,
    "postgres.maintenance": _SWEEP,
    "postgres.partitions": _SWEEP,
    "postgres.migration": _SWEEP,
    "postgres.hints": _NODE,
    "postgres.connection": _NODE,
    "mysql.node": _NODE,
    "mysql.flush": _NODE,
    "mysql.maintenance": _SWEEP,
    "mysql.migration": _SWEEP,
    "mysql.connection": _NODE,
    "sqlite.node": _NODE,
    "sqlite.maintenance": _SWEEP,
    "sqlite.connection": _NODE,
    "user_connection": "statements of a user's own transaction",
    # Logs of steps.
    "logs.verbs:_OLD": _SWEEP,
    "logs.verbs:_DROP": _SWEEP,
    # Blobs.
    "blobs.verbs:_DROP": _SWEEP,
    "blobs.verbs:_DROP_USES": _SWEEP,
    "blobs.verbs:_FIRINGS": _SWEEP,
    "blobs.verbs:_LETTERS": _SWEEP,
    "blobs.verbs:_LOCK_OLD": _SWEEP,
    "blobs.verbs:_RUNS": _SWEEP,
    "blobs.verbs:_TOUCH": _SWEEP,
    "blobs.verbs:_USED": _SWEEP,
    "blobs.verbs:_old_blobs": _SWEEP,
    "blobs.verbs:_old_uses": _SWEEP,
    "blobs.verbs:_stale_uploads": _SWEEP,
    # Callbacks.
    "postgres.commands:DELIVER": _BY_TOKEN,
    "postgres.commands:DELIVER_MANY": _BY_TOKEN,
    "postgres.commands:AUDITED_DELIVER": _BY_TOKEN,
    "postgres.commands:DECIDE": _BY_TOKEN,
    "postgres.commands:AUDITED_DECIDE": _BY_TOKEN,
    "mysql.commands:LOCK_OPEN": _BY_TOKEN,
    "mysql.commands:COUNT_OPEN": _BY_TOKEN,
    "mysql.commands:DECIDE": _BY_TOKEN,
    "mysql.commands:CLOSE_OTHERS": _BY_TOKEN,
    "sqlite.commands:DECIDE": _BY_TOKEN,
    "sqlite.commands:CLOSE_OTHERS": _BY_TOKEN,
    "mysql.commands:RECEIVE": _BY_TOKEN,
    "mysql.commands:POST": _BY_TOKEN,
    "mysql.commands:ANSWER": _BY_TOKEN,
    "mysql.commands:LOCK_MANY": _BY_TOKEN,
    "sqlite.commands:RECEIVE": _BY_TOKEN,
    "sqlite.commands:RECEIVE_MANY": _BY_TOKEN,
    "sqlite.commands:POST_MANY": _BY_TOKEN,
    "statements:CALLBACK": _BY_TOKEN,
    # Public addresses and callers.
    "tenants.verbs:TENANT_OF_RUN": _ADDRESS,
    "tenants.verbs:TENANT_OF_TRIGGER": _ADDRESS,
    "tenants.verbs:TENANT_OF_WORKFLOW": _ADDRESS,
    "auth.keys:_KEY": _IDENTITY,
    "auth.keys:_USE": _IDENTITY,
    "auth.people:_PERSON_NAMED": _IDENTITY,
    "auth.people:_SESSION": _IDENTITY,
    "auth.people:_SEE_SESSION": _IDENTITY,
    "auth.people:_HANDSHAKE": _HANDSHAKE,
    "auth.people:_TAKE_HANDSHAKE": _HANDSHAKE,
    "vault.secrets:_TENANT": _NODE,
    "auth.audit:_FINISH": "writes the end of a row that this process has just begun, by its random id",
    # The engine and its workers.
    "statements:OWNED": _NODE,
    "statements:CLOSED_WAITS": _NODE,
    "statements:RUNS_AMONG": "the children of runs that a node owns, by the ids in their journals",
    "workflow_statements:ARCHIVED": _NODE,
    "link_verbs:ORIGIN": "the origins of a run that a node owns",
    "vault.secrets:_CHANGED": "a node learns which secrets it knows have changed",
    "vault.credentials:AWAITING": _WORK,
    **{
        f"vault.signatures:LIST_{name}": "a node with a key seals the secrets in texts of older releases"
        for name in ("SOURCES", "FACTS", "DRAFTS", "WORKFLOWS", "TRIGGERS")
    },
    "statements:DUE_TRIGGERS": _WORK,
    "statements:DUE_FIRINGS": _WORK,
    "events.verbs:DUE": _WORK,
    "events.verbs:FAR": _WORK,
    "events.verbs:LET": _WORK,
    "events.verbs:TAKEN": _WORK,
    "events.verbs:DROP": _WORK,
    "events.verbs:KEEP": _WORK,
    "events.verbs:COUNT": _WORK,
    "events.verbs:ANY_DUE": _WORK,
    "postgres.events:ADD": "adds events with their tenants, and reads the revisions of their entities",
    "postgres.events:TAKE": _WORK,
    "postgres.events:TAKE_FAR": _WORK,
    "mysql.events:REVISIONS": _WORK,
    # Retention.
    "statements:OLD_FIRINGS": _SWEEP,
    "statements:REMEMBER": _SWEEP,
    "statements:DELETE_FIRINGS": _SWEEP,
    "rule_statements:OLD_ALERTS": _SWEEP,
    "rule_statements:DROP_ALERTS": _SWEEP,
    "auth.audit:_OLD": _SWEEP,
    "auth.audit:_DROP": _SWEEP,
    "auth.people:_DROP_SESSIONS": _SWEEP,
    "auth.people:_DROP_HANDSHAKES": _SWEEP,
    "letter_verbs:OLD": _SWEEP,
    "letter_verbs:DROP_OLD": _SWEEP,
    "workflow_statements:DROP_STORED_DRAFT": _SWEEP,
    # The installation.
    "overview_statements:OWNED_COUNTS": _INSTALLATION,
    "overview_statements:OWNED_QUEUES": _INSTALLATION,
    "overview_statements:NEXT_QUEUE": _INSTALLATION,
    "overview_statements:LANE": _INSTALLATION,
    "run_statements:NEXT_DUE_LANE": "finds the queues in which LATE then looks for runs of one tenant",
    "run_statements:NEXT_OWNER": "finds the nodes of which OWNED_BY then looks for runs of one tenant",
    # Parts.
    "statements:_TRIGGERS": _PART,
    "statements:_FIRINGS": _PART,
    "auth.people:_PEOPLE": _PART,
    "auth.people:_SESSIONS": _PART,
    "letter_verbs:_LETTERS": _PART,
    "link_verbs:_LINKS": _PART,
    "rule_statements:_ALERTS": _PART,
    "template_statements:_ENABLE": _PART,
}
