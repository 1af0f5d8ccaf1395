"""Empties the tables of a database, which is much quicker than making another."""

import psycopg

from detent.store.sql.mysql.connection import Address, connect, is_mariadb
from tests.servers.postgres import PostgresServer

#: Their rows stay, but for tenants that a test has added.
KEPT = ("alembic_version", "tenant")
OTHER_TENANTS = 'delete from "tenant" where id <> 1'
LEAVE = """
select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"""
#: Whatever a test can change about a database except its rows: each change of a table writes its rows in the catalog
#: again. And the version of its tables.
SHAPE = """
select md5(string_agg(shape, ' ' order by shape)) from (
  select concat_ws(':', c.oid, c.xmin, i.xmin, a.attnum, a.xmin)
  from pg_class c left join pg_index i on i.indexrelid = c.oid left join pg_attribute a on a.attrelid = c.oid
  where c.oid >= 16384 and c.relpersistence <> 't'
  union all select nspname from pg_namespace where nspname !~ '^pg_(temp|toast)'
  union all select concat_ws(':', oid, xmin) from pg_constraint where oid >= 16384
  union all select version_num from alembic_version) shapes (shape)"""
OWN = "select quote_ident(tablename) from pg_tables where schemaname = 'public'"
EMPTY = f"""
do $$ declare own text; begin
  for own in select quote_ident(relname) from pg_class where relnamespace = 'public'::regnamespace
    and relkind in ('r', 'p') and not relispartition and relname not in {KEPT}
  loop execute 'delete from ' || own; end loop;
  {OTHER_TENANTS};
end $$"""
MUCH = 64 * 2**20


async def empty(url: str) -> None:
    """Empty a database of MariaDB."""
    wire = await connect(Address.parse(url))
    try:
        if is_mariadb(wire):
            await wire.send("set session max_statement_time = 0")
        [found] = await wire.send("select table_name from information_schema.tables where table_schema = database()")
        tables = [str(name) for (name,) in found.rows if name not in KEPT]
        await wire.send_all([*(f'delete from "{table}"' for table in tables), OTHER_TENANTS])
    finally:
        await wire.ensure_closed()


class ReusedDatabase:
    """A database of PostgreSQL for one test after another. A test that changed more than rows costs a new one."""

    def __init__(self, server: PostgresServer, template: str) -> None:
        self._server = server
        self._template = template
        self._url: str | None = None
        self._shape: object = None
        self._tables: set[str] = set()
        self.made = 0

    def emptied(self) -> str:
        """End the sessions that are left in it, delete all rows, and return its address."""
        if self._url is None or not self._empty(self._url):
            self.close()
            self.made += 1
            self._url = self._server.create_database(template=self._template)
            with psycopg.connect(self._url) as connection:
                self._shape = connection.execute(SHAPE).fetchone()
                self._tables = {name for (name,) in connection.execute(OWN)}
        return self._url

    def _empty(self, url: str) -> bool:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(LEAVE)
            for (name,) in connection.execute(OWN).fetchall():
                if name not in self._tables:
                    connection.execute(f"drop table {name} cascade")
            size = connection.execute("select pg_database_size(current_database())").fetchone()
            assert size is not None
            if size[0] > MUCH or connection.execute(SHAPE).fetchone() != self._shape:
                return False
            connection.execute(EMPTY)
        return True

    def close(self) -> None:
        if self._url is not None:
            self._server.drop_database(self._url)
            self._url = None
