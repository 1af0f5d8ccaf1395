"""The credentials of the memory store."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from detent.instant import micros
from detent.store.memory.tables import MemoryTables
from detent.store.vault.credentials import AwaitingRun, CredentialRow, NewCredential


class MemoryCredentials(MemoryTables):
    """The verbs of credentials, with the same guarantees as in a database: every verb is one step."""

    async def put_credential(self, new: NewCredential) -> bool:
        key, now = (new.tenant, new.name), self.clock.wall()
        known = self.credentials_by_name.get(key)
        if new.version != (0 if known is None else known.version) + 1:
            return False
        self.credentials_by_name[key] = CredentialRow(
            tenant=new.tenant,
            name=new.name,
            kind=new.kind,
            config=new.config,
            sealed=new.sealed,
            version=new.version,
            state=new.state,
            reason=None,
            expires_at=None,
            refresher=None,
            refresh_until=None,
            created_at=now if known is None else known.created_at,
            updated_at=now,
            updated_by=new.updated_by,
        )
        return True

    async def credential(self, tenant: int, name: str) -> CredentialRow | None:
        return self.credentials_by_name.get((tenant, name))

    async def credentials(self, tenant: int, *, limit: int, after: str | None = None) -> list[CredentialRow]:
        rows = [row for row in self.credentials_by_name.values() if row.tenant == tenant and row.name > (after or "")]
        return [row._replace(sealed=b"") for row in sorted(rows, key=lambda row: row.name)][:limit]

    async def credential_states(self, tenant: int, names: Collection[str]) -> dict[str, str]:
        found = {name: self.credentials_by_name.get((tenant, name)) for name in names}
        return {name: row.state for name, row in found.items() if row is not None}

    async def drop_credential(self, tenant: int, name: str) -> bool:
        return self.credentials_by_name.pop((tenant, name), None) is not None

    async def lease_credential(self, tenant: int, name: str, version: int, *, by: bytes, seconds: float) -> bool:
        known, now = self._of_version(tenant, name, version), self.clock.wall()
        if known is None or (known.refresh_until is not None and now < known.refresh_until <= now + micros(600)):
            return False
        self._replace(known, refresher=by, refresh_until=now + micros(seconds))
        return True

    async def release_credential(self, tenant: int, name: str, version: int, *, by: bytes, pause: float) -> None:
        known = self._of_version(tenant, name, version)
        if known is not None and known.refresher == by:
            self._replace(known, refresher=None, refresh_until=self.clock.wall() + micros(pause))

    async def renew_credential(
        self, tenant: int, name: str, version: int, *, sealed: bytes, expires_at: int | None
    ) -> bool:
        known = self._of_version(tenant, name, version)
        if known is not None:
            self._replace(
                known,
                sealed=sealed,
                version=version + 1,
                state="ready",
                reason=None,
                expires_at=expires_at,
                refresher=None,
                refresh_until=None,
            )
        return known is not None

    async def refuse_credential(self, tenant: int, name: str, version: int, *, reason: str) -> bool:
        known = self._of_version(tenant, name, version)
        if known is not None:
            self._replace(known, state="reconnect", reason=reason, refresher=None, refresh_until=None)
        return known is not None

    async def reseal_credential(self, tenant: int, name: str, version: int, sealed: bytes) -> bool:
        known = self._of_version(tenant, name, version)
        if known is not None:
            self._replace(known, sealed=sealed)
        return known is not None

    async def await_credential(self, tenant: int, name: str, run: bytes) -> None:
        self.awaiting.setdefault((tenant, name, run), self.clock.wall())

    async def awaiting_runs(self, *, limit: int) -> list[AwaitingRun]:
        found = []
        for (tenant, name, run), at in self.awaiting.items():
            row = self.credentials_by_name.get((tenant, name))
            if row is None or row.state == "ready":
                found.append(AwaitingRun(tenant, name, run, at))
        return sorted(found, key=lambda one: (one.at, one.run))[:limit]

    async def forget_awaiting(self, runs: Sequence[AwaitingRun]) -> None:
        for one in runs:
            self.awaiting.pop((one.tenant, one.name, one.run), None)

    def _of_version(self, tenant: int, name: str, version: int) -> CredentialRow | None:
        known = self.credentials_by_name.get((tenant, name))
        return known if known is not None and known.version == version else None

    def _replace(self, row: CredentialRow, **changes: object) -> None:
        self.credentials_by_name[row.tenant, row.name] = CredentialRow(**{**row._asdict(), **changes})
