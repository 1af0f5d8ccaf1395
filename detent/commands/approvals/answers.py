"""Checked answers: an answer to a wait with an ask is compared with it, and counts in one transaction.

An answer that does not fit is refused, and the wait goes on: its URL stays good. Each decision of an approval is
compared with those before it, and stored only if they are still the same (`decide` in `store/protocol.py`). So one
person counts once, exactly one decision is the last one, and each decision after it is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from detent.auth.caller import Caller
from detent.auth.scopes import SCOPES, Role
from detent.commands.approvals.page_form import is_page_form, page_body
from detent.commands.context import CommandContext
from detent.errors import Conflict, Forbidden, InvalidInput, Problem, TooLarge, Unavailable
from detent.forms.payload_schema import PayloadSchema
from detent.graph.ask import (
    BY_LINK,
    LONGEST_COMMENT,
    ROLE,
    STARTER,
    Button,
    Decision,
    WaitAsk,
    approval_result,
    encode_decisions,
    is_decided,
    note_of,
    read_ask,
    read_decisions,
)
from detent.graph.model import StepKind
from detent.instant import iso
from detent.run.initiator import read_principal
from detent.store.overview_rows import AskAnswer, CallbackFacts
from detent.store.rows import Receipt
from detent.values.limits import INPUT_LIMIT

#: How often a callback is read again that another transaction changes or has locked.
_MOST_LOOKS: Final = 60
_FIRST_PAUSE: Final = 0.005
_LONGEST_PAUSE: Final = 0.25
_DECISION_FIELDS: Final = ("approved", "answer", "comment")
#: Callers that are not identified: everyone is the same one.
_UNKNOWN: Final = ("local", "loose")


class CallbackAnswer(NamedTuple):
    """An answer as it was sent. `caller` is `None` if only the URL is known. `message` is what a wait without an
    approval receives, with the body that was checked."""

    run: bytes
    step: str
    body: Any
    message_id: str | None
    caller: Caller | None
    headers: Mapping[str, str]
    query: Mapping[str, str]
    encoding: str | None


class AskAnswers:
    """Receives answers to waits that have an ask. `encode` builds the message of a wait that is not an approval."""

    def __init__(self, context: CommandContext) -> None:
        self._context = context
        self._store = context.store

    async def answer(self, answer: CallbackAnswer, encode: Any) -> tuple[Receipt, bool]:
        """Check an answer and store it. Return its receipt, and whether the same message was received before.

        Raise InvalidInput if it does not fit, Forbidden if the caller may not decide, Conflict if it has already."""
        pause = _FIRST_PAUSE
        for _ in range(_MOST_LOOKS):
            facts = await self._store.callback(answer.run, answer.step)
            if facts is None:
                return Receipt.NOT_FOUND, False
            if facts.answer is not None and answer.message_id and answer.message_id == facts.message_id:
                return Receipt(facts.answer), True
            refusal = facts.refusal(self._context.now())
            if refusal is not None:
                return refusal, False
            ask = await self.ask_of(answer.run, answer.step, facts)
            if ask.is_approval:
                checked = await self._decision(answer, facts, ask)
                if checked is None:
                    return Receipt.COUNTED, True
            else:
                checked = self._body(answer, facts, ask, encode)
            receipt = await self._store.decide(checked)
            if receipt is not None:
                return receipt, False
            await asyncio.sleep(pause)
            pause = min(_LONGEST_PAUSE, pause * 1.5)
        raise Unavailable("other answers to this wait are being written; send the answer again")

    async def ask_of(self, run: bytes, step: str, facts: CallbackFacts) -> WaitAsk:
        """Return what a callback asks. Before its wait is active, that is what its workflow says of it."""
        if facts.ask:
            return read_ask(facts.ask)
        row = await self._store.for_tenant(facts.tenant).run(facts.tenant, run)
        versions, _ = await self._context.engine.graphs.load([] if row is None else [(row.workflow, row.version)])
        for _, prepared in versions.values():
            index = prepared.numbers.get(step)
            if index is not None:
                rivals = [prepared.steps[one] for one in prepared.races.get(index, ())]
                given = prepared.graph.steps[index].config.get("ask", {})
                return WaitAsk(
                    schema=given.get("schema"),
                    is_form=given.get("is_form", False),
                    buttons=tuple(Button(**one) for one in given.get("buttons", ())),
                    page=given.get("page", True),
                    others=tuple(one.name for one in rivals if one.kind is StepKind.WAIT),
                )
        return WaitAsk()

    def _body(self, answer: CallbackAnswer, facts: CallbackFacts, ask: WaitAsk, encode: Any) -> AskAnswer:
        body = page_body(ask, answer.body) if is_page_form(answer.body) else answer.body
        _check_schema(ask, body, "body")
        data = self._redacted(facts.tenant, encode(body, answer.headers, answer.query, answer.encoding))
        return AskAnswer(answer.run, answer.step, data, answer.message_id, before=facts.decisions, others=ask.others)

    async def _decision(self, answer: CallbackAnswer, facts: CallbackFacts, ask: WaitAsk) -> AskAnswer | None:
        """Return what a decision changes, `None` if the same message was counted before."""
        by, name = await self._person(answer, facts, ask)
        before = read_decisions(facts.decisions)
        for one in before:
            if one.by == by and answer.message_id and one.message_id == answer.message_id:
                return None
            if one.by == by:
                who = "this address" if by == BY_LINK else "you"
                raise Conflict(f"{who} decided this already; {ask.quorum} different people have to approve")
        given = read_decision(ask, page_body(ask, answer.body) if is_page_form(answer.body) else answer.body)
        decision = Decision(
            by,
            approved=given["approved"],
            at=iso(self._context.now()),
            name=name,
            comment=given.get("comment"),
            answer=given.get("answer"),
            message_id=answer.message_id,
        )
        decisions = (*before, decision)
        is_final = is_decided(ask, decisions)
        data = approval_result(ask, decisions) if is_final else note_of(decision, ask, len(decisions))
        if len(data) > INPUT_LIMIT:
            raise TooLarge(f"the decisions may have {INPUT_LIMIT} bytes together; with this one they have {len(data)}")
        return AskAnswer(
            answer.run,
            answer.step,
            self._redacted(facts.tenant, data),
            answer.message_id,
            is_final=is_final,
            before=facts.decisions,
            decisions=encode_decisions(decisions),
            others=ask.others,
        )

    def _redacted(self, tenant: int, data: bytes) -> bytes:
        redactor = self._context.engine.secrets.redactors.get(tenant)
        return data if redactor is None else redactor.json(data)

    async def _person(self, answer: CallbackAnswer, facts: CallbackFacts, ask: WaitAsk) -> tuple[str, str | None]:
        """Return who decides: an id and a name. Raise Forbidden if that person may not."""
        caller = answer.caller
        if caller is None:
            if not ask.takes_link():
                raise Forbidden("this address shows the approval and does not decide it: sign in and use the inbox")
            return BY_LINK, None
        by, name = person_of(caller)
        if not may_decide(caller, ask, self._context.now()):
            raise Forbidden(f"{name or by} is not one of those who may decide this: {', '.join(ask.assignees)}")
        if ask.not_by == STARTER:
            row = await self._store.for_tenant(facts.tenant).run(facts.tenant, answer.run)
            if row is not None and has_started(caller, row.principal, row.via):
                raise Forbidden("the person that started the run may not decide this")
        return by, name


def person_of(caller: Caller) -> tuple[str, str | None]:
    """Return the id and the name under which a caller decides."""
    principal = caller.principal
    if principal is None:
        return caller.name, None
    return principal.user_id, principal.display_name or principal.email


def may_decide(caller: Caller, ask: WaitAsk, now: int) -> bool:
    """Return whether a caller is among those who may decide at that time. It does not say who started the run."""
    people = ask.may_decide(now)
    if not ask.is_approval or not people or caller.via in _UNKNOWN:
        return True
    principal = caller.principal
    own = {caller.name.casefold()}
    if principal is not None:
        own |= {one.casefold() for one in (principal.user_id, principal.email) if one}
    return any(_is_role(caller, one[len(ROLE) :]) if one.startswith(ROLE) else one.casefold() in own for one in people)


def _is_role(caller: Caller, word: str) -> bool:
    """Return whether a caller has a role, or one that includes it."""
    return word in set(Role) and caller.scopes >= SCOPES[Role(word)]


def has_started(caller: Caller, principal: str | None, via: str | None) -> bool:
    """Return whether a caller is the one for whom, or by whom, a run was started."""
    by, _ = person_of(caller)
    return by == via or (principal is not None and by == read_principal(principal).user_id)


def read_decision(ask: WaitAsk, body: Any) -> dict[str, Any]:
    """Return the parts of a decision, or raise InvalidInput if it does not fit what is asked."""
    problems: list[Problem] = []
    if not isinstance(body, dict) or not isinstance(body.get("approved"), bool):
        wanted = '{"approved": true}, with "comment" and "answer" if you like'
        raise InvalidInput(
            f"a decision is a JSON object such as {wanted}", [Problem("body.approved", "must be true or false")]
        )
    problems += [
        Problem(f"body.{key[:80]}", "is not a part of a decision") for key in body if key not in _DECISION_FIELDS
    ]
    comment = body.get("comment")
    if comment is not None and (not isinstance(comment, str) or len(comment) > LONGEST_COMMENT):
        problems.append(Problem("body.comment", f"must be a text of at most {LONGEST_COMMENT} characters"))
    if problems:
        raise InvalidInput("the decision cannot be read", problems)
    if body["approved"] or body.get("answer") is not None:
        _check_schema(ask, body.get("answer", {} if ask.is_form else None), "answer")
    if ask.schema is None and body.get("answer") is not None:
        raise InvalidInput("this approval has no form", [Problem("body.answer", "leave it out")])
    return body


def _check_schema(ask: WaitAsk, body: Any, root: str) -> None:
    """Raise InvalidInput if a body does not fit the schema of the ask."""
    if ask.schema is None:
        return
    found = _validator(msgspec.json.encode(ask.schema, order="deterministic")).problems(body, root)
    if found:
        said = "; ".join(f"{problem.field}: {problem.message}" for problem in found[:5])
        raise InvalidInput(f"the {root} does not fit what is asked, and the wait goes on: {said}", found)


@lru_cache(maxsize=128)
def _validator(schema: bytes) -> PayloadSchema:
    return PayloadSchema(msgspec.json.decode(schema), "schema")
