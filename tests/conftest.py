"""What every test may use: async tests and fixtures, and real servers."""

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from detent.python.heroes import heroes
from detent.python.registry import Registered, registry
from tests.docs.pages import module_name
from tests.servers import shortcuts

pytest_plugins = ["tests.aio", "tests.servers.fixtures"]

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same examples on every machine, so that a red build is red everywhere.
settings.register_profile("ci", parent=settings.get_profile("default"), derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "default")
# Hypothesis reads the constants of every module that was imported before, so that its examples depend on the tests that
# ran before, and each worker parses the whole project. A test's examples depend on the test alone.
pytest.MonkeyPatch().setattr(providers, "_get_local_constants", Constants)
shortcuts.take()
gc.disable()  # until all tests are collected: nothing of them is garbage

#: Modules whose tests take longest, in groups of about the same time. Each group is the first of a worker of its own,
#: so that no worker is left with one of them at the end.
LONGEST = (
    ("tests/web/test_pages.py",),
    ("tests/chaos/test_campaign.py",),
    ("tests/property/test_property.py", "tests/chaos/test_crashes.py"),
    ("tests/sim/test_sim.py", "tests/triggers/test_dying.py", "tests/triggers/test_entity_events_dying.py"),
    ("tests/clients/test_typescript.py", "tests/web/test_sources.py"),
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put a group of the longest tests at the beginning of each worker's part.

    `--dist worksteal` cuts the list into one part for each worker. A worker without tests takes some from the end of
    another one's part.
    """
    workers: int = getattr(config, "workerinput", {}).get("workercount", 1)
    first: list[list[pytest.Item]] = [[] for _ in range(workers)]
    others: list[pytest.Item] = []
    for item in items:
        found = [number for number, group in enumerate(LONGEST) if item.nodeid.startswith(group)]
        (first[found[0] % workers] if found else others).append(item)
    left = len(items)
    del items[:]
    for number, group in enumerate(first):
        size = left // (workers - number)
        taken = max(0, size - len(group))
        items += [*group, *others[:taken]]
        del others[:taken]
        left -= size


def pytest_collection_finish() -> None:
    """Let the garbage collector forget modules and tests, which stay to the end: one look at them takes 0.2 s."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True, scope="module")
def workflows_of_their_own(request: pytest.FixtureRequest) -> Iterator[None]:
    """A process knows every Python workflow that was imported, and its node saves them all: but a module of tests knows
    its own and those of the modules beside it that it shares, and not what other tests made."""
    own: str = request.module.__name__
    folder = own.rpartition(".")[0]
    page = module_name(request.module.PAGE) if own.endswith(".test_page") else None

    def is_near(one: Registered) -> bool:
        module = one.place.partition(":")[0]
        place, _, name = module.rpartition(".")
        return module in {own, page} or (place == folder and not name.startswith("test_"))

    with registry.scoped(is_near), heroes.scoped():
        yield
