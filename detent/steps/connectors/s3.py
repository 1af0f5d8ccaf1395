"""The connector `s3`: objects in a bucket of Amazon S3, or of a service that speaks its protocol.

The bucket is that of a named connection: `CONNECTOR_S3_URL=s3://bucket`, or `s3://bucket/folder` to allow only what is
in that folder. `_ENDPOINT` is the address of another service, `_REGION` the region, and `_ACCESS_KEY_ID` with
`_SECRET_ACCESS_KEY` the credential. No credential is looked for elsewhere: not on the machine, not in the cloud.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

import msgspec

from detent.catalog.connections import NamedConnection, Scrubber
from detent.catalog.connector import AuthType
from detent.steps.action_context import ActionContext
from detent.steps.connectors.library import SHIPPED, decode_base64, describe, load
from detent.steps.errors import InvalidParameters, Permanent, RetriableFailure
from detent.values.limits import BODY_LIMIT

CONNECTOR: Final = describe(
    "s3",
    "S3",
    "Reads and writes objects of Amazon S3 and services like it. CONNECTOR_S3_URL is the bucket.",
    AuthType.AWS4,
)
MOST_OBJECTS: Final = 1_000
#: How many bytes of an object a step can take. Base64 needs four characters for three of them.
LARGEST_OBJECT: Final = BODY_LIMIT * 3 // 4 - 4 * 1024
LONGEST_SIGNED: Final = 7 * 86_400
_REQUEST_SECONDS: Final = 60
_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_CONTENT_TYPE: Final = re.compile(r"[A-Za-z0-9!#$&^_.+-]{1,127}/[A-Za-z0-9!#$&^_.+-]{1,127}(; ?[A-Za-z0-9=_.-]{1,80})?")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_LONGEST_MESSAGE: Final = 500
_ANSWER: Final = re.compile(r"<Code>([^<]{1,100})</Code>\s*<Message>([^<]{1,300})</Message>")

Key = Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]


class StoredObject(msgspec.Struct, frozen=True):
    """What a list says of an object."""

    key: str
    size: int
    etag: str | None
    last_modified: str


class ReadObject(msgspec.Struct, frozen=True):
    """The output of `s3.get-object`: its bytes as `text`, or as `base64`."""

    key: str
    size: int
    etag: str | None
    last_modified: str
    content_type: str | None
    text: str | None = None
    base64: str | None = None


class WrittenObject(msgspec.Struct, frozen=True):
    """The output of `s3.put-object`."""

    key: str
    size: int
    etag: str | None


class ObjectList(msgspec.Struct, frozen=True):
    """The output of `s3.list-objects`. `next` is the `after` of the next step, if there are more."""

    objects: list[StoredObject]
    next: str | None


class SignedAddress(msgspec.Struct, frozen=True):
    """The output of `s3.presign`."""

    url: str
    expires_in: int


@SHIPPED.action(
    "s3.get-object", title="Get an object", category="Data", tags=("s3", "files"), effect="none", timeout=300
)
async def get_object(
    context: ActionContext, key: Key, encoding: Literal["text", "base64"] = "text", connection: str = "s3"
) -> ReadObject:
    """Return an object and its bytes, as text or in base64."""
    with _bucket(context, connection) as bucket:
        found = await bucket.library.get_async(bucket.store, _key(key))
        meta = found.meta
        if meta["size"] > LARGEST_OBJECT:
            message = f"the object {key[:200]!r} has {meta['size']:,} bytes, more than {LARGEST_OBJECT // 1024} KB"
            raise Permanent(f"{message}; pass its address on with s3.presign", code="output_too_large")
        kind = dict(found.attributes).get("Content-Type")
        raw = bytes(await found.bytes_async())
    facts = ReadObject(key, len(raw), meta.get("e_tag"), meta["last_modified"].isoformat(), kind)
    if encoding == "base64":
        return msgspec.structs.replace(facts, base64=b64encode(raw).decode())
    try:
        return msgspec.structs.replace(facts, text=raw.decode())
    except UnicodeDecodeError:
        raise Permanent(
            f"the object {key[:200]!r} is not text in UTF-8; write encoding: base64", code="not_text"
        ) from None


@SHIPPED.action(
    "s3.put-object", title="Put an object", category="Data", tags=("s3", "files"), effect="idempotent", timeout=300
)
async def put_object(
    context: ActionContext,
    key: Key,
    text: str | None = None,
    base64: str | None = None,
    json: Any = msgspec.UNSET,
    content_type: str | None = None,
    overwrite: bool = True,
    connection: str = "s3",
) -> WrittenObject:
    """Store an object: a text, bytes in base64, or any value as JSON. Without `overwrite` an object that exists is left
    as it is, and the step fails."""
    raw, usual = _content(text, base64, json)
    kind = content_type or usual
    if not _CONTENT_TYPE.fullmatch(kind):
        raise InvalidParameters(f"content_type: {kind[:80]!r} is not a type such as text/csv")
    with _bucket(context, connection) as bucket:
        put = await bucket.library.put_async(
            bucket.store,
            _key(key),
            raw,
            attributes={"Content-Type": kind},
            mode="overwrite" if overwrite else "create",
            use_multipart=False,
        )
    return WrittenObject(key, len(raw), put.get("e_tag"))


@SHIPPED.action(
    "s3.list-objects", title="List objects", category="Data", tags=("s3", "files"), effect="none", timeout=300
)
async def list_objects(
    context: ActionContext,
    folder: str | None = None,
    after: str | None = None,
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_OBJECTS)] = 100,
    connection: str = "s3",
) -> ObjectList:
    """Return the objects of a folder and of the folders in it, by key."""
    found: list[StoredObject] = []
    prefix = _key(folder.rstrip("/"), "folder") if folder else None
    offset = None if after is None else _key(after, "after")
    with _bucket(context, connection) as bucket:
        stream = bucket.library.list(bucket.store, prefix, offset=offset, chunk_size=limit + 1)
        async for piece in stream:
            found += [
                StoredObject(one["path"], one["size"], one.get("e_tag"), one["last_modified"].isoformat())
                for one in piece
            ]
            if len(found) > limit:
                break
    found = found[: limit + 1]
    return ObjectList(found[:limit], found[limit - 1].key if len(found) > limit else None)


@SHIPPED.action(
    "s3.delete-object",
    title="Delete an object",
    category="Data",
    tags=("s3", "files"),
    effect="idempotent",
    timeout=300,
)
async def delete_object(context: ActionContext, key: Key, connection: str = "s3") -> None:
    """Delete an object. It is no failure if there is none."""
    with _bucket(context, connection) as bucket:
        try:
            await bucket.library.delete_async(bucket.store, _key(key))
        except FileNotFoundError:
            return


@SHIPPED.action("s3.presign", title="Sign an address", category="Data", tags=("s3", "files"), effect="none", timeout=60)
async def presign(
    context: ActionContext,
    key: Key,
    method: Literal["GET", "PUT"] = "GET",
    expires_in: Annotated[int, msgspec.Meta(ge=1, le=LONGEST_SIGNED)] = 3_600,
    connection: str = "s3",
) -> SignedAddress:
    """Return an address with which anyone can read or write one object, for a number of seconds."""
    with _bucket(context, connection) as bucket:
        url = await bucket.library.sign_async(bucket.store, method, _key(key), timedelta(seconds=expires_in))
    return SignedAddress(url, expires_in)


class _Bucket(msgspec.Struct, frozen=True):
    """The bucket of a connection, and the library that speaks to it."""

    library: Any
    store: Any


@contextmanager
def _bucket(context: ActionContext, name: str) -> Iterator[_Bucket]:
    """Yield the bucket of a connection. Errors of the library become those of the action."""
    connection = context.connection(name, "url", "access_key_id", "secret_access_key")
    library = load("obstore", "s3")
    errors, scrubber = load("obstore.exceptions", "s3"), connection.scrubber()
    store = _store(load("obstore.store", "s3"), connection)
    try:
        yield _Bucket(library, store)
    except (errors.NotFoundError, FileNotFoundError) as error:
        raise Permanent(f"there is no such object or bucket: {_said(error, scrubber)}", code="not_found") from None
    except (errors.AlreadyExistsError, errors.PreconditionError) as error:
        raise Permanent(f"the object exists already: {_said(error, scrubber)}", code="already_exists") from None
    except (errors.PermissionDeniedError, errors.UnauthenticatedError) as error:
        raise Permanent(f"the service refused the credential: {_said(error, scrubber)}", code="refused") from None
    except (errors.InvalidPathError, errors.NotSupportedError) as error:
        raise Permanent(_said(error, scrubber), code="refused") from None
    except errors.BaseError as error:
        raise RetriableFailure(f"the service could not do it now: {_said(error, scrubber)}", "unavailable") from None


def _store(library: Any, connection: NamedConnection) -> Any:
    """Return the store of a connection. Raise Permanent if its address is not that of a bucket."""
    try:
        parts = urlsplit(connection["url"])
    except ValueError:
        raise _not_a_bucket(connection) from None
    if parts.scheme != "s3" or not _BUCKET.fullmatch(parts.netloc) or parts.query or parts.fragment:
        raise _not_a_bucket(connection)
    endpoint = connection.get("endpoint")
    is_plain = endpoint is not None and endpoint.startswith("http://")
    credential = {
        "access_key_id": connection["access_key_id"],
        "secret_access_key": connection["secret_access_key"],
        "token": connection.get("session_token"),
        "expires_at": None,
    }
    return library.S3Store(
        parts.netloc,
        prefix=parts.path.strip("/") or None,
        # A provider, because the library would add a session token of the machine's environment to a plain key.
        credential_provider=lambda: credential,
        region=connection.get("region") or "us-east-1",
        virtual_hosted_style_request=endpoint is None,
        client_options={"allow_http": is_plain, "timeout": timedelta(seconds=_REQUEST_SECONDS)},
        retry_config={"max_retries": 0},  # the step has its own
        **({} if endpoint is None else {"endpoint": endpoint}),
    )


def _not_a_bucket(connection: NamedConnection) -> Permanent:
    message = f"the connection {connection.name!r} is not that of a bucket: write s3://BUCKET or s3://BUCKET/FOLDER"
    return Permanent(message, code="invalid_connection")


def _said(error: Exception, scrubber: Scrubber) -> str:
    """Return what the service said, else the first line of an error of the library: the others are its insides."""
    text = scrubber.text(str(error))
    if answer := _ANSWER.search(text):
        return f"{answer[1]}: {answer[2]}"[:_LONGEST_MESSAGE]
    return next(filter(None, map(str.strip, text.splitlines())), type(error).__name__)[:_LONGEST_MESSAGE]


def _content(text: str | None, base64: str | None, json: Any) -> tuple[bytes, str]:
    given = [name for name, value in (("text", text), ("base64", base64)) if value is not None]
    given += [] if json is msgspec.UNSET else ["json"]
    if len(given) != 1:
        said = f"it has {' and '.join(given)}" if given else "it has none"
        raise InvalidParameters(f"an object needs one of text, base64 and json; {said}")
    if base64 is not None:
        return decode_base64(base64, "base64"), "application/octet-stream"
    if text is None:
        return msgspec.json.encode(json), "application/json"
    try:
        return text.encode(), "text/plain; charset=utf-8"
    except UnicodeEncodeError:
        raise InvalidParameters("text: has a character that cannot be encoded (a lone surrogate)") from None


def _key(key: str, place: str = "key") -> str:
    """Return a key as it was given. Raise InvalidParameters if it would leave its folder, or name another object."""
    if _CONTROL.search(key) or any(part in ("", ".", "..") for part in key.split("/")):
        message = f"{key[:200]!r} is not a key: it begins and ends without a slash, and has no '.', '..' or empty part"
        raise InvalidParameters(f"{place}: {message}")
    return key
