"""`python -m tests.property --seconds 300 --seed 1`: requests of every kind to every route, on both databases."""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
import time
from pathlib import Path

from tests.property.campaign import Report, Tell, campaign
from tests.servers.postgres import PostgresServer


def teller() -> Tell:
    """Progress on one line of a terminal; elsewhere a line every ten seconds is enough."""
    told = 0.0

    def tell(text: str) -> None:
        nonlocal told
        if sys.stdout.isatty():
            print(f"\r{text[:118]:<118}", end="", flush=True)
        elif time.monotonic() - told >= 10.0:
            told = time.monotonic()
            print(text, flush=True)

    return tell


def run(stores: list[str], seed: int, seconds: float, folder: Path) -> list[Report]:
    """One campaign for each store, one after the other."""
    reports = []
    for store in stores:
        if store == "sqlite":
            reports.append(
                campaign(f"sqlite:///{folder}/detent.db", seed, folder, seconds=seconds / len(stores), tell=teller())
            )
        else:
            with PostgresServer() as server:
                url = server.create_database("property")
                reports.append(campaign(url, seed, folder, seconds=seconds / len(stores), tell=teller()))
        print(f"\n{store}: {reports[-1].summary()}")
    return reports


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.property", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="in all, over all stores")
    parser.add_argument("--seed", type=int, default=None, help="a fresh one if it is left out")
    parser.add_argument("--store", choices=["sqlite", "postgres", "all"], default="all")
    given = parser.parse_args()
    seed = secrets.randbelow(1_000_000) if given.seed is None else given.seed
    stores = ["sqlite", "postgres"] if given.store == "all" else [given.store]
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory(prefix="detent-property-") as folder:
        reports = run(stores, seed, given.seconds, Path(folder))
    for report in reports:
        if report.never_good():
            print(f"never answered with success: {', '.join(report.never_good())}")
        for violation in report.violations:
            print("\n".join(violation.lines()))
    broken = sum(len(report.violations) for report in reports)
    print(f"{broken} promises broken; seed {seed}" if broken else f"every promise was kept; seed {seed}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
