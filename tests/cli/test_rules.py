"""Rules, entities and alerts on the command line."""

from __future__ import annotations

import json

from tests.cli.served import Served

RULE = """{
  "name": "Late orders", "entity": "order", "trigger_type": "manual",
  "actions": [
    {
      "name": "Warn",
      "action_config": {"alert_type": "late", "severity": "high", "title": "Order {{number}}", "message": "m"}
    }
  ],
  "edges": [{"target_action_id": "temp:0", "edge_type": "start"}]
}"""


def test_a_rule_is_saved_run_and_its_alert_resolved(served: Served) -> None:
    (served.folder / "rule.json").write_text(RULE)
    assert "entity_id" not in served.says("rules", "list")
    assert "there is no entity 'order'" in served.says("rules", "save", "@rule.json", code=2)
    assert served.says("entities", "add", "order", "--title", "Orders", "--fields", '{"type": "object"}').startswith(
        "order"
    )
    assert "Orders" in served.says("entities", "list")
    assert "Shop" in served.says("entities", "change", "order", "--title", "Shop")
    assert json.loads(served.says("entities", "show", "order", "--json"))["title"] == "Shop"
    assert served.says("rules", "save", "@rule.json", "--validate-only") == "valid  late-orders\n"
    assert served.says("rules", "save", "@rule.json") == "saved  late-orders  version 1\n"
    renamed = RULE.replace("Late orders", "Very late orders")
    assert served.says("rules", "save", renamed, "--rule", "late-orders") == "saved  late-orders  version 2\n"
    stale = served.says("rules", "save", RULE, "--rule", "late-orders", "--if-match", '"v1.1"', code=1)
    assert "was changed by" in stale
    listed = served.says("rules", "list", "--entity", "order", "--active")
    assert "late-orders" in listed
    shown = served.says("rules", "show", "late-orders")
    assert "Very late orders" in shown
    assert "create_alert" in shown
    assert "start" in shown
    assert "inactive" in served.says("rules", "deactivate", "late-orders")
    assert "active" in served.says("rules", "activate", "late-orders")
    for words in (("update", "7"), ("update", "--id", "7"), ("update", "7", "--id", "7")):
        sent = json.loads(served.says("events", "entity", "order", *words, "--after", "{}", "--json"))
        assert (sent["record_id"], sent["runs"]) == ("7", [])
    differ = served.says("events", "entity", "order", "update", "7", "--id", "8", "--after", "{}", code=2)
    assert "is '8', but the id is '7' before it" in differ
    assert served.tells("rules", "match", "order", "update", "7", "--after", "{}") == []
    served.says("trigger", "late-orders", "--input", '{"number": 7}', "--wait")
    [alert] = json.loads(served.says("alerts", "list", "--severity", "high", "--status", "open", "--json"))
    assert "Order 7" in served.says("alerts", "list", "--rule", "late-orders")
    assert served.says("alerts", "ack", alert["id"]).startswith("acknowledged")
    assert served.says("alerts", "resolve", alert["id"]).startswith("resolved")
    assert "has rules" in served.says("entities", "delete", "order", "--yes", code=1)
    assert served.says("rules", "delete", "late-orders", "--yes") == "deleted  late-orders\n"
    assert served.says("entities", "delete", "order", "--yes") == "deleted  order\n"
