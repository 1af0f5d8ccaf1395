"""Sign in and sign out: pages that need no script, and the same for scripts.

A form is protected by a cookie of the browser, whose value the form repeats: a page of another site can neither read
nor set it. A script sends `X-Detent: 1` instead, which a page of another site cannot send.
"""

from __future__ import annotations

import hmac
import math
import re
import secrets
from collections.abc import Mapping
from html import escape
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlsplit

from litestar import MediaType, Response, get, post

from detent.api.context import context_of
from detent.api.openapi.operations import TEXT, Plain, answers, operation, record_schema, refusals, takes
from detent.api.request import AnyRequest, grouped, object_body
from detent.api.routes.pages import PAGE_HEADERS, card
from detent.auth.cookies import read_cookie
from detent.auth.logins import Logins
from detent.auth.providers import CALLBACK
from detent.auth.sessions import LIFETIME, LoginSource
from detent.documents.answers import One
from detent.documents.people import LoginMethods, ProviderDocument
from detent.errors import DetentError, Forbidden, InvalidInput, LimitExceeded, NotFound, Unauthenticated, Unavailable
from detent.store.identity.people import SessionRow

LOGIN: Final = "/login"
_LARGEST: Final = 16 * 1024
_LONGEST_NEXT: Final = 1_000
_BROWSER: Final = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_BROWSER_SECONDS: Final = 3_600
_TAGS: Final = ["people"]
_MESSAGE: Final = "the login cannot be read"
_STALE: Final = "The page was open for too long. Please try again."

Page = Response[Any]


@get(LOGIN, include_in_schema=False, media_type=MediaType.HTML)
async def show_login(request: AnyRequest) -> Page:
    """Show the page on which a person signs in."""
    return _login_page(request, next_of(_query(request).get("next")))


@post(
    LOGIN,
    tags=_TAGS,
    summary="Sign in",
    status_code=204,
    operation_class=operation(
        body=takes(
            record_schema({"name": TEXT, "password": TEXT, "key": TEXT}),
            {"name": "alice", "password": "correct horse battery"},
            required=True,
        )
    ),
    responses=refusals(400, 401, 403, 429),
    request_max_body_size=_LARGEST,
)
async def sign_in(request: AnyRequest) -> Response[None]:
    """Begin a session with `name` and `password`, or with the `key` of the API, and set its cookie. The request needs
    the header `X-Detent: 1`. The session ends after 12 hours, or 30 minutes after its last request."""
    if not _is_form(request):
        _require_mark(request)
        given = object_body(await request.body(), _MESSAGE, limit=_LARGEST)
        cookie = await _sign_in(request, given)
        return Response(None, status_code=204, headers={"Set-Cookie": _session_cookie(request, cookie)})
    form = await _form(request)
    next_ = next_of(form.get("next"))
    if not _is_own_form(request, form):
        return _login_page(request, next_, _STALE, status=403)
    try:
        cookie = await _sign_in(request, form)
    except (Unauthenticated, LimitExceeded, InvalidInput) as error:
        return _login_page(request, next_, *_failure(error))
    return _go(request, next_, _session_cookie(request, cookie))


@get("/logout", include_in_schema=False, media_type=MediaType.HTML)
async def show_logout(request: AnyRequest) -> Page:
    """Show the page on which a person signs out."""
    session = await own_session(request)
    if session is None:
        return _html(card("Signed out", '<p>You are not signed in here.</p><p><a href="login">Sign in</a></p>'))
    browser = _browser(request)
    body = (
        "<p>Your session in this browser ends. Other browsers stay signed in.</p>"
        f'<form method="post" action="logout" class="wide">{_hidden(form=browser)}<button>Sign out</button></form>'
    )
    return _html(card("Sign out", body), cookie=_browser_cookie(request, browser))


@post(
    "/logout",
    tags=_TAGS,
    summary="Sign out",
    status_code=204,
    operation_class=Plain,
    responses=refusals(403),
    request_max_body_size=_LARGEST,
)
async def sign_out(request: AnyRequest) -> Response[None]:
    """End the session of the request's cookie, if it has one, and delete the cookie. The request needs the header
    `X-Detent: 1`."""
    is_form = _is_form(request) and request.headers.get("x-detent") != "1"
    if not is_form:
        _require_mark(request)
    elif not _is_own_form(request, await _form(request)):
        return _html(card("Sign out", f'<p role="alert">{_STALE}</p><p><a href="logout">Sign out</a></p>'), 403)
    await _end_own_session(request)
    cookies = context_of(request.scope).cookies
    cookie = cookies.write(cookies.session, "", 0)
    if is_form:
        return _go(request, LOGIN, cookie)
    return Response(None, status_code=204, headers={"Set-Cookie": cookie})


@get("/login/oidc", include_in_schema=False)
async def begin_login_at_provider(request: AnyRequest) -> Page:
    """Send the browser to the identity provider."""
    browser = _browser(request)
    next_ = next_of(_query(request).get("next"))
    try:
        location = await _logins(request).begin_at_provider(browser, next_, source_of(request))
    except (LimitExceeded, Unavailable, NotFound) as error:
        return _failed_page(request, error)
    headers = {"Location": location, "Set-Cookie": _browser_cookie(request, browser), "Cache-Control": "no-store"}
    return Response(None, status_code=303, headers={**headers, "Referrer-Policy": "no-referrer"})


@get(CALLBACK, include_in_schema=False)
async def finish_login_at_provider(request: AnyRequest) -> Page:
    """Begin the session of a person who comes back from the identity provider."""
    cookies = context_of(request.scope).cookies
    browser = read_cookie(request.headers.get("cookie", ""), cookies.login) or ""
    try:
        answer = {name: values[0] for name, values in grouped(request.scope["query_string"]).items()}
        done = await _logins(request).finish_at_provider(browser, answer, source_of(request))
    except (Unauthenticated, Unavailable, NotFound, InvalidInput) as error:
        return _failed_page(request, error)
    await _end_own_session(request)
    return _go(request, done.next, _session_cookie(request, done.cookie))


@get(
    "/api/v1/login-methods",
    tags=_TAGS,
    summary="How to sign in",
    operation_class=Plain,
    responses={
        **answers(
            200,
            One[LoginMethods],
            "How a person can sign in.",
            {"data": {"key": True, "password": True, "oidc": {"name": "login.example.org", "url": "login/oidc"}}},
        ),
        **refusals(),
    },
)
async def list_login_methods(request: AnyRequest) -> One[LoginMethods]:
    """Return how a person can sign in. `oidc` is null if there is no identity provider; else a browser opens its `url`
    to sign in there."""
    logins = context_of(request.scope).logins
    name = None if logins is None else _provider_name(logins)
    provider = None if name is None else ProviderDocument(name=name, url="login/oidc")
    return One(LoginMethods(key=logins is not None, password=logins is not None, oidc=provider))


# -- what a request has


def source_of(request: AnyRequest) -> LoginSource:
    """Return where a request comes from."""
    address = context_of(request.scope).auditor.address(request.scope)
    return LoginSource(address, request.headers.get("user-agent"))


async def own_session(request: AnyRequest) -> SessionRow | None:
    """Return the session of a request's cookie, or `None`."""
    context = context_of(request.scope)
    cookie = read_cookie(request.headers.get("cookie", ""), context.cookies.session)
    return None if cookie is None or context.logins is None else await context.logins.sessions.find(cookie)


def next_of(path: str | None) -> str:
    """Return the path at which a browser goes on after a login. What is not a path of this server becomes `/`."""
    is_local = (
        path is not None
        and len(path) <= _LONGEST_NEXT
        and path.isascii()
        and path.isprintable()
        and re.match(r"/(?![/\\])", path) is not None
        and "\\" not in path
        and not path.startswith((LOGIN, "/logout"))
    )
    return path if is_local and path is not None else "/"


def relative(request: AnyRequest, target: str) -> str:
    """Return a path of this server as seen from a request, because a proxy may serve us below a prefix."""
    return ("../" * (request.scope["path"].count("/") - 1) or "./") + target.lstrip("/")


def _query(request: AnyRequest) -> dict[str, str]:
    try:
        return {name: values[0] for name, values in grouped(request.scope["query_string"]).items()}
    except InvalidInput:
        return {}


def _logins(request: AnyRequest) -> Logins:
    found = context_of(request.scope).logins
    if found is None:
        raise NotFound("this process has no logins")
    return found


def _is_form(request: AnyRequest) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/x-www-form-urlencoded"


async def _form(request: AnyRequest) -> dict[str, str]:
    try:
        text = (await request.body()).decode("ascii")
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=20, errors="strict"))
    except ValueError:
        return {}


def _require_mark(request: AnyRequest) -> None:
    if request.headers.get("x-detent") != "1":
        raise Forbidden("a login by a script needs the header `X-Detent: 1`")


def _is_own_form(request: AnyRequest, form: Mapping[str, str]) -> bool:
    """Return whether a form was shown by us in the same browser."""
    cookies = context_of(request.scope).cookies
    browser = read_cookie(request.headers.get("cookie", ""), cookies.login) or ""
    is_browser = _BROWSER.fullmatch(browser) is not None
    return is_browser and hmac.compare_digest(browser, form.get("form", "").encode("ascii", "replace").decode())


async def _sign_in(request: AnyRequest, given: Mapping[str, Any]) -> str:
    """Return the cookie of a new session. The session that the browser had before ends."""
    texts = {name: value for name, value in given.items() if isinstance(value, str)}
    if texts.get("key"):
        cookie = await _logins(request).with_key(texts["key"], source_of(request))
    elif texts.get("name") and "password" in texts:
        cookie = await _logins(request).with_password(texts["name"], texts["password"], source_of(request))
    else:
        raise InvalidInput(f"{_MESSAGE}: give a name and a password, or an API key")
    await _end_own_session(request)
    return cookie


async def _end_own_session(request: AnyRequest) -> None:
    session = await own_session(request)
    if session is not None:
        await _logins(request).sessions.end(session)


def _browser(request: AnyRequest) -> str:
    """Return the value of the browser's cookie, or a new one."""
    cookies = context_of(request.scope).cookies
    found = read_cookie(request.headers.get("cookie", ""), cookies.login) or ""
    return found if _BROWSER.fullmatch(found) else secrets.token_urlsafe(32)


def _browser_cookie(request: AnyRequest, browser: str) -> str:
    cookies = context_of(request.scope).cookies
    return cookies.write(cookies.login, browser, _BROWSER_SECONDS)


def _session_cookie(request: AnyRequest, cookie: str) -> str:
    cookies = context_of(request.scope).cookies
    return cookies.write(cookies.session, cookie, LIFETIME)


# -- what is shown


def _login_page(request: AnyRequest, next_: str, problem: str = "", status: int = 200, wait: int | None = None) -> Page:
    logins, browser = _logins(request), _browser(request)
    hidden = _hidden(form=browser, next=next_)
    provider = _provider_name(logins)
    parts = [f'<p role="alert">{escape(problem)}</p>' if problem else ""]
    if provider is not None:
        place = escape(f"login/oidc?next={quote(next_, safe='')}")
        parts.append(f'<p><a class="button" href="{place}">Sign in with {escape(provider)}</a></p>')
    parts.append(
        f'<form method="post" action="login" class="wide">{hidden}'
        '<label>Name<input name="name" autocomplete="username" autocapitalize="none" required maxlength="200"></label>'
        '<label>Password<input name="password" type="password" autocomplete="current-password" required '
        'maxlength="256"></label><button>Sign in</button></form>'
        f'<details><summary>Sign in with an API key</summary><form method="post" action="login" class="wide">{hidden}'
        '<label>API key<input name="key" type="password" autocomplete="off" required maxlength="200" '
        'placeholder="dk_…"></label><button>Sign in</button></form></details>'
    )
    return _html(card("Sign in to Detent", "".join(parts)), status, _browser_cookie(request, browser), wait)


def _failed_page(request: AnyRequest, error: DetentError) -> Page:
    message, status, wait = _failure(error)
    place = relative(request, LOGIN)
    body = f'<p role="alert">{escape(message)}</p><p><a class="button" href="{escape(place)}">Sign in</a></p>'
    return _html(card("Not signed in", body), status, wait=wait)


def _failure(error: DetentError) -> tuple[str, int, int | None]:
    """Return the sentence, the status and the seconds to wait for a login that failed."""
    message = error.message[:1].upper() + error.message[1:] + "."
    match error:
        case LimitExceeded():
            return message, 429, math.ceil(error.retry_after)
        case Unauthenticated():
            return message, 401, None
        case Unavailable():
            return message, 503, 1
        case NotFound():
            return message, 404, None
        case _:
            return message, 400, None


def _provider_name(logins: Logins) -> str | None:
    """Return the host of the identity provider, as people know it."""
    return None if logins.oidc is None else urlsplit(logins.oidc.issuer).netloc


def _hidden(**values: str) -> str:
    return "".join(f'<input type="hidden" name="{name}" value="{escape(value)}">' for name, value in values.items())


def _html(html: str, status: int = 200, cookie: str | None = None, wait: int | None = None) -> Page:
    headers = dict(PAGE_HEADERS)
    if cookie is not None:
        headers["Set-Cookie"] = cookie
    if wait is not None:
        headers["Retry-After"] = str(wait)
    return Response(html, status_code=status, media_type=MediaType.HTML, headers=headers)


def _go(request: AnyRequest, target: str, cookie: str) -> Page:
    headers = {"Location": relative(request, target), "Set-Cookie": cookie, "Cache-Control": "no-store"}
    return Response(None, status_code=303, headers=headers)


ROUTES = [
    show_login,
    sign_in,
    show_logout,
    sign_out,
    begin_login_at_provider,
    finish_login_at_provider,
    list_login_methods,
]
