"""W0: one node that has nothing to do, beside an application's database: what it asks of the database, and what that
costs. Beside it the peer, on a server of its own, at the same time."""

import re
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

import psutil

from bench.child import Child
from bench.peers.environment import peer_python
from bench.stage import Stage, server_cpu
from tests.servers.postgres import PostgresServer

#: How long a side comes to rest before it is measured.
SETTLE = 5.0
#: Statements are counted after the measurement, because the server's log costs it time.
LEAST_COUNTED = 2.0
COUNTED = 1 / 4
SHOWN = 8
LONGEST = 70
DATABASE = "shop"
SETTINGS = {"log_line_prefix": "'%d '", "log_parameter_max_length": "0"}
_STATEMENT = re.compile(rf"^{DATABASE} LOG:  (?:statement|execute [^:]*): ((?:.*\n)(?:\t.*\n)*)", re.MULTILINE)
_REMARK = re.compile(r"--[^\n]*\n|\s+")
TRANSACTIONS = f"select xact_commit + xact_rollback from pg_stat_database where datname = '{DATABASE}'"
CONNECTIONS = f"select count(*) from pg_stat_activity where datname = '{DATABASE}'"


@dataclass
class Side:
    """One idle process, and the server that has its database."""

    name: str
    server: PostgresServer
    child: Child

    def wait_until_ready(self) -> None:
        """The process comes up when it is first spoken to."""
        self.child.ready()

    def used(self) -> tuple[float, float, int]:
        """CPU seconds of the server and of the process, and transactions, so far."""
        own = psutil.Process(self.child.pid).cpu_times()
        return server_cpu(self.server), own.user + own.system, int(self.server.query(TRANSACTIONS))


def measure(stage: Stage) -> None:
    servers: list[PostgresServer] = []
    try:
        sides = _sides(stage, servers)
        for side in sides:
            side.wait_until_ready()
        _measure(stage, sides)
    finally:
        stage.clear()
        for server in servers:
            server.close()


def _sides(stage: Stage, servers: list[PostgresServer]) -> list[Side]:
    def server() -> PostgresServer:
        one = PostgresServer(settings=SETTINGS)
        servers.append(one)
        one.start()
        return one

    own = server()
    node = stage.child("bench.http_node", own.create_database(DATABASE), str(stage.folder))
    sides = [Side("Detent", own, node)]
    if stage.with_peer:
        other = server()
        peer = stage.child("bench.peers.dbos_peer", other.create_database(DATABASE), python=peer_python())
        sides.append(Side("DBOS", other, peer))
    return sides


def _measure(stage: Stage, sides: list[Side]) -> None:
    seconds = stage.sizes.idle
    time.sleep(min(SETTLE, seconds))
    before, begun = [side.used() for side in sides], time.monotonic()
    time.sleep(seconds)
    took, after = time.monotonic() - begun, [side.used() for side in sides]
    found = []
    for was, now in zip(before, after, strict=True):
        server, process, transactions = ((one - other) / took for one, other in zip(now, was, strict=True))
        found.append({"server_cpu": server, "process_cpu": process, "transactions": transactions})
    counted = max(LEAST_COUNTED, seconds * COUNTED)
    for side, facts, statements in zip(sides, found, _statements(sides, counted), strict=True):
        facts["statements"] = sum(statements.values()) / counted
        facts["connections"] = int(side.server.query(CONNECTIONS))
        top = {text: round(count / counted, 2) for text, count in statements.most_common(SHOWN)}
        stage.results.figure("W0", side.name, seconds=took, **facts, top=top)
        for text, rate in top.items():
            stage.say("W0", f"{side.name}: {rate:5.2f}/s  {text}")
    _write(stage, seconds, found)


def _statements(sides: list[Side], seconds: float) -> list[Counter[str]]:
    """Count the statements of each side by their first words, in the server's log."""
    for side in sides:
        side.server.query("alter system set log_statement = 'all'")
        side.server.query("select pg_reload_conf()")
    begins = [len(side.server.log()) for side in sides]
    time.sleep(seconds)
    logs = [side.server.log()[begin:] for side, begin in zip(sides, begins, strict=True)]
    return [count_statements(log) for log in logs]


def count_statements(log: str) -> Counter[str]:
    """Count the statements of a log that the database executed, by their first words without remarks."""
    return Counter(_REMARK.sub(" ", text).strip()[:LONGEST] for text in _STATEMENT.findall(log))


def _write(stage: Stage, seconds: float, found: list[dict[str, Any]]) -> None:
    def line(what: str, name: str, form: str, factor: float = 1.0) -> None:
        shown = [format(facts[name] * factor, form) for facts in found]
        stage.results.line("W0", what, shown[0], other=shown[1] if len(shown) > 1 else "")

    line(f"idle for {seconds:g} s: statements per second", "statements", ".1f")
    line("transactions per second", "transactions", ".1f")
    line("CPU of the database, ms per second", "server_cpu", ".1f", 1e3)
    line("CPU of the process, ms per second", "process_cpu", ".1f", 1e3)
    line("connections", "connections", ".0f")
