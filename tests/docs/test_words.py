"""Names that stand in the text of a page exist: settings, make targets, commands, words of the glossary."""

import re
from pathlib import Path

import pytest

from detent.cli import COMMANDS
from detent.settings import FIELDS, FILE, PREFIX, load_settings
from tests.docs.pages import ROOT, Block, blocks, pages

#: DETENT_URL and DETENT_KEY are read by clients, which have no settings.
SETTINGS = {f"{PREFIX}{name.upper()}" for name in FIELDS} | {"DETENT_URL", "DETENT_KEY"}


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_setting_a_page_names_exists(page: Path) -> None:
    assert set(re.findall(rf"{PREFIX}[A-Z_]*[A-Z]", page.read_text())) - SETTINGS == set()


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_make_target_a_page_names_exists(page: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:`|^\$ )make ([a-z]+)", page.read_text(), re.MULTILINE)) - targets == set()


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_command_a_page_names_exists(page: Path) -> None:
    assert (
        set(re.findall(r"(?:`|^\$ )detent ([a-z]+(?:-[a-z]+)*)", page.read_text(), re.MULTILINE)) - set(COMMANDS)
        == set()
    )


@pytest.mark.parametrize("block", blocks("toml"), ids=lambda block: block.place)
def test_a_file_of_settings_is_read_without_a_remark(block: Block, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(block.text)
    loaded = load_settings({}, environ={}, folder=tmp_path)
    assert loaded.sources
    assert loaded.warnings == ()


def test_the_pages_keep_to_the_words_of_the_glossary() -> None:
    wrong = re.compile(r"\b(jobs?|(?<![$/])executions?|DAGs?)\b", re.IGNORECASE)
    found = {page.name: match[0] for page in pages() if (match := wrong.search(page.read_text()))}
    assert found == {}


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_file_of_the_project_a_page_names_exists(page: Path) -> None:
    named = re.findall(r"(?<![\w./-])((?:detent|tests|bench|docs)/[a-z0-9_./-]+\.[a-z]+)", page.read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_no_page_cancels_a_run_because_a_step_of_it_is_uncertain(page: Path) -> None:
    assert [line for line in page.read_text().splitlines() if "`uncertain`" in line and "cancel" in line] == []
