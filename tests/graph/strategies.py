"""Random graphs: every field of the model, and shapes with and without cycles."""

from __future__ import annotations

from hypothesis import strategies as st

from detent.graph.model import Edge, Ending, FailurePolicy, Graph, Join, OnCrash, Probe, Retry, Route, Step, StepKind

SECONDS = st.floats(min_value=0, max_value=1e9, allow_nan=False)
TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
RETRIES = st.builds(
    Retry,
    attempts=st.integers(1, 100),
    delay=SECONDS,
    factor=st.floats(1, 10),
    jitter=st.booleans(),
    max_delay=SECONDS,
)
ENDINGS = st.frozensets(st.sampled_from(Ending), min_size=1)


@st.composite
def steps(draw: st.DrawFn, name: str) -> Step:
    return Step(
        name=name,
        kind=draw(st.sampled_from(StepKind)),
        config=draw(st.dictionaries(TEXT, JSON, max_size=3)),
        guard=draw(st.none() | TEXT),
        join=draw(st.sampled_from(Join)),
        retry=draw(RETRIES),
        timeout=draw(st.none() | SECONDS),
        delay=draw(st.none() | SECONDS),
        on_crash=draw(st.sampled_from(OnCrash)),
        route=draw(st.sampled_from(Route)),
        queue=draw(st.none() | TEXT),
        priority=draw(st.none() | st.integers(-9, 9)),
        rerender=draw(st.booleans()),
        title=draw(st.none() | TEXT),
        probe=draw(st.none() | st.builds(Probe, TEXT, st.none() | TEXT)),
    )


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Any graph the model can hold, right or wrong, with every field drawn."""
    names = draw(st.lists(TEXT, min_size=1, max_size=5, unique=True))
    edges = st.builds(
        Edge,
        source=st.sampled_from(names),
        target=st.sampled_from(names),
        on=ENDINGS,
        condition=st.none() | TEXT,
        order=st.integers(0, 9),
        false_on_error=st.booleans(),
    )
    return Graph(
        steps=tuple(draw(steps(name)) for name in names),
        edges=tuple(draw(st.lists(edges, max_size=6))),
        on_failure=draw(st.sampled_from(FailurePolicy)),
        scope=draw(st.sampled_from(["steps", "graph"])),
        output=draw(JSON),
        max_duration=draw(st.none() | SECONDS),
        language=draw(st.integers(1, 3)),
    )


def plain(name: str) -> Step:
    return Step(name, StepKind.ACTION)


def graph_of(names: list[str], edges: list[tuple[str, str]]) -> Graph:
    return Graph(tuple(map(plain, names)), tuple(Edge(source, target) for source, target in edges))


@st.composite
def shapes(draw: st.DrawFn, *, acyclic: bool) -> Graph:
    """Plain steps with random edges; acyclic ones point from a lower to a higher number, in shuffled written order."""
    count = draw(st.integers(1, 12))
    numbers = st.integers(0, count - 1)
    pairs = draw(st.sets(st.tuples(numbers, numbers), max_size=30))
    edges = [(f"s{low}", f"s{high}") for low, high in sorted(pairs) if low < high or not acyclic]
    return graph_of(draw(st.permutations([f"s{number}" for number in range(count)])), edges)
