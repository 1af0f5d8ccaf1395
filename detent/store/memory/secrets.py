"""The secrets of the memory store."""

from __future__ import annotations

from collections.abc import Collection

from detent.store.memory.tables import MemoryTables
from detent.store.secrets import NewSecret, SecretRow
from detent.store.vault.signatures import MARK, SignedText, TextKind


class MemorySecrets(MemoryTables):
    """The verbs of secrets, with the same guarantees as in a database: every verb is one step."""

    async def put_secret(self, new: NewSecret) -> bool:
        known, now = self.sealed_secrets.get((new.tenant, new.name)), self.clock.wall()
        if new.version != (0 if known is None else known.version) + 1:
            return False
        created_at = now if known is None else known.created_at
        row = SecretRow(new.tenant, new.name, new.version, new.sealed, new.hosts, created_at, now, new.updated_by)
        self.sealed_secrets[new.tenant, new.name] = row
        return True

    async def secret(self, tenant: int, name: str) -> SecretRow | None:
        return self.sealed_secrets.get((tenant, name))

    async def secrets_named(self, tenant: int, names: Collection[str]) -> list[SecretRow]:
        found = (self.sealed_secrets.get((tenant, name)) for name in dict.fromkeys(names))
        return [row for row in found if row is not None]

    async def secrets(self, tenant: int, *, limit: int, after: str | None = None) -> list[SecretRow]:
        rows = sorted(self.sealed_secrets.values(), key=lambda row: row.name)
        return [row for row in rows if row.tenant == tenant and row.name > (after or "")][:limit]

    async def reseal_secret(self, tenant: int, name: str, version: int, sealed: bytes) -> bool:
        known = self.sealed_secrets.get((tenant, name))
        if known is None or known.version != version:
            return False
        self.sealed_secrets[tenant, name] = known._replace(sealed=sealed)
        return True

    async def drop_secret(self, tenant: int, name: str) -> bool:
        return self.sealed_secrets.pop((tenant, name), None) is not None

    async def tenant_of_run(self, run: bytes) -> int | None:
        found = self.table.get(run)
        return None if found is None else found.new.tenant

    async def changed_secrets(self, since: int, *, limit: int) -> list[SecretRow]:
        rows = sorted(self.sealed_secrets.values(), key=lambda row: (row.updated_at, row.tenant, row.name))
        return [row for row in rows if row.updated_at >= since][:limit]

    async def signed_texts(self, kind: TextKind, *, after: SignedText | None, limit: int) -> list[SignedText]:
        place = None if after is None else (after.id, after.number)
        marked = [one for one in self._texts(kind) if MARK in one.text]
        found = [one for one in marked if place is None or (one.id, one.number) > place]
        return sorted(found, key=lambda one: (one.id, one.number))[:limit]

    async def replace_text(self, old: SignedText, text: str) -> bool:
        if old not in self._texts(old.kind):
            return False
        if old.kind is TextKind.TRIGGER:
            rule = self.rules[old.id]
            rule.new = rule.new._replace(config=text)
            return True
        saved = self.saved[old.id]
        match old.kind:
            case TextKind.WORKFLOW:
                saved.new = saved.new._replace(trigger=text)
            case TextKind.DRAFT:
                assert saved.draft is not None
                saved.draft = saved.draft._replace(source=text)
            case _:
                version, at = saved.versions[old.number]
                is_source = old.kind is TextKind.SOURCE
                changed = version._replace(source=text) if is_source else version._replace(trigger=text)
                saved.versions[old.number] = (changed, at)
                if is_source and saved.version == old.number:
                    saved.new = saved.new._replace(source=text)
        return True

    def _texts(self, kind: TextKind) -> list[SignedText]:
        """Return all texts of a kind."""
        if kind is TextKind.TRIGGER:
            return [SignedText(kind, one.new.tenant, id_, 0, one.new.config) for id_, one in self.rules.items()]
        found = []
        for id_, saved in self.saved.items():
            if kind is TextKind.WORKFLOW:
                found.append(SignedText(kind, saved.new.tenant, id_, 0, saved.new.trigger))
            elif kind is TextKind.DRAFT:
                found += [SignedText(kind, saved.new.tenant, id_, 0, saved.draft.source)] if saved.draft else []
            else:
                texts = {n: v.source if kind is TextKind.SOURCE else v.trigger for n, (v, _) in saved.versions.items()}
                found += [SignedText(kind, saved.new.tenant, id_, number, text) for number, text in texts.items()]
        return found
