"""The table at the end."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.results import Line, Results

#: More load than this before the start, and the sides did not have the machine to themselves.
QUIET = 0.5
VERDICTS = {True: Text("✓ met", "bold green"), False: Text("✗ missed", "bold red"), None: Text("")}


def show(results: Results, console: Console) -> None:
    """One block per work, the verdicts in colour, and the sum of them below."""
    facts = results.facts
    title = f"Detent beside DBOS {facts['peer']}" if facts["peer"] else "Detent"
    table = Table(title=title, title_style="bold", header_style="bold", border_style="dim")
    table.add_column("work", style="bold cyan", no_wrap=True)
    table.add_column("measure", overflow="fold")
    for name in ("Detent", "beside it", "ratio"):
        table.add_column(name, justify="right", no_wrap=name == "ratio")
    table.add_column("target", style="dim")
    table.add_column("", no_wrap=True)
    before = ""
    for line in results.lines:
        if before and line.work != before:
            table.add_section()
        table.add_row(line.work if line.work != before else "", *_cells(line))
        before = line.work
    console.print()
    console.print(table)
    console.print(
        f"{facts['cores']} cores, load before {facts['load_before']}, Python {facts['python']}, "
        f"PostgreSQL {facts['postgres']} and SQLite {facts['sqlite']}, both with full durability; "
        f"every process on uvloop, as `detent serve`",
        style="dim",
    )
    if facts["load_before"] > QUIET:
        console.print("the machine was busy with other things: these figures say little", style="bold yellow")
    judged = [line for line in results.lines if line.met is not None]
    missed = results.missed()
    style = "bold red" if missed else "bold green"
    console.print(f"{len(judged) - len(missed)} of {len(judged)} targets met", style=style)


def _cells(line: Line) -> tuple[Text | str, ...]:
    return line.what, Text(line.detent, "bold"), line.other, line.ratio, line.target, VERDICTS[line.met]
