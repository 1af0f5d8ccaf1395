"""Following a run: every entry once and in order, over as many connections as it takes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.client import EntryDocument, stream
from detent.client.calls import Answer
from detent.client.errors import NoConnection, NotFound, Unavailable, UnexpectedAnswer
from detent.client.events import Parser, StreamMessage
from tests.client import documents
from tests.client.playing import Play, Player
from tests.client.talking import Stage, answered

OPEN = Answer(200, {"content-type": "text/event-stream; charset=utf-8"}, b"")
END = b'event: end\ndata: {"run_id": "run_1", "status": "completed"}\n\n'
ALIVE = b": still here\n\n"
EOF = b""
LOST = NoConnection("lost", sent=True)


def entry(seq: int, **more: Any) -> bytes:
    return b"id: %d\nevent: entry\ndata: %b\n\n" % (seq, json.dumps(documents.entry(seq, **more)).encode())


def run(status: str) -> Answer:
    return answered(200, {"data": documents.run(status)})


def places(stage: Stage) -> list[str | None]:
    return [one.headers.get("Last-Event-ID") for one in stage.sent if one.target.endswith("/stream")]


def test_over_a_transport_without_streams_the_journal_is_polled_until_the_run_has_ended() -> None:
    first = answered(200, {"data": [documents.entry(1), documents.entry(2)], "next_cursor": "2"})
    nothing = answered(200, {"data": [], "next_cursor": "2"})
    last = answered(200, {"data": [documents.entry(3, run_status="completed")], "next_cursor": None})
    stage = Stage([first, nothing, LOST, last], streams=False)
    assert [one.seq for one in stage.all(stream.follow("run_1"))] == [1, 2, 3]
    asked = [request.target.partition("?")[2] for request in stage.sent]
    assert [one.partition("&")[0] for one in asked] == ["after=0", "after=2", "after=2", "after=2"]
    assert all(one.endswith("wait=20000ms") for one in asked)


def test_entries_come_in_order_until_the_end() -> None:
    stage = Stage([OPEN, b"retry: 1000\n\n", entry(1) + entry(2)[:9], entry(2)[9:], ALIVE, entry(3), END])
    assert [one.seq for one in stage.all(stream.follow("run_1"))] == [1, 2, 3]
    assert places(stage) == [None]
    assert stage.pauses == []


def test_the_entry_that_ends_the_run_ends_the_stream() -> None:
    stage = Stage([OPEN, entry(1), entry(2, run_status="failed"), LOST])
    assert [one.run_status for one in stage.all(stream.follow("run_1"))] == [None, "failed"]


def test_a_broken_stream_goes_on_behind_the_last_entry() -> None:
    stage = Stage([OPEN, entry(1), entry(2), LOST, OPEN, entry(3), LOST, LOST, OPEN, entry(4), END])
    assert [one.seq for one in stage.all(stream.follow("run_1"))] == [1, 2, 3, 4]
    assert places(stage) == [None, "2", "3", "3"]


def test_an_entry_that_comes_twice_is_given_once() -> None:
    stage = Stage([OPEN, entry(1), LOST, OPEN, entry(1) + entry(2) + entry(2) + END])
    assert [one.seq for one in stage.all(stream.follow("run_1"))] == [1, 2]


def test_half_an_entry_is_not_given() -> None:
    stage = Stage([OPEN, entry(1) + entry(2)[:-1], LOST, OPEN, entry(2) + END])
    assert [one.seq for one in stage.all(stream.follow("run_1"))] == [1, 2]
    assert places(stage) == [None, "1"]


def test_it_can_begin_behind_an_entry() -> None:
    stage = Stage([OPEN, END])
    assert stage.all(stream.follow("run_1", after=7)) == []
    assert places(stage) == ["7"]


def test_a_stream_that_stops_while_the_run_goes_on_is_opened_again() -> None:
    stage = Stage([OPEN, entry(1), EOF, run("running"), OPEN, entry(2), END])
    assert [one.seq for one in stage.all(stream.follow("run_1"))] == [1, 2]


def test_a_stream_that_stops_when_the_run_has_ended_misses_nothing() -> None:
    rest = answered(200, {"data": [documents.entry(2), documents.entry(3)], "next_cursor": None})
    stage = Stage([OPEN, entry(1), EOF, run("completed"), rest])
    assert [one.seq for one in stage.all(stream.follow("run_1"))] == [1, 2, 3]
    assert stage.sent[-1].target == "/api/v1/runs/run_1/events?after=1&limit=100"


def test_it_gives_up_when_nothing_answers_for_longer_than_patience() -> None:
    stage, found = Stage([OPEN, entry(1), LOST, LOST], patience=10.0), list[EntryDocument]()
    with pytest.raises(NoConnection):
        stage.collect(stream.follow("run_1"), found)
    assert [one.seq for one in found] == [1]
    assert stage.now - 1000.0 <= 10.0


def test_a_sign_of_life_renews_patience() -> None:
    broken: list[Answer | NoConnection | bytes] = [OPEN, ALIVE, LOST, LOST, LOST, LOST, LOST]
    stage = Stage([*broken * 20, OPEN, entry(1), END], patience=10.0)
    assert len(stage.all(stream.follow("run_1"))) == 1
    assert stage.now - 1000.0 > 10.0


def test_not_now_is_asked_again_and_not_found_is_not() -> None:
    busy = answered(503, {"error": "unavailable", "message": "draining"}, retry_after="1")
    assert len(Stage([busy, OPEN, entry(1), END]).all(stream.follow("run_1"))) == 1
    with pytest.raises(Unavailable):
        Stage([busy], patience=3.0).all(stream.follow("run_1"))
    missing = Stage([answered(404, {"error": "not_found", "message": "no run"})])
    with pytest.raises(NotFound):
        missing.all(stream.follow("run_1"))
    assert missing.pauses == []


@pytest.mark.parametrize("answer", [answered(200, {}, content_type="text/html"), OPEN])
def test_what_is_no_stream_of_a_run_is_unexpected(answer: Answer) -> None:
    with pytest.raises(UnexpectedAnswer):
        Stage([answer, b"id: 1\ndata: {nonsense\n\n"]).all(stream.follow("run_1"))


def test_pages_of_the_journal_are_read_as_far_as_they_go() -> None:
    first = answered(200, {"data": [documents.entry(1, "a"), documents.entry(2, "b")], "next_cursor": "2"})
    last = answered(200, {"data": [documents.entry(3, "c")], "next_cursor": None})
    stage = Stage([first, last])
    assert [one.seq for one in stage.all(stream.events("run_1", limit=2))] == [1, 2, 3]
    assert stage.sent[1].target.endswith("events?after=2&limit=2")


def test_the_journal_of_a_run_under_way_ends_where_it_is() -> None:
    first = answered(200, {"data": [documents.entry(1, "a")], "next_cursor": "1"})
    stage = Stage([first, answered(200, {"data": [], "next_cursor": "1"})])
    assert len(stage.all(stream.events("run_1"))) == 1


TEXT = st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=20)


@given(
    st.lists(st.tuples(st.integers(1, 9), TEXT.filter(bool)), max_size=5), st.data(), st.sampled_from([b"\n", b"\r\n"])
)
def test_messages_are_the_same_however_the_stream_is_cut(
    messages: list[tuple[int, str]], data: st.DataObject, end: bytes
) -> None:
    lines = [[b"id: %d" % number, b"data: " + text.encode(), b""] for number, text in messages]
    whole = b"".join(line + end for message in lines for line in message)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    pieces = [whole[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    parser = Parser()
    found = [message for piece in pieces for message in parser.feed(piece)]
    assert found == [StreamMessage(str(number), "message", [text]) for number, text in messages]


def test_a_face_follows_over_broken_connections(player: Player, connect: Any) -> None:
    player.plays(
        Play(pieces=[entry(1), entry(2)], cut=True),
        Play(cut=True),
        Play(503, {"error": "unavailable", "message": "restarting"}),
        Play(pieces=[ALIVE, entry(3), entry(4)[:20]], cut=True),
        Play(pieces=[entry(4), END]),
    )
    found = [one.seq for one in connect(player.url).run("run_1").follow()]
    assert found == [1, 2, 3, 4]
    assert [one.headers.get("last-event-id") for one in player.heard] == [None, "2", "2", "2", "3"]
    assert {one.headers["accept"] for one in player.heard} == {"text/event-stream"}


def test_a_reader_that_leaves_closes_its_stream(player: Player, connect: Any) -> None:
    player.plays(Play(pieces=[entry(number) for number in range(1, 200)]))
    reading = connect(player.url).run("run_1").follow()
    assert next(reading).seq == 1
    reading.close()
    assert len(player.heard) == 1
