"""What kind of world it is: every world draws its own rates, zero among them, so quiet and violent ones both occur."""

from __future__ import annotations

import random
from dataclasses import dataclass

from detent.engine.tuning import Tuning


@dataclass(frozen=True, slots=True)
class Swarm:
    """Rates are per statement, per attempt, or per virtual minute as their names say."""

    nodes: int
    runs: int
    workflows: int
    shuffled: bool
    chaos: float  # seconds until everything is healed
    # per statement
    busy: float
    reply_lost: float  # applied, and the caller gets an error
    never_came: float  # not applied, and the caller gets the same error
    late: float  # the caller gets an error, and then it is applied
    slow: float
    # per minute
    crashes: float
    pauses: float
    stops: float  # graceful
    outages: float
    locks: float
    arrests: float  # hearts that are cut off from the database
    jumps: float
    # per attempt
    failing: float
    hanging: float
    deadly: float  # steps that take their node down
    # per run
    requests: float  # starts that carry a request id
    delays: float  # starts for later
    schedules: float  # worlds in which workflows have a schedule
    agains: float  # retries and forks of what has ended
    edits: float  # new versions and switching off, per minute
    controls: float
    callbacks: float
    skew: float
    tuning: Tuning
    heroes: float = 0.0  # starts that are about somebody
    flows: float = 0.0  # attempts and people that ask for more than success and failure
    tenants: int = 1
    moves: float = 0.0  # runs that are moved to other versions
    naps: float = 0.0  # durable functions that only sleep
    forms: float = 0.0  # workflows in the graph form

    @property
    def is_database_well(self) -> bool:
        """Whether every statement is answered at once, as it was carried out."""
        statements = self.busy + self.reply_lost + self.never_came + self.late + self.slow
        return statements + self.outages + self.locks + self.arrests + self.jumps == 0

    @property
    def only_stops(self) -> bool:
        """Whether nodes do nothing worse than to stop gracefully."""
        return self.is_database_well and self.crashes + self.pauses + self.deadly == 0


def draw(rng: random.Random) -> Swarm:
    """A world's nature."""

    def rate(*choices: float) -> float:
        return rng.choice((0.0, *choices))

    quiet = rng.random() < 0.15
    return Swarm(
        nodes=rng.choice((1, 2, 2, 3)),
        runs=rng.randint(2, 5),
        workflows=rng.choice((1, 2)),
        shuffled=rng.random() < 0.7,
        chaos=rng.uniform(15, 45),
        busy=0.0 if quiet else rate(0.02, 0.15),
        reply_lost=0.0 if quiet else rate(0.02, 0.1),
        never_came=0.0 if quiet else rate(0.02, 0.1),
        late=0.0 if quiet else rate(0.02, 0.1),
        slow=0.0 if quiet else rate(0.02, 0.1, 0.3),
        crashes=0.0 if quiet else rate(1, 4),
        pauses=0.0 if quiet else rate(1, 6),
        stops=rate(0, 2),
        outages=0.0 if quiet else rate(0, 1, 2),
        locks=rate(0, 3, 10),
        arrests=0.0 if quiet else rate(0, 2),
        jumps=rng.choice((0.0, 0.0, 0.0, 5.0)),
        failing=rate(0.1, 0.3),
        hanging=rate(0.05, 0.2),
        deadly=rate(0, 0, 0.1),
        requests=rate(0.3, 0.9),
        delays=rate(0.3),
        schedules=rate(0.0, 0.0, 1.0),
        agains=rate(0.3, 0.8),
        edits=rate(0, 4, 15),
        controls=rate(0.3, 0.8),
        callbacks=rng.choice((0.3, 0.8, 1.0)),
        skew=rng.choice((0.0, 3600.0, -86400.0)),
        tuning=_draw_tuning(rng),
        heroes=beside(rng).choice((0.0, 0.0, 0.5, 0.9)),
        flows=beside(rng).choice((0.0, 0.3, 0.1, 0.0)),
        tenants=beside(rng).choice((2, 1, 1)),
        moves=beside(rng).choice((0.5, 0.0, 0.0, 0.0, 0.9)),
        forms=_apart(rng).choice((0.0, 0.0, 0.5, 1.0)),
    )


def beside(rng: random.Random) -> random.Random:
    """Chance that takes nothing of the other's, so that what is drawn of it leaves the world as it was."""
    other = random.Random()
    other.setstate(rng.getstate())
    return other


def _apart(rng: random.Random) -> random.Random:
    """As `beside`, but what is drawn of it does not go along with what the others draw."""
    other = beside(rng)
    return random.Random(other.getrandbits(64))


def _draw_tuning(rng: random.Random) -> Tuning:
    return Tuning(
        lease=8.0,
        beat=2.0,
        margin=2.0,
        poll=0.3,
        idle_poll=1.0,
        mail_poll=rng.choice((0.5, 1.0)),
        watch=rng.choice((2.0, 5.0)),
        drain=rng.choice((1.0, 5.0)),
        park_after=rng.choice((2.0, 10.0)),
        slots=rng.choice((1, 2, 1000)),
        claim_batch=rng.choice((1, 2, 500)),
        flush_rows=rng.choice((1, 3, 2000)),
        queue_bytes=rng.choice((300, 64_000_000)),
        poison_after=3,
        poison_delay=6.0,
    )
