"""Resource links and reservations: one resource belongs to one run, on every store."""

import asyncio

import pytest

from detent.ids import new_id
from detent.run.links import Reservation
from detent.store.protocol import Store
from detent.store.rows import Flush
from tests.store.make import NOON, Node, activation, callback, end, entry, letter, link, message, park, start

KEY = (1, "monday", "item", "order-17")


async def test_a_resource_belongs_to_the_run_that_claims_it_first(store: Store) -> None:
    node = await Node.register(store)
    one, other = await node.started(), await node.started()
    assert await node.unlinked(link(one), link(one, "18", url="https://m.example/18")) == set()
    claim = link(other)
    assert await node.unlinked(claim, link(other, "19"), entries=[entry(other)]) == {(claim.key, other)}
    keys = [(1, "monday", "item", id_) for id_ in ("17", "18", "19", "20")]
    assert await store.link_owners(keys) == {keys[0]: one, keys[1]: one, keys[2]: other}
    assert len(await store.journal(1, other)) == 1, "what is beside a conflict is written"
    assert await store.link_owners([]) == {}


async def test_a_repeated_claim_is_not_made_again_and_the_owner_stays(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started()
    assert await node.unlinked(link(run), entries=[entry(run)]) == set()
    assert await node.unlinked(link(run), entries=[entry(run)], again=True) in (set(), {(link(run).key, run)})
    assert await store.link_owners([link(run).key]) == {link(run).key: run}


async def test_of_two_claims_in_one_flush_the_first_counts(store: Store) -> None:
    node = await Node.register(store)
    one, other = await node.started(), await node.started()
    assert await node.unlinked(link(other, "z"), link(one, "a"), link(other, "a")) == {(link(one, "a").key, other)}
    assert await store.link_owners([link(one, "a").key]) == {link(one, "a").key: one}


async def test_a_node_that_is_gone_claims_nothing(store: Store) -> None:
    node = await Node.register(store)
    run = await node.started()
    assert await store.flush(node.id, node.epoch + 1, Flush(links=[link(run)], letters=[letter()])) is None
    assert await store.link_owners([link(run).key]) == {}
    assert await store.letters(1, limit=9) == []


async def test_a_resource_is_handed_over_to_a_run_that_repeats_its_owner(store: Store) -> None:
    node = await Node.register(store)
    first, stranger = await node.started(), await node.started()
    assert (
        await node.unlinked(link(first, "a"), link(first, "b", url="https://m.example/b"), link(stranger, "c")) == set()
    )
    second = await node.started(origin=first, origin_kind="retry")
    third = await node.started(origin=second, origin_kind="retry")
    claims = [link(third, id_, step="s9") for id_ in "dcba"]
    keys = {claim.id: claim.key for claim in claims}
    assert await store.hand_over_links(third, claims) == {keys["a"]: first, keys["b"]: first, keys["c"]: stranger}, (
        "its owner has not ended"
    )
    assert await node.flush(ends=[end(first), end(second), end(stranger)])
    assert await store.hand_over_links(third, claims) == {keys["a"]: third, keys["b"]: third, keys["c"]: stranger}
    found = [(row.id, row.step, row.url) for row in await store.run_links(1, third, limit=9)]
    assert found == [("a", "s9", None), ("b", "s9", "https://m.example/b")]
    assert await store.hand_over_links(third, []) == {}


async def test_of_two_runs_that_repeat_the_same_one_the_first_gets_its_resource(store: Store) -> None:
    node = await Node.register(store)
    first = await node.started()
    assert await node.unlinked(link(first)) == set()
    assert await node.flush(ends=[end(first)])
    runs = [await node.started(origin=first, origin_kind="retry") for _ in range(2)]
    found = await asyncio.gather(*(store.hand_over_links(run, [link(run)]) for run in runs))
    assert found[0] == found[1]
    assert found[0][link(first).key] in runs


async def test_the_same_id_of_another_tenant_system_or_type_is_another_resource(store: Store) -> None:
    node = await Node.register(store)
    runs = [await node.started() for _ in range(5)]
    claims = [
        link(runs[0]),
        link(runs[1], tenant=2),
        link(runs[2], system="slack"),
        link(runs[3], type="board"),
        link(runs[4], "17 "),
    ]
    assert await node.unlinked(*claims) == set()
    assert await node.unlinked(link(runs[0], "Straße"), link(runs[1], "strasse"), link(runs[2], "STRASSE")) == set()
    owners = await store.link_owners([claim.key for claim in claims])
    assert [owners[claim.key] for claim in claims] == runs


async def test_links_go_with_everything_that_a_flush_may_have(store: Store) -> None:
    node = await Node.register(store)
    run, parked, ended, mailed = [await node.started() for _ in range(4)]
    assert await node.flush(callbacks=[callback(run)])
    other = start(owned=True, request_id="r1", active_key="k")
    unlinked = await node.unlinked(
        link(run),
        starts=[other],
        entries=[entry(run)],
        activations=[activation(run)],
        parks=[park(parked)],
        ends=[end(ended)],
        messages=[message(mailed, run, 1)],
        letters=[letter(run=run)],
    )
    assert unlinked == set()
    assert [row.run for row in await store.run_links(1, run, limit=9)] == [run]
    assert [row.run for row in await store.letters(1, limit=9)] == [run]
    assert (await store.run(1, other.id)) is not None
    again = await store.flush(
        node.id, node.epoch, Flush(starts=[start(request_id="r1")], links=[link(ended, "x")], entries=[entry(run, 2)])
    )
    assert again is not None
    assert (len(again.refused), again.unlinked) == (1, frozenset())


async def test_the_links_of_a_run_are_listed_as_they_were_claimed_and_found_by_their_key(store: Store) -> None:
    node = await Node.register(store)
    run, other = await node.started(), await node.started()
    await node.unlinked(link(run, "b", url="https://m.example/b", step="make"))
    await node.unlinked(link(run, "a"), link(other, "c"), link(other, "d", system="slack", type="message"))
    found = await store.run_links(1, run, limit=9)
    assert [(row.id, row.step, row.url) for row in found] == [("b", "make", "https://m.example/b"), ("a", "s1", None)]
    assert found[0].at <= found[1].at
    assert [row.id for row in await store.run_links(1, run, limit=1, offset=1)] == ["a"]
    assert await store.run_links(2, run, limit=9) == []
    every = await store.find_links(1, limit=9)
    assert [row.place() for row in every] == [
        ("monday", "item", "a"),
        ("monday", "item", "b"),
        ("monday", "item", "c"),
        ("slack", "message", "d"),
    ]
    assert await store.find_links(1, limit=2, after=every[0].place()) == every[1:3]
    assert await store.find_links(1, limit=9, after=every[2].place()) == every[3:]
    assert await store.find_links(1, limit=9, system="monday", type_="item", id_="c") == [every[2]]
    assert await store.find_links(1, limit=9, system="slack") == [every[3]]
    assert await store.find_links(1, limit=9, system="monday", type_="board") == []


async def test_links_and_reservations_are_deleted_with_their_run(store: Store) -> None:
    node = await Node.register(store)
    run, kept = await node.started(), await node.started()
    await node.unlinked(link(run), link(kept, "18"))
    await store.reserve(KEY, run=run, step="s1")
    await store.reserve((*KEY[:3], "order-18"), run=kept, step="s1")
    await node.flush(ends=[end(run)])
    assert await store.prune(before=NOON + 1, statuses=["completed"], limit=9) == 1
    assert await store.link_owners([link(run).key, link(kept, "18").key]) == {link(kept, "18").key: kept}
    assert await store.reserve(KEY, run=kept, step="s1") == Reservation(kept, None, None, is_mine=True)
    assert await node.unlinked(link(kept)) == set()


async def test_a_key_is_reserved_for_one_open_run_until_it_has_a_resource(store: Store) -> None:
    node = await Node.register(store)
    one, other = await node.started(), await node.started()
    mine = Reservation(one, None, None, is_mine=True)
    assert await store.reserve(KEY, run=one, step="s1") == mine
    assert await store.reserve(KEY, run=one, step="s1") == mine, "after a crash"
    assert await store.reserve(KEY, run=other, step="s2") == mine._replace(is_mine=False)
    assert await store.fulfil(KEY, run=other, resource="x", url=None) == mine._replace(is_mine=False)
    made = await store.fulfil(KEY, run=one, resource="m-1", url="https://m.example/1")
    assert made == Reservation(one, "m-1", "https://m.example/1", is_mine=True)
    assert await store.fulfil(KEY, run=one, resource="m-2", url=None) == made, "the first one counts"
    await node.flush(ends=[end(one)])
    assert await store.reserve(KEY, run=other, step="s2") == made._replace(is_mine=False), "it is found"


async def test_a_run_that_ended_without_a_resource_loses_its_reservation(store: Store) -> None:
    node = await Node.register(store)
    one, other = await node.started(), await node.started()
    await store.reserve(KEY, run=one, step="s1")
    await node.flush(ends=[end(one, status="failed")])
    assert await store.reserve(KEY, run=other, step="s2") == Reservation(other, None, None, is_mine=True)
    assert await store.fulfil(KEY, run=one, resource="late", url=None) == Reservation(other, None, None, is_mine=False)
    unknown = (*KEY[:3], "of-a-run-that-is-gone")
    await store.reserve(unknown, run=new_id(), step="s1")
    assert (await store.reserve(unknown, run=other, step="s2")).is_mine
    assert await store.fulfil((*KEY[:3], "never"), run=one, resource="x", url=None) is None


@pytest.mark.slow
async def test_many_runs_that_reserve_one_key_at_once_get_one_owner(store: Store) -> None:
    node = await Node.register(store)
    runs = [await node.started() for _ in range(8)]
    found = await asyncio.gather(*(store.reserve(KEY, run=run, step="s1") for run in runs))
    assert len({one.run for one in found}) == 1
    assert sum(one.is_mine for one in found) == 1
