"""The request that an action of a manifest writes, and what it makes of an answer."""

from __future__ import annotations

from typing import Any

import pytest

from detent.catalog.connections import (
    EnvironmentConnections,
    MissingConnection,
    Scrubber,
    auth_headers,
)
from detent.catalog.connector import Auth, AuthType
from detent.catalog.data_action import AnswerMismatch, WrittenRequest, put_mark
from detent.catalog.request_body import InvalidParts
from detent.catalog.shipped import load_shipped
from detent.errors import InvalidInput
from detent.expressions import ExpressionError, compile_template
from tests.catalog.manifests import CONNECTION, TOKEN, answered, compiled, parameters, shipped
from tests.steps.escapes import ESCAPES, LEAKS

TEXT = {"type": "string"}
ITEM = {
    "id": "7",
    "name": "Website",
    "group": {"title": "Now"},
    "column_values": [{"text": "Approved", "column": {"title": "Status"}}],
}


def written(action: dict[str, Any], given: dict[str, Any], **manifest: Any) -> WrittenRequest:
    made = compiled(action, **manifest)
    assert made.problems(given) == []
    bound = made.bind(given, "key-1")
    return bound.write(bound.render(CONNECTION), CONNECTION)


def test_a_parameter_that_is_not_given_is_left_out_and_null_is_sent() -> None:
    action = {
        "parameters": parameters("a", a=TEXT, b={"type": ["string", "null"]}, c=TEXT),
        "request": {
            "method": "POST",
            "path": "/x",
            "query": {"c": "{{ with.c }}"},
            "headers": {"X-C": "{{ with.c }}"},
            "body": {"a": "{{ with.a }}", "b": "{{ with.b }}", "deep": {"c": "{{with.c}}", "d": 1}},
        },
    }
    assert written(action, {"a": "1"}).body == b'{"a":"1","deep":{"d":1}}'
    sent = written(action, {"a": "1", "b": None, "c": "3"})
    assert sent.body == b'{"a":"1","b":null,"deep":{"c":"3","d":1}}'
    assert sent.url == "https://crm.example.com/v1/x?c=3"
    assert sent.headers["X-C"] == "3"


def test_a_value_of_the_path_is_one_segment_whatever_is_in_it() -> None:
    action = {"parameters": parameters("id", id={"type": ["string", "integer"]}), "request": {"path": "/items/{id}/x"}}
    assert written(action, {"id": 7}).url == "https://crm.example.com/v1/items/7/x"
    assert written(action, {"id": "a/../b?c#d"}).url == "https://crm.example.com/v1/items/a%2F..%2Fb%3Fc%23d/x"
    for bad in ("..", ".", "", "x" * 3000):
        with pytest.raises(InvalidParts):
            written(action, {"id": bad})


def test_a_query_repeats_the_elements_of_a_list() -> None:
    action = {
        "parameters": parameters(tags={"type": "array"}, flag={"type": "boolean"}),
        "request": {"path": "/x", "query": {"tag": "{{ with.tags }}", "flag": "{{ with.flag }}"}},
    }
    assert written(action, {"tags": ["a b", "c&d"], "flag": True}).url.endswith("/x?tag=a%20b&tag=c%26d&flag=true")


def test_a_form_writes_objects_with_brackets() -> None:
    action = {
        "parameters": parameters("order", order={"type": "object"}),
        "request": {"method": "POST", "path": "/x", "as": "form", "body": {"order": "{{ with.order }}"}},
    }
    sent = written(action, {"order": {"id": 7, "tags": ["a", "b"], "none": None}})
    assert sent.body == b"order%5Bid%5D=7&order%5Btags%5D%5B%5D=a&order%5Btags%5D%5B%5D=b"
    assert sent.content_type == "application/x-www-form-urlencoded"


def test_a_multipart_body_is_the_same_at_every_attempt() -> None:
    action = {
        "parameters": parameters("file", file={"type": "object"}),
        "request": {"method": "POST", "path": "/x", "as": "multipart", "body": {"n": 1, "f": "{{ with.file }}"}},
    }
    given = {"file": {"filename": 'a"\r\nb.txt', "content": "aGk=", "encoding": "base64", "content_type": "text/x"}}
    first, second = written(action, given), written(action, given)
    assert first == second
    assert first.body is not None
    assert b'filename="a%22  b.txt"\r\nContent-Type: text/x\r\n\r\nhi\r\n' in first.body
    assert b'name="n"\r\n\r\n1\r\n' in first.body


@pytest.mark.parametrize(
    ("auth", "secrets", "header"),
    [
        ({"type": "bearer"}, {"token": TOKEN}, ("Authorization", f"Bearer {TOKEN}")),
        ({"type": "basic"}, {"username": "u", "password": "p"}, ("Authorization", "Basic dTpw")),
        ({"type": "api_key", "name": "X-Key"}, {"token": TOKEN}, ("X-Key", TOKEN)),
    ],
)
def test_a_request_carries_its_credential(auth: Any, secrets: Any, header: tuple[str, str]) -> None:
    made = compiled(auth=auth)
    assert auth_headers(made.definition.auth, secrets) == dict([header])


def test_an_api_key_can_be_in_the_query() -> None:
    assert written({}, {}, auth={"type": "api_key", "name": "key", "in": "query"}).url.endswith(f"/run?key={TOKEN}")


def test_a_keyed_effect_sends_its_key_where_the_service_looks_for_it() -> None:
    assert written({"effect": {"kind": "keyed", "key": "X-Request-Key"}}, {}).headers["X-Request-Key"] == "key-1"
    assert written({"effect": {"kind": "keyed", "key": "body.token"}}, {}).body == b'{"a":1,"token":"key-1"}'


def test_parameters_are_checked_by_their_schema_with_paths() -> None:
    made = compiled({"parameters": parameters("a", "b", a={"type": "integer"}, b=TEXT)})
    found = {problem.field: problem.message for problem in made.problems({"a": "x", "c": 1})}
    assert found.keys() == {"with.a", "with.b", "with"}
    assert "'x'" not in str(found)


def test_slack_answers_200_for_a_failure() -> None:
    made = shipped(load_shipped(), "slack.post-message")
    given = {"channelId": "C1", "message": "hi"}
    assert made.bind(given).failure(answered({"ok": True, "channel": "C1", "ts": "1.2"})) is None
    refused = made.bind(given).failure(answered({"ok": False, "error": "channel_not_found"}))
    assert refused is not None
    assert (refused.code, refused.retry) == ("channel_not_found", False)
    for status, body in ((200, {"ok": False, "error": "ratelimited"}), (503, "<html>"), (429, {})):
        again = made.bind(given).failure(answered(body, status))
        assert again is not None
        assert again.retry
    with pytest.raises(AnswerMismatch):
        made.bind(given).failure(answered({"surprise": 1}))


def test_items_of_monday_have_the_titles_of_their_columns() -> None:
    made = shipped(load_shipped(), "monday.get-items")
    body = {"data": {"boards": [{"items_page": {"cursor": None, "items": [ITEM]}}]}}

    def found(*rules: dict[str, Any]) -> list[str]:
        given = {"boardId": 1, "filter": {"rules": list(rules)}}
        assert made.problems(given) == []
        bound = made.bind(given)
        bound.read(answered(body))
        items, mark = bound.page()
        assert mark is None
        output = bound.output(answered(body), items)
        return [item["Name"] for item in output["items"] if item["Status"] == "Approved"]

    assert found() == ["Website"]
    assert found({"column": "Status", "operator": "eq", "value": "Approved"}) == ["Website"]
    assert found({"column": "Item ID", "operator": "eq", "value": 7}, {"column": "Group", "value": "Now"}) == [
        "Website"
    ]
    assert found({"column": "Status", "operator": "ne", "value": "Approved"}) == []
    assert found({"column": "Status", "operator": "in", "value": ["x", "Approved"]}) == ["Website"]
    assert found({"column": "Status", "operator": "contains", "value": "prov"}) == ["Website"]
    assert found({"column": "Status", "operator": "empty"}) == []
    with pytest.raises(AnswerMismatch, match="did you mean 'Status'"):
        found({"column": "Statsu", "value": "x"})


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (
            {"errors": [{"message": "no", "extensions": {"code": "UserUnauthorizedException"}}]},
            "UserUnauthorizedException",
        ),
        ({"error_code": "InvalidBoardIdException", "error_message": "no"}, "InvalidBoardIdException"),
        ({"data": {"boards": []}}, "refused"),
    ],
)
def test_errors_of_monday_are_failures_although_their_status_is_200(body: Any, code: str) -> None:
    refused = shipped(load_shipped(), "monday.get-items").bind({"boardId": 1}).failure(answered(body))
    assert refused is not None
    assert refused.code == code


def test_the_mark_of_the_next_page_is_put_where_the_manifest_says() -> None:
    made = shipped(load_shipped(), "monday.get-items")
    parts = made.bind({"boardId": 1}).render(CONNECTION)
    put_mark(parts, "body.variables.cursor", "abc")
    assert parts.body["variables"]["cursor"] == "abc"
    assert made.bind({"boardId": 1}).render(CONNECTION).body["variables"]["cursor"] is None
    put_mark(parts, "query.page", 2)
    assert parts.query == {"page": 2}


def test_the_links_of_an_answer_name_the_resource() -> None:
    made = shipped(load_shipped(), "confluence.create-page")
    body = {"id": "12", "title": "T", "_links": {"base": "https://wiki.example.com", "webui": "/x/12"}}
    bound = made.bind({"space": "P", "title": "T"})
    bound.read(answered(body))
    [link] = bound.links()
    assert (link.system, link.type, link.id, link.url) == ("confluence", "page", "12", "https://wiki.example.com/x/12")


def test_a_missing_credential_is_named_and_an_address_can_be_replaced() -> None:
    environ = {"CONNECTOR_MY_CRM_URL": "http://127.0.0.1:9/"}
    connections = EnvironmentConnections(environ)
    with pytest.raises(MissingConnection, match="set CONNECTOR_MY_CRM_TOKEN"):
        connections.find("my-crm", "https://crm.example.com", Auth(AuthType.BEARER))
    environ["CONNECTOR_MY_CRM_TOKEN"] = TOKEN
    connection, _ = connections.find("my-crm", "https://crm.example.com", Auth(AuthType.BEARER))
    assert (connection.base_url, connection.secrets) == ("http://127.0.0.1:9", {"token": TOKEN})
    assert connection.headers == {"Authorization": f"Bearer {TOKEN}"}
    environ["CONNECTOR_OTHER_TOKEN"] = "two\nlines"
    assert connections.missing("other", "https://x.example.com", Auth(AuthType.BEARER)) == ("CONNECTOR_OTHER_TOKEN",)
    assert connections.missing("wiki", None, Auth(AuthType.BASIC)) == (
        "CONNECTOR_WIKI_URL",
        "CONNECTOR_WIKI_USERNAME",
        "CONNECTOR_WIKI_PASSWORD",
    )


def test_a_secret_is_removed_however_an_answer_spells_it() -> None:
    secret = 'a/b "ü" 123'
    scrubber = Scrubber({"token": secret})
    spelled = [secret, "a%2Fb%20%22%C3%BC%22%20123", "a%2Fb+%22%C3%BC%22+123"]
    assert [scrubber.text(text) for text in spelled] == ["***"] * 3
    assert scrubber.is_in(b'{"x":"Bearer a/b \\"\\u00fc\\" 123"}')
    assert scrubber.value({secret: [secret, 1]}) == {"***": ["***", 1]}
    pair = Scrubber({"username": "someone", "password": "password1"})
    assert pair.text("c29tZW9uZTpwYXNzd29yZDE= someone password1") == "*** someone ***"


def test_no_published_escape_in_a_manifest_or_in_its_parameters_gets_out() -> None:
    """Each escape is refused when the manifest is read, or is the text that it is."""
    for text in ESCAPES:
        made: list[Any] = []
        for action in ({"request": {"method": "POST", "path": "/x", "body": {"a": text}}}, {"output": {"a": text}}):
            try:
                bound = compiled(action).bind({})
                made.append(bound.render(CONNECTION).body)
                bound.read(answered({"items": "x"}))
                made.append(bound.output(answered({"items": "x"})))
            except (InvalidInput, InvalidParts, AnswerMismatch, ExpressionError) as error:
                made.append(str(error))
        shown = repr(made)
        assert [leak for leak in (*LEAKS, TOKEN) if leak in shown] == [], text
        action = {
            "parameters": parameters("a", a=TEXT),
            "request": {"method": "POST", "path": "/x", "body": {"a": "{{ with.a }}"}},
        }
        assert compiled(action).bind({"a": text}).render(CONNECTION).body == {"a": text}


@pytest.mark.parametrize(
    "body",
    [
        {"id": "x", "deep": {"n": 5}},
        {"id": 7, "deep": {"n": 2.5}},
        {"id": None, "deep": {"n": True}},
        {"id": ["a"], "deep": {"n": {"a": 1}}},
        {"id": "x" * 5_000, "deep": {"n": "y"}},
        {"deep": {}},
        {"id": "x", "deep": None},
        ["id"],
        None,
    ],
)
@pytest.mark.parametrize(
    "text", ["{{ response.body.id }}", "{{response.body.deep.n}}", "{{ response.body.id }}/{{ response.body.deep.n }}"]
)
def test_a_value_of_the_answer_is_read_as_its_expression_reads_it(text: str, body: Any) -> None:
    bound = compiled({"output": {"found": text}}).bind({})
    bound.read(answered(body))
    try:
        expected = compile_template({"found": text}).render({"response": answered(body).as_scope()})
    except ExpressionError:
        with pytest.raises(AnswerMismatch):
            bound.output(answered(body))
    else:
        assert bound.output(answered(body)) == expected


def test_a_link_without_an_id_is_left_out() -> None:
    link = {"system": "crm", "type": "item", "id": "{{ response.body.id ?? null }}"}
    bound = compiled({"links": [link, {**link, "id": "{{ call.key }}"}]}).bind({}, "k1")
    bound.read(answered({}))
    assert [one.id for one in bound.links()] == ["k1"]
