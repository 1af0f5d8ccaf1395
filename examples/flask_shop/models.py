"""The tables of the shop. SQLite by default; SHOP_DATABASE=postgresql://user@host:5432/shop for PostgreSQL."""

import os
from pathlib import Path

from sqlalchemy import String, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, sessionmaker

FOLDER = Path(os.environ.get("SHOP_FOLDER", Path(__file__).resolve().parent))
URL = os.environ.get("SHOP_DATABASE") or f"sqlite:///{FOLDER / 'shop.sqlite3'}"

engine = create_engine(URL.replace("postgresql://", "postgresql+psycopg://"))
Session = sessionmaker(engine)


class Base(DeclarativeBase):
    """The base class of the tables."""


class Order(Base):
    """An order of one item."""

    __tablename__ = "shop_order"

    id: Mapped[int] = mapped_column(primary_key=True)
    item: Mapped[str] = mapped_column(String(100))
    status: Mapped[str] = mapped_column(String(20), default="new")
    run: Mapped[str] = mapped_column(String(40), default="")
