"""What came out: lines of the table, and everything that was measured as JSON."""

import datetime
import json
import os
import platform
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Line:
    """One line: a figure of Detent, beside it another's if there is one, and whether it is what it must be."""

    work: str
    what: str
    detent: str
    other: str = ""
    ratio: str = ""
    target: str = ""
    met: bool | None = None


@dataclass
class Results:
    """Lines for people, figures for programs."""

    lines: list[Line] = field(default_factory=list)
    figures: list[dict[str, Any]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def line(self, work: str, what: str, detent: str, **more: Any) -> None:
        self.lines.append(Line(work, what, detent, **more))

    def figure(self, work: str, side: str, **facts: Any) -> None:
        """Keep a measurement; lists of single values are kept out, they are many."""
        kept = {name: value for name, value in facts.items() if not isinstance(value, list)}
        self.figures.append({"work": work, "side": side, **kept})

    def missed(self) -> list[Line]:
        return [line for line in self.lines if line.met is False]

    def write(self, folder: Path = FOLDER) -> Path:
        """Keep everything in a file of its own and say where."""
        folder.mkdir(parents=True, exist_ok=True)
        at = datetime.datetime.fromtimestamp(self.facts["at"], datetime.UTC)
        path = folder / f"{at:%Y%m%dT%H%M%SZ}.json"
        document = {"facts": self.facts, "lines": [asdict(line) for line in self.lines], "figures": self.figures}
        path.write_text(json.dumps(document, indent=1) + "\n")
        return path


def machine_facts() -> dict[str, Any]:
    """Where it was measured."""
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "load_before": round(os.getloadavg()[0], 2),
    }
