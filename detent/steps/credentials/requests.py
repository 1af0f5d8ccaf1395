"""Requests with a stored credential: of http steps, and of actions that are data.

A service that answers 401 gets the request once more with a renewed token. That is one attempt of the step.
"""

from __future__ import annotations

from typing import Final

from detent.catalog.connector import Auth
from detent.run.call import StepCall
from detent.run.outcomes import Outcome
from detent.steps.credentials.keeper import CredentialKeeper
from detent.steps.credentials.opened import OpenedCredential, RequestAuth
from detent.steps.http.request import HttpRequest
from detent.steps.http.response import BeginUpload, ReceivedAnswer, outcome_of
from detent.steps.http.step import HttpExecutor
from detent.steps.secret_calls import redacted
from detent.values.limits import BODY_LIMIT

_UNAUTHORIZED: Final = 401


class CredentialRequests:
    """Sends requests with the credentials that `credentials` keeps."""

    def __init__(self, http: HttpExecutor, credentials: CredentialKeeper) -> None:
        self._http = http
        self._credentials = credentials

    async def request(self, call: StepCall, credential: str, request: HttpRequest) -> Outcome:
        """Send the request of an http step with a credential, and return its outcome. Raise CredentialProblem."""
        attempt = await self.begin(call, credential)
        assert attempt is not None
        found = await attempt.exchange(request, save=self._http.saver(call))
        return attempt.scrub(outcome_of(found.stored(), found.request, found.remark, found.wait))

    async def begin(
        self, call: StepCall, credential: str, auth: Auth | None = None, *, is_needed: bool = True
    ) -> AuthorizedAttempt | None:
        """Return what sends the requests of an attempt. `auth` is how a connector wants its key to be sent.

        Return `None` if the credential is not stored and not needed. Raise CredentialProblem."""
        opened = await self._credentials.for_call(call, credential, is_needed=is_needed)
        return None if opened is None else AuthorizedAttempt(self._http, self._credentials, call, opened, auth)

    async def close(self) -> None:
        """Wait for renewals that have begun."""
        await self._credentials.close()


class AuthorizedAttempt:
    """The requests of one attempt with a credential."""

    def __init__(
        self,
        http: HttpExecutor,
        credentials: CredentialKeeper,
        call: StepCall,
        opened: OpenedCredential,
        auth: Auth | None,
    ) -> None:
        self.opened = opened
        self._http = http
        self._credentials = credentials
        self._call = call
        self._auth = auth
        self._is_renewed = False

    async def exchange(
        self, request: HttpRequest, *, limit: int = BODY_LIMIT, save: BeginUpload | None = None
    ) -> ReceivedAnswer:
        """Send a request as `HttpExecutor.exchange` does. After a 401 renew the token and send it again, once."""
        received = await self._send(request, limit, save)
        if received.status != _UNAUTHORIZED or self._is_renewed:
            return received
        self._is_renewed = True
        newer = await self._credentials.renew_for_call(self._call, self.opened)
        if newer is None:
            return received
        self.opened = newer
        return await self._send(request, limit, save)

    def scrub(self, outcome: Outcome) -> Outcome:
        """Return an outcome without the values of the credential: a service may repeat what it was sent."""
        return redacted(outcome, self.opened.redactor)

    async def _send(self, request: HttpRequest, limit: int, save: BeginUpload | None) -> ReceivedAnswer:
        auth = RequestAuth(self.opened, self._auth)
        return await self._http.exchange(request, tenant=self._call.tenant, limit=limit, auth=auth, save=save)
