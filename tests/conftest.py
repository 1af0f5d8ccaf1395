"""What every test may use: async tests and fixtures, and real servers."""

import os

from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.aio", "tests.servers.fixtures"]

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same examples on every machine, so that a red build is red everywhere.
settings.register_profile("ci", parent=settings.get_profile("default"), derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "default")
