"""The lines of a journal have the words of people, and no names of the inside."""

from __future__ import annotations

from detent.cli.output.journal import lines_of
from detent.documents.answers import as_json
from detent.ids import NODE, show
from detent.python.functions.errors import WaitTimeout
from detent.run.journal import Entry, EntryData, Kind, MapBegun, PageEnded, ProbeAnswer, ProbeEntry, encode_data
from detent.views.entries import entry_document

ID = bytes(range(16))


def told(kind: Kind, step: str | None, by: str) -> str:
    entry = Entry(1, ID, 1, 0, kind, step, 0, None, encode_data(EntryData(by=by)))
    (line,) = lines_of(as_json(entry_document(entry)))
    return line.words


def test_whoever_takes_a_run_over_is_named_as_nodes_are_elsewhere() -> None:
    assert told(Kind.ADOPTED, None, ID.hex()) == f"its node is gone; taken over by {show(NODE, ID)}"
    assert told(Kind.ADOPTED, None, "another node") == "its node is gone; taken over by another node"


def test_a_step_cancels_for_a_reason_and_a_person_by_his_name() -> None:
    assert told(Kind.CANCELLED, "greet", "its hero is gone") == "cancelled the run: its hero is gone"
    assert told(Kind.CANCELLED, None, "ann") == "cancelled by ann"


def test_a_map_says_how_many_items_begin_and_how_those_of_a_page_ended() -> None:
    def lines(data: EntryData) -> list[tuple[str, str]]:
        entry = entry_document(Entry(1, ID, 1, 0, Kind.PAGED, "all", 1, None, encode_data(data)))
        return [(line.status, line.words) for line in lines_of(as_json(entry))]

    assert lines(EntryData(map=MapBegun(1200, 12), pages=["run_a"])) == [("running", "begins 1,200 items")]
    good, bad = PageEnded("run_a", 12, 0), PageEnded("run_b", 11, 1)
    assert lines(EntryData(page=good)) == [("running", "a page has ended: 12 succeeded")]
    assert lines(EntryData(page=bad, pages=["run_c"])) == [("failed", "a page has ended: 11 succeeded, 1 failed")]


def test_the_child_that_an_attempt_starts_is_named() -> None:
    entry = Entry(1, ID, 1, 0, Kind.STARTED, "pay", 2, None, encode_data(EntryData(child="run_a")))
    (line,) = lines_of(as_json(entry_document(entry)))
    assert line.words == "attempt 2 starts run_a"


def test_what_did_not_come_in_time_is_named_as_the_code_names_it() -> None:
    assert str(WaitTimeout("@wait:ok")) == "the callback 'ok' did not come in time"
    assert str(WaitTimeout("@ask:ok#2")) == "the signal 'ok' did not come in time"


def test_the_answer_of_a_condition_and_an_error_that_counted_as_false_have_their_lines() -> None:
    entry = dict.fromkeys(("result", "duration_ms", "retry_at", "by", "run_status", "error")) | {
        "at": "2026-02-22T10:00:00Z", "kind": "ended", "step": "a", "attempt": 1, "status": "success",
        "skipped": [], "failed": {}, "sleep_until": {}, "wait_until": {},
        "answers": {"is-large": False}, "notes": ["a -> b: no field 'x\x1b'"],
    }  # fmt: skip
    _, answer, note = lines_of(entry)
    assert (answer.step, answer.words) == ("is-large", "the answer is false")
    assert (note.step, note.words) == ("a -> b", "not taken: its condition cannot be evaluated")
    assert note.error == "no field 'x\ufffd'"


def test_a_probe_says_how_it_is_known_what_became_of_an_attempt() -> None:
    def words(kind: Kind, outcome: str | None, answer: ProbeAnswer, retry_at: int | None = None) -> str:
        data = EntryData(probe=ProbeEntry("bank.find", answer), retry_at=retry_at)
        entry = Entry(1, ID, 1, 0, kind, "pay", 1, outcome, encode_data(data))
        (line,) = lines_of(as_json(entry_document(entry)))
        return line.words

    happened = words(Kind.ENDED, "success", ProbeAnswer.HAPPENED)
    assert happened == "success (its node died; bank.find says: it happened)"
    again = words(Kind.RETRY, "failed", ProbeAnswer.DID_NOT_HAPPEN, 0)
    assert again.endswith("(its node died; bank.find says: it did not happen)")
    assert words(Kind.RETRY, None, ProbeAnswer.UNKNOWN) == "uncertain (its node died; bank.find says: unknown)"
