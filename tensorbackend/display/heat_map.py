"""Heat maps: numbers as colours, in a terminal by half blocks or plain characters, in a notebook as SVG."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import inf, isfinite
from typing import Final, Literal, TextIO

from . import heading, terminal_width

Colours = Literal["none", "256", "all"]
Colour = tuple[int, int, int]

_PALETTE: Final[Sequence[Colour]] = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
"""Viridis at five places, between which colours are interpolated: the greater the number, the brighter the colour."""
_RAMP: Final = " .:-=+*#%@"
"""Characters: the greater the number, the denser the character."""
_STEPS: Final = 16
"""The number of cells of the scale."""
_SHADES: Final = 63
"""The index of the last colour of a drawing, from 0."""
_WIDE: Final = 640
"""The largest width of a drawing, in pixels."""

_SPECIAL: Final[Sequence[tuple[str, str, str, Colour, str]]] = (
    ("nan", "NaN", "?", (214, 39, 40), "M.2.2l.6.6m-.6 0l.6-.6"),
    ("inf", "infinity", "^", (255, 255, 255), "M.2.8l.3-.6.3.6z"),
    ("-inf", "-infinity", "v", (128, 128, 128), "M.2.2l.3.6.3-.6z"),
)
"""The numbers that are not finite, each with its key, its name, its character, its colour in a terminal and its path in
a drawing."""


def colours_of(stream: TextIO) -> Colours:
    """The colours that a stream shows: those of a terminal, none elsewhere or where `NO_COLOR` is set.

    >>> import io
    >>> colours_of(io.StringIO())
    'none'
    """
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return "none"
    return "all" if os.environ.get("COLORTERM") in ("truecolor", "24bit") else "256"


class HeatMap:
    """Numbers as colours: displayed at a prompt, at the end of a notebook's cell, and when printed.

    >>> print(HeatMap("f32[2][3] numpy", [[0.0, 1.0, 2.0], [3.0, 4.0, float("nan")]]).text("none", width=80))
    f32[2][3] numpy
      ::==
    ##@@??
    0 " .:-=+*#%@" 4, ? NaN
    """

    def __init__(self, head: str, cells: Sequence[Sequence[float]]) -> None:
        self.head = head
        """The line above the map, which describes the tensor."""
        self.cells = cells
        """The numbers, row by row."""
        finite = [value for row in cells for value in row if isfinite(value)]
        self.low, self.high = min(finite, default=0.0), max(finite, default=0.0)
        """The ends of the scale."""

    def __repr__(self) -> str:
        return self.text(colours_of(sys.stdout))

    def text(self, colours: Colours, width: int | None = None) -> str:
        """The map as text, in lines of at most `width` characters if it has no more columns than that."""
        if not self.cells:
            return self.head
        if colours == "none":
            wide = 2 * len(self.cells[0]) <= (width or terminal_width())
            lines = ["".join(self._character(value) * (1 + wide) for value in row).rstrip() for row in self.cells]
        else:
            lines = [*_half_blocks([[self._colour(value) for value in row] for row in self.cells], colours)]
        return "\n".join([self.head, *lines, self._scale(colours)])

    def _repr_html_(self) -> str:
        """The map as SVG, whose text and marks have the colour of the page's text."""
        if not self.cells:
            return heading(self.head)
        side = min(16.0, _WIDE / len(self.cells[0]))
        return f"{heading(self.head)}<br>\n{self._drawing(side)}<br>\n{self._scale_bar()}"

    # One number

    def _place(self, value: float) -> float:
        """The position of a finite number on the scale, from 0 to 1."""
        low, high = self.low / 2, self.high / 2  # halves, whose difference is always finite
        return (value / 2 - low) / (high - low) if high > low else 0.0

    def _character(self, value: float) -> str:
        if isfinite(value):
            return _RAMP[round(self._place(value) * (len(_RAMP) - 1))]
        return _special(value)[2]

    def _colour(self, value: float) -> Colour:
        return _colour_at(self._place(value)) if isfinite(value) else _special(value)[3]

    def _marks(self) -> list[tuple[str, str, str, Colour, str]]:
        """The entries of `_SPECIAL` for the numbers of the map that are not finite."""
        keys = {_special(value)[0] for row in self.cells for value in row if not isfinite(value)}
        return [mark for mark in _SPECIAL if mark[0] in keys]

    # The scale

    def _scale(self, colours: Colours) -> str:
        if colours == "none":
            bar, marks = f'"{_RAMP}"', [f"{sign} {name}" for _, name, sign, _, _ in self._marks()]
        else:
            bar = "".join(_ansi("█", _colour_at(step / (_STEPS - 1)), None, colours) for step in range(_STEPS))
            marks = [f"{_ansi('█', colour, None, colours)} {name}" for _, name, _, colour, _ in self._marks()]
        return ", ".join([f"{self.low:.6g} {bar} {self.high:.6g}", *marks])

    def _scale_bar(self) -> str:
        bar = _svg(_STEPS, 1, 10, _cells([[step / (_STEPS - 1) for step in range(_STEPS)]]))
        marks = "".join(f", {_svg(1, 1, 10, _mark(path, 0, 0))} {name}" for _, name, _, _, path in self._marks())
        return f"<code>{self.low:.6g}</code> {bar} <code>{self.high:.6g}</code>{marks}"

    def _drawing(self, side: float) -> str:
        places = [[self._place(value) if isfinite(value) else None for value in row] for row in self.cells]
        marks = "".join(
            _mark(_special(value)[4], column, number)
            for number, row in enumerate(self.cells)
            for column, value in enumerate(row)
            if not isfinite(value)
        )
        return _svg(len(self.cells[0]), len(self.cells), side, _cells(places) + marks)


def _special(value: float) -> tuple[str, str, str, Colour, str]:
    return _SPECIAL[1 if value == inf else 2 if value == -inf else 0]


def _colour_at(place: float) -> Colour:
    """The colour at a place of the scale, from 0 to 1."""
    last = len(_PALETTE) - 1
    before = min(int(place * last), last - 1)
    share = place * last - before
    red, green, blue = (
        round(one + share * (other - one)) for one, other in zip(*_PALETTE[before : before + 2], strict=True)
    )
    return red, green, blue


# Terminals


def _half_blocks(rows: Sequence[Sequence[Colour]], colours: Colours) -> Iterator[str]:
    """Lines in which each character shows two numbers, one above the other."""
    for upper in range(0, len(rows), 2):
        lower: Sequence[Colour | None] = rows[upper + 1] if upper + 1 < len(rows) else [None] * len(rows[upper])
        yield "".join(_ansi("▀", *pair, colours) for pair in zip(rows[upper], lower, strict=True))


def _ansi(text: str, front: Colour, back: Colour | None, colours: Colours) -> str:
    codes = f"38;{_code(front, colours)}" + (f";48;{_code(back, colours)}" if back is not None else "")
    return f"\x1b[{codes}m{text}\x1b[0m"


def _code(colour: Colour, colours: Colours) -> str:
    red, green, blue = colour
    if colours == "all":
        return f"2;{red};{green};{blue}"
    return f"5;{16 + 36 * round(red / 51) + 6 * round(green / 51) + round(blue / 51)}"


# Drawings


def _svg(columns: int, rows: int, side: float, content: str) -> str:
    """A drawing whose unit is a cell of `side` pixels."""
    size = f'width="{columns * side:g}" height="{rows * side:g}" viewBox="0 0 {columns} {rows}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} shape-rendering="crispEdges">{content}</svg>'


def _cells(places: Sequence[Sequence[float | None]]) -> str:
    """Cells by their places on the scale: one path for each colour."""
    paths: dict[int, list[str]] = {}
    for number, row in enumerate(places):
        column = 0
        for shade, run in groupby(None if place is None else round(place * _SHADES) for place in row):
            length = sum(1 for _ in run)
            if shade is not None:
                paths.setdefault(shade, []).append(f"M{column} {number}h{length}v1h-{length}z")
            column += length
    return "".join(_svg_path(_colour_at(shade / _SHADES), path) for shade, path in paths.items())


def _svg_path(colour: Colour, path: Sequence[str]) -> str:
    red, green, blue = colour
    lines = "".join(path)
    return f'<path fill="#{red:02x}{green:02x}{blue:02x}" d="{lines}"/>'


def _mark(path: str, column: int, row: int) -> str:
    """The mark of a number that is not finite, in the colour of the page's text."""
    return (
        f'<path transform="translate({column} {row})" d="{path}" stroke="currentColor" stroke-width=".1" fill="none"/>'
    )
