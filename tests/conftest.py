"""What every test may use: async tests and fixtures, and real servers."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from detent.python.heroes import heroes
from detent.python.registry import Registered, registry
from tests.docs.pages import module_name

pytest_plugins = ["tests.aio", "tests.servers.fixtures"]

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same examples on every machine, so that a red build is red everywhere.
settings.register_profile("ci", parent=settings.get_profile("default"), derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "default")

#: Modules whose tests take longest. They begin first, so that no worker is left with one of them at the end.
LONGEST = (
    "tests/web/test_pages.py",
    "tests/chaos/test_campaign.py",
    "tests/property/test_property.py",
    "tests/clients/test_typescript.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


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
