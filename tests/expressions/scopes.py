"""The data that the expression tests read."""

from collections.abc import Iterator, Mapping

from detent.expressions import Deferred, Headers, Mode, Scope, Truncated, compile_expression


class Counted(Deferred):
    """A deferred value that counts how often it was asked for."""

    def __init__(self, value: object) -> None:
        self.value = value
        self.reads = 0

    def resolve(self) -> object:
        self.reads += 1
        return self.value


class Broken(Deferred):
    def __init__(self, error: Exception) -> None:
        self.error = error

    def resolve(self) -> object:
        raise self.error


class Lazy(Mapping[str, object]):
    """A mapping that is no dict, as a run's results are."""

    def __init__(self, items: dict[str, object]) -> None:
        self.entries = items

    def __getitem__(self, key: str) -> object:
        return self.entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


class LateMapping(Lazy):
    """Has its items only when asked a second time."""

    asked = False

    def __getitem__(self, key: str) -> object:
        if not self.asked:
            self.asked = True
            raise KeyError(key)
        return super().__getitem__(key)


SCOPE: Scope = {
    "trigger": {
        "body": {"order_id": "o-1", "amount": 12.5, "note": None, "items": [{"name": "a"}, {"name": "b"}], "n": 3},
        "headers": Headers({"Content-Type": "application/json", "X-Id": "7"}),
    },
    "tasks": Lazy(
        {
            "charge": {
                "status": "success",
                "status_code": 200,
                "headers": Headers({"Retry-After": "30"}),
                "body": Counted({"approved": True, "amount": 5, "orderId": "o-1", "length-of": 2}),
            },
            "skipped": {"status": "skipped", "status_code": None, "headers": None, "body": None},
            "payment-result": {"status": "received", "status_code": 200, "body": {"status": "paid", "payment_id": "p"}},
            "page": {"status": "success", "status_code": 200, "body": Counted("<html>")},
            "large": {"status": "success", "status_code": 200, "body": Truncated("large")},
        }
    ),
    "wait": {"payment-result": {"url": "https://example.test/wh/1"}},
    "context": {
        "data": {"get-item": {"items": [{"Status": "Approved", "Name": "Moon"}]}, "cut": Truncated("cut", "output")}
    },
    "$execution": {"resume_url": "r", "wait_approval": {"resume_url": "w"}},
    "$input": {"email": "a@example.test"},
    "empty": {},
}


def value(source: str, scope: Scope = SCOPE, mode: Mode = Mode.CONDITION) -> object:
    return compile_expression(source, mode).evaluate(scope)
