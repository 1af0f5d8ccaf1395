"""What a manifest may say, and every problem of one that cannot be used."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest

from detent.catalog.action import EffectKind
from detent.catalog.connector import AuthType, rank_of
from detent.catalog.manifest import MOST_ACTIONS, build_connector, read_manifest
from detent.catalog.manifest_schema import SCHEMA
from detent.catalog.shipped import load_shipped, shipped_actions
from detent.errors import InvalidInput
from detent.forms.definition import read_document
from detent.forms.payload_schema import PayloadSchema
from tests.catalog.manifests import manifest, parameters

ANY = {"type": "object"}


def problems_of(document: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as caught:
        build_connector(document)
    return {problem.field: problem.message for problem in caught.value.problems}


def test_the_shipped_manifests_are_valid_and_have_the_actions_of_the_specification() -> None:
    assert {connector.id for connector in load_shipped()} == {"slack", "monday", "confluence", "github", "stripe"}
    assert set(shipped_actions()) >= {
        "slack.post-message",
        "slack.update-message",
        "monday.get-items",
        "monday.create-item",
        "monday.update-item",
        "confluence.create-page",
        "confluence.update-page",
        "confluence.get-page",
        "github.create-issue",
        "github.create-comment",
        "github.dispatch-workflow",
        "stripe.create-payment-intent",
        "stripe.create-refund",
    }


@pytest.mark.parametrize("connector", [one.id for one in load_shipped()])
def test_the_published_schema_accepts_the_shipped_manifests(connector: str) -> None:
    text = (files("detent.catalog.shipped") / f"{connector}.yaml").read_text()
    document = read_document(text, filename="x.yaml", syntax=None, needs="a manifest")
    assert PayloadSchema(SCHEMA).problems(document) == []


def test_the_published_schema_refuses_what_has_no_meaning() -> None:
    found = PayloadSchema(SCHEMA).problems({**manifest(), "colour": "red", "auth": {"type": "magic"}})
    assert {problem.field for problem in found} == {"body", "body.auth.type"}


def test_a_repeated_payment_is_recognised_by_its_key() -> None:
    stripe = next(connector for connector in load_shipped() if connector.id == "stripe")
    effects = {action.id: action.effect for action in stripe.actions}
    assert effects["create-payment-intent"].kind is EffectKind.KEYED
    assert effects["create-payment-intent"].probe == "check-payment-intent"
    assert effects["create-refund"].key == "Idempotency-Key"


def test_an_action_has_the_version_of_its_connector_unless_it_has_its_own() -> None:
    connector = build_connector(manifest({"version": "2.1.0"}, version="1.4.0"))
    assert connector.actions[0].version == "2.1.0"
    assert build_connector(manifest(version="1.4.0")).actions[0].version == "1.4.0"


def test_a_manifest_is_yaml_or_json() -> None:
    text = "{connector: crm, version: 1.0.0, actions: {ping: {request: {path: /ping}}}}"
    assert read_manifest(text, filename="crm.yaml").actions[0].id == "ping"
    with pytest.raises(InvalidInput, match="cannot be read") as caught:
        read_manifest("[1]", filename="crm.json")
    assert "a manifest is a mapping" in caught.value.problems[0].message


def test_every_problem_is_reported_at_once_with_its_path() -> None:
    document = {
        "connector": "My CRM",
        "version": "1.0",
        "base_url": "ftp://crm.example.com",
        "auth": {"type": "api_key", "token_url": "https://x.example.com"},
        "colour": "red",
        "actions": {
            "Get Items": {"request": {"path": "items", "method": "FETCH"}},
            "put": {
                "request": {"method": "GET", "path": "/a/{nothing}", "body": {"x": "{{ tasks.a.body }}"}},
                "success": "response.body.ok ==",
                "pagination": {"items": "response.body"},
                "effect": "probed",
            },
            "none": 7,
        },
    }
    found = problems_of(document)
    assert set(found) == {
        "connector",
        "version",
        "base_url",
        "auth.name",
        "auth.token_url",
        "colour",
        "actions.Get Items",
        "actions.Get Items.request.path",
        "actions.Get Items.request.method",
        "actions.put.request.path",
        "actions.put.request.body",
        "actions.put.request.body.x",
        "actions.put.success",
        "actions.put.pagination",
        "actions.put.effect.probe",
        "actions.none",
    }
    assert "only with, credential and call can be read here" in found["actions.put.request.body.x"]


@pytest.mark.parametrize(
    "part",
    [
        {"success": "credential.token == 'x'"},
        {"output": {"token": "{{ credential.token }}"}},
        {"error": {"message": "{{ credential.token }}"}},
        {"error": {"retry": "credential.token == ''"}},
        {"links": [{"system": "crm", "type": "a", "id": "{{ credential.token }}"}]},
        {"pagination": {"items": "[credential.token]", "link_header": True}},
    ],
)
def test_only_the_request_reads_the_credential(part: dict[str, Any]) -> None:
    assert all("credential" in message for message in problems_of(manifest(part)).values())


@pytest.mark.parametrize("name", ["trigger", "context", "env", "run", "steps", "response"])
def test_a_request_reads_nothing_of_the_run_or_the_node(name: str) -> None:
    part = {"request": {"method": "POST", "path": "/x", "body": f"{{{{ {name}.a }}}}"}}
    assert "only with, credential and call" in problems_of(manifest(part))["actions.run.request.body"]


def test_a_template_names_parameters_that_exist() -> None:
    part = {
        "parameters": parameters("name", name={"type": "string"}),
        "request": {"path": "/x/{nam}", "query": {"q": "{{ with.nmae }}"}},
    }
    found = problems_of(manifest(part))
    assert "did you mean 'name'?" in found["actions.run.request.path"]
    assert "did you mean 'name'?" in found["actions.run.request.query.q"]


@pytest.mark.parametrize(
    "path", ["x", "//evil.example.com/x", "/a/../b", "/a?b=1", "/a#b", "/a b", "/{{ with.a }}", "/a/{b", "/\\\\x"]
)
def test_a_path_cannot_leave_the_address_of_its_connector(path: str) -> None:
    part = {"parameters": ANY, "request": {"path": path}}
    assert set(problems_of(manifest(part))) == {"actions.run.request.path"}


def test_a_schema_that_leads_back_to_itself_is_refused() -> None:
    part = {
        "parameters": {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"$ref": "#/$defs/a"}},
        }
    }
    found = problems_of(manifest(part))
    assert any("leads back to itself" in message for message in found.values())


def test_a_schema_that_explodes_is_refused() -> None:
    """Each definition names the next one twice: a check of one value would take 2 to the power of 30 steps."""
    twice = {f"a{level}": {"allOf": [{"$ref": f"#/$defs/a{level + 1}"}] * 2} for level in range(30)}
    schema = parameters(a={"$ref": "#/$defs/a0"}) | {"$defs": {**twice, "a30": {"type": "string"}}}
    found = problems_of(manifest({"parameters": schema}))
    assert any("branches too often" in message for message in found.values())


def test_a_deprecation_says_what_to_do_instead() -> None:
    assert problems_of(manifest({"deprecated": True})) == {"actions.run.deprecated": "must be text, not true"}
    assert problems_of(manifest({"deprecated": ""})) == {"actions.run.deprecated": "must not be empty"}


def test_parameters_are_written_by_name() -> None:
    assert "must be object" in problems_of(manifest({"parameters": {"type": "string"}}))["actions.run.parameters.type"]


def test_a_connector_has_a_limited_number_of_actions() -> None:
    one = {"request": {"path": "/x"}}
    found = problems_of(manifest(actions={f"a{number}": one for number in range(MOST_ACTIONS + 1)}))
    assert f"at most {MOST_ACTIONS}" in found["actions"]


def test_the_actions_of_detent_cannot_be_shadowed() -> None:
    assert "Detent's own" in problems_of(manifest(connector="core"))["connector"]


@pytest.mark.parametrize("auth", list(AuthType))
def test_every_type_of_authentication_can_be_written(auth: AuthType) -> None:
    more: dict[AuthType, dict[str, Any]] = {
        AuthType.API_KEY: {"name": "X-Key", "in": "query"},
        AuthType.OAUTH2_CLIENT: {"token_url": "https://id.example.com/token", "scopes": ["a"]},
        AuthType.AWS4: {"service": "ses", "region": "eu-central-1"},
    }
    connector = build_connector(manifest(auth={"type": auth.value, **more.get(auth, {})}))
    assert connector.auth.type is auth


def test_versions_are_ordered_by_their_numbers() -> None:
    versions = ["0.9.9", "1.0.0", "1.0.10", "1.2.0", "1.10.0", "2.0.0"]
    assert sorted(versions, key=rank_of) == versions


@pytest.mark.parametrize("version", ["1", "1.0", "v1.0.0", "1.0.0-rc1", "01.0.0", "1.0.10000", "", "1.0.0.0"])
def test_a_version_is_three_numbers(version: str) -> None:
    with pytest.raises(ValueError, match="three numbers"):
        rank_of(version)
