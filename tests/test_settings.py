"""Settings come from flags, then the environment, then the file; what is wrong is named with its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from detent.cli.processes import as_environment
from detent.errors import InvalidInput
from detent.settings import FIELDS, Settings, load_settings


def load(tmp_path: Path, toml: str = "", environ: dict[str, str] | None = None, **flags: Any) -> Any:
    if toml:
        (tmp_path / "detent.toml").write_text(toml)
    return load_settings(flags, environ=environ or {}, folder=tmp_path)


def test_without_anything_every_setting_has_its_default(tmp_path: Path) -> None:
    loaded = load(tmp_path)
    assert loaded.settings == Settings()
    assert (loaded.sources, loaded.warnings) == ({}, ())


def test_a_flag_wins_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    toml = 'port = 1\nhost = "10.0.0.1"\nimport = ["a", "b"]\nretention = {completed = "30d"}'
    loaded = load(tmp_path, toml, {"DETENT_PORT": "2", "DETENT_HOST": "10.0.0.2"}, port=3, host=None)
    assert (loaded.settings.port, loaded.settings.host, loaded.settings.imports) == (3, "10.0.0.2", ("a", "b"))
    assert loaded.sources["port"] == "--port"
    assert loaded.sources["host"] == "DETENT_HOST"
    assert loaded.sources["imports"] == "import in detent.toml"
    assert loaded.settings.retention == (("completed", 30 * 86400),)


BAD = {
    "DETENT_PORT": "eighty",
    "DETENT_LEASE_SECONDS": "0",
    "DETENT_ALLOW_LOOSE_AUTH": "maybe",
    "DETENT_RETENTION": "done=30d",
    "DETENT_BASE_URL": "example.org",
    "DETENT_MAX_PARALLEL_STEPS": "-1",
    "DETENT_LOG_FORMAT": "xml",
    "DETENT_SECRET_KEY": "short",
    "DETENT_BLOB_GRACE": "119s",
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_value_is_refused_with_its_name_and_value(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        load(tmp_path, environ={name: BAD[name]})
    [problem] = refused.value.problems
    assert problem.field == name
    assert (BAD[name] in problem.message) == (name != "DETENT_SECRET_KEY")


def test_all_bad_values_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        load(tmp_path, environ=BAD, database_url="")
    assert {problem.field for problem in refused.value.problems} == {*BAD, "--database"}


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="setting"):
        load(tmp_path, "port = = 1")


def test_a_name_nobody_knows_is_told_with_the_likely_one(tmp_path: Path) -> None:
    loaded = load(
        tmp_path, "prot = 1", {"DETENT_HOSTS": "x", "DETENT_TEST_PG_BIN": "x", "OTHER": "x", "DETENT_PORT": ""}
    )
    assert len(loaded.warnings) == 2
    assert "did you mean port?" in loaded.warnings[0]
    assert "did you mean DETENT_HOST?" in loaded.warnings[1]


def test_every_setting_says_what_it_is_for() -> None:
    assert len(FIELDS) > 15
    assert all(len(item.metadata["help"]) > 15 for item in FIELDS.values())


def test_a_worker_process_has_the_settings_of_the_process_that_starts_it(tmp_path: Path) -> None:
    toml = """
        egress_allow = ["10.0.0.0/8", "db.internal:8080"]
        trusted_proxies = ["127.0.0.1", "fd00::/8"]
        oidc_roles = {staff = "operator", "a=b" = "admin"}
        queues = ["fast", "slow"]
        import = ["shop", "shop.jobs"]
        retention = {completed = "30d", failed = "90d"}
        secret_providers = ["env:STRIPE_KEY", "file:/run/secrets"]
        outbox_urls = ["sqlite:///shop.db"]
        allow_loose_auth = true
        lease_seconds = 12.5
    """
    given = load(tmp_path, toml).settings
    lists = [name for name, item in FIELDS.items() if isinstance(getattr(given, item.name), tuple)]
    assert [name for name in lists if not getattr(given, FIELDS[name].name)] == [], "a list that this test leaves empty"
    (tmp_path / "elsewhere").mkdir()
    assert load(tmp_path / "elsewhere", environ=as_environment(given)).settings == given
