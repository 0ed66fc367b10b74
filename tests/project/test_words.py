"""The words of docstrings, comments, messages and pages: phrases for which the field has another word.

Each phrase occurred in many places. Text between backticks is not searched, such as `beside` as the name of a variable.
"""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = "tensorbackend", "plugins", "tests", "property_tests", "docs", "README.md", "CHANGELOG.md"

PHRASES = {
    r"greatest (?!common|lower)": "maximum, or largest",
    r"the least (element|value|number|integer|size|index|limit|zero)": "minimum, or smallest",
    r"anew": "again",
    r"(?<!\{)beside": "next to, besides, with, compared with",
    r"(that|which|it|this|one) (is|are) no (?!longer|more|less|worse|\w+er)": "is not a",
    r"turns? of (the|a|its) (loop|body|scan)": "iteration",
    r"(takes?|in) turns": "alternate",
    r"as long as (a|the|its|their) condition": "while a condition is true",
    r"(stays?|returned|kept|passed|returns|leaves? \w+) as (it is|they are)": "unchanged",
    r"stands? for the default": "means the default",
    r"where axes meet": "for matching axes",
    r"(was|were|is|are) met": "occurs, is found, is satisfied",
    r"(is|are) given up": "is abandoned",
    r"gives? (back|the same|NaN|infinity|zeros)": "returns",
    r"how often each (was|is)": "the number of",
}
"""What is never right, as a regular expression of whole words, and what to write."""

STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


@cache
def contents() -> dict[Path, str]:
    """The modules and pages of this repository, without virtual environments and what was built."""
    inside = [path for place in PLACES for suffix in (".py", ".md") for path in (ROOT / place).rglob(f"*{suffix}")]
    inside += [ROOT / place for place in PLACES if place.endswith(".md")]
    kept = [path for path in inside if not any(part[0] == "." for part in path.relative_to(ROOT).parts)]
    return {path: path.read_text() for path in kept if path != Path(__file__)}  # which has them all


@cache
def texts(path: Path) -> list[tuple[int, str]]:
    """Return the texts of a file with their first lines: of a module its comments and strings, of a page all of it."""
    if path.suffix == ".md":
        return [(1, contents()[path])]
    with path.open("rb") as file:
        tokens = tokenize.tokenize(file.readline)
        return [
            (token.start[0], token.string)
            for token in tokens
            if token.type == tokenize.COMMENT or token.type in STRINGS
        ]


def found(path: Path, phrase: re.Pattern[str]) -> Iterator[str]:
    """Yield each place of a phrase in a file, apart from what is written as code."""
    for line, text in texts(path):
        prose = re.sub(r"`[^`]*`", lambda code: "`" + "\n" * code[0].count("\n"), text)
        for match in phrase.finditer(prose):
            yield f"{path.relative_to(ROOT)}:{line + prose.count(chr(10), 0, match.start())}: {match[0]}"


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_is_not_used(phrase: str) -> None:
    pattern = re.compile(rf"\b{phrase}\b".replace(" ", r"[\s#]+").replace(r"+(?!", r"+\b(?!"), re.IGNORECASE)
    candidates = [path for path, text in contents().items() if pattern.search(text)]
    places = [place for path in candidates for place in found(path, pattern)]
    assert places == [], f"write {PHRASES[phrase]!r}"
