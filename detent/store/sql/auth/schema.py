"""The tables of identity: keys, people, sessions, handshakes and the audit."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, Table, UniqueConstraint

from detent.store.sql.schema import ID, LONG, MOMENT, NAME, WORD, metadata

api_key = Table(
    "api_key",
    metadata,
    Column("id", WORD, primary_key=True),  # the public part of the key
    Column("tenant", Integer, nullable=False),
    Column("name", NAME, nullable=False),
    Column("hash", WORD, nullable=False),  # SHA-256 of the whole key, in hex
    Column("role", WORD),
    Column("scopes", LONG),  # a JSON list, instead of a role
    Column("workflows", LONG),  # a JSON list of the workflows that it may start; `null` means all
    Column("created_at", MOMENT, nullable=False),
    Column("created_by", LONG, nullable=False),
    Column("expires_at", MOMENT),
    Column("used_at", MOMENT),  # written at most once a day
    Column("revoked_at", MOMENT),
    sqlite_strict=True,
)
Index("api_key_list", api_key.c.tenant, api_key.c.id)

person = Table(
    "person",
    metadata,
    Column("id", ID, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("name", NAME, nullable=False),  # with which the person signs in
    Column("display_name", LONG, nullable=False),
    Column("email", LONG),
    Column("role", WORD, nullable=False),
    Column("password", LONG),  # an argon2 hash; `null` if the person cannot sign in with a password
    Column("created_at", MOMENT, nullable=False),
    Column("created_by", LONG, nullable=False),
    Column("changed_at", MOMENT, nullable=False),
    Column("disabled_at", MOMENT),
    UniqueConstraint("name"),
    sqlite_strict=True,
)
Index("person_list", person.c.tenant, person.c.id)

session = Table(
    "session",
    metadata,
    Column("hash", WORD, primary_key=True),  # SHA-256 of the cookie, in hex
    Column("id", ID, nullable=False),  # by which it is listed and revoked
    Column("tenant", Integer, nullable=False),
    Column("subject", NAME, nullable=False),  # `person:ID`, `key:ID` or `oidc:ISSUER:SUBJECT`
    Column("identity", LONG, nullable=False),  # JSON: name, scopes and principal at the time of the login
    Column("created_at", MOMENT, nullable=False),
    Column("seen_at", MOMENT, nullable=False),
    Column("expires_at", MOMENT, nullable=False),
    Column("address", LONG),
    Column("agent", LONG),
    UniqueConstraint("id"),
    sqlite_strict=True,
)
Index("session_list", session.c.tenant, session.c.id)
Index("session_subject", session.c.tenant, session.c.subject)
Index("session_expiry", session.c.expires_at)

#: What was begun in a browser and is finished by a redirect from another server. It is taken once.
handshake = Table(
    "handshake",
    metadata,
    Column("id", WORD, primary_key=True),  # SHA-256 of the state, in hex
    Column("tenant", Integer, nullable=False),
    Column("kind", WORD, nullable=False),  # `login` or `credential`
    Column("data", LONG, nullable=False),
    Column("expires_at", MOMENT, nullable=False),
    sqlite_strict=True,
)
Index("handshake_expiry", handshake.c.expires_at)

audit = Table(
    "audit",
    metadata,
    Column("id", ID, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("at", MOMENT, nullable=False),
    Column("actor", LONG, nullable=False),
    Column("via", WORD, nullable=False),
    Column("action", WORD, nullable=False),
    Column("kind", WORD, nullable=False),
    Column("object", NAME),
    Column("outcome", WORD, nullable=False),
    Column("reason", LONG),
    Column("address", LONG),
    Column("correlation", NAME),
    Column("detail", LONG),
    sqlite_strict=True,
)
Index("audit_list", audit.c.tenant, audit.c.id)
Index("audit_object", audit.c.tenant, audit.c.kind, audit.c.object, audit.c.id)
Index("audit_at", audit.c.at)
