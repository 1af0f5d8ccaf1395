"""Links between pages, files and headings lead somewhere, and no page stands alone."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT, headings, pages

LINK = re.compile(r"\[[^\]]*\]\((?P<to>[^)\s]+)\)")


def links(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return [match["to"] for match in LINK.finditer(text)] + re.findall(r'(?:src|srcset)="([^"]+)"', text)


def anchor(heading: str) -> str:
    """The anchor that a heading gets."""
    plain = re.sub(r"[`*]", "", heading).lower()
    return re.sub(r"[^a-z0-9 _-]", "", plain).replace(" ", "-")


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_heading_that_exist(page: Path) -> None:
    wrong = []
    for link in links(page):
        if link.startswith(("https://", "http://")):
            continue
        file, _, fragment = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if not target.exists() or (fragment and fragment not in map(anchor, headings(target))):
            wrong.append(link)
    assert wrong == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    known, pending = set(), [ROOT / "README.md"]
    while pending:
        page = pending.pop()
        known.add(page)
        linked = {(page.parent / link.partition("#")[0]).resolve() for link in links(page) if "://" not in link}
        pending += [one for one in linked - known if one.suffix == ".md" and one.exists()]
    assert set(DOCS.rglob("*.md")) - known == set()


def test_every_picture_is_used() -> None:
    used = {(page.parent / link).resolve() for page in pages() for link in links(page) if "://" not in link}
    assert set((DOCS / "images").iterdir()) - used == set()


def test_all_pictures_together_are_small() -> None:
    assert sum(path.stat().st_size for path in (DOCS / "images").iterdir()) < 4_000_000
