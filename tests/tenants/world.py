"""Two tenants in one process, each with one object of every kind, and requests to their API without a socket."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, unquote

from detent.api.app import Api, context_for
from detent.api.server.fast_path import FastPath
from detent.auth.caller import Caller
from detent.ids import ALERT, FIRING, LETTER, RUN, SESSION, WORKFLOW, new_id, parse, show
from detent.process import App, run_app
from detent.settings import Settings
from detent.store.identity.people import NewSession
from detent.store.rule_rows import NewAlert
from detent.store.trigger_rows import FiringState, NewFiring
from detent.vault.sealing import new_key
from tests.api.rules import SAVE
from tests.store.make import letter
from tests.store.test_catalog import action, connector

A: Final = 2
B: Final = 3
#: A text that every object of a tenant has.
CANARIES: Final = {A: "canarya", B: "canaryb"}
_BEARER: Final = b"authorization"
#: The statements and scripts of the request that is being answered.
_ASKED: Final[ContextVar[list[Any] | None]] = ContextVar("asked", default=None)


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    text: str
    asked: list[Any] = field(default_factory=list, compare=False)
    """What the database was asked: statements, and the names of transactions."""

    @property
    def data(self) -> Any:
        return json.loads(self.text)["data"]


class TenantOfHeader:
    """Identifies a request by the tenant in its header: who asks is not what these tests are about."""

    def known(self, headers: Iterable[tuple[bytes, bytes]]) -> Caller | None:
        tenant = int(dict(headers)[_BEARER])
        return Caller(tenant, f"caller {tenant}", via="key")

    async def identify(self, headers: Iterable[tuple[bytes, bytes]]) -> Caller:
        caller = self.known(headers)
        assert caller is not None
        return caller


@dataclass
class World:
    """An app, and the ids and names of what each tenant has, by the parameters of paths that name them."""

    app: App
    _asgi: Any
    objects: dict[int, dict[str, list[str]]] = field(default_factory=dict)

    async def call(self, tenant: int, method: str, target: str, body: Any = None, **headers: str) -> Answer:
        path, _, query = target.partition("?")
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        given = {"host": "127.0.0.1", "authorization": str(tenant), "content-type": "application/json", **headers}
        scope: dict[str, Any] = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": unquote(path), "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
            "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()],
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "state": {},
        }  # fmt: skip
        status, found, parts = 0, dict[str, str](), bytearray()

        messages = [{"type": "http.request", "body": data, "more_body": False}]
        is_answered = asyncio.Event()

        async def receive() -> Any:
            if messages:
                return messages.pop()
            await is_answered.wait()  # the client stays until then
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                found.update((name.decode().lower(), value.decode("latin-1")) for name, value in message["headers"])
            else:
                parts.extend(message.get("body", b""))
                if not message.get("more_body", False):
                    is_answered.set()

        asked: list[Any] = []
        token = _ASKED.set(asked)
        await self._asgi(scope, receive, send)
        _ASKED.reset(token)
        return Answer(status, found, parts.decode("utf-8", "replace"), asked)

    async def made(self, tenant: int, method: str, target: str, body: Any = None) -> Any:
        answer = await self.call(tenant, method, target, body)
        assert answer.status in (200, 201, 202, 204), f"{method} {target}: {answer.status} {answer.text}"
        return json.loads(answer.text).get("data") if answer.text else None

    async def furnish(self, tenant: int) -> None:
        """Give a tenant two objects of every kind, so that its lists have a next page. Remember the first ones."""
        known = self.objects[tenant] = {}
        for number in (1, 2):
            for kind, value in [*await self._runs(tenant, number), *await self._others(tenant, number)]:
                if number == 1:
                    known.setdefault(kind, []).append(value)

    async def _runs(self, tenant: int, number: int) -> list[tuple[str, str]]:
        canary, store = f"{CANARIES[tenant]}{number}", self.app.store
        name = f"{canary}-flow"
        tasks = {"w": {"wait_for_webhook": {"timeout": "1h"}}, "t": {"needs": ["w"], "action": "core.echo"}}
        definition = {"name": name, "title": canary, "trigger": {"type": "webhook"}, "tasks": tasks}
        workflow = (await self.made(tenant, "POST", "/api/v1/workflows", definition))["id"]
        await self.made(tenant, "PUT", f"/api/v1/workflows/{name}?draft=true", {**definition, "title": canary * 2})
        start = f"/api/v1/workflows/{name}/trigger?hero={canary}:{canary}&label=team:{canary}"
        run = (await self.made(tenant, "POST", start, {"text": canary}))["run_id"]
        await self.made(tenant, "POST", start, {"text": canary, "much": "." * 300_000})
        blob = (await self.made(tenant, "GET", "/api/v1/blobs"))[0]["id"]
        triggers = await self.made(tenant, "GET", f"/api/v1/triggers?workflow={workflow}")
        trigger = triggers[0]["id"]
        sent = await self.made(tenant, "POST", f"/api/v1/triggers/{trigger}", {"text": canary})
        token = sent["callbacks"][0]["url"].rpartition("/")[2]
        alert, dead = new_id(), letter(tenant=tenant, workflow=parse(WORKFLOW, workflow), message=canary)
        about = (alert, tenant, parse(WORKFLOW, workflow), parse(RUN, run), "w")
        await store.add_alert(NewAlert(*about, canary, "low", canary, canary, None))
        row = await store.firing(tenant, parse(FIRING, sent["firing_id"]))
        assert row is not None
        refused = row._replace(id=dead.id, state=FiringState.REFUSED, dedup=None)._asdict()
        await store.add_firings([NewFiring(*(refused[name] for name in NewFiring._fields))], letters=[dead])
        return [
            ("workflow", workflow), ("workflow", name), ("run", run), ("trigger", trigger), ("token", token),
            ("firing", sent["firing_id"]), ("alert", show(ALERT, alert)), ("letter", show(LETTER, dead.id)),
            ("hero_type", canary), ("hero_id", canary), ("blob", blob),
        ]  # fmt: skip

    async def _others(self, tenant: int, number: int) -> list[tuple[str, str]]:
        canary, store = f"{CANARIES[tenant]}{number}", self.app.store
        entity = {"name": f"{canary}-order", "title": canary, "fields": {"status": {"type": "string"}}}
        entity_id = (await self.made(tenant, "POST", "/api/v1/entities", entity))["id"]
        rule = await self._rule(tenant, canary, entity_id)
        made = connector(
            f"{canary}crm", tenant=tenant, title=canary, manifest="{}", requires_auth=False, auth_type=None
        )
        await store.save_connector(made, [action(f"{canary}crm.get", tenant=tenant, title=canary)])
        template = {"title": canary, "body": f"{canary} {{{{ answers }}}}"}
        await self.made(tenant, "PUT", f"/api/v1/templates/{canary}-brief?set={canary}-set", template)
        flow = {
            "id": f"{canary}-say", "title": canary, "config_schema": {"type": "object", "properties": {}},
            "definition": {"tasks": {"say": {"action": "core.echo", "with": {"text": canary}}}},
        }  # fmt: skip
        await self.made(tenant, "POST", "/api/v1/templates/workflows", flow)
        text = {"name": f"{canary} mail", "action_type": "create_alert", "default_config": {"title": canary}}
        action_template = (await self.made(tenant, "POST", "/api/v1/action-templates", text))["id"]
        key = (await self.made(tenant, "POST", "/api/v1/keys", {"name": canary, "role": "viewer"}))["id"]
        await self.made(tenant, "PUT", f"/api/v1/secrets/{canary}", {"value": f"{canary} is long enough"})
        token = {"kind": "token", "hosts": ["crm.example.com"], "token": f"{canary} is long enough"}
        await self.made(tenant, "PUT", f"/api/v1/credentials/{canary}", token)
        person = {"name": f"{canary}-user", "role": "viewer", "password": "correct horse battery"}
        user = (await self.made(tenant, "POST", "/api/v1/users", person))["id"]
        session, until = new_id(), await store.now() + 3_600_000_000
        await store.add_session(NewSession(canary, session, tenant, f"key:{key}", "{}", until, None, canary))
        return [
            ("entity", entity_id), ("entity", entity["name"]), ("rule", rule), ("connector", made.id),
            ("action", f"{made.id}.get"), ("template", f"{canary}-brief"), ("template", f"{canary}-say"),
            ("template", action_template), ("template_set", f"{canary}-set"), ("key", key), ("secret", canary),
            ("credential", canary), ("user", user), ("session", show(SESSION, session)),
        ]  # fmt: skip

    async def _rule(self, tenant: int, canary: str, entity: str) -> str:
        given = {**SAVE, "name": f"{canary} rule", "entity_id": entity, "trigger_conditions": None}
        alert = {"alert_type": canary, "severity": "low", "title": canary, "message": canary}
        given["actions"] = [{"id": None, "name": "Create Alert", "action_config": alert, "execution_order": 1}]
        given["edges"] = [{"source_action_id": None, "target_action_id": "temp:0", "edge_type": "start"}]
        given["canvas_layout"] = {}
        return str((await self.made(tenant, "POST", "/api/v1/rules/full", given))["id"])


def note_statements(access: Any) -> None:
    """Note what each request asks of the database. Requests are told apart by their context."""

    def noting(call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def noted(asked: Any, *values: Any) -> Any:
            found = _ASKED.get()
            if found is not None:
                found.append(getattr(asked, "__qualname__", asked))
            return await call(asked, *values)

        return noted

    for name in ("query", "search", "run_script"):
        setattr(access, name, noting(getattr(access, name)))


@asynccontextmanager
async def two_tenants(url: str, *, row_security: bool = False) -> AsyncIterator[World]:
    """An app with two tenants that have the same."""
    settings = Settings(database_url=url, encryption_key=new_key(), row_security=row_security)
    async with run_app(settings, migrate=True) as app:
        context = context_for(app, TenantOfHeader(), hosts=None)
        world = World(app, FastPath(Api(context), context))
        asked = app.store.for_tenant(A) if row_security else app.store
        note_statements(asked.run.__self__._access)  # type: ignore[attr-defined] # noqa: SLF001 - no verb does
        for tenant in (A, B):
            made = await app.store.add_tenant(CANARIES[tenant], None)
            assert made is not None
            assert made.id == tenant
            await world.furnish(tenant)
        yield world


def absent(value: str) -> str:
    """Return a value of the same form that names nothing."""
    prefix, _, rest = value.rpartition("_")
    if prefix and len(rest) == 26:
        return show(prefix, new_id())
    digest = hashlib.sha256(value.encode()).hexdigest()
    found = "".join(digest[index % 64] if one.isalnum() else one for index, one in enumerate(value))
    return f"x{found[1:]}"


def escaped(value: str) -> str:
    return quote(value, safe="")
