"""Whatever a user can meet has its row: kinds of steps, keys, settings, events, error codes, routes."""

import ast
import re
from collections.abc import Iterator
from dataclasses import Field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from litestar.testing import RequestFactory

from detent import errors
from detent.api.app import ROUTES
from detent.api.errors import REFUSALS, on_detent_error
from detent.catalog.gallery import gallery
from detent.forms import kinds, triggers
from detent.forms.graph import form as graph_form
from detent.forms.graph import node as graph_node
from detent.forms.rules import action as rule_action
from detent.forms.rules import edge as rule_edge
from detent.forms.rules import form as rule_form
from detent.forms.rules.action_types import ACTION_TYPES
from detent.forms.rules.conditions import Operator
from detent.forms.rules.scope import ROOTS as RULE_NAMES
from detent.forms.steps import form, step
from detent.graph.model import Ending, OnCrash, StepKind
from detent.observe import EVENTS
from detent.observe.logs import LEVELS
from detent.planner import judge
from detent.planner.maps import ITEMS_FAILED
from detent.planner.suspects import UNCERTAIN
from detent.run.links import CONFLICT
from detent.run.status import TERMINAL
from detent.settings import FIELDS, PREFIX
from detent.steps import user_code
from detent.steps.actions import CORE
from detent.steps.egress import EgressPolicy
from detent.steps.errors import EXCEPTION
from detent.steps.http import step as http_step
from detent.steps.links import RESERVED
from detent.steps.templates.action import DocumentRequest
from detent.vault.secrets import MISSING, UNAVAILABLE
from tests.docs.pages import DOCS, ROOT, headings, remarked_table, table, tables

#: Kinds of the graph that the steps form cannot write.
OTHER_FORMS = {StepKind.PYTHON, StepKind.FUNCTION}
PAGES_OF_OURS = {"/", "/plain", "/wh/{token}", "/webhook/workflow/resume/{token}"}


def test_every_kind_of_step_has_its_heading() -> None:
    found = [heading.removeprefix("Kind: ") for heading in headings(DOCS / "steps.md") if heading.startswith("Kind: ")]
    assert sorted(found) == sorted(set(StepKind) - OTHER_FORMS)


def test_every_key_of_the_steps_form_has_a_row() -> None:
    rows = {row[0] for one in tables("steps.md") if one.header[0] == "key" for row in one.rows}
    known = _words(form, "_FIELDS") | _words(step, "_ALL_FIELDS") | _words(kinds, "RETRY_BLOCK")
    known |= _words(kinds, "ANSWER_FIELDS") | _words(kinds, "_WAIT_FIELDS") | _words(triggers, "_BLOCK_FIELDS")
    known |= _words(triggers, "_SIGNATURE_FIELDS") | set(vars(step)["REPEAT_FIELDS"].all())
    # Other spellings, and what a heading is about, stand in the text.
    text = (DOCS / "steps.md").read_text()
    elsewhere = {"steps", "retry", "sleep", "wait_for_webhook", "approve", "first_of"}
    assert rows == known - elsewhere
    assert all(f"`{name}`" in text for name in elsewhere | _words(triggers, "_WORDS"))


def test_every_key_of_the_graph_form_has_a_row() -> None:
    rows = {row[0] for one in tables("graph.md") if one.header[0] == "key" for row in one.rows}
    fields = [graph_node.NODE_FIELDS, graph_node.EDGE_FIELDS, graph_node.POLICY_FIELDS, graph_node.RETRY_FIELDS]
    fields += [graph_node.REPEAT_FIELDS.all(), graph_form.SNAPSHOT_FIELDS]
    assert rows == set(graph_form.FIELDS).union(*fields)


def test_every_key_of_the_rule_form_has_a_row() -> None:
    rows = {row[0] for one in tables("rules.md") if one.header[0] == "key" for row in one.rows}
    assert rows == {*rule_form.FIELDS, *rule_action.ACTION_FIELDS, *rule_edge.EDGE_FIELDS}


def test_every_word_of_a_rule_has_a_row() -> None:
    assert set(table("rules.md", "operator", "true if", "value")) == set(Operator)
    assert set(table("rules.md", "trigger_type", "when")) == set(rule_form.RuleTrigger)
    assert set(table("rules.md", "edge_type", "taken")) == set(rule_edge.EdgeType)
    names = {row[0] for one in tables("rules.md") if one.header == ("name", "value") for row in one.rows}
    assert names == {"any field", *RULE_NAMES} - {"item", "index", "result"}
    [types] = [one for one in tables("rules.md") if one.header == ("action_type", "does", "action_config")]
    assert [row[0] for row in types.rows] == list(ACTION_TYPES)
    for row in types.rows:
        assert all(f"`{key}`" in f"`{row[2]}`" or key in row[2] for key in ACTION_TYPES[row[0]].keys), row


def _words(module: object, name: str) -> set[str]:
    return set(vars(module)[name])


def test_every_built_in_action_has_a_row() -> None:
    assert set(table("steps.md", "built in", "does")) == {*kinds.CORE_ACTIONS, *CORE.names()}


def test_every_outcome_and_status_has_a_row() -> None:
    assert set(table("retries-and-failures.md", "outcome", "meaning")) == set(Ending)
    assert set(table("retries-and-failures.md", "status", "when")) == set(TERMINAL)
    assert set(table("retries-and-failures.md", "on_crash", "then")) == set(OnCrash)


def test_every_code_of_a_step_error_has_a_row() -> None:
    sources = [
        path
        for part in ("planner", "steps", "engine", "python")
        for path in sorted((ROOT / "detent" / part).rglob("*.py"))
    ]
    written = {code for path in sources for code in _codes(ast.parse(path.read_text()))}
    told = {code for _, code in vars(http_step)["_CODES"]} | {judge.TEMPLATE_ERROR, judge.CONDITION_ERROR}
    told |= {MISSING, UNAVAILABLE}
    told |= {UNCERTAIN, CONFLICT, RESERVED, EXCEPTION, ITEMS_FAILED, *vars(user_code)["_PERMANENT"].values()}
    assert set(table("retries-and-failures.md", "code", "what happened", "tried again")) == written | told


def _codes(tree: ast.AST) -> Iterator[str]:
    """The texts that stand first in a call that makes a step error."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            first = node.args[0]
            if node.func.id in ("StepError", "MapError") and isinstance(first, ast.Constant):
                yield str(first.value)


def test_every_code_of_an_error_has_a_row() -> None:
    found = {kind.code for kind in _below(errors.DetentError)}
    assert set(table("api.md", "code", "meaning", "seen as")) == found


def _below(kind: type[errors.DetentError]) -> Iterator[type[errors.DetentError]]:
    for child in kind.__subclasses__():
        if child.__module__ == errors.__name__:
            yield child
            yield from _below(child)


def test_every_event_has_a_row() -> None:
    known = [(name, meaning, LEVELS.get(name, "")) for name, meaning in EVENTS.items()]
    assert list(remarked_table("operate.md", "events").rows) == known


def test_every_event_that_the_code_emits_is_in_the_list() -> None:
    """A listener learns from the list what it can hear."""
    calls = re.compile(r'\bemit\(\s*"([^"]+)"')
    code = Path(errors.__file__).parent
    found = {name for module in code.rglob("*.py") for name in calls.findall(module.read_text())}
    assert found == set(EVENTS)


def test_every_setting_has_a_row_with_its_meaning_and_default() -> None:
    rows = remarked_table("run-it-for-real.md", "settings").rows
    known = [(f"{PREFIX}{name.upper()}", item.metadata["help"], _default(item)) for name, item in FIELDS.items()]
    assert list(rows) == known


def _default(item: Field[Any]) -> str:
    value = item.default
    if value is None or value == ():
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and item.name != "port":
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def test_every_route_has_a_row() -> None:
    found = set()
    for handler in ROUTES:
        # `/executions` is another name, and the page says so once.
        paths = {re.sub(":(str|int)", "", path).replace("/api/v1/executions", "/api/v1/runs") for path in handler.paths}
        for method in handler.http_methods:
            found |= {f"{method} {path}" for path in paths if method == "POST" or path not in PAGES_OF_OURS}
    assert set(table("api.md", "route", "does")) == found


@pytest.mark.parametrize("entry", table("egress.md", "entry", "allows"))
def test_an_entry_of_the_allow_list_can_be_written_as_the_page_says(entry: str) -> None:
    assert len(EgressPolicy.from_texts([entry]).rules) == 1


def test_every_answer_to_a_callback_is_on_its_page() -> None:
    answers = {row[0] for row in table("callbacks.md", "situation", "answer").values()}
    refused = {f"{status} `{message}`" for status, _, message in REFUSALS.values()}
    assert refused <= answers


def test_every_error_is_answered_as_its_row_says() -> None:
    words = table("api.md", "error", "status")
    seen = {code: cells[1] for code, cells in table("api.md", "code", "meaning", "seen as").items()}
    request = RequestFactory().get("/")
    for kind in _below(errors.DetentError):
        answer = on_detent_error(request, kind())
        assert words[answer.content.error][0].startswith(str(answer.status_code))
        assert seen[kind.code] in {str(answer.status_code), "at start"}


def test_every_template_of_the_gallery_has_a_row() -> None:
    rows = {id_: does for id_, (does,) in table("templates.md", "template", "does").items()}
    assert rows == {id_: one.description for id_, one in gallery().items()}


def test_every_parameter_of_the_action_that_renders_has_a_row() -> None:
    rows = table("templates.md", "parameter of `core.template.render`", "meaning", "default")
    assert set(rows) == {one.encode_name for one in msgspec.structs.fields(DocumentRequest)}
