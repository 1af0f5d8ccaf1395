"""Keys on the command line, beside a server that checks its callers and without one."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.cli.commands.node.serve import danger_of
from detent.client.client import Client
from detent.client.errors import PermissionDenied, Unauthenticated
from detent.settings import Settings
from tests.cli.program import detent, started
from tests.servers import programs

pytestmark = pytest.mark.slow
STRICT = {"DETENT_ALLOW_LOOSE_AUTH": "false"}


def said(done: programs.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder with a server that checks its callers, and its address."""
    folder = tmp_path_factory.mktemp("strict")
    with started(folder, "serve", "--port", "0", **STRICT, DETENT_ADMIN_KEY_FILE="admin.key") as server:
        url = server.wait_for(r"answers at (http://\S+)")[1]
        server.wait_for("is in admin.key")
        yield folder, url


def test_the_first_key_of_a_server_is_in_its_file(place: tuple[Path, str]) -> None:
    folder, url = place
    key = (folder / "admin.key").read_text().strip()
    assert stat.S_IMODE((folder / "admin.key").stat().st_mode) == 0o600
    with Client(url, key=key) as client:
        me = client.me()
        assert (me.caller.name, me.role, me.via) == ("key first", "instance-admin", "key")
        assert [one.name for one in client.keys.list()][:1] != []


def test_a_key_is_created_used_rotated_and_revoked(place: tuple[Path, str]) -> None:
    folder, url = place
    key = said(detent(folder, "keys", "create", "ci", "--role", "operator", "--expires", "90d")).strip()
    refused = detent(folder, "runs", "list", "--url", url)
    assert (refused.returncode, "DETENT_KEY" in refused.stderr) == (1, True)
    assert detent(folder, "runs", "list", "--url", url, "--key", key).returncode == 0
    assert detent(folder, "runs", "list", "--url", url, DETENT_KEY=key).returncode == 0
    forbidden = detent(folder, "keys", "list", "--url", url, DETENT_KEY=key)
    assert (forbidden.returncode, "keys:manage" in forbidden.stderr) == (1, True)
    rows = json.loads(said(detent(folder, "keys", "list", "--json")))
    [row] = [one for one in rows if one["name"] == "ci"]
    assert (row["role"], row["status"], key in json.dumps(rows)) == ("operator", "active", False)
    new = said(detent(folder, "keys", "rotate", key, "--grace", "1h")).strip()
    assert "rotated" in said(detent(folder, "keys", "show", row["id"]))
    assert detent(folder, "runs", "list", "--url", url, "--key", new).returncode == 0
    assert "Nothing is done without --yes" in detent(folder, "keys", "revoke", new).stderr
    assert "revoked" in said(detent(folder, "keys", "revoke", new, row["id"], "--yes"))
    statuses = {
        one["status"] for one in json.loads(said(detent(folder, "keys", "list", "--json"))) if one["name"] == "ci"
    }
    assert statuses == {"revoked"}


def test_a_key_is_stored_by_login_and_forgotten_by_logout(place: tuple[Path, str], tmp_path: Path) -> None:
    folder, url = place
    key = said(detent(folder, "keys", "create", "laptop", "--scope", "workflows:read")).strip()
    wrong = detent(tmp_path, "login", url, given="dk_aaaaaaaa_wrong\n")
    assert (wrong.returncode, (tmp_path / ".config").exists()) == (1, False)
    stored = said(detent(tmp_path, "login", f"{url}/", given=f"{key}\n"))
    assert "key laptop" in stored
    assert f"export DETENT_URL={url}" in stored
    file = tmp_path / ".config" / "detent" / "credentials.toml"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert detent(tmp_path, "runs", "list", "--url", url).returncode == 0
    assert detent(tmp_path, "runs", "list", "--url", url, DETENT_KEY="dk_bad").returncode == 1, "the variable is first"
    at_url = {"DETENT_URL": url}
    known = " ".join(said(detent(tmp_path, "whoami", **at_url)).split())
    assert known == "key laptop of the tenant default may workflows:read"
    assert detent(tmp_path, "apply", "none.yaml", **at_url).returncode == 2
    assert not (tmp_path / "detent.db").exists(), "no command begins a database of its own where a server is named"
    named = detent(tmp_path, "whoami", "--database", "sqlite:///named.db", **at_url)
    assert "there is no database at named.db" in named.stderr
    file.chmod(0o644)
    loose = detent(tmp_path, "runs", "list", "--url", url)
    assert (loose.returncode, "chmod 600" in loose.stderr) == (2, True)
    file.chmod(0o600)
    assert "forgotten" in said(detent(tmp_path, "logout", **at_url))
    assert "has no key" in said(detent(tmp_path, "logout", url))
    assert detent(tmp_path, "runs", "list", "--url", url).returncode == 1


def test_a_client_says_what_is_missing(place: tuple[Path, str]) -> None:
    folder, url = place
    with Client(url) as client, pytest.raises(Unauthenticated, match="detent keys create"):
        list(client.runs())
    key = said(detent(folder, "keys", "create", "one", "--workflow", "order")).strip()
    with Client(url, key=key) as client:
        assert client.me().workflows == ["order"]
        with pytest.raises(PermissionDenied, match="only those of its key"):
            client.start("other")
        with pytest.raises(PermissionDenied, match="workflows:read"):
            list(client.runs())


def test_a_server_without_keys_says_how_to_make_one(folder: Path) -> None:
    made = said(detent(folder, "keys", "create", "early", "--role", "admin", "--json"))
    assert json.loads(made)["key"].startswith("dk_"), "it works on the database, without a server"
    with started(folder, "serve", "--port", "0", **STRICT, DETENT_DATABASE_URL="sqlite:///other.db") as server:
        server.wait_for(r"detent keys create NAME --role instance-admin")


def test_a_server_on_a_network_says_what_is_dangerous() -> None:
    dangers = [danger_of(Settings(), host) for host in ("127.0.0.1", "127.0.0.2", "::1", "0.0.0.0", "10.0.0.5")]
    assert [danger is not None for danger in dangers] == [False, False, False, True, True]
    assert "clear text" in (dangers[3] or "")
    assert danger_of(Settings(base_url="https://detent.example.org"), "10.0.0.5") is None
    loose = Settings(base_url="https://detent.example.org", allow_loose_auth=True)
    assert "DETENT_ALLOW_LOOSE_AUTH" in (danger_of(loose, "10.0.0.5") or "")
    assert danger_of(loose, "127.0.0.1") is None
