"""The tables of the shop, in a SQLite file of its own."""

import os
from pathlib import Path

from sqlalchemy import String, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, sessionmaker

FOLDER = Path(os.environ.get("SHOP_FOLDER", Path(__file__).resolve().parent))

engine = create_engine(f"sqlite:///{FOLDER / 'shop.sqlite3'}")
Session = sessionmaker(engine)


class Base(DeclarativeBase):
    """The base class of the tables."""


class Order(Base):
    """An order of one item. `approval` is the address that takes the decision about an expensive one."""

    __tablename__ = "shop_order"

    id: Mapped[int] = mapped_column(primary_key=True)
    item: Mapped[str] = mapped_column(String(100))
    price: Mapped[int]
    status: Mapped[str] = mapped_column(String(20), default="new")
    run: Mapped[str] = mapped_column(String(40), default="")
    approval: Mapped[str] = mapped_column(String(300), default="")
