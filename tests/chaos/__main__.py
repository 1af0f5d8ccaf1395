"""`python -m tests.chaos --seconds 600 --seed 7 --store all`: kill real nodes and databases under load, and judge."""

import argparse
import asyncio
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from detent.store.factory import migrate_store
from tests.chaos.campaign import Orders, Report, Tell, campaign
from tests.chaos.python_booking import make_beside
from tests.chaos.tuning import RECOVERY
from tests.servers.mariadb import MariadbServer
from tests.servers.postgres import PostgresServer

SQLITE_FAULTS = Counter(kill=50)
POSTGRES_FAULTS = Counter(kill=50, restart=30, pause=10)
MARIADB_FAULTS = Counter(kill=40, restart=40, pause=6)
#: As durable, but after a crash it does not open every file of its folder first.
QUICK_TO_RISE = {"recovery_init_sync_method": "syncfs"}


def scaled(faults: Counter[str], seconds: float, full: float) -> Counter[str]:
    """As many of each as fit into the time, but at least one, and never more than the full number."""
    return Counter({name: max(1, min(count, int(count * seconds / full))) for name, count in faults.items()})


async def empty_store(server: PostgresServer | MariadbServer) -> str:
    """A database with our tables, and one of the user's beside them."""
    store = server.create_database("chaos")
    await migrate_store(store)
    await asyncio.to_thread(make_beside, store)
    return store


@dataclass(frozen=True)
class Amount:
    """How much a campaign does."""

    least: Counter[str]
    seconds: float = 0.0
    work: Counter[str] = field(default_factory=Counter)
    rate: float = 60.0


async def on_sqlite(amount: Amount, seed: int, folder: Path, tell: Tell) -> Report:
    """One node, killed and started again."""
    store = f"sqlite:///{folder}/detent.db"
    orders = Orders(store, seed, amount.least, amount.seconds, amount.work, rate=amount.rate)
    return await campaign(orders, folder, tell=tell)


async def on_postgres(amount: Amount, seed: int, folder: Path, tell: Tell) -> Report:
    """Three nodes, killed and stood still, on a database that crashes."""
    with PostgresServer(settings=QUICK_TO_RISE) as server:
        store = await empty_store(server)
        orders = Orders(store, seed, amount.least, amount.seconds, amount.work, nodes=3, rate=amount.rate)
        return await campaign(orders, folder, server=server, tell=tell)


async def on_mariadb(amount: Amount, seed: int, folder: Path, tell: Tell) -> Report:
    """Two nodes, killed and stood still, on a database that is killed."""
    with MariadbServer() as server:
        store = await empty_store(server)
        orders = Orders(store, seed, amount.least, amount.seconds, amount.work, nodes=2, rate=amount.rate)
        return await campaign(orders, folder, server=server, tell=tell)


CAMPAIGNS = {"sqlite": on_sqlite, "postgres": on_postgres, "mariadb": on_mariadb}
SHARES = {"sqlite": 0.2, "postgres": 0.45, "mariadb": 0.35}
#: The full number of faults, and what it takes, about; with less time there are fewer of them.
FULL = {"sqlite": (SQLITE_FAULTS, 75.0), "postgres": (POSTGRES_FAULTS, 200.0), "mariadb": (MARIADB_FAULTS, 180.0)}


async def run(store: str, seconds: float, seed: int, folder: Path, tell: Tell) -> list[Report]:
    """The campaigns asked for, one after the other."""
    reports = []
    for name, campaign_on in CAMPAIGNS.items():
        if store not in (name, "all"):
            continue
        share = seconds * (SHARES[name] if store == "all" else 1.0)
        place = folder / campaign_on.__name__
        place.mkdir(parents=True, exist_ok=True)
        faults, full = FULL[name]
        amount = Amount(scaled(faults, share, full), share, rate=120 if name == "sqlite" else 60)
        reports.append(await campaign_on(amount, seed, place, tell))
    return reports


def table(reports: list[Report], seed: int) -> Table:
    """The figures, a column for each store."""
    shown = Table(title=f"chaos, seed {seed}", title_justify="left")
    shown.add_column("")
    for report in reports:
        shown.add_column(f"{report.orders.store.split(':')[0]}, {report.orders.nodes} node(s)", justify="right")
    for name, cell in ROWS.items():
        shown.add_row(name, *(cell(report) for report in reports))
    return shown


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} s"


def _share(report: Report) -> str:
    counts = report.verdict.counts
    again = counts["re-executions"]
    return f"{again} ({again / max(1, counts['hits']):.2%} of {counts['hits']} effects)"


ROWS: dict[str, Callable[[Report], str]] = {
    "seconds": lambda report: f"{report.seconds:.0f}",
    "nodes killed": lambda report: str(report.faults["kill"]),
    "nodes stood still": lambda report: str(report.faults["pause"]),
    "database crashes": lambda report: str(report.faults["restart"]),
    "runs accepted": lambda report: str(report.clients["accepted"]),
    "starts without an answer": lambda report: str(report.clients["unknown"]),
    "runs in the database": lambda report: str(report.verdict.counts["runs"]),
    "journal entries": lambda report: str(report.verdict.counts["entries"]),
    "runs of Python workflows": lambda report: str(report.verdict.counts["python"]),
    "checkpoints": lambda report: str(report.verdict.counts["checkpoints"]),
    "moves to edited code": lambda report: str(report.verdict.counts["moved"]),
    "transactional steps": lambda report: str(report.verdict.counts["beside rows"]),
    "starts turned away by an open run": lambda report: str(report.clients["turned away"]),
    "signals taken": lambda report: str(report.clients["signals"]),
    "callbacks answered": lambda report: str(report.clients["callbacks"]),
    "adoptions": lambda report: str(report.verdict.counts["adopted"]),
    "flushes refused by the fence": lambda report: str(report.said["flush.refused"]),
    "flushes repeated": lambda report: str(report.said["flush.repeated"]),
    "nodes that gave themselves up": lambda report: str(report.said["engine.lost"]),
    "runs lost": lambda report: str(report.verdict.counts["lost"]),
    "results duplicated": lambda report: str(report.verdict.counts["duplicated"]),
    "effects re-executed": _share,
    "time to recover, p50": lambda report: _seconds(report.typical_recovery),
    "time to recover, max": lambda report: _seconds(report.longest_recovery),
    "promises broken": lambda report: str(len(report.verdict.broken)),
}


def judge(reports: list[Report], *, recovery: float = RECOVERY) -> list[str]:
    """Everything that is not as it must be; `recovery`: how many seconds the runs of a dead node may stand still."""
    found = [f"{report.orders.store}: {line}" for report in reports for line in report.verdict.broken]
    for report in reports:
        longest = report.longest_recovery
        if report.orders.nodes > 1 and longest is not None and longest > recovery:
            found.append(f"{report.orders.store}: a dead node's runs stood still for {longest:.2f} s")
    return found


def _teller(console: Console) -> Tell:
    """Progress on one line of a terminal; elsewhere a line every five seconds is enough."""
    told = 0.0

    def tell(text: str) -> None:
        nonlocal told
        if console.is_terminal:
            console.print(f"{text:<110}", end="\r", highlight=False)
        elif time.monotonic() - told >= 5.0:
            told = time.monotonic()
            console.print(text, highlight=False)

    return tell


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the faults last, over all stores")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1_000_000))
    parser.add_argument("--store", "--database", choices=[*CAMPAIGNS, "all"], default="all")
    parser.add_argument("--keep", type=Path, help="keep the database, the ledger and all logs in this folder")
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="detent-chaos-"))
    console = Console(width=None if sys.stdout.isatty() else 120)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whatever ends us, we end what we started
    console.print(f"seed {options.seed}")
    try:
        reports = asyncio.run(run(options.store, options.seconds, options.seed, folder, _teller(console)))
        console.print(table(reports, options.seed))
        found = judge(reports)
        for line in found[:50]:
            console.print(line, style="red", highlight=False)
        return 1 if found else 0
    except KeyboardInterrupt:
        console.print(f"interrupted; seed {options.seed}")
        return 130
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
