"""Templates through a client of either face, before a real Detent."""

from __future__ import annotations

from typing import Any

import pytest

from detent.client import Conflict, InvalidRequest, NotFound

pytestmark = pytest.mark.slow

SCHEMA = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
DEFINITION = {"tasks": {"say": {"action": "core.echo", "with": {"text": "${config.text}"}}}}


def test_templates_are_used_through_the_client(detent_url: str, connect: Any) -> None:
    client = connect(detent_url)
    made = client.workflow_templates.create("say", "Say", DEFINITION, SCHEMA, tags=["x"])
    assert (made.is_official, made.tags, made.definition) == (False, ["x"], DEFINITION)
    with pytest.raises(Conflict):
        client.workflow_templates.create("say", "Say", DEFINITION, SCHEMA)
    assert [one.id for one in client.workflow_templates.list(official=False)] == ["say"]
    assert len(list(client.workflow_templates.list(official=True, limit=4))) >= 10
    with pytest.raises(InvalidRequest):
        client.workflow_templates.instantiate("say", {"text": 5}, name="w")
    draft = client.workflow_templates.instantiate("say", {"text": "{{ hi }}"}, title="Say it")
    assert (draft.workflow, draft.status, draft.problems) == ("say-it", "draft", [])
    client.workflows.publish("say-it")
    assert client.start("say-it", wait=30.0).result(timeout=300) == {"text": "{{ hi }}"}
    assert client.workflow_templates.delete("say").id == "say"
    with pytest.raises(NotFound):
        client.workflow_templates.get("say")


def test_documents_are_rendered_through_the_client(detent_url: str, connect: Any) -> None:
    client = connect(detent_url)
    documents = client.document_templates
    assert documents.save_set("briefs", title="Briefs", team="product").team == "product"
    assert documents.create("briefs", "app", "App", "one {{ x }}").version == 1
    saved = documents.save("briefs", "app", "App", "two {{ x }}", format="html", help="?")
    assert (saved.changed, saved.data.version, saved.data.help) == (True, 2, "?")
    assert documents.render("app", {"x": 5}, version=1).rendered_body == "one 5"
    assert documents.render("app", {"x": "<"}).rendered_body == "two &lt;"
    assert documents.disable("app", version=2).enabled is False
    assert documents.get("app").version == 1
    assert documents.enable("app", set="briefs").enabled is True
    assert [(one.template_set, one.id, one.version) for one in documents.list(team="product")] == [("briefs", "app", 2)]
    assert [one.id for one in documents.sets()] == ["briefs"]
    with pytest.raises(NotFound) as missing:
        documents.render("app", {}, version=9)
    assert missing.value.code == "WFENG004"
