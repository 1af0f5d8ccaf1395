"""A mail server on loopback: aiosmtpd on the loop of the test."""

from __future__ import annotations

import asyncio
import ssl
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

USER, PASSWORD = "detent", "pa$$word-of-mail"


class Mailbox:
    """What the server received, and what it answers: `refuse` has answers by recipient, `answer` is that of DATA."""

    def __init__(self) -> None:
        self.port = 0
        self.envelopes: list[Envelope] = []
        self.users: list[str] = []
        self.was_encrypted: list[bool] = []
        self.refuse: dict[str, str] = {}
        self.answer = "250 queued as 4711"

    @property
    def messages(self) -> list[EmailMessage]:
        found = []
        for envelope in self.envelopes:
            assert isinstance(envelope.content, bytes)
            message = message_from_bytes(envelope.content, policy=default)
            assert isinstance(message, EmailMessage)
            found.append(message)
        return found

    def url(self, scheme: str = "smtp", rest: str = "?tls=none", host: str = "127.0.0.1") -> str:
        return f"{scheme}://{host}:{self.port}{rest}"

    # -- what aiosmtpd asks

    async def handle_RCPT(  # noqa: N802
        self, server: Any, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.refuse:
            return self.refuse[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Session, envelope: Envelope) -> str:  # noqa: N802
        self.envelopes.append(envelope)
        self.was_encrypted.append(session.ssl is not None)
        return self.answer

    def authenticate(self, server: Any, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
        is_right = isinstance(data, LoginPassword) and (data.login, data.password) == (USER.encode(), PASSWORD.encode())
        if is_right:
            self.users.append(data.login.decode())
        return AuthResult(success=is_right, handled=False)


@asynccontextmanager
async def open_mail(
    *, starttls: ssl.SSLContext | None = None, tls: ssl.SSLContext | None = None, login: bool = False, size: int = 10**6
) -> AsyncIterator[Mailbox]:
    """A mail server, with STARTTLS, TLS or neither."""
    mailbox, loop = Mailbox(), asyncio.get_running_loop()

    def protocol() -> SMTP:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a login without TLS
            return SMTP(
                mailbox,
                data_size_limit=size,
                hostname="mail.example.org",
                tls_context=starttls,
                authenticator=mailbox.authenticate,
                auth_required=login,
                auth_require_tls=False,
                loop=loop,
            )

    server = await loop.create_server(protocol, "127.0.0.1", 0, ssl=tls)
    mailbox.port = server.sockets[0].getsockname()[1]
    try:
        yield mailbox
    finally:
        server.close()
        await server.wait_closed()
