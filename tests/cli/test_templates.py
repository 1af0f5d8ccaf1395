"""Templates on the command line: workflows that are made of them, and documents that are rendered."""

from __future__ import annotations

import json

from tests.cli.served import Served

OWN = """\
id: greet-team
title: Greet a team
config_schema: {type: object, required: [team], properties: {team: {type: string}, count: {type: integer, default: 2}}}
definition:
  tasks:
    greet: {action: core.echo, with: {text: "Hello, ${config.team}", count: "${config.count}"}}
"""


def test_a_workflow_is_made_of_a_template_and_published(served: Served) -> None:
    (served.folder / "own.yaml").write_text(OWN)
    assert served.says("templates", "create", "own.yaml") == "created  greet-team\n"
    listed = served.says("templates", "list", "--own")
    assert "greet-team" in listed
    assert "webhook-relay" not in listed
    assert "webhook-relay" in served.says("templates", "list", "--search", "several addresses")
    shown = served.says("templates", "show", "greet-team")
    assert "team" in shown
    assert "required" in shown
    assert "text: Hello, ${config.team}" in shown
    refused = served.says("templates", "new", "greet-team", "hello", "--set", "count=many", code=2)
    assert "config.team: is missing" in refused
    assert "config.count" in refused
    made = served.says(
        "templates", "new", "greet-team", "--title", "Say hello", "--set", "team=A {{ b }}", "--set", "count=5"
    )
    assert made.splitlines() == ["created  say-hello  draft 1", "`detent workflows publish say-hello` publishes it"]
    assert "say-hello" in served.says("workflows", "publish", "say-hello")
    definition = json.loads(served.says("workflows", "show", "say-hello", "--json"))["definition"]
    assert definition["tasks"]["greet"]["with"] == {"text": "Hello, A {{ '{{' }} b }}", "count": 5}
    taken = served.says("templates", "new", "greet-team", "say-hello", "--config", '{"team": "x"}', code=1)
    assert "already" in taken
    assert served.says("templates", "delete", "greet-team", "--yes") == "deleted  greet-team\n"


def test_a_document_is_saved_in_versions_and_rendered(served: Served) -> None:
    (served.folder / "brief.html").write_text("<h1>{{ title }}</h1>")
    (served.folder / "fields.json").write_text('{"validation": {"jsonSchema": {"required": ["title"]}}}')
    save = ("documents", "save", "briefs", "app", "brief.html", "--title", "App", "--fields", "fields.json")
    assert served.says(*save) == "saved      briefs/app version 1\n"
    assert served.says(*save) == "unchanged  briefs/app version 1\n"
    (served.folder / "brief.html").write_text("<h2>{{ title }}</h2>")
    assert served.says(*save) == "saved      briefs/app version 2\n"
    rendered = ("documents", "render", "app", "--answers", '{"title": "A & [bold]B"}')
    assert served.says(*rendered) == "<h2>A &amp; [bold]B</h2>\n"
    assert served.says(*rendered, "--version", "1") == "<h1>A &amp; [bold]B</h1>\n"
    assert "answers.title: is missing" in served.says("documents", "render", "app", code=2)
    assert "version 2  disabled" in served.says("documents", "disable", "app", "--version", "2")
    assert served.says(*rendered) == "<h1>A &amp; [bold]B</h1>\n"
    assert "briefs/app version 2  enabled" in served.says("documents", "enable", "app", "--version", "2")
    shown = served.says("documents", "show", "app", "--version", "1")
    assert "1 of 2, 1" in shown
    assert "<h1>{{ title }}</h1>" in shown
    assert "briefs  app" in served.says("documents", "list", "--set", "briefs")
    assert "there is no document template 'nope'" in served.says("documents", "show", "nope", code=1)
