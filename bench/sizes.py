"""How much is measured."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """`seconds` is the length of one burst, `rounds` how often the sides take turns."""

    seconds: float = 5.0
    rounds: int = 3
    widths: tuple[int, ...] = (200, 1000, 2000)  # runs at once: the best of them is measured
    http_widths: tuple[int, ...] = (64, 256)
    latencies: int = 300  # runs, one at a time, of each side
    fans: int = 20
    wide: tuple[int, ...] = (1_000, 10_000)
    long: int = 1_000
    answers: int = 20_000  # runs that wait for a callback
    naps: int = 10_000
    nap_seconds: tuple[float, ...] = (5.0, 15.0)  # the second is long enough to leave the node's memory
    naps_of_peer: int = 1_000
    asleep: int = 100_000
    finished: int = 1_000_000
    backlog: int = 4_000
    strolling: int = 200
    idle: float = 120.0  # how long a node without work is watched
    kills: int = 3


FULL = Sizes()
QUICK = Sizes(
    seconds=2.0,
    rounds=1,
    latencies=30,
    fans=8,
    naps=2_000,
    naps_of_peer=200,
    asleep=20_000,
    finished=100_000,
    kills=1,
    idle=10.0,
)
