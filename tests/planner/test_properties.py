"""What holds for every graph and every life of a run. Each property is tried on many seeds and hunted by hypothesis."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.graph import codec
from detent.graph.model import Edge, Ending, FailurePolicy, Graph, Step, StepKind
from detent.planner import advance, fold
from detent.planner.scope import status_word
from detent.run import events
from detent.run.journal import Decided, Kind, decode_data
from detent.run.outcomes import Delegated, Done, Move, Outcome, StepError
from detent.run.plan import NOTHING
from detent.run.state import Phase
from tests.planner import naive
from tests.planner.play import Play, answer, failure, play, settled
from tests.planner.worlds import RANDOMS, World, random_graph, some_world, with_limit

SEEDS = range(600)
SETTLE = (FailurePolicy.SETTLE,)
OF_FUNCTIONS = {Kind.BEGAN, Kind.CHECKPOINT}


def _lived(rng: random.Random, *, trouble: float) -> Play:
    """A run that has ended; its fold was compared with the live state after every event."""
    return some_world(rng, trouble=trouble).live()


@given(RANDOMS, st.sampled_from((0.0, 0.3)))
@settings(max_examples=150)
def test_every_run_ends_and_its_journal_adds_up_to_its_state(rng: random.Random, trouble: float) -> None:
    _check_over(_lived(rng, trouble=trouble))


@pytest.mark.parametrize("trouble", [0.0, 0.3])
def test_many_seeded_runs_end_and_their_journals_add_up(trouble: float) -> None:
    kinds: Counter[str] = Counter()
    for seed in SEEDS:
        over = _lived(random.Random(seed), trouble=trouble)
        _check_over(over)
        kinds.update(entry.kind for entry in over.entries)
    usual = {Kind.ENDED, Kind.RETRY, Kind.STARTED, Kind.PAGED, Kind.NOTED}
    assert set(kinds) == (set(Kind) - OF_FUNCTIONS if trouble else usual), "the worlds have become too quiet"


def test_runs_with_a_limited_context_end_and_their_journals_add_up() -> None:
    codes: Counter[str] = Counter()
    dropped = 0
    for seed in range(150):
        rng = random.Random(seed)
        over = World(with_limit(random_graph(rng), rng), rng, trouble=0.2).live()
        _check_over(over)
        codes.update(error.code for error in over.state.errors.values())
        dropped += len(over.state.dropped)
        shown = over.complete()
        assert (shown.dropped, shown.readable) == (over.state.dropped, over.state.readable), "users see another context"
    assert codes["context_too_large"] > 10
    assert dropped > 50, "the worlds have become too quiet"


def _check_over(over: Play) -> None:
    state = over.state
    assert over.ended is not None
    assert str(over.ended.status) == over.status
    assert state.open == 0
    assert state.running == 0
    assert not state.ready
    assert all(phase is Phase.ENDED for phase in state.phase)
    assert [entry.seq for entry in over.entries] == list(range(1, len(over.entries) + 1))
    _check_each_ended_once(over)
    if not any(entry.kind == Kind.MOVED for entry in over.entries):
        _check_children(over)
    said = [(decode_data(entry.data).decided or Decided()).run for entry in over.entries]
    assert said == [None] * (len(said) - 1) + [over.status] * bool(said), "only the last entry ends the run"


def _check_children(over: Play) -> None:
    """An attempt of a step starts one child, or the pages of a map, each once. Each child and page has ended by its own
    message, or was cancelled once."""
    current: dict[str | None, str] = {}
    attempts: set[tuple[str | None, int]] = set()
    left: list[str] = []
    open_pages: dict[str | None, set[str]] = {}
    all_pages: set[str] = set()
    for entry in over.entries:
        data = decode_data(entry.data)
        if data.page is not None:
            open_pages[entry.step].remove(data.page.child)
        if entry.kind == Kind.PAGED:
            assert all_pages.isdisjoint(data.pages), "a page began twice"
            all_pages.update(data.pages)
            open_pages.setdefault(entry.step, set()).update(data.pages)
        elif entry.step in open_pages and not data.released:
            left += open_pages.pop(entry.step)
        if entry.kind == Kind.STARTED and data.child is not None:
            if data.message is None:
                assert (entry.step, entry.attempt) not in attempts, "an attempt has two children"
                assert entry.step not in current, "the child before was forgotten"
                attempts.add((entry.step, entry.attempt))
            current[entry.step] = data.child
        elif entry.step in current and not data.released and entry.kind != Kind.STARTED:
            child = current.pop(entry.step)
            left += [] if data.message is not None else [child]
    left += [*current.values(), *(page for pages in open_pages.values() for page in pages)]
    assert sorted(left) == sorted(over.cancelled)


def _check_each_ended_once(over: Play) -> None:
    """The journal names each step's ending once: as its own entry, as skipped, given up, or impossible to evaluate. A
    run that was moved brings along what had ended."""
    ended: list[str | None] = []
    pauses = over.version.graph.on_failure is FailurePolicy.PAUSE
    for entry in over.entries:
        data = decode_data(entry.data)
        if entry.kind == Kind.MOVED:
            graph = codec.decode(data.graph)
            pauses = graph.on_failure is FailurePolicy.PAUSE
            assert set(ended) <= set(data.carried), "what had ended was forgotten"
            ended = [step.name for step in graph.steps if step.name in data.carried]
        ended += [entry.step] if entry.kind == Kind.ENDED else []
        ended += () if pauses else data.crashed
        ended += [*data.decided.skipped, *data.decided.given_up] if data.decided else []
    assert max(Counter(ended).values(), default=1) == 1


@given(RANDOMS)
@settings(max_examples=100)
def test_the_same_events_lead_to_the_same_plans(rng: random.Random) -> None:
    graph, seed = random_graph(rng), rng.getrandbits(32)
    first, second = (World(graph, random.Random(seed), trouble=0.2, checks=False, later=True).live() for _ in range(2))
    assert first.plans == second.plans
    assert settled(first.state) == settled(second.state)


@given(RANDOMS)
@settings(max_examples=100)
def test_an_event_told_twice_plans_nothing_the_second_time(rng: random.Random) -> None:
    world = some_world(rng)
    for _ in range(200):
        if world.play.state.is_over:
            return
        count = len(world.told)
        world.step()
        for event in world.told[count:]:
            if isinstance(event, events.AttemptEnded) and isinstance(event.outcome, Move):
                continue  # it counts its steps otherwise from then on
            if isinstance(event, events.AttemptEnded) and isinstance(event.outcome, Delegated):
                continue  # a map may make another attempt with the same number
            before = settled(world.play.state)
            assert advance(world.play.prepared, world.play.state, event=event, now=world.play.now) is NOTHING
            assert settled(world.play.state) == before


@given(RANDOMS)
@settings(max_examples=100)
def test_nothing_is_planned_after_the_end(rng: random.Random) -> None:
    world = some_world(rng)
    over = world.live()
    count = len(over.entries)
    late: list[events.Event] = [
        *world.told,
        *(events.Woke(index) for index in range(len(over.prepared.steps))),
        *(events.AttemptStarting(index) for index in range(len(over.prepared.steps))),
        *(events.WaitExpired(index) for index in range(len(over.prepared.steps))),
        *(events.Resolved(index, True, None, "bob") for index in range(len(over.prepared.steps))),
        *(events.Reused(index, b"{}") for index in range(len(over.prepared.steps))),
        events.Opened(),
        *(events.Cancelled("bob"), events.Paused("bob"), events.Resumed("bob"), events.Expired(), events.Adopted("n")),
        *(events.Skipped(None, "bob"), events.Reattempted(None, 0.0, "bob"), events.Finished("bob")),
    ]
    for event in late:
        assert over.tell(event) is NOTHING
    assert len(over.entries) == count


def _fixed(rng: random.Random, graph: Graph) -> dict[str, Ending]:
    """How each step ends if it runs."""
    choices = {
        StepKind.SLEEP: (Ending.SUCCESS,),
        StepKind.WAIT: (Ending.SUCCESS, Ending.TIMEOUT),
        StepKind.SUBWORKFLOW: (Ending.SUCCESS, Ending.FAILED),
    }
    others = (Ending.SUCCESS, Ending.SUCCESS, Ending.FAILED, Ending.TIMEOUT, Ending.TEMPLATE_ERROR)
    found = {}
    for step in graph.steps:
        if step.each is not None:
            found[step.name] = _list_problem(step) or rng.choice((Ending.SUCCESS, Ending.FAILED))
        elif step.kind is StepKind.WAIT and step.config["timeout"] is None:
            found[step.name] = Ending.SUCCESS
        else:
            found[step.name] = rng.choice(choices.get(step.kind, others))
    return found


def _list_problem(step: Step) -> Ending | None:
    """How a map ends whose list has nothing to run for."""
    items = None if step.each is None else step.each.items
    if isinstance(items, str):
        return Ending.TEMPLATE_ERROR if "missing" in items else Ending.FAILED
    if isinstance(items, list) and step.each is not None and len(items) > step.each.max_items:
        return Ending.FAILED
    return Ending.SUCCESS if items == [] else None


def _outcome(ending: Ending) -> Outcome:
    if ending is Ending.SUCCESS:
        return Done(answer(200))
    code = "template_error" if ending is Ending.TEMPLATE_ERROR else "http_status"
    return failure(code, retry=False, timed_out=ending is Ending.TIMEOUT)


def _live_out(run: Play, would: Mapping[str, Ending], order: random.Random) -> Play:
    """Let every step end as it would, in a random order."""
    while not run.state.is_over:
        moves = [(index, phase) for index, phase in enumerate(run.state.phase) if phase in LIVE]
        index, phase = order.choice(moves)
        name = run.prepared.steps[index].name
        if index in run.state.maps:
            _go_on_with_map(run, index, would[name])
        elif phase is Phase.RUNNING and index in run.state.child_of:
            run.attempt(name, Delegated())
        elif phase is Phase.CHILD:
            run.tell(_child_end(index, run.state.child_of[index].id, would[name]))
        elif phase is Phase.RUNNING:
            run.attempt(name, _outcome(would[name]))
        elif phase is Phase.WAITING:
            run.tell(events.WaitExpired(index)) if would[name] is Ending.TIMEOUT else run.receive(name)
        else:
            run.wake(index)
    return run


def _go_on_with_map(run: Play, index: int, ending: Ending) -> None:
    """Let the attempt of a map report, or let one of its pages end. All of its items end as the map shall."""
    found, name = run.state.maps[index], run.prepared.steps[index].name
    if run.state.phase[index] is Phase.CHILD:
        page, failed = next(iter(found.open)), found.size if ending is Ending.FAILED else 0
        run.tell(events.ChildEnded(index, page, ending, b"{}", None, 3, (found.size - failed, failed), run.new_run()))
    elif found.open or found.has_more():
        run.attempt(name, Delegated(len(found.pages)))
    else:
        run.attempt(name, failure(retry=False) if ending is Ending.FAILED else Done(answer(200)))


LIVE = (Phase.RUNNING, Phase.WAITING, Phase.SLEEPING, Phase.RETRYING, Phase.CHILD)


def _child_end(index: int, child: str, ending: Ending) -> events.ChildEnded:
    error = None if ending is Ending.SUCCESS else StepError("child", "it failed")
    return events.ChildEnded(index, child, Ending.CANCELLED if error else ending, b"{}", error, 3)


def _answer(condition: str, found: Mapping[str, Ending]) -> bool | None:
    """The conditions that random graphs ask, answered without the expression language."""
    constants = {"1 < 2": True, "1 > 2": False, "1 == 1": True, "1 == 2": False, "trigger.body.missing": None}
    if condition in constants:
        return constants[condition]
    step, _, question = condition.removeprefix("tasks.").partition(".")
    if question.startswith("nothing"):
        return None
    return found[step] is Ending.SUCCESS


def _model(graph: Graph, would: Mapping[str, Ending]) -> tuple[dict[str, Ending], set[Edge]]:
    waits = {step.name for step in graph.steps if step.kind is StepKind.WAIT}

    def truth(condition: str, found: Mapping[str, Ending]) -> bool | None:
        step = condition.removeprefix("tasks.").partition(".")[0]
        # A wait that got its callback reads `received`, not `success`.
        return False if step in waits and "nothing" not in condition else _answer(condition, found)

    return naive.endings(graph, would, truth)


def _check_against_model(rng: random.Random) -> None:
    graph = random_graph(rng, policies=SETTLE)
    would = _fixed(rng, graph)
    over = _live_out(play(graph), would, rng)
    found, not_taken = _model(graph, would)
    assert {step.name: over.state.ending[step.index] for step in over.prepared.steps} == found
    assert over.status == ("completed" if naive.completed(graph, found, not_taken) else "failed")


@given(RANDOMS)
@settings(max_examples=150)
def test_steps_and_run_end_as_the_rules_say(rng: random.Random) -> None:
    _check_against_model(rng)


def test_many_seeded_runs_end_as_the_rules_say() -> None:
    for seed in SEEDS:
        _check_against_model(random.Random(seed))


@given(RANDOMS, st.integers(), st.integers())
@settings(max_examples=100)
def test_independent_events_commute(rng: random.Random, one: int, other: int) -> None:
    graph = random_graph(rng, policies=SETTLE)
    would = _fixed(rng, graph)
    first, second = (_live_out(play(graph), would, random.Random(order)) for order in (one, other))
    assert first.statuses() == second.statuses()
    assert first.status == second.status


@given(RANDOMS)
@settings(max_examples=100)
def test_a_failing_run_starts_nothing_and_skips_what_was_not_in_flight(rng: random.Random) -> None:
    world = World(random_graph(rng, policies=(FailurePolicy.FAIL_FAST,)), rng, trouble=0.2)
    run, in_flight = world.play, None
    while not run.state.is_over:
        if run.state.failing and in_flight is None:
            in_flight = {index for index, phase in enumerate(run.state.phase) if phase is not Phase.ENDED}
            # The callbacks of active waits are closed by the store first.
            assert all(run.state.phase[index] in (Phase.RUNNING, Phase.READY, Phase.WAITING) for index in in_flight)
            run.started.clear()
        world.step()
    assert in_flight is None or set(run.started) <= {run.prepared.steps[index].name for index in in_flight}


def test_a_fold_stops_at_a_gap() -> None:
    seeds = map(random.Random, range(7, 1000))
    lives = (World(random_graph(rng, policies=SETTLE), rng, checks=False).live() for rng in seeds)
    run = next(run for run in lives if len(run.entries) > 2)
    with pytest.raises(Exception, match="has entry 3 after 1"):
        fold(run.version, run.facts, run.opening, [run.entries[0], *run.entries[2:]])


def test_a_word_is_there_for_every_ended_step() -> None:
    run = World(random_graph(random.Random(3)), random.Random(3), checks=False).live()
    assert all(status_word(run.prepared, run.state, index) for index in range(len(run.prepared.steps)))
