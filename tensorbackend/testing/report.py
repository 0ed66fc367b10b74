"""Reports of `tensorbackend check`, as JSON for programs and as an HTML page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from platform import python_version
from string import Template as Page
from typing import Any, NamedTuple

from ..protocol import Backend
from .runner import PROGRAMS, Pair, Status, by_family, totals


class Report(NamedTuple):
    """The results of one run on one backend."""

    backend: str
    device: str
    versions: Mapping[str, str]
    """The versions of Python, tensorbackend and the backend's libraries."""
    examples: int
    seed: int
    seconds: float
    pairs: Sequence[Pair]
    asked: int
    """The number of pairs of op and dtype that were asked for; a run that was stopped has tried fewer."""

    @classmethod
    def of(
        cls,
        backend: Backend,
        pairs: Sequence[Pair],
        *,
        examples: int,
        seed: int,
        seconds: float,
        asked: int | None = None,
    ) -> Report:
        """The report of the pairs tried on a backend; `asked` is the number of requested pairs, by default of these."""
        base_versions = {"python": python_version(), "tensorbackend": _version()}
        versions = {**base_versions, **backend.versions()}
        return cls(
            backend.name, backend.device, versions, examples, seed, round(seconds, 1), tuple(pairs), asked or len(pairs)
        )

    @property
    def totals(self) -> dict[Status, int]:
        """The number of pairs of op and dtype that have each status."""
        return totals(self.pairs)

    @property
    def summary(self) -> str:
        """One line: the numbers of pairs and calls, their outcomes, and the time."""
        ops, calls = len({pair.op for pair in self.pairs}), sum(pair.examples for pair in self.pairs)
        told = ", ".join(f"{count} {status}" for status, count in self.totals.items())
        of_programs = all(pair.family == PROGRAMS for pair in self.pairs) and ops > 0
        what, pieces = ("kind", "programs") if of_programs else ("op", "calls")
        kinds = f"{ops} kinds of programs" if of_programs else f"{ops} ops"
        work = f"{kinds}, {len(self.pairs)} pairs of {what} and dtype, {calls} {pieces} in {self.seconds:g} s"
        if len(self.pairs) < self.asked:
            work = f"stopped after {len(self.pairs)} of {self.asked} pairs: {work}"
        return f"{self.backend}: {work}: {told}"

    def write(self, path: Path) -> None:
        """Writes the report to a file, as HTML if its name ends in `.html`, otherwise as JSON."""
        path.write_text(self.html() if path.suffix == ".html" else self.json(), encoding="utf-8")

    def json(self) -> str:
        """The report as JSON: the fields, the totals, and each pair as an object."""
        pairs = [pair._asdict() for pair in self.pairs]
        return json.dumps({**self._asdict(), "totals": self.totals, "pairs": pairs}, indent=1)

    def html(self) -> str:
        """The report as a self-contained HTML page."""
        page = Page(files("tensorbackend.testing").joinpath("report.html").read_text(encoding="utf-8"))
        failures = [pair for pair in self.pairs if pair.status == "fail"]
        numbers = {pair[:3]: number for number, pair in enumerate(failures, 1)}
        reasons = _number_reasons(pair for pair in self.pairs if pair.status == "divergence")
        lacks = _number_reasons(pair for pair in self.pairs if pair.status == "unsupported")
        return page.substitute(
            title=escape(f"tensorbackend check {self.backend}"),
            backend=escape(self.backend),
            about=escape(self._about),
            totals="".join(_chip(status, count, linked=True) for status, count in self.totals.items()),
            failures=_section("fail", "Failures", [_failure(number, pair) for number, pair in enumerate(failures, 1)]),
            families="".join(
                _family(family, pairs, numbers, reasons, lacks) for family, pairs in by_family(self.pairs).items()
            ),
            divergences=_section("divergence", "Divergences", _reasons("divergence", reasons)),
            unsupported=_section("unsupported", "Unsupported", _reasons("unsupported", lacks)),
        )

    @property
    def _about(self) -> str:
        versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        how = f"{self.examples} examples for each pair, seed {self.seed}, on {self.device}"
        return f"{self.summary}. {how}; {versions}."


def _version() -> str:
    try:
        return version("tensorbackend")
    except PackageNotFoundError:  # the package runs from its sources
        return "of a source tree"


Cells = Mapping[Any, int]
"""The numbers under which the page lists failures or reasons."""


def _number_reasons(pairs: Iterable[Pair]) -> dict[str, int]:
    """The different reasons of pairs, numbered from 1."""
    reasons = dict.fromkeys(reason for pair in pairs for reason in pair.reasons)
    return {reason: number for number, reason in enumerate(reasons, 1)}


def _chip(status: Status, count: int, *, linked: bool = False) -> str:
    text = f"{count} {status}"
    if linked and count and status in ("fail", "divergence", "unsupported"):  # which have a section of their own
        return f'<a href="#{status}" class="chip {status}">{text}</a>'
    colour = f" {status}" if count else ""
    return f'<span class="chip{colour}">{text}</span>'


def _section(status: Status, title: str, items: Sequence[str]) -> str:
    return f'<section id="{status}"><h2>{title}</h2>{"".join(items)}</section>' if items else ""


def _failure(number: int, pair: Pair) -> str:
    return (
        f'<article id="fail{number}" data-text="{escape(pair.op)} {pair.dtype} fail {escape(pair.kind)}">'
        f"<h3>{number}. <code>{escape(pair.op)}</code> of {escape(pair.dtype)}: {escape(pair.kind)}</h3>"
        f"<p>{escape(pair.detail)}</p><pre>{escape(pair.script)}</pre></article>"
    )


def _reasons(status: Status, reasons: Mapping[str, int]) -> list[str]:
    items = "".join(f'<li id="{status}{number}">{escape(reason)}</li>' for reason, number in reasons.items())
    return [f"<ol>{items}</ol>"] if items else []


def _family(family: str, pairs: Sequence[Pair], numbers: Cells, reasons: Cells, lacks: Cells) -> str:
    dtypes = list(dict.fromkeys(pair.dtype for pair in pairs))
    head = "".join(f'<th scope="col">{escape(dtype)}</th>' for dtype in dtypes)
    rows = []
    for op in dict.fromkeys(pair.op for pair in pairs):
        pairs_by_dtype = {pair.dtype: pair for pair in pairs if pair.op == op}
        words = " ".join([op, family, *dict.fromkeys(pair.status for pair in pairs_by_dtype.values())])
        cells = "".join(
            _cell(pairs_by_dtype[dtype], numbers, reasons, lacks) if dtype in pairs_by_dtype else "<td></td>"
            for dtype in dtypes
        )
        rows.append(f'<tr data-text="{escape(words)}"><th scope="row">{escape(op)}</th>{cells}</tr>')
    counts = "".join(_chip(status, count) for status, count in totals(pairs).items() if count)
    return (
        f"<section><h2>{escape(family)} {counts}</h2>"
        f'<div class="table"><table><thead><tr><th>op</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div></section>"
    )


def _cell(pair: Pair, numbers: Cells, reasons: Cells, lacks: Cells) -> str:
    """The cell of a pair: its status in words, with a link to its failure or reason if it has one."""
    link = None
    if pair.status == "fail":
        link = numbers[pair[:3]]
    elif pair.status == "divergence":
        link = reasons[pair.reasons[0]]
    elif pair.status == "unsupported":
        link = lacks[pair.reasons[0]]
    ulps = f" {pair.ulps:.3g}" if pair.status == "pass" and pair.ulps else ""
    number = f" {link}" if link and pair.status != "unsupported" else ""  # for which there is no room
    # On a narrow page the mark replaces the words.
    text = f'<i></i><span class="words">{pair.status}{number}{ulps}</span>'
    linked = f'<a href="#{pair.status}{link}">{text}</a>' if link else text
    return f'<td class="{pair.status}">{linked}</td>'
