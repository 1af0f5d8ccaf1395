"""`email.send` against a mail server on loopback."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from detent.steps.connectors import email
from detent.steps.errors import InvalidParameters
from tests.connectors.mail import PASSWORD, USER, Mailbox, open_mail
from tests.connectors.node import Node, open_node
from tests.steps.certificates import make_authority

HELLO: dict[str, Any] = {"to": "ann@example.org", "subject": "Hello", "text": "Hi Ann"}


def environ(mailbox: Mailbox, **more: str) -> dict[str, str]:
    return {"CONNECTOR_EMAIL_URL": mailbox.url(), "CONNECTOR_EMAIL_FROM": "Detent <bot@example.com>", **more}


@pytest.fixture
async def mailbox() -> AsyncIterator[Mailbox]:
    async with open_mail(size=300_000) as opened:
        yield opened


@pytest.fixture
async def node(mailbox: Mailbox) -> AsyncIterator[Node]:
    async with open_node(environ(mailbox)) as opened:
        yield opened


async def test_a_message_reaches_everyone_with_all_its_parts(node: Node, mailbox: Mailbox) -> None:
    sent = await node.run(
        "email.send",
        to=["Ann Öz <ann@example.org>", "bob@example.org"],
        cc="carl@exämple.org",
        bcc=["dora@example.org", "ann@example.org"],
        reply_to="desk@example.com",
        subject="Grüße ✓",
        text="Hi.\n.\nA line with a dot alone ends nothing.\nüé",
        html="<p>Hi <b>all</b></p>",
        attachments=[
            {"name": "zahlen ü.csv", "content": "a;b\n1;2\n", "content_type": "text/csv"},
            {"name": "x.bin", "base64": base64.b64encode(bytes(range(256))).decode()},
        ],
    )
    everyone = ["ann@example.org", "bob@example.org", "carl@xn--exmple-cua.org", "dora@example.org"]
    assert (sent["recipients"], sent["answer"]) == (everyone, "250 queued as 4711")
    [envelope], [message] = mailbox.envelopes, mailbox.messages
    assert (envelope.mail_from, envelope.rcpt_tos) == ("bot@example.com", everyone)
    assert message["From"] == "Detent <bot@example.com>"
    assert message["To"] == "Ann Öz <ann@example.org>, bob@example.org"
    assert (message["Cc"], message["Bcc"], message["Reply-To"]) == ("carl@xn--exmple-cua.org", None, "desk@example.com")
    assert (message["Subject"], message["Message-ID"]) == ("Grüße ✓", sent["message_id"])
    assert message["Auto-Submitted"] == "auto-generated"
    text, html = (message.get_body((kind,)) for kind in ("plain", "html"))
    assert text is not None
    assert html is not None
    assert text.get_content().splitlines() == ["Hi.", ".", "A line with a dot alone ends nothing.", "üé"]
    assert html.get_content().strip() == "<p>Hi <b>all</b></p>"
    files = {one.get_filename(): (one.get_content_type(), one.get_content()) for one in message.iter_attachments()}
    assert files["x.bin"] == ("application/octet-stream", bytes(range(256)))
    assert files["zahlen ü.csv"][0] == "text/csv"


async def test_every_attempt_sends_the_same_message_id(node: Node, mailbox: Mailbox) -> None:
    first, second = [await node.run("email.send", **HELLO) for _ in range(2)]
    assert first["message_id"] == second["message_id"]
    assert first["message_id"].endswith("@example.com>")
    assert len(mailbox.messages) == 2


async def test_a_refused_recipient_is_final_a_greylisted_one_is_not_and_no_other_gets_the_message(
    node: Node, mailbox: Mailbox
) -> None:
    mailbox.refuse = {
        "no@example.org": "550 5.1.1 no such user",
        "later@example.org": "451 4.7.1 greylisted, come again",
    }
    given = {**HELLO, "to": ["ann@example.org", "no@example.org"]}
    refused = await node.refused("email.send", **given)
    assert refused == ("refused", "no@example.org: refused with 550 5.1.1 no such user")
    later = await node.refused("email.send", retry=True, **{**HELLO, "to": ["ann@example.org", "later@example.org"]})
    assert later == ("refused_for_now", "later@example.org: refused with 451 4.7.1 greylisted, come again")
    assert mailbox.messages == []
    mailbox.answer = "554 5.7.1 looks like spam"
    assert (await node.refused("email.send", **HELLO))[0] == "refused"
    mailbox.answer = "452 4.3.1 disk is full"
    assert (await node.refused("email.send", retry=True, **HELLO))[0] == "refused_for_now"


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a line break in the subject": ({"subject": "Hi\r\nBcc: eve@example.org"}, "subject: 'Hi\\r\\nBcc"),
    "a line break in an address": ({"to": "ann@example.org\nBcc: eve@example.org"}, "to: 'ann@example.org\\nBcc"),
    "a line break in a name": ({"to": "Ann\r <ann@example.org>"}, "line break"),
    "a line break in a file name": ({"attachments": [{"name": "a\r\nX: y", "content": ""}]}, "attachments[0].name"),
    "a command in an address": ({"to": "<ann@example.org> RCPT TO:<eve@example.org>"}, "is not an e-mail address"),
    "two addresses in a text": ({"cc": "ann@example.org, bob@example.org"}, "write several addresses as a list"),
    "no address": ({"bcc": ["nobody"]}, "bcc[0]: 'nobody' is not an e-mail address"),
    "a domain that is not one": ({"to": "ann@exa mple.org"}, "is not an e-mail address"),
    "nobody": ({"to": []}, "to: is missing"),
    "everybody": ({"to": [f"u{n}@example.org" for n in range(101)]}, "101 recipients, more than 100"),
    "no text": ({"text": None}, "text: is missing"),
    "an empty attachment": ({"attachments": [{"name": "a"}]}, "attachments[0]: needs content (a text) or base64"),
    "bytes that are not base64": (
        {"attachments": [{"name": "a", "base64": "%"}]},
        "attachments[0].base64: is not valid",
    ),
    "a large attachment": (
        {"attachments": [{"name": "a", "content": "x" * 200_000}, {"name": "b", "content": "x" * 100_000}]},
        "attachments[1]: the attachments take more than 256 KB together; send a link instead",
    ),
    "a type with a header in it": (
        {"attachments": [{"name": "a", "content": "", "content_type": "text/x\r\nX: y"}]},
        "is not a type such as application/pdf",
    ),
    "an unknown parameter": ({"body": "Hi"}, "body"),
}


@pytest.mark.parametrize("name", BAD)
async def test_bad_parameters_are_named_and_nothing_is_sent(node: Node, mailbox: Mailbox, name: str) -> None:
    given, words = BAD[name]
    code, message = await node.refused("email.send", **{**HELLO, **given})
    assert code == "invalid_parameters"
    assert words in message
    assert mailbox.messages == []


async def test_a_message_that_is_larger_than_the_server_takes_is_not_offered(node: Node, mailbox: Mailbox) -> None:
    large = {"name": "a.bin", "base64": base64.b64encode(bytes(250_000)).decode()}
    code, message = await node.refused("email.send", **HELLO, attachments=[large])
    assert code == "message_too_large"
    assert "the mail server takes 300,000 at most" in message


async def test_a_connection_that_is_not_set_up_is_named_with_its_variables(mailbox: Mailbox) -> None:
    set_up = {"CONNECTOR_WIKI_URL": "https://wiki.example.org", "CONNECTOR_HALF_URL": mailbox.url()}
    set_up |= {
        "CONNECTOR_HALF_USERNAME": USER,
        "CONNECTOR_BARE_URL": mailbox.url(),
        "CONNECTOR_ODD_URL": "smtps://h?tls=none",
    }
    async with open_node(set_up) as node:
        code, message = await node.refused("email.send", **HELLO)
        assert (code, "set CONNECTOR_EMAIL_URL in its environment" in message) == ("missing_credential", True)
        code, message = await node.refused("email.send", **HELLO, connection="big-mailer")
        assert "the connection 'big-mailer' is not set up on this node: set CONNECTOR_BIG_MAILER_URL" in message
        for name, words in (("wiki", "smtp://HOST"), ("half", "set together"), ("odd", "smtps:// has no options")):
            code, message = await node.refused("email.send", **HELLO, connection=name)
            assert (code, words in message) == ("invalid_connection", True), message
            assert "wiki.example.org" not in message
        code, message = await node.refused("email.send", **HELLO, connection="bare")
        assert (code, message.startswith("from: is missing")) == ("invalid_parameters", True)


async def test_the_egress_guard_decides_and_a_server_that_is_not_there_is_tried_again() -> None:
    async with open_mail() as mailbox, open_node(environ(mailbox), "10.0.0.0/8") as node:
        code, message = await node.refused("email.send", **HELLO)
        assert (code, "allow it in egress_allow" in message) == ("egress_denied", True)
        assert mailbox.messages == []
        gone = environ(mailbox)
    async with open_node(gone) as node:
        assert (await node.refused("email.send", retry=True, **HELLO))[0] == "connection_failed"


async def test_a_login_is_made_and_its_password_is_in_no_error() -> None:
    async with open_mail(login=True) as mailbox:
        login = environ(mailbox, CONNECTOR_EMAIL_USERNAME=USER, CONNECTOR_EMAIL_PASSWORD=PASSWORD)
        async with open_node(login) as node:
            await node.run("email.send", **HELLO)
        assert mailbox.users == [USER]
        async with open_node(login | {"CONNECTOR_EMAIL_PASSWORD": "wrong-password"}) as node:
            code, message = await node.refused("email.send", **HELLO)
        assert (code, "wrong-password" in message) == ("credential_refused", False)
        async with open_node(environ(mailbox)) as node:
            assert (await node.refused("email.send", **HELLO))[0] == "credential_refused"


async def test_tls_is_required_unless_the_operator_says_otherwise(tmp_path: Path) -> None:
    authority = make_authority(tmp_path)
    side = authority.server("localhost")
    trusted = {"CONNECTOR_EMAIL_CA_FILE": str(authority.file)}
    async with open_mail(starttls=side) as mailbox:
        at = {"CONNECTOR_EMAIL_URL": mailbox.url(rest="", host="localhost")}
        async with open_node(environ(mailbox, **at, **trusted), "127.0.0.0/8", "::1") as node:
            await node.run("email.send", **HELLO)
        async with open_node(environ(mailbox, **at), "127.0.0.0/8", "::1") as node:
            assert (await node.refused("email.send", **HELLO))[0] == "tls_failed"
        assert mailbox.was_encrypted == [True]
    async with open_mail(tls=side) as mailbox:
        at = {"CONNECTOR_EMAIL_URL": mailbox.url("smtps", "", "localhost")}
        async with open_node(environ(mailbox, **at, **trusted), "127.0.0.0/8", "::1") as node:
            await node.run("email.send", **HELLO)
        async with open_node(environ(mailbox, **at), "127.0.0.0/8", "::1") as node:
            assert (await node.refused("email.send", **HELLO))[0] == "tls_failed"
        assert len(mailbox.messages) == 1
    async with open_mail() as mailbox:
        at = {"CONNECTOR_EMAIL_URL": mailbox.url(rest="")}
        async with open_node(environ(mailbox, **at)) as node:
            code, message = await node.refused("email.send", **HELLO)
        assert (code, "does not offer STARTTLS" in message) == ("tls_failed", True)
        assert mailbox.messages == []


async def test_a_node_without_the_extra_names_it(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "aiosmtplib", None)
    code, message = await node.refused("email.send", **HELLO)
    assert (code, "pip install 'detent-workflows[email]'" in message) == ("missing_extra", True)


def test_a_header_cannot_be_smuggled_in_by_any_control_character() -> None:
    sender = email._address("bot@example.com", "from")  # noqa: SLF001
    for character in [*map(chr, range(32)), "\x7f", "\x85", "\u2028", "\u2029"]:
        with pytest.raises(InvalidParameters):
            email.build_message(email.OutgoingMail(subject=f"a{character}b", text=""), sender, "key")
