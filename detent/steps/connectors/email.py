"""The connector `email`: sends messages over SMTP.

The server is that of a named connection: `smtps://host` speaks TLS from the first byte, `smtp://host` must offer
STARTTLS, and `smtp://host?tls=none` is plain. The socket comes from the egress guard.

A message goes to all of its recipients or to none: if the server refuses one of them, nothing is sent. Every attempt
sends the same Message-ID. So a mail system that recognises duplicates delivers a message once; others may get it twice
when a node dies between the server's answer and the journal.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import ssl
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, parseaddr
from typing import Annotated, Any, Final
from urllib.parse import parse_qs, urlsplit

import msgspec

from detent.catalog.connections import NamedConnection, Scrubber
from detent.steps.action_context import ActionContext
from detent.steps.connectors.library import SHIPPED, decode_base64, describe, load
from detent.steps.errors import EgressDenied, InvalidParameters, Permanent, RetriableFailure
from detent.values.limits import BODY_LIMIT

CONNECTOR: Final = describe("email", "E-mail", "Sends messages over SMTP. CONNECTOR_EMAIL_URL is the mail server.")
MOST_RECIPIENTS: Final = 100
MOST_ATTACHMENTS: Final = 20
#: How many bytes the attachments of a message may have together.
LARGEST_ATTACHMENTS: Final = BODY_LIMIT
LONGEST_SUBJECT: Final = 500
LONGEST_ADDRESS: Final = 254
#: How long an answer of the server may take. After the text of a message, servers look for viruses first.
ANSWER_SECONDS: Final = 60.0
_CONTROL: Final = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")
_LOCAL: Final = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+")
_DOMAIN: Final = re.compile(
    r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*", re.IGNORECASE
)
_CONTENT_TYPE: Final = re.compile(r"[A-Za-z0-9!#$&^_.+-]{1,127}/[A-Za-z0-9!#$&^_.+-]{1,127}")
_PORTS: Final = {"tls": 465, "starttls": 587, "none": 25}
_LAST_4XX: Final = 499

Addresses = str | list[str]


class Attachment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of a message: its `content` is text, or `base64` has its bytes."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    content: str | None = None
    base64: str | None = None
    content_type: str | None = None


class OutgoingMail(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"sender": "from"}):
    """The parameters of `email.send`. `text` or `html` is needed; with both, a reader shows the one it prefers."""

    to: Addresses = []
    subject: Annotated[str, msgspec.Meta(max_length=LONGEST_SUBJECT)] = ""
    text: str | None = None
    html: str | None = None
    cc: Addresses = []
    bcc: Addresses = []
    reply_to: Addresses = []
    sender: str | None = None
    attachments: Annotated[list[Attachment], msgspec.Meta(max_length=MOST_ATTACHMENTS)] = []
    connection: str = "email"


class SentMail(msgspec.Struct, frozen=True):
    """The output of `email.send`."""

    message_id: str
    recipients: list[str]
    answer: str


@SHIPPED.action(
    "email.send", title="Send an e-mail", category="Communication", tags=("email", "smtp"), timeout=300, version="1.0.0"
)
async def send(context: ActionContext, params: OutgoingMail) -> SentMail:
    """Send a message over SMTP to all of its recipients, or to none."""
    connection = context.connection(params.connection, "url")
    server = _Server.of(connection)
    sender = _address(params.sender or _sender(connection), "from")
    recipients = _recipients(params)
    message = build_message(params, sender, context.idempotency_key)
    scrubber = connection.scrubber()
    library = load("aiosmtplib", "email")
    try:
        answer = await _deliver(library, context, server, sender.addr_spec, recipients, message)
    except library.SMTPResponseException as error:
        raise _refused(error.code, scrubber.text(str(error.message)), "the mail server") from None
    except library.SMTPNotSupported as error:
        raise Permanent(f"the mail server {server}: {error}", code="not_supported") from None
    except (library.SMTPException, OSError, TimeoutError) as error:
        raise _unreachable(server, error, scrubber) from None
    return SentMail(str(message["Message-ID"]), recipients, scrubber.text(answer))


class _Server(msgspec.Struct, frozen=True):
    """Where the mail server is, and how it is spoken to."""

    host: str
    port: int
    mode: str
    username: str | None
    password: str | None
    ca_file: str | None

    @classmethod
    def of(cls, connection: NamedConnection) -> _Server:
        """Return the server of a connection. Raise Permanent if its address is not that of a mail server."""
        try:
            parts = urlsplit(connection["url"])
            host, port = parts.hostname, parts.port
            query = parse_qs(parts.query, strict_parsing=bool(parts.query))
        except ValueError:
            raise _not_a_server(connection, "it is not a valid address") from None
        if parts.scheme not in ("smtp", "smtps") or not host:
            raise _not_a_server(connection, "it must be smtp://HOST or smtps://HOST")
        mode = query.pop("tls", ["tls" if parts.scheme == "smtps" else "starttls"])[-1]
        if query or mode not in _PORTS or (mode == "tls") is not (parts.scheme == "smtps"):
            raise _not_a_server(connection, "smtps:// has no options, and smtp:// may have ?tls=starttls or ?tls=none")
        username, password = connection.get("username") or parts.username, connection.get("password") or parts.password
        if (username is None) is not (password is None):
            raise _not_a_server(connection, "a user name and a password are set together or not at all")
        return cls(host, port or _PORTS[mode], mode, username, password, connection.get("ca_file"))

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    def tls_context(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=self.ca_file)
        except (OSError, ssl.SSLError) as error:
            raise Permanent(
                f"the file of certificates {self.ca_file!r} cannot be read: {error}", code="tls_failed"
            ) from None


def _not_a_server(connection: NamedConnection, why: str) -> Permanent:
    return Permanent(
        f"the connection {connection.name!r} is not that of a mail server: {why}", code="invalid_connection"
    )


def _sender(connection: NamedConnection) -> str:
    found = connection.get("from")
    if found is None:
        message = f"from: is missing; write the sender, or set the default of the connection {connection.name!r}"
        raise InvalidParameters(message)
    return found


async def _deliver(
    library: Any, context: ActionContext, server: _Server, sender: str, recipients: list[str], message: EmailMessage
) -> str:
    """Speak SMTP with the server, and return what it answers to the message."""
    tls = None if server.mode == "none" else await asyncio.to_thread(server.tls_context)
    try:
        sock = await asyncio.to_thread(context.connect, server.host, server.port)
    except EgressDenied as error:
        message_ = f"the mail server {server} may not be called: {error.reason}; allow it in egress_allow"
        raise Permanent(message_, code="egress_denied") from None
    except OSError as error:
        raise RetriableFailure(f"the mail server {server} cannot be reached: {error}", "connection_failed") from None
    sock.setblocking(False)
    name = f"[{'IPv6:' if ':' in sock.getsockname()[0] else ''}{sock.getsockname()[0]}]"
    client = library.SMTP(
        hostname=server.host,
        sock=sock,
        local_hostname=name,
        timeout=ANSWER_SECONDS,
        use_tls=server.mode == "tls",
        start_tls=server.mode == "starttls",
        tls_context=tls,
    )
    try:
        await client.connect()
        if server.username is not None:
            await client.login(server.username, server.password)
        data = message.as_bytes(policy=SMTP)
        await client.ehlo()
        _check_size(client, len(data))
        await client.mail(sender, options=[f"SIZE={len(data)}"] if client.supports_extension("size") else [])
        for recipient in recipients:
            await _offer(library, client, recipient)
        answer = await client.data(data)
        return f"{answer.code} {answer.message}"
    finally:
        await _leave(library, client)
        sock.close()


async def _leave(library: Any, client: Any) -> None:
    """End the conversation. The message is delivered or not, whatever the server says to that."""
    try:
        if client.is_connected:
            await client.quit(timeout=1)
    except (library.SMTPException, OSError, TimeoutError):
        pass
    finally:
        client.close()


def _check_size(client: Any, size: int) -> None:
    """Raise Permanent if the server has said that it takes no message of this size."""
    said = client.esmtp_extensions.get("size", "") if client.supports_extension("size") else ""
    if said.isdigit() and 0 < int(said) < size:
        message = f"the message takes {size:,} bytes, and the mail server takes {int(said):,} at most"
        raise Permanent(message, code="message_too_large")


async def _offer(library: Any, client: Any, recipient: str) -> None:
    """Name a recipient. Raise Permanent or RetriableFailure if the server refuses it; the message is not sent then."""
    try:
        await client.rcpt(recipient)
    except library.SMTPRecipientRefused as error:
        raise _refused(error.code, str(error.message), recipient) from None


def _refused(code: int, message: str, what: str) -> Permanent | RetriableFailure:
    """Return the failure of a refusal: 4xx asks to come again, 5xx is final."""
    said = f"{what}: refused with {code} {message[:500]}"
    if code in (530, 534, 535, 538):
        return Permanent(f"the mail server refused the credential: {code} {message[:500]}", code="credential_refused")
    if code <= _LAST_4XX:
        return RetriableFailure(said, "refused_for_now")
    return Permanent(said, code="refused")


def _unreachable(server: _Server, error: Exception, scrubber: Scrubber) -> Permanent | RetriableFailure:
    for one in (error, error.__cause__):
        if isinstance(one, ssl.SSLError):
            return Permanent(f"TLS with the mail server {server} failed: {one}", code="tls_failed")
    said = scrubber.text(str(error)) or type(error).__name__
    if "STARTTLS" in said:
        hint = "write smtps:// for TLS from the first byte, or ?tls=none for none"
        return Permanent(f"the mail server {server} does not offer STARTTLS; {hint}", code="tls_failed")
    return RetriableFailure(f"the mail server {server}: {said}", "connection_failed")


# -- the message


def build_message(params: OutgoingMail, sender: Address, key: str) -> EmailMessage:
    """Return the message. Its id follows from the key, so every attempt sends the same one. Raise InvalidParameters."""
    if params.text is None and params.html is None:
        raise InvalidParameters("text: is missing; a message needs text or html")
    message = EmailMessage(policy=SMTP)
    message["From"] = sender
    for header, place, given in (
        ("To", "to", params.to),
        ("Cc", "cc", params.cc),
        ("Reply-To", "reply_to", params.reply_to),
    ):
        if found := _addresses(given, place):
            message[header] = found
    message["Subject"] = _line(params.subject, "subject")
    message["Date"] = formatdate()
    message["Message-ID"] = f"<{hashlib.sha256(key.encode()).hexdigest()[:40]}@{sender.domain}>"
    message["Auto-Submitted"] = "auto-generated"
    if params.text is not None:
        message.set_content(_text(params.text, "text"))
    if params.html is not None and params.text is not None:
        message.add_alternative(_text(params.html, "html"), subtype="html")
    elif params.html is not None:
        message.set_content(_text(params.html, "html"), subtype="html")
    _attach(message, params.attachments)
    return message


def _attach(message: EmailMessage, attachments: list[Attachment]) -> None:
    left = LARGEST_ATTACHMENTS
    for number, one in enumerate(attachments):
        place = f"attachments[{number}]"
        if (one.content is None) is (one.base64 is None):
            raise InvalidParameters(f"{place}: needs content (a text) or base64 (bytes), one of them")
        content = decode_base64(one.base64, f"{place}.base64") if one.base64 is not None else None
        raw = _text(one.content or "", f"{place}.content").encode() if content is None else content
        left -= len(raw)
        if left < 0:
            most = LARGEST_ATTACHMENTS // 1024
            raise InvalidParameters(f"{place}: the attachments take more than {most} KB together; send a link instead")
        usual = "text/plain" if content is None else "application/octet-stream"
        kind = one.content_type or usual
        if not _CONTENT_TYPE.fullmatch(kind):
            raise InvalidParameters(f"{place}.content_type: {kind[:80]!r} is not a type such as application/pdf")
        main, _, sub = kind.lower().partition("/")
        if main in ("message", "multipart"):
            raise InvalidParameters(f"{place}.content_type: a file cannot be {kind[:80]!r}; leave it out")
        message.add_attachment(raw, maintype=main, subtype=sub, filename=_line(one.name, f"{place}.name"))


def _recipients(params: OutgoingMail) -> list[str]:
    """Return every address that receives the message, once. Raise InvalidParameters."""
    given = [*_addresses(params.to, "to"), *_addresses(params.cc, "cc"), *_addresses(params.bcc, "bcc")]
    found = list(dict.fromkeys(one.addr_spec for one in given))
    if not found:
        raise InvalidParameters("to: is missing; a message needs a recipient in to, cc or bcc")
    if len(found) > MOST_RECIPIENTS:
        raise InvalidParameters(f"to: {len(found)} recipients, more than {MOST_RECIPIENTS}; send several messages")
    return found


def _addresses(given: Addresses, place: str) -> list[Address]:
    if isinstance(given, str):
        return [_address(given, place)]
    return [_address(one, f"{place}[{number}]") for number, one in enumerate(given)]


def _address(text: str, place: str) -> Address:
    """Return one address, with or without a name: `ann@example.org`, `Ann <ann@example.org>`."""
    plain = _line(text, place).strip()
    name, found = parseaddr(plain)
    local, at, domain = found.rpartition("@")
    try:
        host = domain.encode("idna").decode() if not domain.isascii() else domain
    except UnicodeError:
        host = ""
    is_whole = plain == found or plain.endswith(f"<{found}>")
    if not (at and is_whole and len(found) <= LONGEST_ADDRESS and _LOCAL.fullmatch(local) and _DOMAIN.fullmatch(host)):
        hint = "; write several addresses as a list" if "," in plain or ";" in plain else ""
        raise InvalidParameters(f"{place}: {plain[:120]!r} is not an e-mail address{hint}")
    return Address(name, local, host)


def _line(text: str, place: str) -> str:
    """Return a text of a header. Raise InvalidParameters if it has a line break: it would begin another header."""
    if _CONTROL.search(text):
        raise InvalidParameters(
            f"{place}: {text[:80]!r} has a line break or control character, which a header cannot have"
        )
    return text


def _text(text: str, place: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidParameters(f"{place}: has a character that cannot be encoded (a lone surrogate)") from None
    return text
