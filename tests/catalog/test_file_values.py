"""Values of an environment in the text of a definition."""

from __future__ import annotations

from typing import Any

import pytest

from detent.catalog.file_values import fill_text
from detent.errors import InvalidInput
from detent.forms.definition import read_definition

TEXT = """\
# Ümläute and 🙂 come first
name: orders
queue: ${config.queue}   # where it runs
tasks:
  pay:
    url: "${config.base}/pay"
    timeout: ${config.limit}
    headers: {x-a: '${config.base}', x-b: "kept"}
    body:
      note: |
        From ${config.base}
        with love
      list: [1, "${config.base}", {deep: "{{ trigger.body.x + ${config.number} }}"}]
  ship:
    needs: [pay]
    if: tasks.pay.status_code == ${config.number}   # a literal
    action: core.echo
"""
VALUES = {"base": "https://shop.example", "queue": "fast", "limit": "30s", "number": 200}


def test_only_scalars_with_a_place_are_written_again() -> None:
    filled = fill_text(TEXT, VALUES, filename="orders.yaml")
    assert filled.splitlines()[:3] == ["# Ümläute and 🙂 come first", "name: orders", 'queue: "fast"   # where it runs']
    assert "# a literal" in filled
    document = read_definition(filled)
    pay = document["tasks"]["pay"]
    assert (pay["url"], pay["timeout"], document["queue"]) == ("https://shop.example/pay", "30s", "fast")
    assert pay["headers"] == {"x-a": "https://shop.example", "x-b": "kept"}
    assert pay["body"]["note"] == "From https://shop.example\nwith love\n"
    assert pay["body"]["list"][1:] == ["https://shop.example", {"deep": "{{ trigger.body.x + 200 }}"}]
    assert document["tasks"]["ship"]["if"] == "tasks.pay.status_code == 200"


def test_a_text_without_places_is_unchanged() -> None:
    assert fill_text("# a\nname: x", {}, filename="x.yaml") == "# a\nname: x"


def test_a_value_keeps_its_type_and_cannot_write_an_expression() -> None:
    text = "name: x\ntasks: {a: {action: core.echo, with: {n: '${config.n}', e: '${config.e}', o: '${config.o}'}}}"
    values: dict[str, Any] = {"n": 5, "e": "{{ trigger }}", "o": {"list": [1, None]}}
    found = read_definition(fill_text(text, values, filename="x.yaml"))["tasks"]["a"]["with"]
    assert found == {"n": 5, "e": "{{ '{{' }} trigger }}", "o": {"list": [1, None]}}


def test_an_anchor_on_a_place_is_filled_too() -> None:
    text = "name: x\ntasks: {a: {action: core.echo, with: {n: &here '${config.n}', m: *here}}}"
    found = read_definition(fill_text(text, {"n": "v"}, filename="x.yaml"))["tasks"]["a"]["with"]
    assert found == {"n": "v", "m": "v"}


def test_a_json_file_stays_json() -> None:
    filled = fill_text('{"name": "${config.n}"}', {"n": "x"}, filename="x.json")
    assert filled.startswith("{")
    assert read_definition(filled, filename="x.json") == {"name": "x"}


def test_every_place_without_a_value_is_named() -> None:
    with pytest.raises(InvalidInput) as caught:
        fill_text(TEXT, {"base": "x", "queu": "y"}, filename="orders.yaml")
    fields = [problem.field for problem in caught.value.problems]
    assert fields == ["queue", "tasks.pay.timeout", "tasks.pay.body.list[2].deep", "tasks.ship.if"]
    assert "config.queue is not in the values; did you mean 'queu'?" in caught.value.problems[0].message
