"""Every example is valid, and runs to its end against the example service."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from detent import examples
from detent.examples import EXAMPLES, SERVICE_URL, Example
from detent.examples.service import Shop, serving_shop
from detent.forms.definition import read_definition
from detent.forms.steps.form import compile_steps
from detent.process import bind
from tests.api.server import Detent, serving, statuses

WANTED = {
    "hello": [{"greet": "success", "breathe": "success", "goodbye": "success", "remember": "success"}],
    "order-processing": [
        {"charge": "success", "send-receipt": "success", "notify-warehouse": "success", "handle-failure": "skipped"},
        {"charge": "failed", "send-receipt": "skipped", "notify-warehouse": "skipped", "handle-failure": "success"},
    ],
    "trial-expiry": [
        dict.fromkeys(["start-trial", "wait-13-days", "send-reminder", "wait-1-day", "expire-trial"], "success")
    ],
    "checkout-flow": [
        {
            "create-checkout": "success",
            "payment-result": "success",
            "fulfill-order": "success",
            "handle-timeout": "skipped",
        }
    ],
}


@pytest.fixture
async def shop_url() -> AsyncIterator[str]:
    with closing(bind("127.0.0.1", 0)) as sock:
        async with serving_shop(sock, Shop(call_back_after=0.1)):
            yield f"http://127.0.0.1:{sock.getsockname()[1]}"


@pytest.fixture
async def api() -> AsyncIterator[Detent]:
    async with serving("memory://") as opened:
        yield opened


def test_every_file_beside_the_examples_is_one_of_them() -> None:
    found = {path.stem for path in Path(examples.__file__).parent.glob("*.yaml")}
    assert found == {example.name for example in EXAMPLES} == set(WANTED)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_calls_only_the_example_service(example: Example) -> None:
    graph = compile_steps(read_definition(example.text(), filename=example.filename)).graph
    urls = [str(step.config["url"]) for step in graph.steps if "url" in step.config]
    assert all(url.startswith(SERVICE_URL) for url in urls)
    assert SERVICE_URL not in example.text("http://127.0.0.1:1")


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
async def test_an_example_runs_to_its_end(api: Detent, shop_url: str, example: Example) -> None:
    await api.save(example.text(shop_url))
    for value, wanted in zip(example.inputs, WANTED[example.name], strict=True):
        run = await api.ended(await api.start(example.name, value))
        assert (run["status"], statuses(run)) == ("completed", wanted)


async def test_the_service_calls_back_only_addresses_of_this_machine(api: Detent, shop_url: str) -> None:
    await api.save(
        '{"name": "out", "tasks": {"a": {"url": "' + shop_url + '/api/create-checkout", "retries": 0, '
        '"body": {"callback_url": "http://192.0.2.1/"}}}}'
    )
    run = await api.ended(await api.start("out", {}))
    assert run["tasks"]["a"]["status_code"] == 400
