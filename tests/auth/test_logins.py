"""People sign in and out, and a cookie is worth no more than it should be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from ipaddress import ip_network
from typing import Any

import pytest

from detent.api.routes.identity.logins import next_of
from detent.auth.authenticator import WATCH_PAUSE
from tests.api.server import PATIENCE
from tests.auth.browser import PASSWORD, Browser, Site, open_site
from tests.auth.issuer import AUDIENCE, ISSUER, SECRET, claims, forge, sign

SAFE = {"X-Detent": "1"}


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with open_site(jwt_secret=SECRET, jwt_issuer=ISSUER, jwt_audience=AUDIENCE) as opened:
        yield opened


async def until_refused(browser: Browser, path: str = "/api/v1/workflows") -> None:
    """Wait until a caller is not known any more: each node looks at the stamp of identities every second."""
    async with asyncio.timeout(PATIENCE):
        while (await browser.call("GET", path)).status != 401:  # noqa: ASYNC110 - a browser asks again too
            await asyncio.sleep(0.05)


async def test_a_token_may_do_what_its_scopes_say(site: Site) -> None:
    anyone = await site.browser()
    refused = await anyone.call("GET", "/api/v1/workflows")
    assert (refused.status, refused.headers["WWW-Authenticate"]) == (401, "Bearer")
    now = site.app.clock.wall() / 1e6
    reader = await site.browser(Authorization=f"Bearer {sign(claims(now))}")
    assert (await reader.call("GET", "/api/v1/workflows")).status == 200
    assert (await reader.call("GET", "/api/v1/users")).status == 403
    editor = await site.browser(Authorization=f"Bearer {sign(claims(now, scope=None, roles=['editor']))}")
    body = {"name": "w", "tasks": {"a": {"url": "https://example.org"}}}
    assert (await editor.call("POST", "/api/v1/workflows", json=body)).status == 201
    assert (await reader.call("POST", "/api/v1/workflows/w/trigger", json={})).status == 403, "the fast path too"


@pytest.mark.case("K8")
@pytest.mark.case("K9")
async def test_forged_tokens_are_refused_by_the_api(site: Site) -> None:
    now = site.app.clock.wall() / 1e6
    good = claims(now)
    bad = {
        "none": forge({"alg": "none"}, good),
        "expired": sign(claims(now, exp=int(now) - 60)),
        "audience": sign(claims(now, aud="other")),
        "tenant": sign(claims(now, tenant_id="other")),
        "7 KB of noise": "x" * 7_000,
        "10 KB": sign({**good, "more": "x" * 7_500}),
    }
    browser = await site.browser()
    for what, token in bad.items():
        answer = await browser.call("GET", "/api/v1/workflows", headers={"Authorization": f"Bearer {token}"})
        assert answer.status == 401, what
        started = await browser.call(
            "POST", "/api/v1/workflows/w/trigger", json={}, headers={"Authorization": f"Bearer {token}"}
        )
        assert started.status == 401, what
    for size in (100_000, 1_000_000):
        try:
            answer = await browser.call("GET", "/", headers={"Authorization": f"Bearer {'x' * size}"})
        except OSError:
            continue  # the server closed the connection while it was still sent
        assert answer.status in (400, 401, 431)


async def test_a_person_signs_in_with_a_form_and_signs_out(site: Site) -> None:
    await site.person(role="editor")
    browser = await site.browser()
    visit = await browser.call("GET", "/api/v1/workflows?limit=2", headers={"Accept": "text/html,*/*"})
    assert visit.status == 303
    assert visit.headers["Location"] == "../../login?next=%2Fapi%2Fv1%2Fworkflows%3Flimit%3D2"
    wrong = await browser.form("/login?next=/runs", name="alice", password="wrong")
    assert (wrong.status, "not correct" in wrong.text) == (401, True)
    done = await browser.form("/login?next=/runs%3Fa%3Db", name=" Alice ", password=PASSWORD)
    assert (done.status, done.headers["Location"]) == (303, "./runs?a=b")
    cookie = done.headers["Set-Cookie"]
    assert cookie.startswith("detent=")
    assert {"Path=/", "HttpOnly", "SameSite=Lax", "Max-Age=43200"} == set(cookie.split("; ")[1:])
    assert (await browser.call("GET", "/api/v1/workflows")).status == 200
    [own] = (await browser.call("GET", "/api/v1/sessions")).json["data"]
    assert (own["name"], own["via"], own["current"], own["address"]) == ("person alice", "password", True, "127.0.0.1")
    gone = await browser.form("/logout")
    assert (gone.status, gone.headers["Location"]) == (303, "./login")
    assert "Max-Age=0" in gone.headers["Set-Cookie"]
    stolen = await site.browser(Cookie=cookie.partition(";")[0])
    await until_refused(stolen)
    assert "not signed in" in (await browser.call("GET", "/logout")).text


@pytest.mark.case("K15")
async def test_a_cookie_changes_nothing_without_the_mark_of_our_own_page(site: Site) -> None:
    await site.person(role="editor")
    browser = await site.browser()
    await browser.sign_in(name="alice", password=PASSWORD)
    body = {"name": "w", "tasks": {"a": {"url": "https://example.org"}}}
    for method, path in (("POST", "/api/v1/workflows"), ("POST", "/api/v1/workflows/w/trigger")):
        for headers in (
            {},
            {"X-Detent": "0"},
            {**SAFE, "Origin": "https://evil.net"},
            {**SAFE, "Sec-Fetch-Site": "same-site"},
        ):
            answer = await browser.call(method, path, json=body, headers=headers)
            assert (answer.status, path, headers) == (403, path, headers)
    assert (await browser.call("POST", "/api/v1/workflows", json=body, headers=SAFE)).status == 201
    key = await site.key()
    both = await browser.call("GET", "/api/v1/workflows", headers={"Authorization": f"Bearer {key}"})
    assert (both.status, "not both" in both.text) == (401, True)
    assert (await browser.call("POST", "/wh/unknown", headers=SAFE)).status == 404


@pytest.mark.case("K15")
async def test_a_form_of_another_site_signs_no_one_in_or_out(site: Site) -> None:
    await site.person()
    browser = await site.browser()
    values = {"name": "alice", "password": PASSWORD, "form": "x" * 43}
    assert (await browser.call("POST", "/login", data=values)).status == 403
    await browser.call("GET", "/login")
    assert (await browser.call("POST", "/login", data=values)).status == 403
    assert (await browser.call("POST", "/login", data={**values, "form": "ü"})).status == 403
    assert (await browser.call("POST", "/login", json=values)).status == 403
    foreign = {"Origin": "https://evil.net"}
    assert (await browser.call("POST", "/login", json=values, headers={**SAFE, **foreign})).status == 403
    await browser.sign_in(name="alice", password=PASSWORD)
    for options in ({"data": {"form": "x"}}, {}, {"headers": {**SAFE, **foreign}}):
        assert (await browser.call("POST", "/logout", **options)).status == 403
    assert (await browser.call("GET", "/api/v1/workflows")).status == 200


async def test_scripts_sign_in_with_json(site: Site) -> None:
    await site.person()
    browser = await site.browser(**SAFE)
    methods = (await browser.call("GET", "/api/v1/login-methods")).json["data"]
    assert methods == {"key": True, "password": True, "oidc": None}
    for body, status in (
        ({"name": "alice", "password": "wrong"}, 401),
        ({"name": "nope", "password": "wrong"}, 401),
        ({"key": "dk_wrong"}, 401),
        ({"name": "alice"}, 400),
        ({"name": ["alice"], "password": 7}, 400),
        ([], 400),
    ):
        answer = await browser.call("POST", "/login", json=body)
        assert (body, answer.status) == (body, status)
    assert (await browser.call("POST", "/login", data="{", headers={"Content-Type": "text/plain"})).status == 400
    assert (await browser.call("POST", "/login", json={"name": "alice", "password": PASSWORD})).status == 204
    assert (await browser.call("GET", "/api/v1/workflows")).status == 200
    assert (await browser.call("POST", "/logout")).status == 204
    assert (await browser.call("GET", "/api/v1/workflows")).status == 401
    assert (await browser.call("POST", "/logout")).status == 204, "again"


async def test_guesses_are_stopped_by_name_and_address_whether_the_name_exists_or_not(site: Site) -> None:
    await site.person()
    browser = await site.browser(**SAFE)
    for name in ("alice", "nope"):
        guess = {"name": name, "password": "wrong"}
        answers = [
            await browser.call("POST", "/login", json=guess, headers={"X-Forwarded-For": f"198.51.100.{number}"})
            for number in range(21)
        ]  # a header of the client says nothing about its address
        assert [answer.status for answer in answers] == [401] * 20 + [429]
        assert int(answers[-1].headers["Retry-After"]) <= 300
    page = await browser.form(name="alice", password=PASSWORD)
    assert (page.status, "Retry-After" in page.headers) == (429, True)


async def test_a_stranger_who_guesses_locks_no_person_out() -> None:
    async with open_site(trusted_proxies=(ip_network("127.0.0.1"),)) as site:
        await site.person()
        stranger = await site.browser(**SAFE, **{"X-Forwarded-For": "198.51.100.7"})
        guess = {"name": "alice", "password": "wrong"}
        answers = await asyncio.gather(*(stranger.call("POST", "/login", json=guess) for _ in range(30)))
        assert sum(answer.status == 429 for answer in answers) >= 10, "those under way are counted"
        while (await stranger.call("POST", "/login", json=guess)).status != 429:
            pass
        person = await site.browser(**SAFE, **{"X-Forwarded-For": "203.0.113.9"})
        right = {"name": "alice", "password": PASSWORD}
        assert (await person.call("POST", "/login", json=right)).status == 204


async def test_a_new_login_makes_a_new_session_and_ends_the_old_one(site: Site) -> None:
    await site.person()
    browser = await site.browser()
    await browser.sign_in(name="alice", password=PASSWORD)
    first = await own_cookie(browser)
    await browser.sign_in(name="alice", password=PASSWORD)
    assert await own_cookie(browser) != first
    assert len((await browser.call("GET", "/api/v1/sessions")).json["data"]) == 1
    await until_refused(await site.browser(Cookie=f"detent={first}"))


async def own_cookie(browser: Browser) -> str:
    return next(cookie.value for cookie in browser.session.cookie_jar if cookie.key == "detent")


async def test_the_session_of_a_key_has_its_rights_and_ends_with_it(site: Site) -> None:
    key = await site.key("viewer")
    browser = await site.browser(**SAFE)
    await browser.sign_in(key=f" {key} ")
    [own] = (await browser.call("GET", "/api/v1/sessions")).json["data"]
    assert (own["name"], own["via"]) == ("key viewer", "key")
    bearer = await site.browser(Authorization=f"Bearer {key}")
    assert [each["current"] for each in (await bearer.call("GET", "/api/v1/sessions")).json["data"]] == [False]
    body = {"name": "w", "tasks": {"a": {"url": "https://example.org"}}}
    assert (await browser.call("POST", "/api/v1/workflows", json=body)).status == 403
    await site.app.store.revoke_key(1, key.split("_")[1])
    await until_refused(browser)


async def test_sessions_are_listed_and_ended_by_their_owner_or_an_admin(site: Site) -> None:
    await site.person("alice", "viewer")
    await site.person("bob", "viewer")
    alice, other, bob = [await site.browser(**SAFE) for _ in range(3)]
    for browser, name in ((alice, "alice"), (other, "alice"), (bob, "bob")):
        await browser.sign_in(name=name, password=PASSWORD)
    mine = (await alice.call("GET", "/api/v1/sessions")).json["data"]
    assert [each["current"] for each in mine] == [True, False]
    [bobs] = (await bob.call("GET", "/api/v1/sessions")).json["data"]
    assert (await alice.call("GET", "/api/v1/sessions?all=true")).status == 403
    assert (await alice.call("DELETE", f"/api/v1/sessions/{bobs['id']}")).status == 404
    assert (await alice.call("DELETE", "/api/v1/sessions/nonsense")).status == 404
    assert (await alice.call("DELETE", f"/api/v1/sessions/{mine[1]['id']}")).status == 204
    await until_refused(other)
    admin = await site.caller("admin")
    assert (await admin.call("GET", "/api/v1/sessions")).json["data"] == []
    names = [each["name"] for each in (await admin.call("GET", "/api/v1/sessions?all=true&limit=1")).json["data"]]
    assert names == ["person alice"]
    assert (await admin.call("DELETE", f"/api/v1/sessions/{bobs['id']}")).status == 204
    await until_refused(bob)
    assert (await admin.call("DELETE", "/api/v1/sessions/current")).status == 404
    assert (await alice.call("DELETE", "/api/v1/sessions/current")).status == 204
    await until_refused(alice)


async def test_a_caller_makes_no_one_more_than_it_is(site: Site) -> None:
    await site.person("root", "instance-admin")
    admin, operator = await site.caller("admin"), await site.caller("operator")
    assert (await operator.call("GET", "/api/v1/users")).status == 403
    new = {"name": "eve", "role": "instance-admin", "password": PASSWORD}
    assert (await admin.call("POST", "/api/v1/users", json=new)).status == 403
    assert (await admin.call("PATCH", "/api/v1/users/root", json={"password": "taken over now"})).status == 403
    made = await admin.call("POST", "/api/v1/users", json={**new, "role": "admin", "email": "eve@example.org"})
    assert made.status == 201
    assert "argon2" not in made.text
    assert PASSWORD not in made.text
    assert (await admin.call("POST", "/api/v1/users", json={**new, "role": "viewer"})).status == 409
    assert (await admin.call("PATCH", "/api/v1/users/eve", json={"role": "instance-admin"})).status == 403
    names = [each["name"] for each in (await admin.call("GET", "/api/v1/users?limit=1")).json["data"]]
    assert names == ["root"]
    assert (await admin.call("GET", f"/api/v1/users/{made.json['data']['id']}")).json == made.json
    for path in ("usr_00000000000000000000000000", "nope"):
        assert (await admin.call("GET", f"/api/v1/users/{path}")).status == 404


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"role": "viewer"}, "name"),
        ({"name": "a b", "role": "viewer"}, "name"),
        ({"name": "é", "role": "viewer"}, "name"),
        ({"name": "x", "role": "owner"}, "role"),
        ({"name": "x", "role": "viewer", "password": "short"}, "password"),
        ({"name": "x", "role": "viewer", "password": ["p" * 12]}, "password"),
        ({"name": "x", "role": "viewer", "email": "a\nb"}, "email"),
        ({"name": "x", "role": "viewer", "admin": True}, "admin"),
    ],
)
async def test_a_person_that_cannot_be_saved_is_refused_with_its_field(body: Any, field: str) -> None:
    async with open_site() as site:
        answer = await (await site.caller()).call("POST", "/api/v1/users", json=body)
        assert (answer.status, answer.json["details"]["validation_errors"][0]["field"]) == (400, field)


async def test_changes_of_a_person_count_on_every_request(site: Site) -> None:
    await site.person("alice", "viewer")
    admin = await site.caller("admin")
    alice = await site.browser(**SAFE)
    await alice.sign_in(name="alice", password=PASSWORD)
    body = {"name": "w", "tasks": {"a": {"url": "https://example.org"}}}
    assert (await alice.call("POST", "/api/v1/workflows", json=body)).status == 403
    assert (await admin.call("PATCH", "/api/v1/users/alice", json={"role": "editor"})).json["data"]["role"] == "editor"
    async with asyncio.timeout(PATIENCE):
        while (await alice.call("POST", "/api/v1/workflows", json=body)).status == 403:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    bad = await alice.call(
        "POST", "/api/v1/me/password", json={"old_password": "wrong", "new_password": "another one here"}
    )
    assert (bad.status, bad.json["details"]["validation_errors"][0]["field"]) == (400, "old_password")
    change = {"old_password": PASSWORD, "new_password": "another one here"}
    assert (await alice.call("POST", "/api/v1/me/password", json=change)).status == 204
    await until_refused(alice)
    assert (await alice.form(name="alice", password=PASSWORD)).status == 401
    await alice.sign_in(name="alice", password="another one here")
    disabled = await admin.call("PATCH", "/api/v1/users/alice", json={"disabled": True})
    assert disabled.json["data"]["disabled"] is True
    await until_refused(alice)
    assert (await alice.form(name="alice", password="another one here")).status == 401
    assert (await admin.call("PATCH", "/api/v1/users/alice", json={"disabled": False})).status == 200
    await alice.sign_in(name="alice", password="another one here")
    assert (await admin.call("POST", "/api/v1/me/password", json=change)).status == 403


async def test_a_stream_ends_when_its_caller_is_not_known_any_more(site: Site) -> None:
    key = await site.key("viewer")
    browser = await site.browser()
    await browser.sign_in(key=key)
    place = "/api/v1/stream?topics=counts"
    async with asyncio.timeout(PATIENCE), browser.session.get(place) as stream:
        assert stream.status == 200
        await stream.content.readline()
        await site.app.store.revoke_key(1, key.split("_")[1])
        while await stream.content.readline():  # it ends, though the client stays
            pass
    assert (await browser.call("GET", place)).status == 401


async def test_over_tls_only_a_cookie_of_this_very_host_counts() -> None:
    async with open_site(base_url="https://detent.example.org") as site:
        await site.person()
        browser = await site.browser(**SAFE)
        answer = await browser.call("POST", "/login", json={"name": "alice", "password": PASSWORD})
        cookie = answer.headers["Set-Cookie"]
        assert cookie.startswith("__Host-detent=")
        assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"} < set(cookie.split("; "))
        assert "Domain" not in cookie
        value = cookie.partition(";")[0].partition("=")[2]
        for name, status in (("__Host-detent", 200), ("detent", 401)):
            other = await site.browser(Cookie=f"{name}={value}")
            assert (await other.call("GET", "/api/v1/workflows")).status == status


@pytest.mark.case("K15")
async def test_a_page_at_the_base_url_signs_in_whatever_host_its_proxy_passes_on() -> None:
    async with open_site(base_url="https://detent.example.org:8443") as site:
        await site.person()
        for origin, status in (
            ("https://detent.example.org:8443", 204),
            ("https://detent.example.org", 403),
            ("http://detent.example.org:8443", 403),
            ("https://detent.example.org:8443.evil.net", 403),
        ):
            browser = await site.browser(**SAFE, Origin=origin)
            answer = await browser.call("POST", "/login", json={"name": "alice", "password": PASSWORD})
            assert (answer.status, origin) == (status, origin)


@pytest.mark.parametrize(
    ("path", "result"),
    [
        ("/runs?a=b#c", "/runs?a=b#c"),
        (None, "/"),
        ("", "/"),
        ("runs", "/"),
        ("//evil.net", "/"),
        ("/\\evil.net", "/"),
        ("/a\\..\\b", "/"),
        ("https://evil.net/", "/"),
        ("javascript:alert(1)", "/"),
        ("/a\r\nSet-Cookie: x=y", "/"),
        ("/" + "a" * 1000, "/"),
        ("/é", "/"),
        ("/logout", "/"),
        ("/login?next=/login", "/"),
    ],
)
def test_a_login_leads_to_a_path_of_this_server_only(path: str | None, result: str) -> None:
    assert next_of(path) == result


@pytest.mark.case("K11")
async def test_what_is_revoked_on_one_node_is_refused_on_the_other_and_its_streams_end(postgres_database: str) -> None:
    assert WATCH_PAUSE <= 1.0, "a look that has missed a change is followed by another one within the two seconds"
    async with open_site(postgres_database) as first, open_site(postgres_database) as second:
        await first.person()
        browser = await first.browser(**SAFE)
        await browser.sign_in(name="alice", password=PASSWORD)
        cookie = await own_cookie(browser)
        there = await second.browser(Cookie=f"detent={cookie}")
        assert (await there.call("GET", "/api/v1/workflows")).status == 200
        assert (await browser.call("DELETE", "/api/v1/sessions/current")).status == 204
        await until_refused(there)
        key, admin = await first.key("viewer"), await first.caller("admin")
        headers = {"Authorization": f"Bearer {key}"}
        holder = await second.browser(**headers)
        place = "/api/v1/stream?topics=counts"
        async with asyncio.timeout(PATIENCE), holder.session.get(place, headers=headers) as stream:
            assert stream.status == 200
            await stream.content.readline()
            assert (await admin.call("DELETE", f"/api/v1/keys/{key.split('_')[1]}")).status == 200
            while await stream.content.readline():  # it ends, though the client stays
                pass
        await until_refused(holder)
