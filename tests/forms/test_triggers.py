"""What starts a workflow: what a trigger becomes, and everything that can be wrong with one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.errors import InvalidDefinition, Problem
from detent.forms import triggers
from detent.forms.compiled import TriggerDefinition, TriggerType
from detent.forms.steps.form import compile_steps
from detent.forms.triggers import event_type_problem, read_trigger_config

TASKS: dict[str, Any] = {"a": {"sleep": 1}}
STANDARD = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
DAILY: dict[str, Any] = {"type": "cron", "cron_expression": "@daily"}


def trigger(block: Any, **fields: Any) -> TriggerDefinition:
    return compile_steps({"name": "a", "tasks": TASKS, "trigger": block, **fields}).trigger


def problems(block: Any, **fields: Any) -> list[Problem]:
    with pytest.raises(InvalidDefinition) as caught:
        trigger(block, **fields)
    return list(caught.value.problems)


def test_a_cron_block_has_every_field_with_its_default() -> None:
    assert trigger(DAILY) == TriggerDefinition(
        TriggerType.CRON,
        {
            "cron_expression": "0 0 * * *",
            "timezone": "UTC",
            "jitter": 0,
            "missed": "last",
            "missed_window": 86400,
            "overlap": "allow",
        },
    )


def test_durations_of_a_schedule_are_kept_in_seconds() -> None:
    config = trigger({**DAILY, "jitter": "1m30s", "missed": "all", "missed_window": "500ms"}).config
    assert (config["jitter"], config["missed"], config["missed_window"]) == (90, "all", 0.5)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("skip", "skip"),
        ("queue", "queue"),
        ("cancel-previous", "cancel_previous"),
        ("cancel_previous", "cancel_previous"),
        ("Cancel-Previous", "cancel_previous"),
    ],
)
def test_overlap_is_one_of_four_words(written: str, kept: str) -> None:
    assert trigger({**DAILY, "overlap": written}).config["overlap"] == kept


@pytest.mark.parametrize("word", ["cron", "Cron", "schedule", "Schedule", "SCHEDULE"])
def test_a_schedule_is_a_cron_trigger_in_any_case(word: str) -> None:
    assert trigger(word, cron_expression="@daily").type is TriggerType.CRON
    assert read_trigger_config(word, {"cron_expression": "@daily"}).type is TriggerType.CRON


@pytest.mark.parametrize("word", ["Webhook", "WEBHOOK", "webhook"])
def test_a_webhook_needs_no_signature(word: str) -> None:
    assert read_trigger_config(word, {}) == TriggerDefinition(TriggerType.WEBHOOK)
    assert trigger(word) == TriggerDefinition(TriggerType.WEBHOOK)


@pytest.mark.parametrize(
    ("signature", "kept"),
    [
        (
            {"preset": "standard", "secrets": [STANDARD]},
            {"preset": "standard", "secrets": [STANDARD], "tolerance": 300},
        ),
        (
            {"preset": "stripe", "secrets": ["whsec_x", {"env": "OLD"}], "tolerance": "10m"},
            {"preset": "stripe", "secrets": ["whsec_x", {"env": "OLD"}], "tolerance": 600},
        ),
        ({"preset": "github", "secrets": "s3cret"}, {"preset": "github", "secrets": ["s3cret"]}),
        ({"preset": "github", "secrets": {"env": "S"}}, {"preset": "github", "secrets": [{"env": "S"}]}),
        (
            {"preset": "hmac", "secrets": ["x"], "header": "X-Signature"},
            {
                "preset": "hmac",
                "secrets": ["x"],
                "header": "x-signature",
                "algorithm": "sha256",
                "encoding": "hex",
                "prefix": "",
            },
        ),
        (
            {
                "preset": "hmac",
                "secrets": ["x"],
                "header": "h",
                "algorithm": "sha1",
                "encoding": "base64",
                "prefix": "v0=",
            },
            {
                "preset": "hmac",
                "secrets": ["x"],
                "header": "h",
                "algorithm": "sha1",
                "encoding": "base64",
                "prefix": "v0=",
            },
        ),
    ],
)
def test_a_signature_is_kept_with_the_fields_of_its_preset(signature: dict[str, Any], kept: dict[str, Any]) -> None:
    assert trigger({"type": "webhook", "signature": signature, "dedup_header": "X-Id"}) == TriggerDefinition(
        TriggerType.WEBHOOK, {"signature": kept, "dedup_header": "x-id"}
    )


def test_an_event_trigger_has_the_event_and_its_condition() -> None:
    found = trigger({"type": "event", "event": "order.*", "condition": "{{ event.data.total > 10 }}"})
    assert found == TriggerDefinition(TriggerType.EVENT, {"event": "order.*"}, "event.data.total > 10")


@pytest.mark.parametrize("text", ["body.total > 10 && headers['x-a'] == 'b'", "trigger.query.a == '1'", "true"])
@pytest.mark.parametrize("kind", ["api", "manual", "webhook"])
def test_every_trigger_may_have_a_condition(kind: str, text: str) -> None:
    assert trigger({"type": kind, "condition": text}).condition == text


SIGNED: dict[str, Any] = {"preset": "github", "secrets": ["s"]}
WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({**DAILY, "jiter": 5}, "jiter", "unknown field 'jiter'; did you mean 'jitter'?"),
    ({**DAILY, "jitter": "2h"}, "jitter", "must be at most 1h"),
    ({**DAILY, "jitter": -1}, "jitter", "cannot be negative"),
    ({**DAILY, "missed": "lsat"}, "missed", "'lsat' is not one of none, last, all; did you mean 'last'?"),
    ({**DAILY, "missed_window": 0}, "missed_window", "must be more than zero"),
    ({**DAILY, "overlap": "cancel"}, "overlap", "'cancel' is not one of allow, skip, queue, cancel_previous"),
    ({**DAILY, "overlap": 5}, "overlap", "must be one of allow"),
    ({**DAILY, "event": "x"}, "event", "is only for the event trigger, and this one is cron"),
    ({"type": "webhook", "jitter": 1}, "jitter", "is only for the cron trigger, and this one is webhook"),
    ({"type": "webhook", "dedup_header": "a b"}, "dedup_header", "'a b' cannot be the name of a header"),
    ({"type": "webhook", "signature": "x"}, "signature", "must be a mapping, not the text 'x'"),
    ({"type": "webhook", "signature": {"secrets": ["x"]}}, "signature.preset", "is missing; write one of standard"),
    ({"type": "webhook", "signature": {**SIGNED, "preset": "gitub"}}, "signature.preset", "did you mean 'github'?"),
    ({"type": "webhook", "signature": {"preset": "github"}}, "signature.secrets", "is missing; write 1 to 2 texts"),
    ({"type": "webhook", "signature": {**SIGNED, "secrets": []}}, "signature.secrets", "has 0 secrets; write 1 to 2"),
    ({"type": "webhook", "signature": {**SIGNED, "secrets": ["a"] * 3}}, "signature.secrets", "has 3 secrets"),
    ({"type": "webhook", "signature": {**SIGNED, "secrets": 5}}, "signature.secrets", "must be a list of 1 to 2"),
    ({"type": "webhook", "signature": {**SIGNED, "secrets": [" "]}}, "signature.secrets[0]", "has 1 to 1000"),
    ({"type": "webhook", "signature": {**SIGNED, "secrets": ["a", 5]}}, "signature.secrets[1]", "must be text or {env"),
    ({"type": "webhook", "signature": {**SIGNED, "secrets": [{"env": "A B"}]}}, "signature.secrets[0]", "{env: NAME}"),
    ({"type": "webhook", "signature": {**SIGNED, "secrets": [{}]}}, "signature.secrets[0]", "{env: NAME}"),
    ({"type": "webhook", "signature": {**SIGNED, "header": "X"}}, "signature.header", "is only for the preset hmac"),
    ({"type": "webhook", "signature": {**SIGNED, "tolerance": 5}}, "signature.tolerance", "have no time in them"),
    ({"type": "webhook", "signature": {**SIGNED, "preset": "hmac"}}, "signature.header", "is missing: which header"),
    (
        {"type": "webhook", "signature": {**SIGNED, "preset": "hmac", "header": "a:b"}},
        "signature.header",
        "'a:b' cannot be the name of a header",
    ),
    (
        {"type": "webhook", "signature": {**SIGNED, "preset": "hmac", "header": "a", "algorithm": "md5"}},
        "signature.algorithm",
        "'md5' is not one of sha256, sha1, sha512",
    ),
    (
        {"type": "webhook", "signature": {"preset": "standard", "secrets": ["no!"]}},
        "signature.secrets[0]",
        "must be whsec_ and base64",
    ),
    (
        {"type": "webhook", "signature": {"preset": "stripe", "secrets": ["a"], "tolerance": "2d"}},
        "signature.tolerance",
        "must be at most 1d",
    ),
    ({"type": "event"}, "event", 'is missing; write trigger: {type: event, event: "order.paid"}'),
    ({"type": "event", "event": "or*r"}, "event", "a star may only be at the end"),
    ({"type": "event", "event": "a b"}, "event", "'a b' cannot be the type of an event"),
    ({"type": "event", "event": ".*"}, "event", "cannot be the type of an event"),
    ({"type": "event", "event": 5}, "event", "must be text"),
    ({"type": "api", "condition": "bdy.a"}, "condition", "unknown name 'bdy'; did you mean 'body'? (at character 1)"),
    ({"type": "api", "condition": "trigger.bod"}, "condition", "trigger has no 'bod'; did you mean 'body'?"),
    ({"type": "api", "condition": "1 + trigger"}, "condition", "name a part: trigger.body"),
    ({"type": "api", "condition": "event.type"}, "condition", "only an event trigger has an event"),
    ({"type": "api", "condition": "tasks.a.body"}, "condition", "unknown name 'tasks'; there is trigger, event, body"),
    ({"type": "api", "condition": "a = 1"}, "condition", "(at character 3)"),
    ({"type": "api", "condition": 5}, "condition", "must be a condition"),
]


@pytest.mark.parametrize(("block", "field", "message"), WRONG)
def test_a_problem_of_a_trigger_is_named(block: dict[str, Any], field: str, message: str) -> None:
    (found,) = problems(block)
    assert found.field == f"trigger.{field}"
    assert message in found.message


@pytest.mark.parametrize(("block", "field", "message"), WRONG)
def test_the_api_names_the_same_problem(block: dict[str, Any], field: str, message: str) -> None:
    config = {key: value for key, value in block.items() if key != "type"}
    with pytest.raises(InvalidDefinition, match="trigger validation failed") as caught:
        read_trigger_config(block["type"], config, "config")
    (found,) = caught.value.problems
    assert found.field == f"config.{field}"
    assert message in found.message


def test_all_problems_of_a_trigger_are_named_at_once() -> None:
    block = {"type": "cron", "cron_expression": "x", "timezone": "y", "jitter": "z", "missed": 1, "condition": "("}
    names = ("cron_expression", "timezone", "jitter", "missed", "condition")
    assert sorted(found.field for found in problems(block)) == sorted(f"trigger.{name}" for name in names)


def test_a_secret_is_never_repeated_in_a_problem() -> None:
    signature = {"preset": "standard", "secrets": ["very private !", "  "]}
    assert "private" not in str(problems({"type": "webhook", "signature": signature}))


@pytest.mark.parametrize(
    ("kind", "field", "message"),
    [
        (None, "type", "is missing; write one of api, cron"),
        ("hook", "type", "'hook' is not one of"),
        (5, "type", "must be one of"),
    ],
)
def test_the_api_names_a_wrong_type(kind: object, field: str, message: str) -> None:
    with pytest.raises(InvalidDefinition) as caught:
        read_trigger_config(kind, {})
    (found,) = caught.value.problems
    assert (found.field, message in found.message) == (field, True)


def test_what_was_kept_can_be_read_again() -> None:
    blocks = (
        DAILY,
        {"type": "webhook", "signature": {"preset": "standard", "secrets": [STANDARD]}, "dedup_header": "X-Id"},
        {"type": "event", "event": "order.*", "condition": "body.a == 1"},
        {"type": "manual"},
    )
    for block in blocks:
        first = trigger(block)
        assert read_trigger_config(str(first.type), {**first.config, "condition": first.condition}) == first


@pytest.mark.parametrize("text", ["", "a b", "order.*", "*", ".x", "x" * 201, "ä", "a\n"])
def test_some_texts_cannot_be_the_type_of_an_event(text: str) -> None:
    assert event_type_problem(text)


scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["1h", "*", "s"])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*vars(triggers)["_SIGNATURE_FIELDS"], "env", "x"]), inner, max_size=5)
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(["cron", "webhook", "event", "manual", "x"]) | scalars,
    st.dictionaries(st.sampled_from([*vars(triggers)["_BLOCK_FIELDS"], "x"]), values, max_size=6),
)
def test_whatever_is_sent_is_a_trigger_or_refused(kind: object, config: dict[str, Any]) -> None:
    try:
        found = read_trigger_config(kind, config)
    except InvalidDefinition:
        return
    assert read_trigger_config(str(found.type), {**found.config, "condition": found.condition}) == found
