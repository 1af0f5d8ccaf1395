"""Secrets in runs: an attempt sends the value, and everything that is stored or shown has the name."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import pytest

from detent.errors import StoreBusy
from detent.run.outcomes import Cancel, Done, Fail, Finish, Outcome, Pause, Reattempt, Skip, StepError
from detent.steps.secret_calls import redacted
from detent.vault.redaction import Redactor
from detent.vault.sealing import Vault, new_key, read_key
from detent.vault.secrets import SecretOpener, SecretUnavailable, label_of
from tests.engine.rig import TENANT, Rig, done, failed, rig, virtual

CANARY = "sk_live_canary_4242"
VAULT = Vault([read_key(new_key())])


class _Row(NamedTuple):
    tenant: int
    name: str
    version: int
    sealed: bytes
    hosts: Sequence[str]


class Rows:
    """The secrets of a store, in memory."""

    def __init__(self) -> None:
        self.rows: dict[tuple[int, str], _Row] = {}
        self.asked: list[list[str]] = []
        self.is_busy = False

    def put(self, name: str, value: str, hosts: Sequence[str] = (), tenant: int = TENANT) -> None:
        version = self.rows[tenant, name].version + 1 if (tenant, name) in self.rows else 1
        box = VAULT.seal(label_of(tenant, name, version), value.encode())
        self.rows[tenant, name] = _Row(tenant, name, version, box, hosts)

    async def secrets_named(self, tenant: int, names: Collection[str]) -> Sequence[_Row]:
        self.asked.append(list(names))
        if self.is_busy:
            raise StoreBusy
        return [self.rows[tenant, name] for name in names if (tenant, name) in self.rows]


def _with_secrets(world: Rig, **values: str) -> Rows:
    rows = Rows()
    for name, value in values.items():
        rows.put(name, value)
    world.secrets = SecretOpener(VAULT, rows)
    return rows


def _stored(world: Rig, run: bytes) -> str:
    row = world.store.table[run]
    entries = [entry.data.decode() for _, entry in sorted(world.store.entries.get(run, {}).items())]
    return "\n".join([*entries, str(row), json.dumps(world.heard, default=str)])


def _error(world: Rig, run: bytes) -> str:
    return str(world.store.table[run].error)


SEND: dict[str, Any] = {
    "send": {
        "url": "https://api.example/{{secrets.KEY}}",
        "headers": {"Authorization": "{{ basic('me', secrets.KEY) }}", "X-Plain": "a"},
        "body": {"deep": [{"token": "t-{{secrets.KEY}}"}], "name": "{{trigger.body.name}}"},
    }
}


@virtual
async def test_an_attempt_sends_the_value_and_the_journal_has_nothing_of_it() -> None:
    async with rig() as world:
        _with_secrets(world, KEY=CANARY)
        await world.engine()
        world.hands.scripts["send"] = lambda call: done({"echo": call.parameters})
        run = await world.start(SEND, {"name": "{{secrets.KEY}}"})
        assert await world.ended(run) == "completed"
        [call] = world.hands.calls
        assert call.parameters["url"] == f"https://api.example/{CANARY}"
        assert call.parameters["body"] == {"deep": [{"token": f"t-{CANARY}"}], "name": "{{secrets.KEY}}"}
        assert call.parameters["headers"]["Authorization"].startswith("Basic ")
        assert CANARY not in _stored(world, run)
        assert "***" in _stored(world, run)


@virtual
async def test_every_attempt_opens_the_newest_version() -> None:
    async with rig() as world:
        rows = _with_secrets(world, KEY=CANARY)
        await world.engine()
        outcomes: list[Outcome] = [failed(), done()]

        def send(call: Any) -> Outcome:
            rows.put("KEY", "sk_live_rotated_1")
            return outcomes.pop(0)

        world.hands.scripts["send"] = send
        run = await world.start(SEND, {"name": 1})
        assert await world.ended(run) == "completed"
        sent = [call.parameters["url"].removeprefix("https://api.example/") for call in world.hands.calls]
        assert sent == [CANARY, "sk_live_rotated_1"]


@virtual
async def test_steps_that_ask_together_share_one_read() -> None:
    async with rig() as world:
        rows = _with_secrets(world, KEY=CANARY, OTHER="another-value")
        await world.engine()
        steps = {f"s{number}": {"url": "https://a.example/{{secrets.KEY}}"} for number in range(20)}
        steps["other"] = {"url": "https://a.example/{{secrets.OTHER}}"}
        run = await world.start(steps)
        assert await world.ended(run) == "completed"
        assert rows.asked == [["KEY", "OTHER"]]


@virtual
async def test_a_missing_secret_fails_the_step_for_good() -> None:
    async with rig() as world:
        _with_secrets(world)
        await world.engine()
        run = await world.start(SEND, {"name": 1})
        assert await world.ended(run) == "failed"
        assert world.hands.calls == []
        assert "there is no secret 'KEY'; set it with `detent secrets set KEY`" in _error(world, run)


@virtual
async def test_a_secret_of_another_tenant_is_missing() -> None:
    async with rig() as world:
        rows = _with_secrets(world)
        rows.put("KEY", CANARY, tenant=TENANT + 1)
        await world.engine()
        run = await world.start(SEND, {"name": 1})
        assert await world.ended(run) == "failed"
        assert "there is no secret 'KEY'" in _error(world, run)


@virtual
async def test_a_node_that_cannot_read_or_open_a_secret_tries_again() -> None:
    async with rig() as world:
        rows = _with_secrets(world, KEY=CANARY)
        await world.engine()
        rows.is_busy = True
        run = await world.start(SEND, {"name": 1})
        await world.until(lambda: len(rows.asked) == 2)
        rows.is_busy = False
        assert await world.ended(run) == "completed"


async def test_a_secret_sealed_with_another_key_says_so() -> None:
    rows = Rows()
    rows.put("KEY", CANARY)
    for vault, words in ((Vault([read_key(new_key())]), "which this node does not have"), (Vault(()), "new-key")):
        secrets = SecretOpener(vault, rows)
        with pytest.raises(SecretUnavailable, match=words) as refused:
            await secrets.open(TENANT, ["KEY"])
        assert refused.value.retry
        assert refused.value.code == "secret_unavailable"
        secrets.learn(rows.rows.values())
        assert secrets.redactors == {}


@virtual
async def test_errors_and_tracebacks_are_redacted_also_where_no_secret_is_sent() -> None:
    """The second step sends no secret. Its service knows the value, because an earlier step has sent it there."""
    async with rig() as world:
        _with_secrets(world, KEY=CANARY)
        await world.engine()
        detail = {"traceback": f'File "x.py"\n  raise ValueError("{CANARY}")', CANARY: [CANARY.encode().hex()]}
        wrong = Fail(StepError("boom", f"bad {CANARY}", detail), f'{{"body":"{CANARY}"}}'.encode(), retry=False)
        world.hands.scripts["after"] = lambda call: wrong
        run = await world.start({**SEND, "after": {"url": "https://b.example", "needs": ["send"]}}, {"name": 1})
        assert await world.ended(run) == "failed"
        assert "bad ***" in _error(world, run)
        assert CANARY not in _stored(world, run)
        assert CANARY.encode().hex() not in _stored(world, run)


@virtual
async def test_a_poisoned_step_shows_the_names_of_its_secrets() -> None:
    async with rig() as world:
        _with_secrets(world, KEY=CANARY)
        world.hands.hold("send")
        await world.engine(poison_after=1, poison_delay=1.0)
        run = await world.start(SEND, {"name": 1})
        for _ in range(3):
            await world.until(lambda: world.hands.now == 1, 400)
            world.crash(world.engines[0])
            await world.until(lambda: world.hands.now == 0)
            await world.engine(poison_after=1, poison_delay=1.0)
        assert await world.ended(run, 400) == "failed"
        stored = _stored(world, run)
        assert "poison" in stored
        assert "https://api.example/{{secrets.KEY}}" in stored
        assert CANARY not in stored


@virtual
async def test_the_result_of_a_sensitive_step_is_sealed_and_later_steps_read_it() -> None:
    token = "fetched-token-777"
    async with rig() as world:
        _with_secrets(world)
        await world.engine()
        answer = {"status_code": 200, "headers": {"x": token}, "body": {"access_token": token}}
        world.hands.scripts["login"] = lambda call: Done(json.dumps(answer).encode())
        steps = {
            "login": {"url": "https://a.example/token", "sensitive": True},
            "use": {
                "needs": ["login"],
                "if": "tasks.login.status_code == 200 && tasks.login.body.access_token != null",
                "url": "https://a.example/x",
                "headers": {"Authorization": "Bearer {{tasks.login.body.access_token}}"},
            },
        }
        run = await world.start(steps)
        assert await world.ended(run) == "completed"
        assert world.hands.calls[1].parameters["headers"] == {"Authorization": f"Bearer {token}"}
        stored = _stored(world, run)
        assert token not in stored
        assert '"status_code":200,"headers":{},"body":"***","$sealed":"' in stored.replace("\\", "")


@virtual
async def test_a_sensitive_result_is_still_read_by_another_node() -> None:
    async with rig() as world:
        _with_secrets(world)
        first = await world.engine()
        world.hands.scripts["login"] = lambda call: Done(b'{"output":{"token":"fetched-token-777"}}')
        steps = {
            "login": {"action": "shop.login", "with": {}, "sensitive": True},
            "nap": {"needs": ["login"], "sleep": "2m"},
            "use": {"needs": ["nap"], "url": "https://a.example/{{tasks.login.output.token}}"},
        }
        run = await world.start(steps)
        await world.until(lambda: any(step == "login" for _, step in world.kinds(run)))
        world.crash(first)
        await world.engine()
        assert await world.ended(run, within=8_000) == "completed"
        assert world.hands.calls[-1].parameters["url"] == "https://a.example/fetched-token-777"


@virtual
async def test_without_a_key_a_sensitive_step_fails_and_stores_nothing() -> None:
    async with rig() as world:
        await world.engine()
        world.hands.scripts["login"] = lambda call: Done(b'{"output":"fetched-token-777"}')
        run = await world.start({"login": {"action": "shop.login", "with": {}, "sensitive": True}})
        assert await world.ended(run) == "failed"
        assert "cannot be sealed: the process that does this has no encryption key" in _error(world, run)
        assert "fetched-token-777" not in _stored(world, run)


@virtual
async def test_a_secret_for_some_hosts_is_refused_to_code() -> None:
    async with rig() as world:
        rows = _with_secrets(world)
        rows.put("KEY", CANARY, hosts=["api.example"])
        await world.engine()
        steps = {"mail": {"action": "shop.mail", "with": {"text": "{{secrets.KEY}}"}}}
        run = await world.start(steps)
        assert await world.ended(run) == "failed"
        assert world.hands.calls == []
        assert "may be sent to api.example only, and code could send it anywhere" in _error(world, run)
        again = await world.start(SEND, {"name": 1})
        assert await world.ended(again) == "completed"
        [call] = world.hands.calls
        assert [(one.name, tuple(one.hosts)) for one in call.bound] == [("KEY", ("api.example",))]


@virtual
async def test_a_late_function_that_refuses_fails_the_step() -> None:
    async with rig() as world:
        _with_secrets(world, KEY=CANARY)
        await world.engine()
        run = await world.start({"s": {"url": "https://a.example", "body": "{{ basic('a:b', secrets.KEY) }}"}})
        assert await world.ended(run) == "failed"
        assert "must not have a colon" in _error(world, run)


@pytest.mark.parametrize(
    "outcome",
    [
        Done(b'{"output":"x sk_live_canary_4242"}'),
        Fail(StepError("output_too_large", "much"), retry=False, large=Done(b'{"output":"sk_live_canary_4242"}')),
        Fail(StepError("c", CANARY), b'{"body":"sk_live_canary_4242"}'),
        Skip(StepError("c", CANARY), b'{"body":"sk_live_canary_4242"}'),
        Reattempt(1.0, StepError(CANARY, "m")),
        Cancel(f"because {CANARY}", StepError("c", "m", [CANARY])),
        Pause(f"because {CANARY}"),
        Finish(b'{"output":"sk_live_canary_4242"}'),
    ],
    ids=lambda one: type(one).__name__,
)
def test_every_outcome_is_redacted(outcome: Outcome) -> None:
    redactor = Redactor([CANARY])
    clean = redacted(outcome, redactor)
    assert type(clean) is type(outcome)
    assert CANARY not in str(clean)
    assert redacted(clean, redactor) == clean


def test_an_outcome_without_secrets_is_the_same_object() -> None:
    for outcome in (Done(b'{"output":1}'), Fail(StepError("c", "m", {"a": 1}))):
        assert redacted(outcome, Redactor([CANARY])) is outcome
