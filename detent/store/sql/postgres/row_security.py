"""Row security: the database itself keeps the tenants apart for the commands.

The commands of a tenant use sessions of the role `detent_commands`. Their policy lets them see and write only the rows
of the tenant that the session names. A statement that forgets its condition on the tenant then finds the rows of one
tenant, and none if the session names no tenant. The engine uses its own login and is not restricted: one flush writes
rows of many tenants.

Each table gets two policies. The first allows everything, so that a login that does not own the tables goes on
working. The second restricts the role.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import asyncpg

from detent.errors import SchemaMismatch, StoreError
from detent.store.catalog_rows import EVERY_TENANT
from detent.store.sql.postgres.connection import TENANT_SETTING, Address, Connection, connect, translated
from detent.store.sql.schema import metadata

#: The role of the commands. Databases of one server may share it: it cannot log in and owns nothing.
ROLE: Final = "detent_commands"
#: Tables without tenants that commands use, and for what.
_SHARED: Final = {"setting": "select, insert, update", "seen": "select", "node": "select", "lease": "select"}
#: Tables whose rows may be of the installation. Every tenant reads those, and none writes them.
_OF_INSTALLATION: Final = frozenset({"connector", "action"})
_OPEN: Final = "detent_open"
_RESTRICTED: Final = "detent_tenant"
_DELETION: Final = "detent_tenant_delete"
_MIGRATE: Final = "run `detent migrate` with DETENT_ROW_SECURITY=true"
_CURRENT: Final = f"nullif(current_setting('{TENANT_SETTING}', true), '')::int"

_EXISTING: Final = "select name from unnest($1::text[]) name where to_regclass(name) is not null order by name"
#: The tables that lack row security or one of their policies.
_MISSING: Final = f"""
select c.relname from pg_class c where c.oid = any(select to_regclass(name) from unnest($1::text[]) name)
  and not (c.relrowsecurity and (
    select count(*) from pg_policy p where p.polrelid = c.oid and p.polname in ('{_OPEN}', '{_RESTRICTED}')) = 2)
order by c.relname"""
_HAS_ROLE: Final = "select exists (select 1 from pg_roles where rolname = $1)"
_SEQUENCES: Final = """
select d.objid::regclass::text from pg_depend d join pg_class s on s.oid = d.objid and s.relkind = 'S'
where d.refobjid = any(select to_regclass(name) from unnest($1::text[]) name) and d.deptype in ('a', 'i')"""
#: Whether the login is under the policies of the role: it inherits the role and does not bypass row security.
_IS_RESTRICTED: Final = "select pg_has_role($1, 'usage') and row_security_active('run')"
_OPEN_TABLES: Final = """
select name from unnest($1::text[]) name
where not row_security_active(name) or not has_table_privilege(name, 'select') order by name"""

Repeat = Callable[[Callable[[], Awaitable[None]]], Awaitable[None]]


def owner_of(table: str) -> str:
    """Return the column of a table that says of which tenant a row is."""
    return "id" if table == "tenant" else "tenant"


def protected_tables() -> list[str]:
    """Return the tables that have rows of tenants, and the table of tenants."""
    return sorted({"tenant", *(name for name, table in metadata.tables.items() if "tenant" in table.c)})


async def secure(connection: Connection, address: Address, repeat: Repeat) -> None:
    """Create the role and the policies, as far as they do not exist. Raise StoreError with the SQL to run if the login
    has not the right to."""
    tables = [row[0] for row in await connection.fetch(_EXISTING, protected_tables())]
    if not await connection.fetchval(_HAS_ROLE, ROLE):
        await _create_role(connection)
    await _grant(connection, address, tables)
    for table in [row[0] for row in await connection.fetch(_MISSING, tables)]:

        async def protect(statements: str = ";\n".join(_policies(table))) -> None:
            with translated(writing=True):
                async with connection.transaction():
                    await connection.execute("set local lock_timeout = '2s'")
                    await connection.execute(statements)

        await repeat(protect)


async def _create_role(connection: Connection) -> None:
    login = await connection.fetchval("select quote_ident(session_user)")
    try:
        async with connection.transaction():
            await connection.execute(f"create role {ROLE} nologin")
            await connection.execute(f"grant {ROLE} to {login}")
    except (asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError):
        return  # a migration of another database of this server was faster
    except asyncpg.InsufficientPrivilegeError:
        raise StoreError(
            f"DETENT_ROW_SECURITY needs the role {ROLE}, and {login} may not create roles; run this as an "
            f"administrator, then `detent migrate` again: create role {ROLE} nologin; grant {ROLE} to {login};"
        ) from None


async def _grant(connection: Connection, address: Address, tables: list[str]) -> None:
    statements = [f"grant select, insert, update, delete on {', '.join(map(_quoted, tables))} to {ROLE}"]
    statements += (f"grant {rights} on {table} to {ROLE}" for table, rights in _SHARED.items())
    sequences = [row[0] for row in await connection.fetch(_SEQUENCES, tables)]
    statements += (f"grant usage on sequence {name} to {ROLE}" for name in sequences)
    if address.schema is not None:
        statements.append(f"grant usage on schema {address.schema} to {ROLE}")
    with translated(writing=True):
        await connection.execute(";\n".join(statements))


def _policies(table: str) -> list[str]:
    """Return the statements that put one table under row security."""
    name, own = _quoted(table), f"{owner_of(table)} = {_CURRENT}"
    seen = f"{own} or tenant = {EVERY_TENANT}" if table in _OF_INSTALLATION else own
    made = {
        _OPEN: "using (true) with check (true)",
        _RESTRICTED: f"as restrictive to {ROLE} using ({seen}) with check ({own})",
    }
    if seen != own:
        made[_DELETION] = f"as restrictive for delete to {ROLE} using ({own})"
    return [
        *(f"drop policy if exists {policy} on {name}" for policy in made),
        *(f"create policy {policy} on {name} {rule}" for policy, rule in made.items()),
        f"alter table {name} enable row level security",
    ]


async def require_secured(address: Address) -> None:
    """Raise SchemaMismatch if the database does not keep tenants apart as DETENT_ROW_SECURITY wants it."""
    connection = await connect(address)
    try:
        with translated(writing=False):
            if not await connection.fetchval(_HAS_ROLE, ROLE):
                raise SchemaMismatch(f"the database has no role {ROLE}; {_MIGRATE}")
            if missing := await connection.fetch(_MISSING, protected_tables()):
                names = ", ".join(row[0] for row in missing)
                raise SchemaMismatch(f"these tables have no row security: {names}; {_MIGRATE}")
            login = await connection.fetchval("select quote_ident(session_user)")
            if await connection.fetchval(_IS_RESTRICTED, ROLE):
                raise SchemaMismatch(
                    f"{login} is under the policies of {ROLE} itself and could not work for every tenant; run as an "
                    f"administrator: grant {ROLE} to {login} with inherit false, set true (before PostgreSQL 16: "
                    f"alter role {login} noinherit)"
                )
            await _require_role(connection, login)
    finally:
        await connection.close()


async def _require_role(connection: Connection, login: str) -> None:
    """Switch to the role as commands will, and check that it is restricted."""
    async with connection.transaction():
        try:
            async with connection.transaction():
                await connection.execute(f"set local role {ROLE}")
        except asyncpg.InsufficientPrivilegeError:
            raise SchemaMismatch(
                f"{login} may not switch to the role {ROLE}; run as an administrator: grant {ROLE} to {login}"
            ) from None
        if found := await connection.fetch(_OPEN_TABLES, protected_tables()):
            names = ", ".join(row[0] for row in found)
            raise SchemaMismatch(
                f"the role {ROLE} bypasses row security, or may not use these tables: {names}; see that it is no "
                f"superuser, owns no table and has not the right bypassrls, and {_MIGRATE}"
            )


def _quoted(name: str) -> str:
    return f'"{name}"'
