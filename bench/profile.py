"""Where a node's time goes: `python -m bench.profile [steps|posts] [postgres|sqlite]` samples one with py-spy.

Prints the functions by their own time and by the time spent in them and below, as shares and as microseconds per step.
Only what holds Python's lock is sampled: threads that wait, and SQLite at its work, do not count.
`python -m bench.profile manifest` compares actions that are data with http steps instead (`data_actions.py`).
"""

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench import documents
from bench.child import Child
from bench.data_actions import compare
from bench.sizes import FULL
from bench.stage import Stage

RATE = 400
SHOWN = 25


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.profile")
    parser.add_argument("work", nargs="?", default="steps", choices=("steps", "posts", "manifest"))
    parser.add_argument("store", nargs="?", default="postgres", choices=("postgres", "sqlite"))
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--width", type=int)
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 150)
    if options.work == "manifest":
        compare(console)
        return
    with Stage(FULL, console, with_peer=False) as stage:
        node = stage.node(stage.place(options.store))
        if options.work == "posts":
            document, steps = documents.posts(stage.child("bench.echo_server").ask("url")), 3
        else:
            document, steps = documents.chain(10), 10
        workflow = node.ask("apply", document=document)
        width = options.width or (256 if options.work == "posts" else 1000)
        node.ask("burst", workflow=workflow, width=width, seconds=2.0)
        plain = node.ask("burst", workflow=workflow, width=width, seconds=options.seconds)
        stacks = _sample(node, workflow, width, options.seconds)
    cpu, loop = (plain[name] / plain["done"] / steps * 1e6 for name in ("cpu", "thread_cpu"))
    console.print(
        f"{options.work} on {options.store}, {width} at once: {plain['done'] * steps / plain['seconds']:,.0f} steps/s, "
        f"{cpu:.1f} us CPU per step ({loop:.1f} of its loop), "
        f"{plain['entries'] / plain['flushes']:.0f} entries per flush, "
        f"{plain['flush_seconds'] / plain['seconds']:.0%} of the time a flush is under way"
    )
    _show(console, stacks, loop)


def _sample(node: Child, workflow: str, width: int, seconds: float) -> Counter[tuple[str, ...]]:
    """How often each stack was seen on a processor."""
    node.send("burst", workflow=workflow, width=width, seconds=seconds + 2)
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "stacks"
        spy = str(Path(sys.executable).with_name("py-spy"))
        command = [spy, "record", "--gil", "--rate", str(RATE), "--duration", str(int(seconds)), "--format", "raw"]
        command += ["--output", str(found), "--pid", str(node.pid)]
        subprocess.run(command, check=True, capture_output=True, timeout=seconds + 60)
        node.receive()
        stacks: Counter[tuple[str, ...]] = Counter()
        for line in found.read_text().splitlines():
            stack, _, count = line.rpartition(" ")
            stacks[tuple(stack.split(";"))] += int(count)
    return stacks


def _show(console: Console, stacks: Counter[tuple[str, ...]], cpu: float) -> None:
    total = stacks.total()
    own: Counter[str] = Counter()
    below: Counter[str] = Counter()
    for stack, count in stacks.items():
        names = [_function(frame) for frame in stack]
        own[names[-1]] += count
        for name in set(names):
            below[name] += count
    for title, counted in (("own time", own), ("with everything below", below)):
        table = Table(title=title, title_justify="left", border_style="dim")
        for column in ("share", "us/step"):
            table.add_column(column, justify="right")
        table.add_column("function", overflow="fold")
        for name, count in counted.most_common(SHOWN if counted is own else 2 * SHOWN):
            table.add_row(f"{count / total:.1%}", f"{count / total * cpu:.1f}", name)
        console.print(table)


def _function(frame: str) -> str:
    """`name (file)` without the line, so that one function counts as one."""
    return frame.rpartition(":")[0] + ")" if frame.endswith(")") and ":" in frame else frame


if __name__ == "__main__":
    main()
