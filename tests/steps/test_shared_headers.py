"""Headers that are merged once for all requests of an action are the same as those merged for each request."""

from __future__ import annotations

from typing import Any

import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from detent.catalog.data_action import WrittenRequest
from detent.steps.http.request import HttpRequest, InvalidHttpRequest, SharedHeaders

CONNECTION = {"Authorization": "Bearer tok-8a1c5e"}
ACTING = CIMultiDictProxy(CIMultiDict({"X-Acting-User-Id": "U7", "X-Correlation-Id": "run_1"}))


def sent(shared: SharedHeaders, constant: dict[str, Any]) -> HttpRequest:
    written = WrittenRequest("POST", "https://crm.example.com/run?token=t", constant, b"{}", "application/json")
    return shared.build(written, "key-1", 3, ACTING)


@pytest.mark.parametrize(
    "constant",
    [
        {},
        {"Accept": "application/json", "X-Version": 7, "X-Null": None},
        {"content-type": "application/vnd.crm+json"},
        {"idempotency-key": "own"},
        {"accept-encoding": "gzip", "user-agent": "crm", "x-correlation-id": "own", "authorization": "own"},
    ],
    ids=str,
)
def test_constant_headers_replace_what_they_would_replace_in_each_request(constant: dict[str, Any]) -> None:
    merged = sent(SharedHeaders(CONNECTION, constant), constant)
    each = sent(SharedHeaders(CONNECTION), constant)
    lower = {name.lower(): value for name, value in each.headers.items()}
    assert {name.lower(): value for name, value in merged.headers.items()} == lower
    assert lower["accept-encoding"] == "identity"
    assert lower["detent-attempt"] == "3"
    assert lower["idempotency-key"] == constant.get("idempotency-key", "key-1")
    assert lower["content-type"] == constant.get("content-type", "application/json")


@pytest.mark.parametrize("constant", [{"Host": "other.example"}, {"X-A": "1\r\nX-B: 2"}, {"X A": "1"}], ids=str)
def test_a_constant_header_that_cannot_be_sent_fails_the_request(constant: dict[str, Any]) -> None:
    shared = SharedHeaders(CONNECTION, constant)
    with pytest.raises(InvalidHttpRequest):
        sent(shared, constant)


def test_a_request_changes_no_shared_headers() -> None:
    shared = SharedHeaders(CONNECTION, {"Accept": "text/plain"})
    sent(shared, {}).headers["Authorization"] = "changed"
    assert sent(shared, {}).headers["Authorization"] == CONNECTION["Authorization"]
    assert "Accept" not in ACTING


def test_a_request_is_shown_without_its_query_and_its_headers() -> None:
    assert str(sent(SharedHeaders(CONNECTION), {})) == "POST https://crm.example.com/run"
