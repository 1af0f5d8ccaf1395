"""Isolated actions: whatever one of them does, it only fails its own attempt, and nothing is left of it."""

import asyncio
import os
import resource
import signal
from collections.abc import AsyncIterator, Iterator
from typing import Any

import msgspec
import psutil
import pytest

from detent.catalog.connections import EnvironmentConnections
from detent.graph.model import StepKind
from detent.observe import listen
from detent.run.links import Link
from detent.run.outcomes import Done, Fail, Outcome, Skip
from detent.steps.action_step import ActionExecutor
from detent.steps.actions import Registry
from detent.steps.egress import EgressPolicy
from detent.steps.errors import LONGEST_WAIT
from detent.steps.http.client import ActionServices
from detent.steps.isolation import frames
from detent.steps.isolation.processes import Processes
from detent.tenants.registry import TenantRegistry
from tests.steps import isolated_actions
from tests.steps.calls import RUN_ID, attempt, call_of, done

pytestmark = pytest.mark.slow


@pytest.fixture
async def processes() -> AsyncIterator[Processes]:
    made = Processes(lambda: [isolated_actions.__name__])
    yield made
    await made.close()


@pytest.fixture
async def step(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ActionExecutor]:
    monkeypatch.setenv("CONNECTOR_OTHER_TOKEN", "not for everyone")
    monkeypatch.setenv("DETENT_SECRET_KEY", "nor this")
    services = ActionServices(connections=EnvironmentConnections({"CONNECTOR_GOOD_TOKEN": "secret"}))
    executor = ActionExecutor(isolated_actions.REGISTRY, services=services, processes=processes)
    yield executor
    await executor.close()


@pytest.fixture
def heard() -> Iterator[list[tuple[str, dict[str, Any]]]]:
    found: list[tuple[str, dict[str, Any]]] = []
    stop = listen(lambda name, facts: found.append((name, facts)))
    yield found
    stop()


async def call(step: ActionExecutor, action: str, given: Any = None, *, timeout: float | None = 120.0) -> Outcome:
    return await attempt(step, call_of(StepKind.ACTION, {"action": action, "with": given}, timeout=timeout))


@pytest.mark.case("G14")
async def test_an_isolated_action_reaches_what_its_tenant_may_and_no_more() -> None:
    tenants = TenantRegistry()
    policy = EgressPolicy.from_texts(["127.0.0.0/8", "169.254.169.254"])
    tenants.put(2, "shop", '{"actions":["good.*"],"egress":["10.9.9.9"]}')
    tenants.put(3, "free", '{"actions":["good.*"],"egress":["127.0.0.1"]}')
    tenants.put(4, "open", '{"actions":["good.*"]}')
    processes = Processes(lambda: [isolated_actions.__name__], policy, tenants)
    services = ActionServices(
        policy, tenants=tenants, connections=EnvironmentConnections({"CONNECTOR_GOOD_TOKEN": "x"})
    )
    executor = ActionExecutor(isolated_actions.REGISTRY, services=services, processes=processes, tenants=tenants)

    async def said(tenant: int, action: str, given: dict[str, str]) -> str:
        whole = call_of(StepKind.ACTION, {"action": action, "with": given}, timeout=120.0)
        outcome = await attempt(executor, msgspec.structs.replace(whole, tenant=tenant))
        assert isinstance(outcome, Fail)
        return outcome.error.message

    try:
        # The process of the pool that one tenant has used applies the rules of the next one.
        for tenant, is_allowed in ((1, True), (2, False), (3, True), (2, False), (4, True)):
            asked = await said(tenant, "good.ask", {"url": "http://127.0.0.1:1/"})
            dialled = await said(tenant, "good.dial", {"host": "127.0.0.1"})
            assert ("may not connect" in asked) is not is_allowed, (tenant, asked)
            assert ("may not connect" in dialled) is not is_allowed, (tenant, dialled)
        assert "metadata" in await said(4, "good.dial", {"host": "169.254.169.254"})
    finally:
        await executor.close()


async def test_an_action_in_a_process_is_like_any_other(
    step: ActionExecutor, heard: list[tuple[str, dict[str, Any]]]
) -> None:
    found = done(await call(step, "good.double", {"row": {"number": 21}}))["output"]
    assert found["pid"] != os.getpid()
    assert (found["twice"], found["attempt"], found["by"], found["before"]) == (42, 1, "system", None)
    assert found["token"] == "secret"
    assert found["environment"] == [], "no credential of another action, and no setting of the node"
    assert len(found["files"]) == 4, "three streams that lead nowhere, and the socket to its node"
    where = {"run": RUN_ID, "step": "charge", "attempt": 1}
    assert heard == [
        ("action.logged", {**where, "level": "info", "message": "row 21", "facts": {"at": 21}}),
        ("step.progress", {**where, "fraction": 0.5, "text": "half"}),
    ]
    assert done(await call(step, "good.later", {"number": 1}))["output"] == 2
    plain = {**where, "level": "warning", "message": "later by 1", "facts": {"logger": "shop"}}
    assert heard[-1] == ("action.logged", plain), "a plain logger of the process reaches the node"
    skipped = await call(step, "good.skip")
    assert isinstance(skipped, Skip)
    failed = await call(step, "good.fail")
    assert isinstance(failed, Fail)
    assert failed.error.message == "ValueError: no funds"
    assert failed.error.detail["heartbeat"] == 41
    assert "raise ValueError" in failed.error.detail["traceback"]
    misfit = await call(step, "good.double", {"row": {"number": "x"}})
    assert isinstance(misfit, Fail)
    assert misfit.error.detail["problems"] == [{"field": "with.row.number", "message": "must be of type integer"}]
    assert await call(step, "good.link") == Done(b'{"output":"linked"}', (Link("shop", "order", "17"),))
    denied = await call(step, "good.dial", {"host": "10.0.0.1"})
    assert isinstance(denied, Fail)
    assert denied.error.message.startswith("EgressDenied")
    other = await call(step, "good.other-token")
    assert isinstance(other, Fail)
    assert other.error.code == "missing_credential"


HOSTILE = {
    "bad.loop": ("timeout", "the step did not end within 1 s"),
    "bad.deaf": ("timeout", "the step did not end within 1 s"),
    "bad.silent": ("heartbeat_timeout", "no heartbeat"),
    "bad.exit": ("process_died", "exit code 3"),
    "bad.sys-exit": ("exception", "SystemExit"),
    "bad.pickled": ("unserialisable", "Reduced"),
    "bad.large": ("exception", "MemoryError"),
    "bad.flood": ("process_died", "it sent more than 64 MB"),
    "bad.garbage": ("process_died", "it sent something that is not a result"),
    "bad.memory": ("exception", "MemoryError"),
    "bad.segfault": ("process_died", "SIGSEGV"),
    "bad.recursion": ("exception", "RecursionError"),
    "bad.forks": ("process_died", "more than 64 processes"),
    "bad.closes": ("process_died", "exit code 1"),
    "bad.error": ("exception", "Odd"),
    "bad.listener": ("process_died", "2,147,483,648 bytes at once"),
}
#: What succeeds, and must leave nothing behind all the same.
LEAVING = {
    "bad.prints": "printed", "bad.stays": "left", "bad.daemon": None, "bad.patches": "patched",
    "bad.threads": "left threads",
}  # fmt: skip


@pytest.mark.case("H9", "H11", "H12")
async def test_hostile_actions_fail_their_own_attempts_only(step: ActionExecutor, processes: Processes) -> None:
    assert done(await call(step, "good.later", {"number": 1}))["output"] == 2
    zygote = processes.pid
    before = psutil.Process().memory_info().rss
    names = [*HOSTILE, *LEAVING]
    outcomes = dict(zip(names, await asyncio.gather(*(call(step, name) for name in names)), strict=True))
    for name, (code, words) in HOSTILE.items():
        outcome = outcomes[name]
        assert isinstance(outcome, Fail), (name, outcome)
        assert outcome.error.code == code, (name, outcome)
        assert words in outcome.error.message, (name, outcome)
    for name, output in LEAVING.items():
        found = done(outcomes[name])["output"]
        assert output is None or found == output, (name, found)
    grown = psutil.Process().memory_info().rss - before
    assert grown < 16 * 1024 * 1024, f"the node grew by {grown:,} bytes"
    assert done(await call(step, "good.later", {"number": 1}))["output"] == 2
    assert os.getpid() > 0, "what an attempt replaces in its process is not replaced in the node"
    assert processes.pid == zygote, "no attempt has ended the process that starts the others"
    await none_left(processes)
    daemon = done(outcomes["bad.daemon"])["output"]
    assert not psutil.pid_exists(daemon) or psutil.Process(daemon).status() == psutil.STATUS_ZOMBIE


async def none_left(processes: Processes) -> None:
    """Wait until no process is below the zygote."""
    assert processes.pid is not None
    async with asyncio.timeout(300):
        while psutil.Process(processes.pid).children(recursive=True):  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.05)


async def test_processes_of_the_pool_are_used_again_and_killed_at_their_limit(
    step: ActionExecutor, processes: Processes
) -> None:
    first = done(await call(step, "pool.where"))["output"]
    assert done(await call(step, "pool.where"))["output"] == first
    hung = await call(step, "pool.hang")
    assert isinstance(hung, Fail)
    assert (hung.error.code, hung.timed_out) == ("timeout", True)
    assert not psutil.pid_exists(first), "the process of the pool that hung was the idle one"
    second = done(await call(step, "pool.where"))["output"]
    os.kill(second, signal.SIGKILL)
    third = done(await call(step, "pool.where", timeout=60))["output"] if await buried(second) else second
    assert third != second


async def buried(pid: int) -> bool:
    async with asyncio.timeout(300):
        while psutil.pid_exists(pid):  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.1)
    return True


async def test_a_cancelled_attempt_leaves_no_process_and_a_dead_zygote_is_replaced(
    step: ActionExecutor, processes: Processes
) -> None:
    assert done(await call(step, "good.later", {"number": 1}))["output"] == 2
    work = asyncio.ensure_future(call(step, "bad.silent", timeout=None))
    assert processes.pid is not None
    zygote = psutil.Process(processes.pid)
    async with asyncio.timeout(300):
        while not zygote.children():  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.01)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    await none_left(processes)
    lost = asyncio.ensure_future(call(step, "bad.silent", timeout=None))
    async with asyncio.timeout(300):
        while not zygote.children():  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)
    zygote.kill()
    outcome = await lost
    assert isinstance(outcome, Fail)
    assert "has died" in outcome.error.message
    assert outcome.retry
    assert done(await call(step, "good.later", {"number": 1}))["output"] == 2
    assert processes.pid != zygote.pid


async def test_a_module_that_cannot_be_loaded_fails_the_attempt_with_its_error() -> None:
    processes = Processes(lambda: ["tests.steps.no_such_module"])
    step = ActionExecutor(isolated_actions.REGISTRY, processes=processes)
    outcome = await call(step, "good.later", {"number": 1})
    await step.close()
    assert isinstance(outcome, Fail)
    assert "ModuleNotFoundError" in outcome.error.message


@pytest.mark.case("H11")
def test_what_a_process_sends_is_checked_again() -> None:
    with pytest.raises(frames.BadFrame):
        frames.decode_result(b'{"status":"done","output":' + b"[" * 100_000)
    large = frames.decode_result(b'{"status":"done","output":123456789012345678901234567890}')
    assert isinstance(large, Fail)
    assert large.error.code == "unserialisable"
    odd = frames.decode_result(b'{"status":"failed","code":"x","message":"y","retry_after":1e300}')
    assert isinstance(odd, Fail)
    assert odd.retry_after == LONGEST_WAIT
    assert frames.decode_result(b'{"status":"done","output":[1]}') == Done(b'{"output":[1]}')


async def test_without_processes_an_isolated_action_runs_as_the_others_do() -> None:
    registry = Registry()
    registry.add("where", isolated_actions.where, isolation="process")
    step = ActionExecutor(registry)
    assert done(await call(step, "where"))["output"] == os.getpid()
    await step.close()
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY
