"""The actions of `s3` against a service on loopback that speaks its protocol."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Iterator
from typing import Any

import aiohttp
import pytest

from tests.connectors.buckets import Buckets, open_buckets
from tests.connectors.node import Node, open_node

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def buckets() -> Iterator[Buckets]:
    with open_buckets() as opened:
        yield opened


@pytest.fixture
async def node(buckets: Buckets) -> AsyncIterator[Node]:
    async with aiohttp.ClientSession() as session, session.put(f"{buckets.url}/reports") as answer:
        assert answer.status in (200, 409), await answer.text()
    async with open_node(buckets.environ()) as opened:
        yield opened


async def test_objects_are_put_listed_read_signed_and_deleted(
    node: Node, buckets: Buckets, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "of-the-machine")
    put = await node.run("s3.put-object", key="2026/jan.csv", text="a;ü\n", content_type="text/csv")
    assert (put["key"], put["size"]) == ("2026/jan.csv", 5)
    assert buckets.headers[-1]["HTTP_AUTHORIZATION"].startswith("AWS4-HMAC-SHA256 Credential=AKIATESTTESTTEST/")
    assert "HTTP_X_AMZ_SECURITY_TOKEN" not in buckets.headers[-1]
    await node.run("s3.put-object", key="2026/feb.json", json={"total": 7})
    await node.run("s3.put-object", key="2027/raw", base64=base64.b64encode(b"\xff\x00").decode())

    found = await node.run("s3.get-object", key="2026/jan.csv")
    assert (found["text"], found["content_type"], found["etag"]) == ("a;ü\n", "text/csv", put["etag"])
    assert (await node.run("s3.get-object", key="2026/feb.json"))["text"] == '{"total":7}'
    raw = await node.run("s3.get-object", key="2027/raw", encoding="base64")
    assert (raw["base64"], raw["text"]) == ("/wA=", None)
    code, message = await node.refused("s3.get-object", key="2027/raw")
    assert (code, "write encoding: base64" in message) == ("not_text", True)

    listed = await node.run("s3.list-objects", folder="2026/")
    assert [one["key"] for one in listed["objects"]] == ["2026/feb.json", "2026/jan.csv"]
    assert listed["next"] is None
    first = await node.run("s3.list-objects", limit=2)
    second = await node.run("s3.list-objects", limit=2, after=first["next"])
    keys = [one["key"] for page in (first, second) for one in page["objects"]]
    assert (keys, second["next"]) == (["2026/feb.json", "2026/jan.csv", "2027/raw"], None)

    signed = await node.run("s3.presign", key="2026/jan.csv", expires_in=60)
    assert "secret-of-the-bucket" not in signed["url"]
    async with aiohttp.ClientSession() as session, session.get(signed["url"]) as answer:
        assert await answer.text() == "a;ü\n"

    for _ in range(2):
        assert await node.run("s3.delete-object", key="2027/raw") is None
    code, message = await node.refused("s3.get-object", key="2027/raw")
    assert code == "not_found"
    assert message.endswith("object or bucket: NoSuchKey: The specified key does not exist.")


async def test_an_object_is_not_replaced_if_the_step_says_so(node: Node) -> None:
    await node.run("s3.put-object", key="once", text="1")
    assert (await node.refused("s3.put-object", key="once", text="2", overwrite=False))[0] == "already_exists"
    assert (await node.run("s3.get-object", key="once"))["text"] == "1"


async def test_a_connection_of_a_folder_reaches_nothing_else(node: Node, buckets: Buckets) -> None:
    await node.run("s3.put-object", key="private", text="no")
    async with open_node(buckets.environ("s3://reports/team")) as team:
        await team.run("s3.put-object", key="mine", text="yes")
        assert [one["key"] for one in (await team.run("s3.list-objects"))["objects"]] == ["mine"]
        assert (await team.refused("s3.get-object", key="private"))[0] == "not_found"
        for key in ("../private", "/private", "a/../../private", "a//b", ".", "a\x00b"):
            code, message = await team.refused("s3.get-object", key=key)
            assert (code, "is not a key" in message) == ("invalid_parameters", True)
    assert (await node.run("s3.get-object", key="team/mine"))["text"] == "yes"


BAD: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "two contents": ("s3.put-object", {"text": "a", "json": 1}, "invalid_parameters", "it has text and json"),
    "no content": ("s3.put-object", {}, "invalid_parameters", "it has none"),
    "bad base64": ("s3.put-object", {"base64": "%"}, "invalid_parameters", "base64: is not valid base64"),
    "a header in a type": (
        "s3.put-object",
        {"text": "a", "content_type": "text/x\r\nX: y"},
        "invalid_parameters",
        "is not a type",
    ),
    "a signature for ever": ("s3.presign", {"expires_in": 10**9}, "invalid_parameters", "604800"),
    "a large object": ("s3.get-object", {"key": "large"}, "output_too_large", "pass its address on with s3.presign"),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_step_is_explained(node: Node, name: str) -> None:
    action, given, code, words = BAD[name]
    await node.run("s3.put-object", key="large", text="x" * 200_000)
    found, message = await node.refused(action, **{"key": "k", **given})
    assert (found, words in message) == (code, True), message


async def test_a_connection_is_complete_and_that_of_a_bucket(buckets: Buckets) -> None:
    async with open_node({"CONNECTOR_S3_URL": "s3://reports"}) as node:
        code, message = await node.refused("s3.list-objects")
        assert code == "missing_credential"
        assert "set CONNECTOR_S3_ACCESS_KEY_ID and CONNECTOR_S3_SECRET_ACCESS_KEY in its environment" in message
    for url in ("https://reports", "s3://", "s3://reports?x=1", "s3://UPPER"):
        async with open_node(buckets.environ(url)) as node:
            code, message = await node.refused("s3.list-objects")
            assert (code, "write s3://BUCKET" in message) == ("invalid_connection", True)
    async with open_node(buckets.environ("s3://missing-bucket")) as node:
        code, message = await node.refused("s3.put-object", key="k", text="")
        assert code == "not_found", message
    async with open_node({**buckets.environ(), "CONNECTOR_S3_ENDPOINT": "http://127.0.0.1:1"}) as node:
        code, message = await node.refused("s3.get-object", retry=True, key="k")
        assert (code, "secret-of-the-bucket" in message) == ("unavailable", False)


async def test_a_node_without_the_extra_names_it(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "obstore", None)
    code, message = await node.refused("s3.list-objects")
    assert (code, "pip install 'detent-workflows[s3]'" in message) == ("missing_extra", True)
