"""Filters of runs on the command line: the options of the API, and what a search says that has stopped."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from detent.api.openapi.operations import RUN_PARAMETERS
from detent.cli.client import CommandClient
from detent.cli.commands.runs import runs as runs_command
from detent.cli.main import command_of
from detent.cli.run_filter import OPTIONS, read_filter
from detent.client import runs, workflows
from detent.client.calls import RetryPolicy
from detent.client.runs import RunFilter
from detent.clock import SystemClock
from detent.commands import lists
from detent.embed.local import InProcessTransport, open_here
from detent.errors import InvalidInput
from detent.settings import Settings
from tests.cli.served import ECHO

RUN, OTHER = "run_01m7h0cc29ekvs1bgyvj1nnhm6", "run_01m7h0cc29ekvs1bgyvj1nnhm7"
GIVEN = {
    "workflow": "w", "status": ["failed,timeout", "paused"], "stage": ["waiting", "person"], "view": "stuck",
    "version": 3, "trigger": "cron", "label": ["team=shop"], "hero": "order:7", "text": "a b", "error": "503",
    "since": "2026-02-22T10:00:00Z", "until": "2026-02-23T10:00:00Z", "request_id": "r", "origin": RUN,
    "parent": RUN, "id_": [RUN, OTHER],
}  # fmt: skip

Command = Callable[..., tuple[str, str]]


def test_every_filter_of_the_api_is_an_option_and_reaches_it_as_it_was_given() -> None:
    assert set(GIVEN) == set(OPTIONS)
    which = read_filter(**GIVEN)  # type: ignore[arg-type]
    assert set(which) == set(RunFilter.__annotations__)
    target = (
        runs.list_page(progress=True, sort="started_at", cursor="c", limit=7, **which).request(RetryPolicy()).target
    )
    query = parse_qsl(urlsplit(target).query)
    assert {name for name, _ in query} == {one.name for one in RUN_PARAMETERS}
    assert sorted(value for name, value in query if name in ("status", "stage", "ids", "started_after")) == sorted(
        ["failed", "timeout", "paused", "waiting", "person", "2026-02-22T10:00:00Z", f"{RUN},{OTHER}"]
    )


def test_options_that_are_not_given_do_not_narrow_a_filter_and_empty_ones_are_refused() -> None:
    assert read_filter(**dict.fromkeys(OPTIONS)) == {}
    for name in ("since", "until"):
        with pytest.raises(InvalidInput, match="invalid option"):
            read_filter(**{name: ""})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["list", "cancel", "pause", "resume", "retry", "move"])
def test_every_command_that_selects_runs_has_every_filter(name: str) -> None:
    command = command_of("runs").commands[name]
    assert {one.name for one in command.params} >= set(OPTIONS)


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandClient]:
    """A client of a database without an engine, the one that the commands of a test get."""
    settings = Settings(database_url=f"sqlite:///{tmp_path}/detent.db")
    with open_here(settings) as transport:
        assert isinstance(transport, InProcessTransport), "another process has the database"
        made = CommandClient(transport, 3.0)
        monkeypatch.setattr(runs_command, "open_client", lambda *_, **__: nullcontext(made))
        made.ask(workflows.save(ECHO))
        yield made


@pytest.fixture
def call(client: CommandClient, capsys: pytest.CaptureFixture[str]) -> Command:
    """Calls `detent runs list`; returns what it printed, and what it printed beside it."""
    del client  # the command uses it
    command = command_of("runs")

    def called(*arguments: str) -> tuple[str, str]:
        command.main(args=["list", *arguments], prog_name="detent runs", standalone_mode=False)
        said = capsys.readouterr()
        return said.out, said.err

    return called


def milliseconds() -> int:
    return SystemClock().wall() // 1000


def test_a_search_that_stopped_says_how_far_it_looked_and_goes_on_from_there(
    client: CommandClient, call: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = []
    for n in range(6):
        ids.append(client.ask(runs.start("echo", labels={"n": str(n)}))["run_id"])
        begun = milliseconds()  # a search goes on by milliseconds, and looks at two runs here: each has its own
        while milliseconds() == begun:
            pass
    monkeypatch.setattr(lists, "MOST_SECONDS", 3600.0)
    monkeypatch.setattr(lists, "_FIRST_LOOK", 2)
    monkeypatch.setattr(lists, "_GROWTH", 1)
    monkeypatch.setattr(lists, "MOST_LOOKED_AT", 2)

    def found(*arguments: str) -> tuple[list[str], str | None]:
        printed, beside = call("--text", "0", "--label", "n=0", "--json", *arguments)
        option = re.search(r"(--(?:until|since) \S+), or search to the end with --all", beside)
        return [run["id"] for run in json.loads(printed)], option[1] if option else None

    rows, option = found()
    assert rows == []
    looks = 1
    while option is not None:
        rows, option = found(*option.split(" "))
        looks += 1
    assert rows == [ids[0]]
    assert looks >= 3
    assert found("--all") == ([ids[0]], None)
    rows, option = found("--oldest")
    assert rows == [ids[0]]
    assert option is not None
    assert option.startswith("--since ")
    assert call("--text", "0", "--label", "n=0")[0] == ""


def test_steps_that_have_ended_are_a_column_and_a_wrong_word_gets_a_hint(client: CommandClient, call: Command) -> None:
    client.ask(runs.start("echo"))
    assert "0 of 1 steps" in call("--progress")[0]
    for option, word, meant in (
        ("--stage", "wating", "waiting"),
        ("--view", "stock", "stuck"),
        ("--status", "faild", "failed"),
        ("--trigger", "webhok", "webhook"),
    ):
        with pytest.raises(InvalidInput) as refused:
            call(option, word)
        assert f"did you mean '{meant}'?" in refused.value.problems[0].message
