"""`python -m tests.hostile --count 100000`: hostile callbacks over HTTP against a real server, and the judgement."""

from __future__ import annotations

import argparse
import asyncio
import secrets
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.hostile.campaign import Report, Tell, campaign
from tests.servers.postgres import PostgresServer


def run(database: str, count: int, seed: int, folder: Path, tell: Tell) -> Report:
    """A campaign on an empty database of that kind."""
    if database == "sqlite":
        return asyncio.run(campaign(f"sqlite:///{folder}/detent.db", count, seed, folder, tell))
    with PostgresServer() as server:
        return asyncio.run(campaign(server.create_database("hostile"), count, seed, folder, tell))


def table(report: Report, title: str) -> Table:
    """The answers by attack."""
    shown = Table(title=title, title_justify="left")
    for heading in ("attack", "callbacks", "answers"):
        shown.add_column(heading, justify="right" if heading == "callbacks" else "left")
    for name, statuses in report.ledger.statuses.items():
        answers = ", ".join(f"{status or 'no answer'} x {count:,}" for status, count in sorted(statuses.items()))
        shown.add_row(name, f"{statuses.total():,}", answers)
    shown.add_section()
    shown.add_row("all", f"{report.requests:,}", f"{report.runs:,} runs, {report.kills} kills, {report.seconds:.0f} s")
    shown.add_row("accepted", f"{report.ledger.accepted():,}", "each consumed exactly once, by its own run")
    shown.add_row("promises broken", str(len(report.broken)), "")
    return shown


def _teller(console: Console) -> Tell:
    """One line that changes on a terminal; elsewhere a line now and then."""
    told = 0

    def tell(text: str) -> None:
        nonlocal told
        if console.is_terminal:
            console.print(f"{text:<100}", end="\r", highlight=False)
        elif told % 10 == 0:
            console.print(text, highlight=False)
        told += 1

    return tell


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="how many callbacks, about")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1_000_000))
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--keep", type=Path, help="keep the database and the server's log in this folder")
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="detent-hostile-"))
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(width=None if sys.stdout.isatty() else 120)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whatever ends us, we end what we started
    try:
        report = run(options.database, options.count, options.seed, folder, _teller(console))
        console.print(table(report, f"hostile callbacks on {options.database}, seed {options.seed}"))
        for line in report.broken[:50]:
            console.print(line, style="red", highlight=False)
        return 1 if report.broken else 0
    except KeyboardInterrupt:
        console.print(f"interrupted; seed {options.seed}")
        return 130
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
