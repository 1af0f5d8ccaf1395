"""The page at the address of a wait: what is asked, and its buttons or its form. It works without a script.

Showing it changes nothing, because link checkers and mail scanners fetch addresses. Only its form is sent with POST, to
the same address, whose token is the permission. So another site cannot send it without knowing the address.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, Final
from urllib.parse import quote

import msgspec

from detent.api.routes.pages import card
from detent.commands.approvals.page_form import BUTTON, COMMENT, DECISION, FIELD, MARK, kind_of
from detent.commands.callbacks import CallbackView
from detent.graph.ask import LONGEST_COMMENT, WaitAsk
from detent.instant import iso
from detent.run.call import Op
from detent.store.rows import CallbackState, Receipt

_MOST_SHOWN: Final = 20
_LONGEST_SHOWN: Final = 200
_LARGEST_DATA: Final = 20_000
#: Title and text of the page after a person has pressed a button.
_RESULTS: Final = {
    Receipt.ACCEPTED: ("Thank you", "Your answer was received and the workflow goes on. You can close this page."),
    Receipt.EARLY: ("Thank you", "Your answer was received and is stored until the workflow needs it."),
    Receipt.COUNTED: (
        "Thank you",
        "Your decision was counted. Others have to approve too.",
    ),
    Receipt.USED: ("Already answered", "This was answered before. Nothing was changed."),
    Receipt.EXPIRED: ("Too late", "This cannot be answered any more. Nothing was changed."),
    Receipt.NOT_ACTIVE: ("Too early", "The workflow does not take this answer yet. Please try again later."),
    Receipt.NOT_FOUND: ("Not found", "There is nothing to answer at this address. Was it copied as a whole?"),
}
_OVER: Final = {CallbackState.RECEIVED: Receipt.USED, CallbackState.EXPIRED: Receipt.EXPIRED}
_STYLE: Final = (
    "<style>main { max-width: 34rem } textarea, select { font: inherit; width: 100%; box-sizing: border-box; "
    "padding: .5rem .6rem; margin-top: .2rem; border-radius: 6px; border: 1px solid var(--edge); "
    "background: transparent; color: inherit } pre { white-space: pre-wrap; overflow-wrap: anywhere } "
    "input[type=checkbox] { width: auto; margin-right: .5rem } .text { white-space: pre-wrap } "
    "button.plain { background: transparent; color: inherit; border: 1px solid var(--edge); width: 100% } "
    "form button { width: 100% } @media (max-width: 30rem) { main { margin: 1rem; padding: 1.2rem } }</style>"
)
#: The step of a wait in a durable function begins with this.
_OF_FUNCTION: Final = f"{Op.WAIT}:"


def callback_page(view: CallbackView | None, query: Mapping[str, str], now: int, problem: str | None = None) -> str:
    """Render the page of a callback. `problem` says why the answer that was just sent is not accepted."""
    if view is None:
        return result_page(Receipt.NOT_FOUND)
    is_late = view.until is not None and view.until <= now
    over = _OVER.get(CallbackState(view.state), Receipt.EXPIRED if is_late else None)
    if over is not None:
        return result_page(over, about=_about(view, {}))
    ask = view.ask
    if ask is None or not ask.page:
        return _plain_page(view, query)
    alert = "" if problem is None else f'<p role="alert">{escape(problem)}</p>'
    title = ask.title or "An answer is needed"
    if not ask.takes_link():
        return card(title, f"{_STYLE}{alert}{_to_inbox(view)}{_about(view, {})}")
    return card(title, f"{_STYLE}{alert}{_shown(ask)}{_about(view, {})}{_form(ask)}")


def result_page(receipt: Receipt, about: str = "") -> str:
    """Render the page that shows the result of an answer."""
    title, words = _RESULTS[receipt]
    return card(title, f"<p>{words}</p>{about}")


def _plain_page(view: CallbackView, query: Mapping[str, str]) -> str:
    """Render the page of an address that is made for programs. With a query there is something to confirm."""
    if not query or view.ask is not None:
        return card(
            "This address takes a POST",
            "<p>A workflow waits here for a request of another program. There is nothing to answer on this page, and "
            f"opening it changes nothing.</p>{_about(view, {})}",
        )
    # A form without an action is sent to the address of the page, with its query.
    return card(
        "Please confirm",
        "<p>A workflow is waiting for your answer. Nothing has happened yet: it goes on when you press the button.</p>"
        f'{_about(view, query)}<form method="post"><button>Confirm</button></form>',
    )


def _to_inbox(view: CallbackView) -> str:
    place = quote(f"{view.run}:{view.step}", safe="")
    return (
        "<p>This is decided by name. Sign in and open it in the inbox.</p>"
        f'<p><a class="button" href="../inbox?wait={place}">Open the inbox</a></p>'
    )


def _shown(ask: WaitAsk) -> str:
    parts = [] if ask.text is None else [f'<p class="text">{escape(ask.text)}</p>']
    if isinstance(ask.data, dict) and all(not isinstance(value, dict | list) for value in ask.data.values()):
        lines = (f"<dt>{escape(str(name))}<dd>{escape(_scalar(value))}" for name, value in ask.data.items())
        parts.append(f"<dl>{''.join(lines)}</dl>")
    elif ask.data is not None:
        text = msgspec.json.format(msgspec.json.encode(ask.data), indent=2).decode()
        cut = text if len(text) <= _LARGEST_DATA else text[:_LARGEST_DATA] + "\n…"
        parts.append(f"<pre>{escape(cut)}</pre>")
    return "".join(parts)


def _scalar(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _form(ask: WaitAsk) -> str:
    hidden = f'<input type="hidden" name="{MARK}" value="1">'
    fields = "" if ask.schema is None or not ask.is_form else _fields(ask.schema)
    if ask.is_approval:
        comment = f'<label>Comment<textarea name="{COMMENT}" rows="2" maxlength="{LONGEST_COMMENT}"></textarea></label>'
        buttons = (
            f'<button name="{DECISION}" value="true">Approve</button>'
            f'<button class="plain" name="{DECISION}" value="false" formnovalidate>Reject</button>'
        )
        return f'<form method="post">{hidden}{fields}{comment}{buttons}</form>'
    if fields:
        return f'<form method="post">{hidden}{fields}<button>Send</button></form>'
    if not ask.buttons:
        return "<p>This address takes a POST. There is nothing to answer on this page.</p>"
    buttons = "".join(
        f'<button name="{BUTTON}" value="{number}">{escape(button.label)}</button>'
        for number, button in enumerate(ask.buttons)
    )
    return f'<form method="post">{hidden}{buttons}</form>'


def _fields(schema: Mapping[str, Any]) -> str:
    required = schema.get("required")
    needed = set(required) if isinstance(required, list) else set()
    properties = schema.get("properties", {})
    return "".join(_field(name, one, is_needed=name in needed) for name, one in properties.items())


def _field(name: str, schema: Any, *, is_needed: bool) -> str:
    """Render one field. A value that is neither a text, a number nor a choice is written as JSON."""
    facts = schema if isinstance(schema, dict) else {}
    label = escape(str(facts.get("title") or name))
    about = f"<br><small>{escape(str(facts['description'])[:500])}</small>" if facts.get("description") else ""
    key, kind = escape(FIELD + name), kind_of(schema)
    must = " required" if is_needed else ""
    given = facts.get("default")
    value = "" if given is None else escape(given if isinstance(given, str) else msgspec.json.encode(given).decode())
    options = facts.get("enum")
    if kind == "boolean":
        checked = " checked" if given is True else ""
        return f'<label><input type="checkbox" name="{key}" value="true"{checked}>{label}{about}</label>'
    if isinstance(options, list):
        choices = "".join(_option(one, kind, given) for one in options[:200])
        return f'<label>{label}{about}<select name="{key}"{must}><option value=""></option>{choices}</select></label>'
    if kind in ("number", "integer"):
        step = "1" if kind == "integer" else "any"
        return f'<label>{label}{about}<input type="number" step="{step}" name="{key}" value="{value}"{must}></label>'
    if kind == "string" and _is_short(facts):
        sort = {"date": "date", "email": "email"}.get(str(facts.get("format")), "text")
        return f'<label>{label}{about}<input type="{sort}" name="{key}" value="{value}"{must}></label>'
    hint = "" if kind == "string" else " <small>(JSON)</small>"
    return f'<label>{label}{hint}{about}<textarea name="{key}" rows="3"{must}>{value}</textarea></label>'


def _is_short(facts: Mapping[str, Any]) -> bool:
    most = facts.get("maxLength")
    return not isinstance(most, int) or most <= _LONGEST_SHOWN


def _option(value: Any, kind: str, given: Any) -> str:
    text = value if kind == "string" else msgspec.json.encode(value).decode()
    chosen = " selected" if value == given else ""
    return f'<option value="{escape(text)}"{chosen}>{escape(text)}</option>'


def _about(view: CallbackView, query: Mapping[str, str]) -> str:
    facts = {"Workflow": view.workflow, "Step": view.step.removeprefix(_OF_FUNCTION)}
    if view.until is not None:
        facts["Until"] = iso(view.until)[:16].replace("T", " ") + " UTC"
    if view.ask is not None and view.ask.quorum > 1:
        facts["Approved"] = f"by {view.decisions} of {view.ask.quorum} people"
    facts |= {f"Sends {name}": value for name, value in list(query.items())[:_MOST_SHOWN]}
    lines = (f"<dt>{escape(_cut(name))}<dd>{escape(_cut(value))}" for name, value in facts.items())
    return f"<dl>{''.join(lines)}</dl>"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"
