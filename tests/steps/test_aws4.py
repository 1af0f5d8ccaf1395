"""Signatures of aws4: as the published example has them, and as botocore makes them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import pytest
from aiohttp import web
from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from detent.catalog.aws4 import sign
from detent.catalog.manifest import build_connector
from detent.errors import InvalidInput
from detent.steps.http.step import HttpExecutor
from tests.catalog.manifests import manifest, parameters
from tests.steps.calls import done
from tests.steps.test_data_actions import Service, echo

SECRETS = {"access_key_id": "AKIDEXAMPLE", "secret_access_key": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
AT = datetime(2015, 8, 30, 12, 36, tzinfo=UTC)
NOW = int(AT.timestamp() * 1_000_000)


def test_the_published_example_has_its_signature() -> None:
    found = sign(
        "GET", "example.amazonaws.com", "/", "", b"", secrets=SECRETS, service="service", region="us-east-1", now=NOW
    )
    assert found == {
        "X-Amz-Date": "20150830T123600Z",
        "Authorization": "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request,"
        " SignedHeaders=host;x-amz-date,"
        " Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
    }


def botocore_signature(method: str, url: str, body: bytes, service: str, at: str, token: str | None = None) -> str:
    """The header that botocore makes for a request of that time."""
    request = AWSRequest(method, url, data=body)
    signer: Any = (S3SigV4Auth if service == "s3" else SigV4Auth)(
        Credentials(SECRETS["access_key_id"], SECRETS["secret_access_key"], token), service, "eu-central-1"
    )
    request.context.update({"timestamp": at, "payload_signing_enabled": True})
    request.headers["X-Amz-Date"] = at
    if token is not None:
        request.headers["X-Amz-Security-Token"] = token
    if service == "s3":
        request.headers["X-Amz-Content-SHA256"] = signer.payload(request)
    signature = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    return str(signature)


CASES = [
    ("GET", "/v1/a%20b/%C3%BC", "b=2&a=%2F&a=%20x&empty=", b""),
    ("POST", "/", "Action=List%2BAll&Version=2010-12-01", b'{"a": 1}'),
    ("PUT", "/folder/x%2Cy~z", "", b"\x00\xff"),
]


@pytest.mark.parametrize("service", ["ses", "s3"])
@pytest.mark.parametrize("token", [None, "session-token"])
@pytest.mark.parametrize(("method", "path", "query", "body"), CASES)
def test_signatures_are_those_of_botocore(
    method: str, path: str, query: str, body: bytes, service: str, token: str | None
) -> None:
    host, at = "api.example.com", AT.strftime("%Y%m%dT%H%M%SZ")
    secrets = SECRETS | ({} if token is None else {"session_token": token})
    mine = sign(method, host, path, query, body, secrets=secrets, service=service, region="eu-central-1", now=NOW)
    url = f"https://{host}{path}" + (f"?{query}" if query else "")
    assert mine["Authorization"].endswith(f"Signature={botocore_signature(method, url, body, service, at, token)}")


async def test_a_request_of_a_manifest_is_signed_as_it_is_sent(http: HttpExecutor) -> None:
    action = {
        "parameters": parameters("id", "text", id={"type": "string"}, text={"type": "string"}),
        "request": {
            "method": "POST",
            "path": "/items/{id}",
            "query": {"q": "{{ with.text }}"},
            "body": {"text": "{{ with.text }}"},
        },
    }
    auth = {"type": "aws4", "service": "execute-api", "region": "us-east-1"}
    environ = {
        "CONNECTOR_CRM_ACCESS_KEY_ID": SECRETS["access_key_id"],
        "CONNECTOR_CRM_SECRET_ACCESS_KEY": SECRETS["secret_access_key"],
        "CONNECTOR_CRM_REGION": "eu-central-1",
    }
    async with Service(http, echo, manifest(action, auth=auth), **environ) as service:
        outcome = await service.run({"id": "a b/ü", "text": "x&y=/+ü"})
        assert SECRETS["secret_access_key"] not in json.dumps(done(outcome))
        [sent] = service.requests
    assert isinstance(sent, web.Request)
    at = sent.headers["X-Amz-Date"]
    # A service decodes the query and encodes it in its own way before it compares; botocore takes it as it is.
    query = urlencode(parse_qsl(sent.rel_url.raw_query_string), quote_via=quote, safe="-_.~")
    url = f"http://{sent.headers['Host']}{sent.rel_url.raw_path}?{query}"
    expected = botocore_signature("POST", url, await sent.read(), "execute-api", at)
    assert sent.headers["Authorization"].endswith(f"Signature={expected}")
    assert f"/{at[:8]}/eu-central-1/execute-api/aws4_request" in sent.headers["Authorization"]


def test_a_manifest_names_the_service_and_its_region() -> None:
    with pytest.raises(InvalidInput) as caught:
        build_connector(manifest(auth={"type": "aws4", "service": "S 3", "token_url": "https://x.example.com"}))
    assert {one.field for one in caught.value.problems} == {"auth.service", "auth.region", "auth.token_url"}
