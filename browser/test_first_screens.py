"""What a newcomer sees first: whole lines, a logo of ours, and the paths from there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

FIRST = ("index", "installation", "tour", "named-axes", "dry-run", "sharp-bits")

CUT_OFF = """height => [...document.querySelectorAll("article pre > code, article .md-typeset__scrollwrap")]
  .filter(box => box.getBoundingClientRect().top < height && box.scrollWidth > box.clientWidth + 1)
  .map(box => box.innerText.slice(0, 60))"""
"""The blocks and tables that begin on the first screen and scroll sideways."""

COVERED = """() => [...document.querySelectorAll("article .language-text :is(.md-clipboard, .md-code__nav)")]
  .filter(button => button.checkVisibility()).length"""
"""The buttons over what is printed."""


@pytest.mark.parametrize("name", FIRST)
def test_no_block_of_a_first_screen_scrolls_sideways(page: Any, site: Path, name: str) -> None:
    page.goto((site / f"{name}.html").as_uri())
    page.locator("article pre > code").first.wait_for()
    assert page.evaluate(CUT_OFF, page.viewport_size["height"]) == []
    assert page.evaluate(COVERED) == 0


def test_a_block_that_is_cut_off_is_found(page: Any, tmp_path: Path) -> None:
    wide = tmp_path / "wide.html"
    wide.write_text(f"<article><pre><code style='display: block; overflow: auto'>{'x' * 400}</code></pre></article>")
    page.goto(wide.as_uri())
    assert page.evaluate(CUT_OFF, page.viewport_size["height"]) == ["x" * 60]


def test_the_first_page_says_what_sells_the_library(window: Any, site: Path) -> None:
    window.goto((site / "index.html").as_uri())
    article = window.locator("article").inner_text()
    printed = ["got left=f32[batch: 2][feature: 3]", "does not fit into 4 GB: subtract"]
    order = [*printed, "pip install", "f32 jax", "Whom it serves"]
    places = [article.index(text) for text in order]
    assert places == sorted(places)
    logo = window.locator("header a.md-logo img")
    assert logo.get_attribute("src") == "logo.svg"
    assert window.evaluate("() => document.querySelector('header a.md-logo img').naturalWidth") > 0
