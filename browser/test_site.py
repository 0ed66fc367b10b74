"""The built site in a browser: layout, links, search, and the paths to the answers of common questions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from faults import dead_links, faults, site_pages

PARTS = 16
"""How many tests share the pages of the site, so that each is done within its limit of time."""


def test_the_site_has_all_its_pages(site: Path) -> None:
    assert len(list(site_pages(site))) > 800


@pytest.mark.parametrize("part", range(PARTS))
def test_every_page_is_right(page: Any, site: Path, part: int) -> None:
    pages = list(site_pages(site))[part::PARTS]
    wrong = {name: messages for name in pages if (messages := faults(page, (site / name).as_uri()))}
    assert not wrong, "\n".join(f"{name}: {message}" for name, messages in wrong.items() for message in messages)


def test_no_link_is_dead(site: Path) -> None:
    count, dead = dead_links(site)
    assert count > 10_000
    assert not dead, "\n".join(dead)


def test_the_first_page_is_right_on_a_server(page: Any, server: str) -> None:
    assert faults(page, f"{server}/index.html") == []


@pytest.fixture(params=["server", "disk"])
def start(request: pytest.FixtureRequest, site: Path, server: str) -> str:
    """The address of the first page, from a server and from the disk."""
    return f"{server}/index.html" if request.param == "server" else (site / "index.html").as_uri()


SEARCHED = {
    "np.cumsum": "reference/cumulative/cumulative_sum.html",
    "random key": "random.html",
    "peak memory": "dry-run.html",
    "cumulative_sum": "reference/cumulative/cumulative_sum.html",
}
"""Search words, and a page that must be among the first results."""


def test_search_finds(window: Any, start: str) -> None:
    window.goto(start)
    field = window.locator("input.md-search__input")
    if not field.is_visible():
        window.locator("label.md-header__button[for=__search]").click()
    for words, leads in SEARCHED.items():
        field.fill("")
        field.press_sequentially(words)
        link = window.locator(f".md-search-result__link[href*='{leads}']").first
        link.wait_for(state="visible")
    link.click()
    window.wait_for_url("**/reference/cumulative/cumulative_sum.html*")
    assert "tb.cumulative_sum" in window.locator("article").inner_text()


def test_the_other_palette_stays(window: Any, start: str) -> None:
    window.goto(start)
    before = window.locator("body").get_attribute("data-md-color-scheme")
    window.locator("label.md-header__button[for^=__palette]:visible").click()
    after = window.locator("body").get_attribute("data-md-color-scheme")
    assert {before, after} == {"default", "slate"}
    window.locator("article a", has_text="a tour").first.click()
    window.wait_for_url("**/tour.html")
    assert window.locator("body").get_attribute("data-md-color-scheme") == after


class Question(NamedTuple):
    """A common question, the texts of at most two links that lead to its answer from the first page, and the answer."""

    asked: str
    links: tuple[str, ...]
    answer: str


QUESTIONS = [
    Question("name axes", ("named axes",), r'names=\("batch", "time", "feature"\)'),
    Question("know whether a program fits into memory", ("dry runs",), r"fits\("),
    Question("move to JAX", ("backends, devices and transfers",), r'backend_transfer\("jax"\)'),
    Question("find what np.cumsum is called here", ("NumPy",), r"np\.cumsum\(a, axis=1\)\s+tb\.cumulative_sum"),
    Question("know why results differ", ("accuracy",), r"adds in its own order"),
]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.asked)
def test_a_question_is_answered_within_two_clicks(window: Any, start: str, question: Question) -> None:
    window.goto(start)
    assert 1 <= len(question.links) <= 2
    place = window.locator("article tr", has_text=question.asked)
    for link in question.links:
        place.get_by_role("link", name=link, exact=True).first.click()
        window.wait_for_load_state()
        place = window.locator("article")
    text = window.locator("article").inner_text()
    if "#" in window.url:
        heading = window.locator(f"[id='{window.url.partition('#')[2]}']").inner_text()
        text = text.partition(heading)[2]
    assert re.search(question.answer, text)
