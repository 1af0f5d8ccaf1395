"""Master keys come from a setting, a file, a command, or the file beside a SQLite database."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from detent.errors import InvalidInput
from detent.settings import Settings, load_settings
from detent.vault.keys import key_file, load_vault, make_key_file, with_own_key
from detent.vault.sealing import Label, new_key

LABEL = Label(1, "secret", "stripe", 1)


def _settings(tmp_path: Path, **given: Any) -> Settings:
    return replace(Settings(), database_url=f"sqlite:///{tmp_path}/detent.db", **given)


def test_without_a_key_the_vault_is_not_ready(tmp_path: Path) -> None:
    assert not load_vault(_settings(tmp_path)).is_ready
    assert not load_vault(Settings(database_url="memory://")).is_ready
    assert not load_vault(Settings(database_url="postgresql://localhost/x")).is_ready


def test_the_first_key_seals_and_all_open(tmp_path: Path) -> None:
    old, new = new_key(), new_key()
    box = load_vault(_settings(tmp_path, encryption_key=old)).seal(LABEL, b"value")
    both = load_vault(_settings(tmp_path, encryption_key=f"{new}, {old}"))
    assert both.open(LABEL, box) == b"value"
    assert not both.is_current(box)


def test_keys_come_from_a_file_or_a_command(tmp_path: Path) -> None:
    key = new_key()
    box = load_vault(_settings(tmp_path, encryption_key=key)).seal(LABEL, b"value")
    (tmp_path / "keys").write_text(f"{new_key()}\n{key}\n")
    assert load_vault(_settings(tmp_path, encryption_key_file=str(tmp_path / "keys"))).open(LABEL, box) == b"value"
    assert load_vault(_settings(tmp_path, encryption_key_command=f"echo {key}")).open(LABEL, box) == b"value"


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({"encryption_key": "short"}, "DETENT_ENCRYPTION_KEY", "32 bytes in base64 or hex"),
        ({"encryption_key": ","}, "DETENT_ENCRYPTION_KEY", "has no key in it"),
        ({"encryption_key_file": "/nowhere/key"}, "DETENT_ENCRYPTION_KEY_FILE", "cannot be read"),
        ({"encryption_key_command": "echo gone >&2; exit 3"}, "DETENT_ENCRYPTION_KEY_COMMAND", "ended with 3: gone"),
        ({"encryption_key": "a", "encryption_key_file": "b"}, "DETENT_ENCRYPTION_KEY_FILE", "together with"),
    ],
)
def test_a_key_that_cannot_be_read_is_refused_with_its_source(
    tmp_path: Path, given: dict[str, str], field: str, message: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        load_vault(_settings(tmp_path, **given))
    [problem] = refused.value.problems
    assert problem.field == field
    assert message in problem.message
    assert "short" not in problem.message


def test_the_key_beside_a_sqlite_database_is_made_once_and_private(tmp_path: Path) -> None:
    settings = _settings(tmp_path)
    path = make_key_file(settings)
    assert path is not None
    assert path == key_file(settings) == tmp_path / "detent.db.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    written = path.read_text()
    assert make_key_file(settings) is None
    assert path.read_text() == written
    assert load_vault(settings).is_ready


def test_no_key_is_made_where_one_is_set_or_where_there_is_no_file(tmp_path: Path) -> None:
    assert make_key_file(_settings(tmp_path, encryption_key=new_key())) is None
    assert make_key_file(Settings(database_url="memory://")) is None
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_key_in_the_environment_is_never_shown(tmp_path: Path) -> None:
    loaded = load_settings({}, environ={"DETENT_ENCRYPTION_KEY": "hunter2hunter2"}, folder=tmp_path)
    with pytest.raises(InvalidInput) as refused:
        load_vault(loaded.settings)
    assert "hunter2" not in str(refused.value) + str(refused.value.problems)


def test_a_process_on_its_own_has_a_key_also_without_a_file(tmp_path: Path) -> None:
    assert load_vault(with_own_key(Settings(database_url="memory://"))).is_ready
    beside = with_own_key(_settings(tmp_path))
    assert beside.encryption_key is None
    assert load_vault(beside).is_ready
