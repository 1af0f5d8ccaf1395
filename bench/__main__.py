"""`python -m bench`: everything, or the works that are asked for."""

import argparse
import signal
import sqlite3
import sys
import time
from dataclasses import replace

from rich.console import Console

from bench.peers.environment import DBOS
from bench.results import machine_facts
from bench.sizes import FULL, QUICK
from bench.stage import Stage
from bench.table import show
from bench.works import WORKS

#: Of the table when it goes to a file.
WIDTH = 150


def main() -> int:
    options = _parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started ends with us
    sizes = QUICK if options.quick else FULL
    if options.seconds:
        sizes = replace(sizes, seconds=options.seconds, idle=options.seconds)
    console, begun = Console(width=None if sys.stdout.isatty() else WIDTH), time.time()
    facts = machine_facts() | {"at": begun, "sizes": str(sizes), "peer": None if options.no_peer else DBOS}
    with Stage(sizes, console, with_peer=not options.no_peer) as stage:
        results = stage.results
        results.facts = facts | {"postgres": stage.server.version, "sqlite": sqlite3.sqlite_version}
        for name in options.only:
            WORKS[name](stage)
    show(results, console)
    results.facts["seconds"] = round(time.time() - begun)
    console.print(f"{results.facts['seconds']} s; everything that was measured: {results.write()}", highlight=False)
    return 1 if results.missed() and not options.quick else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description="Measure Detent beside its peer.")
    parser.add_argument("--only", type=works_of, default=list(WORKS), help=f"works, of {','.join(WORKS)}")
    parser.add_argument("--quick", action="store_true", help="small sizes and one round: a look, not a measurement")
    parser.add_argument("--seconds", type=float, help="the length of one burst, and of W0")
    parser.add_argument("--no-peer", action="store_true", help="Detent alone; nothing is installed")
    return parser.parse_args()


def works_of(text: str) -> list[str]:
    known = {name.lower(): name for name in WORKS}
    try:
        return [known[name.strip().lower()] for name in text.split(",")]
    except KeyError as error:
        raise argparse.ArgumentTypeError(f"there is no work {error}; choose of {', '.join(WORKS)}") from None


if __name__ == "__main__":
    sys.exit(main())
