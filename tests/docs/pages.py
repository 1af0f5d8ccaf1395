"""Reads the pages: fenced blocks with the remarks before them, tables, headings and links.

A remark is an HTML comment on a line of its own directly before a block or table, such as `<!-- status: failed -->`.
Readers do not see it; it tells the tests what the example needs or what becomes of it:

    file: NAME           the block is saved under this name before the page's commands run
    input: JSON          what the run is started with
    answer: PATH N JSON  what the example's server answers to this path (it echoes otherwise)
    call: STEP JSON      the callback that somebody sends
    status: WORD         how the run ends (completed if nothing is said)
    refused: PATHS       the definition is refused, with problems at exactly these places
    manifest             the block is the manifest of a connector, and no workflow
    shown only           not run, for a reason that stands beside it
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
_REMARK: Final = re.compile(r"<!-- (?P<name>[a-z ]+?)(?:: (?P<value>.*))? -->")
_CELL: Final = re.compile(r"(?<!\\)\|")


def module_name(page: Path) -> str:
    """What the module is called that a page's Python becomes."""
    return f"page_{page.stem.replace('-', '_')}".lower()


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    page: Path
    line: int
    language: str
    text: str
    remarks: tuple[tuple[str, str], ...]

    @property
    def place(self) -> str:
        return f"{self.page.name}:{self.line}"

    def remark(self, name: str) -> str | None:
        """The value of the last remark of that name; '' if it has none."""
        return dict(self.remarks).get(name)

    def all_remarks(self, name: str) -> list[str]:
        return [value for known, value in self.remarks if known == name]


@dataclass(frozen=True)
class Table:
    """A table: the heading it stands under, its header, and its rows as cells without the marks of code around them."""

    section: str
    remarks: tuple[tuple[str, str], ...]
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def pages() -> list[Path]:
    """README and everything under docs."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def blocks(*languages: str) -> list[Block]:
    """The blocks of all pages in these languages."""
    return [block for page in pages() for block in blocks_of(page) if block.language in languages]


@cache
def blocks_of(page: Path) -> tuple[Block, ...]:
    """Every fenced block of a page, in order."""
    found: list[Block] = []
    remarks: list[tuple[str, str]] = []
    lines = iter(enumerate(page.read_text().splitlines(), 1))
    for number, line in lines:
        if line.startswith("```"):
            body = _until_fence(lines)
            found.append(Block(page, number, line.removeprefix("```").strip(), body, tuple(remarks)))
        remarks = _remembered(remarks, line)
    return tuple(found)


def _until_fence(lines: Iterator[tuple[int, str]]) -> str:
    body: list[str] = []
    for _, line in lines:
        if line == "```":
            return "".join(f"{one}\n" for one in body)
        body.append(line)
    raise AssertionError("a block is not closed")


def _remembered(remarks: list[tuple[str, str]], line: str) -> list[tuple[str, str]]:
    remark = _REMARK.fullmatch(line)
    return [*remarks, (remark["name"], remark["value"] or "")] if remark else []


def tables(name: str) -> list[Table]:
    """The tables of a page, by the page's file name."""
    lines = (DOCS / name).read_text().splitlines()
    found: list[Table] = []
    remarks: list[tuple[str, str]] = []
    section = ""
    for number, line in enumerate(lines):
        section = line.lstrip("#").strip() if line.startswith("#") else section
        if line.startswith("|") and not (number and lines[number - 1].startswith("|")):
            rows = [_cells(row) for row in _while_table(lines[number:])]
            found.append(Table(section, tuple(remarks), rows[0], tuple(rows[2:])))
        remarks = _remembered(remarks, line)
    return found


def _while_table(lines: list[str]) -> list[str]:
    count = next((number for number, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return lines[:count]


def _cells(row: str) -> tuple[str, ...]:
    cells = (cell.strip().replace(r"\|", "|") for cell in _CELL.split(row.strip())[1:-1])
    return tuple(cell[1:-1] if _is_code(cell) else cell for cell in cells)


def _is_code(cell: str) -> bool:
    return len(cell) > 2 and cell.startswith("`") and cell.endswith("`") and "`" not in cell[1:-1]


def table(name: str, *header: str) -> dict[str, tuple[str, ...]]:
    """The rows of every table of a page with that header, by their first cell."""
    found = [one for one in tables(name) if one.header == header]
    assert found, f"{name} has no table with the columns {header}"
    return {row[0]: row[1:] for one in found for row in one.rows}


def remarked_table(name: str, remark: str) -> Table:
    """The one table of a page with that remark before it."""
    [found] = [one for one in tables(name) if (remark, "") in one.remarks]
    return found


def headings(page: Path) -> list[str]:
    """The headings of a page, without their marks."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return [match[1].strip() for match in re.finditer(r"^#{1,6} (.*)$", text, re.MULTILINE)]
