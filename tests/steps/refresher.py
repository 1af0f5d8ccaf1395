"""A node that needs one token: it opens the store, renews the credential, and prints the token that it would send."""

from __future__ import annotations

import asyncio
import sys

from detent.clock import SystemClock
from detent.ids import new_id
from detent.steps.credentials.keeper import CredentialKeeper
from detent.steps.credentials.tokens import TokenEndpoint
from detent.steps.egress import EgressPolicy
from detent.steps.http.step import HttpExecutor
from detent.store.factory import open_store
from detent.vault.secrets import SecretOpener
from tests.steps.vaults import VAULT

LEASE = 0.05


async def main(url: str) -> None:
    clock = SystemClock()
    store = await open_store(url, clock)
    http = HttpExecutor(EgressPolicy.from_texts(["127.0.0.0/8"]))
    credentials = CredentialKeeper(TokenEndpoint(http), node=new_id(), wall=clock.wall, lease=LEASE)
    credentials.open(store, SecretOpener(VAULT))
    try:
        found = await credentials.find(1, "crm")
        assert found is not None
        sys.stdout.write(f"{found.token}\n")
    finally:
        await credentials.close()
        await http.close()
        await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
