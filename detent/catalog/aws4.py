"""Signatures of Amazon Web Services, version 4: the headers that authenticate a request.

The host, the time and what `aws4` adds are signed; other headers may be added later. Of S3 the digest of the body is
sent too, and its paths are encoded once instead of twice.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, quote, unquote

from detent.instant import Instant, as_datetime

_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_SAFE: Final = "-_.~"


def sign(
    method: str,
    host: str,
    path: str,
    query: str,
    body: bytes,
    *,
    secrets: Mapping[str, str],
    service: str,
    region: str,
    now: Instant,
) -> dict[str, str]:
    """Return the headers that sign a request. `host` is the header, `path` and `query` are as they are sent."""
    at = as_datetime(now).strftime("%Y%m%dT%H%M%SZ")
    digest = hashlib.sha256(body).hexdigest()
    added = {"X-Amz-Date": at}
    if "session_token" in secrets:
        added["X-Amz-Security-Token"] = secrets["session_token"]
    if service == "s3":
        added["X-Amz-Content-Sha256"] = digest
    signed = {"host": host, **{name.lower(): value for name, value in added.items()}}
    names = ";".join(sorted(signed))
    lines = [f"{name}:{signed[name].strip()}\n" for name in sorted(signed)]
    canonical = "\n".join(
        [method, _path(path, times=1 if service == "s3" else 2), _query(query), "".join(lines), names, digest]
    )
    scope = f"{at[:8]}/{region}/{service}/aws4_request"
    text = "\n".join([_ALGORITHM, at, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{secrets['secret_access_key']}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    credential = f"{secrets['access_key_id']}/{scope}"
    value = f"{_ALGORITHM} Credential={credential}, SignedHeaders={names}, Signature={signature}"
    return {**added, "Authorization": value}


def _path(path: str, *, times: int) -> str:
    parts = [unquote(part) for part in path.split("/")]
    for _ in range(times):
        parts = [quote(part, safe=_SAFE) for part in parts]
    return "/".join(parts) or "/"


def _query(query: str) -> str:
    pairs = [(quote(name, safe=_SAFE), quote(value, safe=_SAFE)) for name, value in parse_qsl(query, True)]
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))
