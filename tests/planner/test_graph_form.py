"""What the planner does with a workflow in the graph form: routes, joins, failures, retries, what expressions read."""

from __future__ import annotations

from typing import Any

import pytest

from detent.expressions import ExpressionError
from detent.planner.scope import build_scope
from detent.run.call import StepCall
from detent.run.journal import Kind, decode_opening
from detent.run.outcomes import Done, Fail, Skip
from detent.run.state import Phase
from detent.views.entries import entry_document
from tests.forms.graphs import edge, node
from tests.planner.play import NOON, Play, failure, play_graph

FAILED = "failed"
SKIPPED = "skipped"
SUCCESS = "success"


def tried(id_: str, *edges: Any, attempts: int = 1, **fields: Any) -> dict[str, Any]:
    """A node whose action is tried so often."""
    policies = {"retry": {"maxAttempts": attempts, "baseDelayMs": 1000, "jitter": False}, **fields.pop("policies", {})}
    return node(id_, *edges, actionType="shop.call", policies=policies, **fields)


def fork(*followers: str) -> dict[str, Any]:
    return tried("s", *followers)


def forked(*nodes: dict[str, Any], to: tuple[str, ...] = ("a", "b"), **fields: Any) -> Play:
    """A run whose first node has ended and let these nodes begin."""
    run = play_graph(fork(*to), *nodes, **fields)
    run.give("s", {})
    return run


def ends(run: Play, status: str, **steps: str) -> None:
    """The run is over with that status, and these steps ended so."""
    assert run.status == status, run.statuses()
    assert run.ended is not None
    found = run.statuses()
    assert {name: found[name] for name in steps} == steps


# The truth table: join any, an unhandled failure ends the run.


def test_true_branch_runs_false_branch_is_skipped_and_the_join_runs_after_the_one_that_ran() -> None:
    run = play_graph(
        tried("a", edge("b", condition="true"), edge("c", condition="false")),
        tried("b", "d"),
        tried("c", "d"),
        tried("d"),
    )
    run.give("a", {})
    assert run.statuses() == {"a": SUCCESS, "b": "running", "c": SKIPPED, "d": "pending"}
    run.give("b", {})
    assert run.statuses()["d"] == "running"
    run.give("d", {})
    ends(run, "completed", b=SUCCESS, c=SKIPPED, d=SUCCESS)


def failure_edge_into_a_join() -> Play:
    return forked(tried("a", edge("j", "failure")), tried("b", "j"), tried("j"))


def test_failure_edge_into_a_join_while_the_other_edge_is_undecided_waits_for_it() -> None:
    run = failure_edge_into_a_join()
    run.fail("a")
    assert run.statuses() == {"s": SUCCESS, "a": FAILED, "b": "running", "j": "pending"}
    run.give("b", {})
    run.give("j", {})
    ends(run, "completed", a=FAILED, j=SUCCESS)


def test_failure_edge_into_a_join_and_the_other_branch_fails_without_an_edge_skips_the_join() -> None:
    run = failure_edge_into_a_join()
    run.fail("a")
    run.fail("b")
    ends(run, FAILED, a=FAILED, b=FAILED, j=SKIPPED)


def test_dead_failure_edge_into_a_join_and_the_other_branch_fails_skips_the_join() -> None:
    run = failure_edge_into_a_join()
    run.give("a", {})
    run.fail("b")
    ends(run, FAILED, a=SUCCESS, b=FAILED, j=SKIPPED)


def test_unhandled_failure_lets_a_sibling_in_flight_finish_and_skips_all_that_did_not_start() -> None:
    run = forked(tried("a", "c"), tried("b", "d", attempts=3), tried("c"), tried("d"))
    run.fail("a")
    assert run.statuses() == {"s": SUCCESS, "a": FAILED, "b": "running", "c": SKIPPED, "d": SKIPPED}
    assert not run.state.is_over
    run.give("b", {"n": 1})
    ends(run, FAILED, b=SUCCESS, d=SKIPPED)
    assert run.entries[-1].step == "b"
    assert run.ended is not None
    assert run.ended.error == "a: it failed with http_status"


def test_unhandled_failure_lets_a_sibling_in_flight_fail_without_another_attempt() -> None:
    run = forked(tried("a"), tried("b", attempts=3))
    run.fail("a")
    run.attempt("b", failure())
    ends(run, FAILED, b=FAILED)


def test_unhandled_failure_skips_a_sibling_that_sleeps_waits_or_is_between_attempts() -> None:
    run = forked(
        tried("a"),
        node("sleep", actionType="core.delay", parameters={"duration": "10m"}),
        node("wait", actionType="core.wait"),
        tried("retry", attempts=3),
        to=("a", "sleep", "wait", "retry"),
    )
    run.attempt("retry", failure())
    assert run.statuses()["retry"] == "retrying"
    run.fail("a")
    assert run.statuses() | {"wait": ""} == {
        "s": SUCCESS,
        "a": FAILED,
        "sleep": SKIPPED,
        "wait": "",
        "retry": SKIPPED,
    }
    run.sleep(0)
    run.expire_callbacks()
    ends(run, FAILED, wait=SKIPPED)


def test_only_an_always_edge_runs_the_cleanup_and_the_other_branches_and_the_run_has_failed() -> None:
    run = forked(tried("a", edge("cleanup", "always")), tried("b", "c"), tried("c"), tried("cleanup"))
    run.fail("a")
    assert run.statuses()["cleanup"] == "running"
    run.give("cleanup", {})
    run.give("b", {})
    run.give("c", {})
    ends(run, FAILED, cleanup=SUCCESS, b=SUCCESS, c=SUCCESS)


def test_always_and_on_failure_both_run() -> None:
    run = play_graph(tried("a", edge("log", "always"), onFailure="sorry"), tried("log"), tried("sorry"))
    run.fail("a")
    run.give("log", {})
    run.give("sorry", {})
    ends(run, "completed", log=SUCCESS, sorry=SUCCESS)


def test_always_first_and_on_failure_with_first_match_runs_only_the_always_target() -> None:
    run = play_graph(
        tried("a", edge("log", "always"), onFailure="sorry", routePolicy="firstMatch"), tried("log"), tried("sorry")
    )
    run.fail("a")
    run.give("log", {})
    ends(run, FAILED, log=SUCCESS, sorry=SKIPPED)


def failure_edge_with_on_failure(condition: str) -> Play:
    run = play_graph(
        tried("a", edge("handler", "failure", condition), onFailure="sorry"), tried("handler"), tried("sorry")
    )
    run.fail("a")
    return run


def test_failure_edge_whose_condition_is_true_skips_the_target_of_on_failure() -> None:
    run = failure_edge_with_on_failure("context.data['a'].errorNode == 'a'")
    run.give("handler", {})
    ends(run, "completed", handler=SUCCESS, sorry=SKIPPED)


def test_failure_edge_whose_condition_is_false_runs_the_target_of_on_failure() -> None:
    run = failure_edge_with_on_failure("context.data['a'].errorNode != 'a'")
    run.give("sorry", {})
    ends(run, "completed", handler=SKIPPED, sorry=SUCCESS)


def test_a_handler_that_fails_too_ends_the_run() -> None:
    run = forked(tried("a", onFailure="sorry"), tried("sorry"), tried("b", "c"), tried("c"))
    run.fail("a")
    run.fail("sorry")
    run.give("b", {})
    ends(run, FAILED, sorry=FAILED, c=SKIPPED)


@pytest.mark.parametrize("fails", [False, True])
def test_two_edges_to_one_node_success_and_failure_run_it_either_way(fails: bool) -> None:
    run = play_graph(tried("a", edge("b"), edge("b", "failure")), tried("b"))
    run.fail("a") if fails else run.give("a", {})
    run.give("b", {})
    ends(run, "completed", b=SUCCESS)


def first_match_with_an_error(**fields: Any) -> Play:
    run = play_graph(
        tried("a", edge("b", condition="trigger.missing.x == 1", **fields), edge("c"), routePolicy="firstMatch"),
        tried("b"),
        tried("c"),
    )
    run.give("a", {})
    return run


def test_first_match_whose_first_condition_errs_fails_its_target_and_skips_the_second() -> None:
    run = first_match_with_an_error()
    ends(run, FAILED, b=FAILED, c=SKIPPED)
    assert run.error("b").code == "condition_error"


def test_first_match_whose_first_condition_errs_counts_as_false_if_it_says_so() -> None:
    run = first_match_with_an_error(onError=False)
    run.give("c", {})
    ends(run, "completed", b=SKIPPED, c=SUCCESS)


def test_a_condition_into_a_join_that_errs_fails_the_join_when_it_is_decided_and_not_before() -> None:
    run = forked(tried("a", edge("j", condition="trigger.missing.x")), tried("b", "j"), tried("j"))
    run.give("a", {})
    assert run.statuses()["j"] == "pending"
    run.give("b", {})
    ends(run, FAILED, j=FAILED)


def test_always_cleanup_and_a_dead_edge_into_a_join_that_another_branch_reaches_has_failed() -> None:
    run = forked(tried("a", "j", edge("cleanup", "always")), tried("b", "j"), tried("j"), tried("cleanup"))
    run.fail("a")
    run.give("cleanup", {})
    run.give("b", {})
    run.give("j", {})
    ends(run, FAILED, j=SUCCESS, cleanup=SUCCESS)


def test_an_action_that_returns_skipped_makes_success_failure_and_always_edges_dead() -> None:
    run = play_graph(
        tried("a", edge("b"), edge("c", "failure"), edge("d", "always"), edge("e", "any"), onFailure="f"),
        *map(tried, "bcdef"),
    )
    run.attempt("a", Skip())
    assert run.statuses()["e"] == "running"
    run.give("e", {})
    ends(run, "completed", a=SKIPPED, b=SKIPPED, c=SKIPPED, d=SKIPPED, e=SUCCESS, f=SKIPPED)


# Routing semantics.


@pytest.mark.parametrize("when", ["success", "failure", "always", "any", None])
@pytest.mark.parametrize("condition", [None, "true", "false"])
@pytest.mark.parametrize("outcome", ["success", "failed", "timeout", "skipped"])
def test_edge_satisfaction_is_when_and_condition(when: str | None, condition: str | None, outcome: str) -> None:
    run = play_graph(tried("a", edge("b", when, condition)), tried("b"), onUnhandled="settle")
    match outcome:
        case "success":
            run.give("a", {})
        case "skipped":
            run.attempt("a", Skip())
        case _:
            run.fail("a", timed_out=outcome == "timeout")
    fits = {
        "success": outcome == "success",
        "failure": outcome in ("failed", "timeout"),
        "always": outcome != "skipped",
        "any": True,
    }[when or "success"]
    assert (run.statuses()["b"] == "running") is (fits and condition != "false")


def test_a_template_error_is_a_failure_like_others() -> None:
    run = play_graph(tried("a", onFailure="b", parameters={"x": "{{ trigger.missing.y }}"}), tried("b"))
    run.begin("a")
    assert run.statuses()["a"] == "template_error"
    run.give("b", {})
    ends(run, "completed")


def test_a_template_error_is_not_tried_again() -> None:
    run = play_graph(tried("a", attempts=3, parameters={"x": "{{ trigger.missing.y }}"}))
    run.begin("a")
    assert run.statuses()["a"] == "template_error"
    assert [(entry.kind, entry.attempt) for entry in run.entries] == [("ended", 1)]
    ends(run, FAILED)


def test_parallel_routes_take_every_satisfied_edge() -> None:
    run = play_graph(tried("a", "b", edge("c", condition="true"), edge("d", condition="false")), *map(tried, "bcd"))
    run.give("a", {})
    assert run.statuses() == {"a": SUCCESS, "b": "running", "c": "running", "d": SKIPPED}


def test_first_match_takes_the_first_satisfied_edge_and_does_not_evaluate_the_rest() -> None:
    run = play_graph(
        tried(
            "a",
            edge("b", condition="false"),
            edge("c", condition="context.data['a'].n == 1"),
            edge("d", condition="trigger.missing.would.err"),
            routePolicy="firstMatch",
        ),
        *map(tried, "bcd"),
    )
    run.give("a", {"n": 1})
    assert run.statuses() == {"a": SUCCESS, "b": SKIPPED, "c": "running", "d": SKIPPED}
    decided = run.data().decided
    assert decided is not None
    assert decided.edges == {0: False, 1: True}


def test_a_join_excludes_parents_whose_edges_were_not_satisfied() -> None:
    run = forked(
        tried("a", edge("j", condition="false")), tried("b", "j"), tried("c", "j"), tried("j"), to=("a", "b", "c")
    )
    run.give("a", {})
    run.give("b", {})
    assert run.statuses()["j"] == "pending"
    run.give("c", {})
    assert run.statuses()["j"] == "running"


def test_a_join_of_all_needs_every_edge() -> None:
    run = forked(tried("a", edge("j", condition="false")), tried("b", "j"), tried("j", join="all"))
    run.give("a", {})
    run.give("b", {})
    ends(run, "completed", j=SKIPPED)


def test_a_join_that_no_edge_reaches_is_skipped_and_so_is_what_is_behind_it() -> None:
    run = forked(
        tried("a", edge("j", condition="false")), tried("b", edge("j", condition="false")), tried("j", "k"), tried("k")
    )
    run.give("a", {})
    run.give("b", {})
    ends(run, "completed", j=SKIPPED, k=SKIPPED)


def test_several_start_nodes_begin_at_once() -> None:
    run = play_graph(tried("a", "c"), tried("b", "c"), tried("c"), startNodes=["a", "b"])
    assert run.started == ["a", "b"]


def test_settle_lets_the_other_branches_go_on() -> None:
    run = forked(tried("a", "c"), tried("b", "d"), *map(tried, "cd"), onUnhandled="settle")
    run.fail("a")
    run.give("b", {})
    run.give("d", {})
    ends(run, FAILED, c=SKIPPED, d=SUCCESS)


def test_an_if_that_is_false_skips_its_node() -> None:
    run = play_graph(tried("a", "b"), {**tried("b"), "if": "context.data['a'].n > 1"})
    run.give("a", {"n": 1})
    ends(run, "completed", b=SKIPPED)


# Conditions that cannot be evaluated.


def test_a_swallowed_condition_error_is_noted_with_its_edge() -> None:
    run = play_graph(
        tried("a", edge("b", condition="context.data['a'].list[0].x == 1", onError=False), edge("c")), *map(tried, "bc")
    )
    run.give("a", {"list": []})
    decided = run.data().decided
    assert decided is not None
    assert decided.edges == {0: False}
    assert list(decided.notes) == [0]
    assert decided.notes[0].startswith("a -> b: ")
    assert entry_document(run.entries[-1]).notes == list(decided.notes.values())
    assert decided.errors == {}
    run.reload()
    assert run.statuses()["b"] == SKIPPED


def test_a_condition_that_is_not_swallowed_has_no_note() -> None:
    run = play_graph(tried("a", edge("b", condition="trigger.missing.x")), tried("b"))
    run.give("a", {})
    decided = run.data().decided
    assert decided is not None
    assert (decided.notes, list(decided.errors)) == ({}, ["b"])


@pytest.mark.parametrize(
    "condition",
    [
        "trigger.list.map(x => trigger.list.filter(y => y == x).length).length > 0",
        "trigger.list.map(x => trigger.list).flatten().length > 0",
        "join(trigger.list.map(x => trigger.text), '').length > 0",
    ],
    ids=["time", "list", "text"],
)
def test_a_condition_that_takes_too_long_or_too_much_is_not_satisfied_and_noted(condition: str) -> None:
    nodes = tried("a", edge("b", condition=condition, onError=False), edge("c")), *map(tried, "bc")
    run = play_graph(*nodes, trigger={"list": [0] * 2000, "text": "x" * 2000})
    run.give("a", {})
    decided = run.data().decided
    assert decided is not None
    assert (decided.edges, list(decided.notes)) == ({0: False}, [0])
    assert run.statuses() == {"a": SUCCESS, "b": SKIPPED, "c": "running"}


# Condition nodes.


def test_a_condition_node_answers_at_once_without_an_attempt() -> None:
    run = play_graph(
        node(
            "is-large",
            edge("b", condition="context.data['is-large']"),
            edge("c", condition="!context.data['is-large']"),
            nodeType="condition",
            expression="trigger.total > 100",
        ),
        *map(tried, "bc"),
        trigger={"total": 120},
    )
    assert run.statuses() == {"is-large": SUCCESS, "b": "running", "c": SKIPPED}
    assert (run.started, run.entries) == (["b"], [])
    assert decode_opening(run.opening).answers == {"is-large": True}


def test_a_condition_node_in_the_middle_is_part_of_the_entry_before_it() -> None:
    run = play_graph(
        tried("a", "is-large"),
        node("is-large", "b", nodeType="condition", expression="context.data['a'].total > 100"),
        tried("b", parameters={"large": "{{ context.data['is-large'] }}"}),
    )
    run.give("a", {"total": 5})
    assert [entry.kind for entry in run.entries] == [Kind.ENDED]
    assert entry_document(run.entries[0]).answers == {"is-large": False}
    assert run.parameters("b")["with"] == {"large": False}


def test_a_condition_node_that_errs_fails_and_may_be_handled() -> None:
    run = play_graph(
        node("q", nodeType="condition", expression="trigger.missing.x", onFailure="b"),
        tried("b", parameters={"why": "{{ context.data['q'].error.code }}"}),
    )
    assert run.error("q").code == "condition_error"
    assert run.parameters("b")["with"] == {"why": "condition_error"}
    run.give("b", {})
    ends(run, "completed", q=FAILED)


# Retries.


def test_max_attempts_counts_every_attempt() -> None:
    run = play_graph(tried("a", attempts=3))
    for _ in range(2):
        run.attempt("a", failure())
        assert run.statuses()["a"] == "retrying"
        run.sleep(10)
    run.attempt("a", failure())
    ends(run, FAILED)
    assert [entry.attempt for entry in run.entries] == [1, 2, 3]


def test_the_delay_grows_by_its_factor_up_to_its_longest() -> None:
    policies = {
        "retry": {"maxAttempts": 5, "baseDelayMs": 1000, "backoffFactor": 3, "maxDelayMs": 5000, "jitter": False}
    }
    run = play_graph(tried("a", policies=policies))
    delays = []
    for _ in range(4):
        run.attempt("a", failure())
        delays.append(run.until("a"))
        run.sleep(run.until("a"))
    assert delays == [1.0, 3.0, 5.0, 5.0]


def test_a_permanent_failure_is_not_tried_again() -> None:
    run = play_graph(tried("a", attempts=3))
    run.attempt("a", failure(retry=False))
    ends(run, FAILED)


def test_a_delay_between_attempts_takes_no_place_of_max_parallel() -> None:
    run = forked(tried("a", attempts=2), tried("b"), maxParallel=1)
    assert run.started == ["s", "a"]
    run.attempt("a", failure())
    assert run.started == ["s", "a", "b"]
    run.sleep(10)
    assert run.statuses()["a"] == "ready"
    run.give("b", {})
    assert run.started == ["s", "a", "b", "a"]


def test_a_crash_between_attempts_goes_on_with_the_counted_attempts() -> None:
    run = play_graph(tried("a", attempts=2))
    run.attempt("a", failure())
    run.crash()
    run.sleep(10)
    run.attempt("a", failure())
    ends(run, FAILED)


TEMPLATE = {"number": "{{ attempt.number }}", "at": "{{ attempt.at }}", "now": "{{ now() }}", "id": "{{ uuid() }}"}


def renderings(rerender: bool, **fields: Any) -> list[dict[str, Any]]:
    """The parameters of three attempts."""
    run = play_graph(tried("a", attempts=3, parameters=TEMPLATE, policies={"rerenderOnRetry": rerender}), **fields)
    found = []
    for _ in range(3):
        found.append(run.parameters("a")["with"])
        run.attempt("a", failure())
        run.sleep(10)
    return found


def test_without_rerender_every_attempt_has_the_parameters_of_the_first() -> None:
    first, *others = renderings(False)
    assert others == [first, first]
    assert first["number"] == 1
    assert first["at"] == first["now"]


def test_with_rerender_every_attempt_has_its_own_number_time_and_id() -> None:
    found = renderings(True)
    assert [one["number"] for one in found] == [1, 2, 3]
    for name in ("at", "now", "id"):
        assert len({one[name] for one in found}) == 3
    assert renderings(True) == found


@pytest.mark.parametrize("rerender", [False, True])
def test_an_attempt_that_died_with_its_node_sends_the_same_body_again(rerender: bool) -> None:
    template = {name: text for name, text in TEMPLATE.items() if name != "number"}
    run = play_graph(tried("a", attempts=3, parameters=template, policies={"rerenderOnRetry": rerender}))
    before = run.parameters("a")
    run.now += 5_000_000
    run.crash()
    assert run.parameters("a") == before


# What expressions read.


def data(run: Play) -> Any:
    """Read context.data as the planner's expressions do."""
    scope: Any = build_scope(run.prepared, run.state)
    return lambda name: scope["context"]["data"][name].resolve()


def test_context_data_is_the_output_of_a_success() -> None:
    run = play_graph(tried("a", "b"), tried("b", parameters={"x": "{{ context.data['a'].list[1] }}"}))
    run.give("a", {"list": [1, {"n": 2}]})
    assert run.parameters("b")["with"] == {"x": {"n": 2}}


def test_context_data_of_a_failure_has_its_error_and_its_node() -> None:
    run = play_graph(tried("a", onFailure="b"), tried("b"))
    run.fail("a")
    assert data(run)("a") == {
        "error": {"code": "http_status", "message": "it failed with http_status"},
        "errorNode": "a",
    }


def test_context_data_of_a_failure_has_the_output_if_there_is_one() -> None:
    run = play_graph(tried("a", onFailure="b"), tried("b"))
    run.attempt("a", failure(retry=False, result=b'{"output":{"partly":1}}'))
    assert data(run)("a")["output"] == {"partly": 1}


def test_context_data_of_a_skipped_node_is_null_and_so_is_one_that_has_not_ended() -> None:
    run = play_graph(tried("a", edge("b", condition="false"), "c"), tried("b"), tried("c"))
    run.give("a", {})
    assert (data(run)("b"), data(run)("c")) == (None, None)


def test_an_expression_that_reads_a_node_often_decodes_its_result_once() -> None:
    run = play_graph(tried("a", "b"), tried("b"))
    run.give("a", {"list": [1, 2]})
    scope: Any = build_scope(run.prepared, run.state)
    nodes = scope["context"]["data"]
    assert nodes["a"].resolve() is nodes["a"].resolve()
    assert nodes["b"] is not nodes["b"]  # one that has not ended may end while the scope is in use


def test_a_node_behind_a_skipped_one_reads_null() -> None:
    run = play_graph(
        tried("a", edge("b", condition="false"), "c"),
        tried("b", "c"),
        tried("c", parameters={"x": "{{ context.data['b'] ?? 'none' }}"}),
    )
    run.give("a", {})
    assert run.parameters("c")["with"] == {"x": "none"}


def test_a_member_of_a_skipped_node_is_a_template_error() -> None:
    run = play_graph(
        tried("a", edge("b", condition="false"), "c"),
        tried("b", "c"),
        tried("c", parameters={"x": "{{ context.data['b'].x }}"}),
    )
    run.give("a", {})
    run.begin("c")
    ends(run, FAILED, c="template_error")


def test_an_answer_of_http_is_read_like_the_output_of_an_action() -> None:
    run = play_graph(
        node("a", "b", actionType="core.http.request", parameters={"url": "https://shop.example/"}),
        tried("b", parameters={"total": "{{ context.data['a'].total }}", "code": "{{ steps.a.status_code }}"}),
    )
    run.succeed("a", 201, {"total": 7})
    assert run.parameters("b")["with"] == {"total": 7, "code": 201}


def test_parameters_read_trigger_spec_vars_run_and_workflow() -> None:
    run = play_graph(
        tried(
            "a",
            parameters={
                "trigger": "{{ trigger.x }}",
                "spec": "{{ spec.answers }}",
                "vars": "{{ vars.base.url }}/x",
                "run": "{{ run.id }}",
                "workflow": "{{ workflow.name }}",
            },
        ),
        trigger={"x": 1},
        spec={"answers": [True]},
        vars={"base": {"url": "https://shop.example"}},
    )
    given = run.parameters("a")["with"]
    assert given.pop("run").startswith("run_")
    assert given == {"trigger": 1, "spec": [True], "vars": "https://shop.example/x", "workflow": "orders"}


def test_conditions_and_output_read_vars() -> None:
    run = play_graph(
        tried("a", edge("b", condition="context.data['a'].n > vars.most")),
        tried("b"),
        vars={"most": 2},
        output={"most": "{{ vars.most }}"},
    )
    run.give("a", {"n": 2})
    ends(run, "completed", b=SKIPPED)
    assert run.output == {"most": 2}


def test_a_missing_member_of_the_trigger_is_an_error_that_names_it() -> None:
    run = play_graph(tried("a", parameters={"x": "{{ trigger.order.id }}"}))
    call = run.call("a")
    assert isinstance(call, Fail)
    assert "order" in call.error.message


def test_the_attempt_is_known_to_parameters_only() -> None:
    run = play_graph(tried("a"))
    scope = build_scope(run.prepared, run.state)
    assert "attempt" not in scope


def test_the_output_of_a_run_is_that_of_its_only_leaf_or_of_all_leaves_that_ran() -> None:
    run = play_graph(tried("a", "b", "c"), *map(tried, "bc"))
    run.give("a", 1)
    run.give("b", 2)
    run.give("c", 3)
    assert run.output == {"b": 2, "c": 3}


# Bounded concurrency.


def test_no_more_attempts_are_in_flight_than_max_parallel() -> None:
    names = [f"n{number}" for number in range(7)]
    run = play_graph(tried("s", *names), *map(tried, names), maxParallel=3)
    run.give("s", {})
    assert run.started == ["s", "n0", "n1", "n2"]
    run.give("n1", {})
    assert run.started[-1] == "n3"
    for name in ("n0", "n2", "n3", "n4", "n5", "n6"):
        run.give(name, {})
    ends(run, "completed")


def test_sleeps_and_waits_take_no_place_of_max_parallel() -> None:
    run = forked(
        node("sleep", actionType="core.delay", parameters={"seconds": 60}),
        node("wait", actionType="core.wait"),
        tried("a"),
        to=("sleep", "wait", "a"),
        maxParallel=1,
    )
    assert run.statuses() == {"s": SUCCESS, "sleep": "sleeping", "wait": "waiting", "a": "running"}


def test_a_run_takes_longer_than_its_longest_duration() -> None:
    run = play_graph(tried("a"), maxDuration="10s")
    assert run.facts.expires_at == NOON + 10_000_000
    run.expire()
    ends(run, "timeout", a="cancelled")


def test_a_node_waits_for_a_callback_and_its_url_is_known_before() -> None:
    run = play_graph(
        tried("a", "w", parameters={"url": "{{ wait.w.url }}"}),
        node("w", "b", actionType="core.wait", parameters={"timeout": "10m"}),
        tried("b", parameters={"by": "{{ context.data['w'].by }}"}),
    )
    call = run.call("a")
    assert isinstance(call, StepCall)
    assert call.parameters["with"] == {"url": "https://detent.example/wh/w"}
    run.give("a", {})
    assert run.state.phase[run.number("w")] is Phase.WAITING
    run.receive("w", {"by": "Ada"})
    assert run.parameters("b")["with"] == {"by": "Ada"}


def test_the_planner_never_lets_an_expression_error_out() -> None:
    run = play_graph(tried("a", edge("b", condition="1 / trigger.zero > 1")), tried("b"), trigger={"zero": 0})
    try:
        run.attempt("a", Done(b'{"output":1}'))
    except ExpressionError as error:  # pragma: no cover
        raise AssertionError(error) from None
    ends(run, FAILED, b=FAILED)
