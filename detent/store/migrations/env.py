"""Alembic's entry point: it writes the statements of the wanted migrations as text, and never connects to a
database."""

from alembic import context

context.configure(
    dialect_name=context.config.attributes["dialect"],
    literal_binds=True,
    transactional_ddl=True,
    dialect_opts={"paramstyle": "named"},
)
context.run_migrations()
