"""Tests of the checks: each check finds the mistake planted for it, and finds none in a correct page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from faults import dead_links, faults

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>planted</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><body><h1 id="top">Planted</h1>{body}"""

WIDE = f"<table><tr>{'<td>wide_enough_for_all</td>' * 20}</tr></table>"


def planted(folder: Path, body: str) -> str:
    (folder / "planted.html").write_text(PAGE.format(body=body), encoding="utf-8")
    return (folder / "planted.html").as_uri()


DRAWN = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='720' height='9'/%3E"

RIGHT = [
    f'<div style="overflow-x: auto">{WIDE}</div>',
    '<img alt="" src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==">',
    '<svg role="img" aria-label="a chart"></svg>',
    f'<article><p style="overflow-x: auto"><img alt="a wide chart" width="600" src="{DRAWN}"></p></article>',
    '<p style="color: #767676">Readable</p><p style="display: none; color: white">Hidden</p>',
    '<p style="font-size: 24px; color: #949494">Large</p>',
    '<p style="background: #222; color: #ddd">Light on dark</p>',
    '<script>console.log("told")</script><a href="#top">up</a><button aria-label="close"></button>',
]

WRONG = {
    "wide: the page": WIDE,
    "wide: <td>": WIDE,
    "wide: <pre>": "<pre>" + "long " * 200 + "</pre>",
    "no alt text": '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==">',
    "no words": f'<article><p><img alt="figure" width="600" src="{DRAWN}"></p></article>',
    "small: ": f'<article><p><img alt="a chart" width="300" src="{DRAWN}"></p></article>',
    "no label": '<svg role="img"></svg>',
    "no text": '<a href="#top" style="display: block; height: 9px"></a>',
    'faint: <p> "Grey"': '<p style="color: #999">Grey</p>',
    'faint: <p> "Light"': '<div style="background: #888"><p style="color: #fff">Light</p></div>',
    'faint: <p> "Glass"': '<p style="opacity: 0.4">Glass</p>',
    'faint: <text> "Drawn"': '<svg><text y="20" fill="#ccc">Drawn</text></svg>',
    "console: told": '<script>console.error("told")</script>',
    "error: ": '<script>throw new Error("thrown")</script>',
    "not loaded: ": '<script src="missing.js"></script>',
}


@pytest.mark.parametrize("body", RIGHT)
def test_a_right_page_has_no_faults(window: Any, tmp_path: Path, body: str) -> None:
    assert faults(window, planted(tmp_path, body)) == []


@pytest.mark.parametrize(("fault", "body"), WRONG.items(), ids=WRONG)
def test_a_planted_fault_is_found(window: Any, tmp_path: Path, fault: str, body: str) -> None:
    assert any(message.startswith(fault) for message in faults(window, planted(tmp_path, body)))


def test_the_faults_of_one_page_are_not_told_of_the_next(window: Any, tmp_path: Path) -> None:
    assert faults(window, planted(tmp_path, WRONG["console: told"]))
    assert faults(window, planted(tmp_path, "<p>right</p>")) == []


LINKS = {
    "planted.html#top": True,
    "#top": True,
    "?q=1": True,
    "./planted.html": True,
    "sub": True,
    "https://www.python.org/a#b": True,
    "mailto:someone@example.org": True,
    "missing.html": False,
    "planted.html#missing": False,
    "#missing": False,
    "missing/": False,
    "https://nowhere": False,
    "https:/www.python.org": False,
    "https://www.python.org/a b": False,
    "htps://www.python.org": False,
}


@pytest.mark.parametrize(("address", "leads"), LINKS.items())
def test_a_dead_link_is_found(tmp_path: Path, address: str, leads: bool) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "index.html").write_text("<p>inside</p>")
    planted(tmp_path, f'<a href="{address}">somewhere</a>')
    assert dead_links(tmp_path) == (1, [] if leads else [f"planted.html: {address}"])


def test_what_a_page_loads_is_a_link(tmp_path: Path) -> None:
    planted(tmp_path, '<img alt="" src="missing.png"><script src="missing.js"></script>')
    assert dead_links(tmp_path) == (2, ["planted.html: missing.png", "planted.html: missing.js"])
