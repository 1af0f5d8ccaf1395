"""The times of a node under chaos: a lease of one second, so that many failures fit into a minute."""

from detent.engine.tuning import Tuning

LEASE = 1.0
#: How long after its node's death a run may stand still.
RECOVERY = LEASE + 2.0

CHAOS = Tuning(
    lease=LEASE, beat=0.2, margin=0.25, poll=0.05, idle_poll=0.2, mail_poll=0.05, watch=1.0, drain=5.0, park_after=0.4,
    horizon=0.2, slots=200, claim_batch=200, poison_after=3, poison_delay=0.3,
)  # fmt: skip

#: The instance key of every node under chaos: whoever knows it can make the address of a callback.
SECRET = "chaos"
