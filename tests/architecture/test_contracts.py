"""The import rules in pyproject.toml name every part that exists, so that a new part cannot stand outside them."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
CONTRACTS = {contract["name"]: contract for contract in SETTINGS["contracts"]}

PURE = ("planner", "run", "graph", "expressions")
# What each rule speaks of once every part is built. Today's rule names those of them that exist.
RULES = {
    ("The planner and what it reads are pure", "source_modules"): PURE,
    ("Only the dialects know drivers", "source_modules"): (
        "api", "engine", "views", "commands", "triggers", "steps", "auth", "cli",
    ),
    ("Only app.py knows implementations", "source_modules"): (
        "engine", "views", "commands", "auth", "triggers", "api",
    ),
    ("Only app.py knows implementations", "forbidden_modules"): (
        "store.sql", "store.memory", "steps.http", "steps.action", "steps.python",
    ),
    ("Dialects do not know each other", "modules"): ("store.sql.sqlite", "store.sql.postgres", "store.sql.mysql"),
    ("Forms do not know each other", "modules"): (
        "forms.steps", "forms.graph", "forms.rules",
    ),
}  # fmt: skip


def exists(part: str) -> bool:
    path = ROOT / "detent" / Path(*part.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def layer_names() -> list[str]:
    layers = CONTRACTS["Every part imports only the parts below it"]["layers"]
    return [name.strip() for layer in layers for name in layer.replace(":", "|").split("|")]


@pytest.mark.parametrize("name", layer_names())
def test_a_layer_stands_in_parentheses_exactly_while_it_is_not_built(name: str) -> None:
    part = name.strip("()")
    assert name == (part if exists(part) else f"({part})")


@pytest.mark.parametrize(("rule", "field"), RULES, ids=str)
def test_a_rule_names_every_part_it_is_for(rule: str, field: str) -> None:
    built = sorted(f"detent.{part}" for part in RULES[rule, field] if exists(part))
    named = sorted(CONTRACTS[rule][field]) if rule in CONTRACTS else []
    least = 2 if field == "modules" else 1
    assert named == (built if len(built) >= least else [])
