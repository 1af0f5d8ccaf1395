"""Documents are rendered in a child process: what a template can do, and what it cannot."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

import psutil
import pytest

from detent.errors import RenderFailed, Unavailable
from detent.steps.templates import renderer as module
from detent.steps.templates.renderer import Renderer, RenderLimits
from tests.steps.escapes import ESCAPES, LEAKS, SECRET

#: A bomb must end soon after its limit; a minute means that it hangs.
PATIENCE = 300.0
#: Ordinary documents have time, however busy the machine is.
GENEROUS = RenderLimits(seconds=60.0)
#: Templates that take too much: instructions, time, memory or bytes.
BOMBS = (
    "{% for a in range(90000) %}{% for b in range(90000) %}x{% endfor %}{% endfor %}",
    "{{ range(90000)|list|join('x' * 90000)|length }}",
    "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
    "{{ " + "(" * 50_000,
    "{{ " + "[" * 50_000 + "]" * 50_000 + " }}",
    "{% if 1 %}" * 50_000,
    "{{ 9 ** 9 ** 9 }}",
    "{% set n = namespace(x='x' * 9000) %}{% for a in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x }}",
)
#: This one has few instructions and needs little memory, but every instruction takes long.
SLOW = "{% set s = 'ab' * 400000 %}{% for a in range(90000) %}{{ s|replace('a', 'b')|length }}{% endfor %}"


@pytest.fixture
async def documents() -> AsyncIterator[Renderer]:
    opened = Renderer(GENEROUS)
    yield opened
    await opened.close()
    assert children() == []


def children() -> list[psutil.Process]:
    """The processes that this one has started to render."""
    found = psutil.Process().children()
    return [one for one in found if one.is_running() and "program.py" in " ".join(one.cmdline())]


async def render(documents: Renderer, body: str, format_: str = "text", **answers: Any) -> str:
    async with asyncio.timeout(PATIENCE):
        return await documents.render(body, format_, {"answers": answers, "extras": {"more": 1}})


async def refusal(documents: Renderer, body: str, **answers: Any) -> str:
    with pytest.raises(RenderFailed) as refused:
        await render(documents, body, **answers)
    return refused.value.problems[0].message


async def test_a_document_has_the_answers_as_plain_values(documents: Renderer) -> None:
    values = {
        "text": "ü {{ x }} {% if %} \"'\\",
        "n": -1.5,
        "no": None,
        "yes": True,
        "list": [1, [2]],
        "map": {"a b": 1},
    }
    body = "{{ answers.values|tojson }} {{ title }} {{ extras.more }} {{ values.map['a b'] }}"
    words: dict[str, Any] = {"in": 1, "none": 2, "answers": 3}
    made = await render(documents, body, values=values, title="T", **words)
    assert made.endswith(" T 1 1")
    assert '"ü {{ x }} {% if %} \\"' in made
    assert (
        await render(documents, "{% for key, one in map|items %}{{ key }}={{ one }};{% endfor %}", map={"a": 1})
        == "a=1;"
    )


async def test_null_is_nothing_and_what_is_missing_is_an_error(documents: Renderer) -> None:
    assert await render(documents, "[{{ a }}]\n", a=None) == "[]\n"
    assert await refusal(documents, "a\n{{ b.c }}") == "line 2: undefined value"
    assert await render(documents, "{{ b|default('none') }}{% if b is defined %}x{% endif %}") == "none"


async def test_only_html_escapes_the_answers(documents: Renderer) -> None:
    body, text = "<b>{{ a }}</b>", "<script>"
    assert await render(documents, body, "html", a=text) == "<b>&lt;script&gt;</b>"
    assert await render(documents, body, "markdown", a=text) == "<b><script></b>"


async def test_no_published_escape_gets_out(documents: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DETENT_SECRET_KEY", SECRET)
    for body in ESCAPES:
        for format_ in ("text", "html"):
            try:
                made = await render(documents, body, format_, items="x", title="y", people=["z"])
            except RenderFailed as error:
                made = str(error.problems)
            assert [leak for leak in LEAKS if leak in made] == [], body


async def test_an_escape_in_an_answer_stays_text(documents: Renderer) -> None:
    for text in ESCAPES:
        assert await render(documents, "{{ a }}{{ answers.a }}", a=text) == text + text


@pytest.mark.slow
async def test_a_bomb_ends_within_its_limits_and_the_next_document_is_rendered() -> None:
    documents = Renderer()
    before = psutil.Process().memory_info().rss
    for body in BOMBS:
        await refusal(documents, body)
        assert await render(documents, "{{ a }}", a="fine") == "fine"
    assert psutil.Process().memory_info().rss - before < 64 * 2**20, "the memory of the node does not grow with a bomb"
    assert await refusal(documents, SLOW) == "takes longer than 2 s; make it or the answers smaller"
    await documents.close()
    assert children() == []


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("{{ 'a'|indent(2000000000) }}", "takes more than 256 MB of memory"),
        ("{{ 'ü' * 150000 }}", "makes a document of 300,000 bytes; at most 262,144 are allowed"),
        ("{% for a in range(90000) %}{% for b in range(90000) %}x{% endfor %}{% endfor %}", "ran out of fuel"),
    ],
)
async def test_a_limit_says_what_it_is(documents: Renderer, body: str, reason: str) -> None:
    assert reason in await refusal(documents, body)


async def test_a_check_of_a_body_has_the_same_limits(documents: Renderer) -> None:
    await documents.check("{{ a }}{% for b in c %}{% endfor %}", "text")
    for body in ("{% for %}", "{{ " + "(" * 50_000, "{% nope %}", "{{ a | nope }"):
        with pytest.raises(RenderFailed):
            await documents.check(body, "text")


async def test_the_child_has_no_environment_no_files_and_no_processes(documents: Renderer) -> None:
    await render(documents, "x")
    [child] = children()
    assert set(child.environ()) <= {"PYTHONPATH", "LC_CTYPE"}
    limits = {child.rlimit(kind) for kind in (psutil.RLIMIT_NOFILE, psutil.RLIMIT_NPROC, psutil.RLIMIT_FSIZE)}
    assert limits == {(0, 0)}
    assert child.rlimit(psutil.RLIMIT_AS) == (GENEROUS.memory, GENEROUS.memory)
    assert child.cwd() == "/"


async def test_a_child_is_used_again_and_at_most_two_work_at_once(documents: Renderer) -> None:
    made = await asyncio.gather(*(render(documents, "{{ n }}", n=number) for number in range(20)))
    assert made == [str(number) for number in range(20)]
    assert 1 <= len(children()) <= 2


async def test_a_child_that_was_killed_is_replaced(documents: Renderer) -> None:
    await render(documents, "x")
    [child] = children()
    child.kill()
    await asyncio.to_thread(child.wait, PATIENCE)
    assert await render(documents, "y") == "y"


async def test_a_child_that_is_killed_while_it_renders_fails_that_document_only(documents: Renderer) -> None:
    await render(documents, "x")
    [child] = children()
    asked = asyncio.create_task(refusal(documents, SLOW))
    await asyncio.sleep(0)  # the request is on its way
    child.kill()
    assert "memory" in await asked
    assert await render(documents, "y") == "y"


async def test_a_caller_that_stops_waiting_ends_its_child(documents: Renderer) -> None:
    await render(documents, "x")
    asked = asyncio.create_task(render(documents, SLOW))
    await asyncio.sleep(0.05)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert await render(documents, "{{ a }}", a=1) == "1"


async def test_a_program_that_does_not_start_is_unavailable_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Renderer(GENEROUS)
    monkeypatch.setattr(module, "_PROGRAM", "/nope/program.py")
    with pytest.raises(Unavailable):
        await render(opened, "x")
    monkeypatch.setattr(sys, "executable", "/nope/python")
    with pytest.raises(Unavailable):
        await render(opened, "x")
    await opened.close()
    assert children() == []
