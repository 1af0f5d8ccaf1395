"""A secret in a template stays sealed: it is sent, and nothing else can read it."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Any

import pytest

from detent.expressions import (
    EvaluationError,
    ExpressionLimitExceeded,
    Mode,
    Sealed,
    SyntaxProblem,
    UnresolvedTemplate,
    compile_expression,
    compile_template,
    masked,
    resolve_holes,
    sealed_names,
    unsealed,
)

OPEN = {"KEY": 'va"lue 1', "OTHER": "two", "my-key": "dash"}


def _opened(source: object, scope: dict[str, Any] | None = None) -> object:
    return unsealed(compile_template(source).render(scope or {}), OPEN)


@pytest.mark.parametrize(
    ("source", "shown", "sent"),
    [
        ("{{secrets.KEY}}", "{{secrets.KEY}}", OPEN["KEY"]),
        ("{{ secrets['my-key'] }}", "{{secrets.my-key}}", "dash"),
        ("Bearer {{ secrets.KEY }}", "Bearer {{secrets.KEY}}", 'Bearer va"lue 1'),
        ("{{user}}:{{secrets.KEY}}@{{secrets.OTHER}}", "ann:{{secrets.KEY}}@{{secrets.OTHER}}", 'ann:va"lue 1@two'),
        (
            "{{ base64(secrets.KEY) }}",
            "{{base64(secrets.KEY)}}",
            base64.b64encode(OPEN["KEY"].encode()).decode(),
        ),
        ("{{ secrets.KEY.urlEncode() }}", "{{urlEncode(secrets.KEY)}}", "va%22lue%201"),
        ("a={{ json(secrets.KEY) }}", "a={{json(secrets.KEY)}}", 'a="va\\"lue 1"'),
        (
            "{{ basic(user, secrets.OTHER) }}",
            '{{basic("ann", secrets.OTHER)}}',
            "Basic " + base64.b64encode(b"ann:two").decode(),
        ),
        (
            "{{ hmac(user, secrets.OTHER) }}",
            '{{hmac("ann", secrets.OTHER)}}',
            hmac.digest(b"two", b"ann", hashlib.sha256).hex(),
        ),
        ("{{ urlEncode(base64(secrets.OTHER)) }}", "{{urlEncode(base64(secrets.OTHER))}}", "dHdv"),
        ("{{ is_live ? secrets.KEY : secrets.OTHER }}", "{{secrets.OTHER}}", "two"),
        ("x{{ is_live ? secrets.KEY : 'none' }}", "xnone", "xnone"),
        ("{{ base64(is_live ? secrets.KEY : user) }}", '{{base64("ann")}}', "YW5u"),
        ("x {{ {t: [secrets.KEY]} }}", 'x {{json({"t": ["{{secrets.KEY}}"]})}}', 'x {"t":["va\\"lue 1"]}'),
        ("{{ json({t: secrets.KEY}) }}", '{{json({"t": "{{secrets.KEY}}"})}}', '{"t":"va\\"lue 1"}'),
        ("{{ basic('a', 'b') }}", "Basic YTpi", "Basic YTpi"),
        ("x {{ basic('a', 'b') }}", "x Basic YTpi", "x Basic YTpi"),
        ("{{ hmac('a' , 'b') }}{{ {n: 1} }}", None, None),
    ],
)
def test_a_secret_is_sent_as_it_is_and_shown_by_its_name(source: str, shown: str | None, sent: str | None) -> None:
    scope = {"user": "ann", "is_live": False}
    rendered = compile_template(source).render(scope)
    if shown is None:
        assert isinstance(rendered, str)
        return
    assert masked(rendered) == shown
    assert str(rendered) == repr(rendered).strip("'") == shown
    assert unsealed(rendered, OPEN) == sent


def test_secrets_are_inside_objects_and_arrays() -> None:
    source = {"a": ["{{secrets.KEY}}", 1], "b": {"c": "{{ {x: secrets.OTHER, y: [secrets.KEY]} }}"}, "d": "plain"}
    template = compile_template(source)
    assert template.language == 4
    rendered = template.render({})
    assert masked(rendered) == {
        "a": ["{{secrets.KEY}}", 1],
        "b": {"c": {"x": "{{secrets.OTHER}}", "y": ["{{secrets.KEY}}"]}},
        "d": "plain",
    }
    assert sorted(sealed_names(rendered)) == ["KEY", "KEY", "OTHER"]
    assert list(sealed_names(compile_template("{{ base64(secrets.KEY) }}").render({}))) == ["KEY"]
    opened = {"a": [OPEN["KEY"], 1], "b": {"c": {"x": "two", "y": [OPEN["KEY"]]}}, "d": "plain"}
    assert unsealed(rendered, OPEN) == opened
    plain = {"a": [{"b": 1}], "c": None}
    assert masked(plain) is plain
    assert [reference.path for reference in template.references] == [
        ("secrets", "KEY"),
        ("secrets", "OTHER"),
        ("secrets", "KEY"),
    ]


def test_a_text_that_looks_like_a_secret_is_a_text() -> None:
    """Whoever sends the body of a trigger can write anything into it."""
    forged = "{{secrets.KEY}}"
    assert _opened("{{body}}", {"body": forged}) == forged
    assert _opened("a {{body}} {{secrets.OTHER}}", {"body": forged}) == "a {{secrets.KEY}} two"


def test_equal_sealed_values_are_equal() -> None:
    one, other = (compile_template("{{secrets.KEY}} x").render({}) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != "{{secrets.KEY}} x"
    assert Sealed("a") != Sealed("b")
    assert str(compile_template("{{ secrets['odd name'] }}").render({})) == "{{secrets['odd name']}}"


@pytest.mark.parametrize(
    "source",
    [
        "secrets.KEY == 'a'",
        "secrets.KEY + 'a'",
        "!secrets.KEY",
        "-secrets.KEY",
        "secrets.KEY ?? 'a'",
        "secrets.KEY && true",
        "secrets.KEY < 'a'",
        "'a' in secrets.KEY",
        "secrets.KEY ? 1 : 2",
        "size(secrets.KEY)",
        "hash(secrets.KEY)",
        "secrets.KEY.slice(0, 1)",
        "string(secrets.KEY)",
        "[1].map(x => secrets.KEY)",
        "[secrets.KEY].map(x => x)",
        "{a: secrets.KEY}.a",
        "a[secrets.KEY]",
        "base64(secrets.KEY == 'a')",
        "base64(secrets.KEY == 'a' ? secrets.KEY : 'b')",
    ],
)
def test_nothing_but_what_is_sent_reads_a_secret(source: str) -> None:
    with pytest.raises(
        SyntaxProblem, match=r"a secret is sent as it is and nothing else can read it; write \{\{secrets"
    ):
        compile_template("{{ " + source + " }}")


@pytest.mark.parametrize("source", ["secrets.KEY", "secrets.KEY == 'a'", "base64(secrets.KEY)", "true ? secrets.A : 1"])
@pytest.mark.parametrize("mode", list(Mode))
def test_an_expression_that_is_no_template_reads_no_secret(source: str, mode: Mode) -> None:
    with pytest.raises(SyntaxProblem, match="a secret is sent as it is"):
        compile_expression(source, mode)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("secrets", "name one secret"),
        ("secrets[0]", "must be written out"),
        ("secrets[a.b]", "must be written out"),
        ("secrets.KEY.part", "has no parts; write secrets.KEY alone"),
        ("secrets.KEY[0]", "has no parts"),
    ],
)
def test_the_name_of_a_secret_is_written_out(source: str, message: str) -> None:
    with pytest.raises(SyntaxProblem, match=message):
        compile_template("{{ " + source + " }}")


def test_an_older_definition_reads_its_own_name() -> None:
    """A rule of an older release may have read a field of this name."""
    template = compile_template("{{ secrets.KEY == 'a' }}", 3)
    assert template.render({"secrets": {"KEY": "a"}}) is True
    assert compile_expression("secrets == 1", language=3).test({"secrets": 1})
    with pytest.raises(SyntaxProblem, match="needs revision 4"):
        compile_template("{{ basic('a', 'b') }}", 3)


def test_an_arrow_may_have_a_parameter_of_that_name() -> None:
    assert compile_expression("[1, 2].map(secrets => secrets + 1)").evaluate({}) == [2, 3]


def test_a_late_function_refuses_what_it_cannot_use_when_it_is_called() -> None:
    rendered = compile_template("{{ basic(user, secrets.KEY) }}").render({"user": "a:b"})
    with pytest.raises(EvaluationError, match="must not have a colon"):
        unsealed(rendered, OPEN)
    with pytest.raises(KeyError):
        unsealed(compile_template("{{secrets.MISSING}}").render({}), OPEN)


def test_what_is_beside_a_secret_is_resolved_as_ever() -> None:
    with pytest.raises(UnresolvedTemplate, match="Failed to resolve"):
        _opened("{{ missing.name }} {{ secrets.KEY }}")
    with pytest.raises(ExpressionLimitExceeded):
        compile_template("{{ a }}{{ a }}{{ secrets.KEY }}").render({"a": "x" * 200_000})
    with pytest.raises(ExpressionLimitExceeded):
        unsealed(compile_template("{{ base64(secrets.KEY) }}").render({}), {"KEY": "x" * 400_000})


def test_the_holes_of_a_template_have_sealed_values() -> None:
    [hole] = resolve_holes(compile_template({"a": "Bearer {{ secrets.KEY }}"}), {})
    assert masked(hole.value) == "{{secrets.KEY}}"
