"""Pictures of graphs."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given

from detent.forms.graph.form import compile_graph
from detent.graph.draw import describe, label_of, mermaid, text
from detent.graph.model import FAILURES, ON_ANY, ON_RAN, Edge, Ending, Graph, Join, Step, StepKind
from tests.forms.graphs import document, edge, node
from tests.graph.strategies import graph_of, plain, shapes


def http(name: str, guard: str | None = None) -> Step:
    return Step(name, StepKind.HTTP, {"method": "POST", "url": f"https://shop.example/{name}"}, guard=guard)


ORDER = Graph(
    (
        http("charge"),
        http("receipt", guard="tasks.charge.status_code == 200"),
        http("ship"),
        Step("nap", StepKind.SLEEP, {"seconds": 90061.5}),
        Step("paid", StepKind.WAIT, {"timeout": 3600, "early": "buffer"}),
        Step("end", StepKind.ACTION, {"action": "mail"}),
        http("refund"),
    ),
    (
        Edge("charge", "receipt", ON_ANY),
        Edge("charge", "ship"),
        Edge("ship", "nap"),
        Edge("nap", "paid"),
        Edge("paid", "end"),
        Edge("receipt", "end"),
        Edge("charge", "refund", FAILURES, condition="trigger.body.refund"),
    ),
)


def test_text_is_a_tree_in_which_chains_stay_straight() -> None:
    assert text(ORDER) == (
        "● charge     http POST https://shop.example/charge\n"
        "├─● receipt  http POST https://shop.example/receipt if tasks.charge.status_code == 200\n"
        "├─● ship     http POST https://shop.example/ship\n"
        "│ ● nap      sleep 1d 1h 1m 1.5s\n"
        "│ ● paid     wait at most 1h\n"
        "│ ● end      action mail  (after receipt too)\n"
        "└─● refund   http POST https://shop.example/refund  (on failure; when trigger.body.refund)\n"
    )


def test_mermaid_has_every_step_and_edge() -> None:
    assert mermaid(ORDER) == (
        "flowchart TD\n"
        '    s0["charge"]\n'
        '    s1["receipt"]\n'
        '    s2["ship"]\n'
        '    s3(["nap"])\n'
        '    s4{{"paid"}}\n'
        '    s5["end"]\n'
        '    s6["refund"]\n'
        '    s0 -->|"tasks.charge.status_code == 200"| s1\n'
        "    s0 --> s2\n"
        "    s2 --> s3\n"
        "    s3 --> s4\n"
        "    s4 --> s5\n"
        "    s1 --> s5\n"
        '    s0 -->|"on failure trigger.body.refund"| s6\n'
    )


def test_a_label_cannot_break_out_of_the_drawing() -> None:
    name = 'a"];\nclick s0 <b>'
    graph = Graph((plain(name), plain("b")), (Edge(name, "b", condition='x == "1"'),))
    assert 's0["a#quot;]; click s0 #lt;b#gt;"]' in mermaid(graph)
    assert '-->|"x == #quot;1#quot;"|' in mermaid(graph)


def test_any_one_of_several_needs_reads_as_or() -> None:
    steps = (plain("a"), plain("b"), Step("c", StepKind.ACTION, join=Join.ANY))
    graph = Graph(steps, (Edge("a", "c", ON_RAN), Edge("b", "c", frozenset({Ending.SKIPPED}))))
    assert text(graph).splitlines()[-1] == "● c  action  (always; on skipped; or after a)"


def test_a_step_of_few_words_is_described_by_its_kind() -> None:
    assert describe(Step("a", StepKind.PYTHON)) == "python"
    assert describe(Step("a", StepKind.WAIT, {"timeout": None})) == "wait"
    assert describe(Step("a", StepKind.SLEEP, {"seconds": "{{trigger.body.days}}d"})) == "sleep {{trigger.body.days}}d"
    assert describe(Step("a", StepKind.SLEEP, {"seconds": 0})) == "sleep 0s"


def test_a_long_condition_is_cut() -> None:
    assert len(describe(Step("a", StepKind.PYTHON, guard="x" * 500))) == 120


def test_a_chain_of_a_thousand_steps_is_drawn_narrow() -> None:
    names = [f"s{number}" for number in range(1_000)]
    lines = text(graph_of(names, list(itertools.pairwise(names)))).splitlines()
    assert len(lines) == 1_000
    assert max(map(len, lines)) < 20


def test_nothing_is_drawn_for_no_steps() -> None:
    assert text(Graph(())) == ""
    assert mermaid(Graph(())) == "flowchart TD\n"


@given(shapes(acyclic=True))
def test_every_step_is_drawn_once(graph: Graph) -> None:
    drawn = [line.split("● ")[1].split()[0] for line in text(graph).splitlines()]
    assert sorted(drawn) == sorted(step.name for step in graph.steps)
    assert mermaid(graph).count("-->") == len(graph.edges)


def test_a_graph_of_the_graph_form_shows_titles_and_what_each_edge_needs() -> None:
    graph = compile_graph(
        document(
            node(
                "get",
                edge("is-large", condition="trigger.x"),
                edge("log", "always"),
                displayName="Fetch the item",
                onFailure="sorry",
            ),
            node(
                "is-large",
                edge("child", condition="context.data['is-large']"),
                edge("nap"),
                nodeType="condition",
                expression="trigger.total > 100",
                routePolicy="firstMatch",
            ),
            node("child", nodeType="subworkflow", workflowId="bill", workflowVersion=2, waitForCompletion=False),
            node("nap", edge("end", "any"), actionType="core.delay", parameters={"seconds": 90}),
            *map(node, ("end", "log", "sorry")),
        )
    ).graph
    assert text(graph, "Orders") == (
        "Orders\n"
        "● get         Fetch the item: action core.echo\n"
        "├─● is-large  condition trigger.total > 100, first match  (when trigger.x)\n"
        "│ ├─● child   subworkflow bill version 2 without waiting for it  (when context.data['is-large'])\n"
        "│ └─● nap     sleep 1m 30s\n"
        "│   ● end     action core.echo  (also if skipped)\n"
        "├─● log       action core.echo  (always)\n"
        "└─● sorry     action core.echo  (on failure that is not handled otherwise)\n"
    )
    drawn = mermaid(graph, 'Orders "of" today').splitlines()
    assert drawn[:5] == ["---", 'title: "Orders \\"of\\" today"', "---", "flowchart TD", '    s0["Fetch the item"]']
    assert drawn[5:7] == ['    s1{"is-large"}', '    s2[["child"]]']
    assert '    s0 -->|"always"| s5' in drawn
    assert '    s0 -->|"on failure that is not handled otherwise"| s6' in drawn
    assert '    s3 -->|"also if skipped"| s4' in drawn


@pytest.mark.parametrize(
    ("kind", "config", "label"),
    [
        (StepKind.HTTP, {"url": "https://user@payments.example:8443/charge?x=1", "method": "PUT"}, None),
        (StepKind.HTTP, {"url": "https://payments.example/charge"}, "POST payments.example"),
        (StepKind.HTTP, {"url": "{{ trigger.body.url }}", "method": "GET"}, "GET {{ trigger.body.url }}"),
        (StepKind.SLEEP, {"seconds": 259_200}, "sleep 3d"),
        (StepKind.WAIT, {"timeout": 60}, "wait 1m"),
        (StepKind.WAIT, {"timeout": None}, "wait"),
        (StepKind.ACTION, {"action": "slack.post-message"}, "slack.post-message"),
        (StepKind.SUBWORKFLOW, {"workflow": "billing", "version": 2}, "billing version 2"),
        (StepKind.FUNCTION, {"workflow": "orders"}, "orders"),
        (StepKind.CONDITION, {"expression": "1 ==\n 1"}, "1 == 1"),
    ],
)
def test_a_label_says_shortly_what_a_step_does(kind: StepKind, config: dict[str, object], label: str | None) -> None:
    assert label_of(Step("s", kind, config)) == (label or "PUT payments.example:8443")
