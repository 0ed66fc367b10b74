"""Tensors as text: the template, then the elements at both ends of each axis; in notebooks these are a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from math import isqrt, prod

from ..dtypes import DType, bfloat16, complex64, float16, float32, float64
from ..dtypes.packing import pack, unpack
from ..template import Template

LIMIT = 100
"""The maximum number of elements that are read and shown, unless the caller passes another one."""

_MORE = "..."
_BETWEEN = ", "


def ends(shape: Sequence[int], limit: int = LIMIT) -> list[list[int]]:
    """The positions that are shown along each axis, in text and in tables.

    All positions if the tensor has at most `limit` elements. Otherwise a number of them at both ends of each axis:
    half a row of a square matrix of `limit` elements, and fewer if there are more axes.

    >>> ends((2, 3)), ends((1000,))
    ([[0, 1], [0, 1, 2]], [[0, 1, 2, 3, 4, 995, 996, 997, 998, 999]])
    """
    shown = [list(range(min(size, limit + 1))) for size in shape]
    if _fit(shown, limit):
        return shown
    for edge in range(max(isqrt(limit) // 2, 1), 0, -1):
        shown = [_ends(size, edge) for size in shape]
        if _fit(shown, limit):
            return shown
    for axis, positions in enumerate(shown):  # there is no room for both ends of every axis
        shown[axis] = positions[:1]
        if _fit(shown, limit):
            return shown
    return [[] for _ in shape]


def _fit(shown: Sequence[Sequence[int]], limit: int) -> bool:
    return prod(len(positions) or 1 for positions in shown) <= limit  # an empty axis must not hide the other axes


def _ends(size: int, edge: int) -> list[int]:
    return list(range(size)) if size <= 2 * edge else [*range(edge), *range(size - edge, size)]


def abridge(positions: Sequence[int], size: int) -> list[int | None]:
    """Positions along an axis, with `None` in place of omitted ones.

    >>> abridge([0, 1, 8, 9], 10), abridge([0], 2)
    ([0, 1, None, 8, 9], [0, None])
    """
    with_gaps: list[int | None] = []
    following = 0
    for position in positions:
        if position != following:
            with_gaps.append(None)
        with_gaps.append(position)
        following = position + 1
    return with_gaps if following == size else [*with_gaps, None]


def show(
    template: Template,
    backend: str,
    elements: Sequence[object],
    positions: Sequence[Sequence[int]],
    looks: str | None = None,
    width: int | None = None,
) -> str:
    """A tensor as text.

    Parameters
    ----------
    template : Template
        The whole tensor.
    backend : str
        The name of its backend.
    elements : sequence
        The elements at `positions`, row by row.
    positions : sequence of sequence of int
        The positions along each axis, as `ends` returns them.
    looks : str, optional
        The text to show in place of the template.
    width : int, optional
        The number of characters in a line, by default the terminal's. The elements of longer rows are rounded to 8
        digits; if the rows are still too long, they show fewer elements. A tensor of one axis continues on the next
        line.

    Returns
    -------
    str
        The template, the backend and the elements: in one line if there is at most one axis and the line has room,
        else with the elements in columns below.

    Examples
    --------
    >>> from tensorbackend.template import Template
    >>> print(show(Template((), "f32"), "numpy", [1.5], []))
    f32 numpy 1.5
    >>> wide = Template((2, 1000), "f32", ("batch", "feature"))
    >>> print(show(wide, "numpy", [1.0, 20.0, 3.0, 4.5], [[0, 1], [0, 999]]))
    f32[batch: 2][feature: 1000] numpy
    [[1.0, ..., 20.0],
     [3.0, ...,  4.5]]
    """
    width = width or terminal_width()
    first, below = f"{looks or repr(template)} {backend}", show_elements(template, elements, positions, width)
    # Without elements, as `limit=0` requests, what is before the line break says all.
    short = template.ndim < 2 and "\n" not in below and (bool(elements) or not template.size)
    room = short and len(first) + len(below) < width
    return first + (" " if room else "\n") + below


def show_elements(
    template: Template, elements: Sequence[object], positions: Sequence[Sequence[int]], width: int | None = None
) -> str:
    """The elements of a tensor as text, without its template; parameters as in `show`."""
    spelt = ([_text(element, template.dtype, digits) for element in elements] for digits in (None, _DIGITS_OF_MANY))
    return _body(template.shape, spelt, positions, width or terminal_width())


def terminal_width() -> int:
    """The number of characters in a line of the terminal, 80 without a terminal."""
    from shutil import get_terminal_size  # slow to import

    return get_terminal_size().columns


def _body(shape: Sequence[int], spelt: Iterator[list[str]], positions: Sequence[Sequence[int]], width: int) -> str:
    """The elements as text: exact, or in few digits if an exact row is too long."""
    exact = next(spelt)
    if not shape:
        return exact[0] if exact else _MORE
    *leading, last = [abridge(axis_positions, size) for axis_positions, size in zip(positions, shape, strict=True)]
    count = len(positions[-1])
    if not leading:
        return f"[{_wrap(_cells(last, exact), width - 2)}]"
    room = width - 2 * len(shape)
    for texts in chain([exact], spelt):
        columns = [_align(texts[column::count]) for column in range(count)]
        widths = [len(column[0]) if column else 0 for column in columns]
        if _length(widths, range(count), positions[-1], shape[-1]) <= room:
            break
    kept = _choose_columns(widths, positions[-1], shape[-1], room)
    between = abridge([positions[-1][column] for column in kept], shape[-1])
    rows = (_cells(between, [columns[column][row] for column in kept]) for row in range(prod(map(len, positions[:-1]))))
    return _nest(leading, (f"[{_BETWEEN.join(cells)}]" for cells in rows), 1)


def _align(texts: Sequence[str]) -> list[str]:
    """The texts padded to one width, with their decimal points below each other."""
    parts = [text.partition(".") for text in texts]
    whole = max((len(before) for before, _, _ in parts), default=0)
    rest = max((len(point) + len(after) for _, point, after in parts), default=0)
    return [before.rjust(whole) + (point + after).ljust(rest) for before, point, after in parts]


def _cells(positions: Sequence[int | None], texts: Sequence[str]) -> list[str]:
    """The texts of a row, with dots for omitted elements."""
    remaining = iter(texts)
    return [_MORE if position is None else next(remaining) for position in positions]


def _wrap(cells: Sequence[str], width: int) -> str:
    """The elements of one axis in one line, or aligned in several."""
    line = _BETWEEN.join(cells)
    if len(line) <= width:
        return line
    aligned = iter(_align([cell for cell in cells if cell != _MORE]))
    whole = [cell if cell == _MORE else next(aligned) for cell in cells]
    widest = max(map(len, whole))
    remaining, count = iter(whole), max((width + len(_BETWEEN)) // (widest + len(_BETWEEN)), 1)
    lines = iter(lambda: list(islice(remaining, count)), [])
    return ",\n ".join(_BETWEEN.join(cell.rjust(widest) for cell in row) for row in lines)


def _length(widths: Sequence[int], columns: Sequence[int], positions: Sequence[int], size: int) -> int:
    """The number of characters in a row of the given columns, with dots for omitted ones."""
    signs = [
        len(_MORE) if position is None else 0 for position in abridge([positions[column] for column in columns], size)
    ]
    return sum(signs) + sum(widths[column] for column in columns) + len(_BETWEEN) * (len(signs) - 1)


def _choose_columns(widths: Sequence[int], positions: Sequence[int], size: int, room: int) -> list[int]:
    """The columns that fit in a line, as many from one end as from the other."""
    columns = list(range(len(widths)))
    for edge in range(len(columns) // 2, 0, -1):
        if _length(widths, columns, positions, size) <= room:
            break
        columns = [*range(edge), *range(len(widths) - edge, len(widths))]
    return columns


def _nest(leading: Sequence[Sequence[int | None]], rows: Iterator[str], indent: int) -> str:
    if not leading:
        return next(rows)
    parts = (_MORE if position is None else _nest(leading[1:], rows, indent + 1) for position in leading[0])
    between = ",\n" + " " * indent
    return f"[{between.join(parts)}]"


def heading(text: str) -> str:
    """A text, such as a template, as HTML."""
    return f"<code>{_escape(text)}</code>"


def table(text: str, matrix: Template, positions: Sequence[Sequence[int]], cells: Sequence[Sequence[object]]) -> str:
    """A heading, and the elements of a matrix as a table in HTML, in which all text is escaped.

    `positions` are the rows and columns that are shown, as `ends` returns them, and `cells` the elements there.

    >>> from tensorbackend.template import Template
    >>> html = table("f32[row: 1][column: 2]", Template((1, 2), "f32", ("row", "column")), [[0], [0, 1]], [[0.5, 1.0]])
    >>> html.count("<td>"), "<td>0.5</td>" in html
    (2, True)
    """
    rows, columns = (
        abridge(axis_positions, size) for axis_positions, size in zip(positions, matrix.shape, strict=True)
    )
    corner = " \\ ".join(name for name in matrix.names if name)
    lines = [[f"<th>{_escape(corner)}</th>", *(f"<th>{_label(column)}</th>" for column in columns)]]
    values = iter(cells)
    for row in rows:
        elements = iter([] if row is None else next(values))
        texts = (
            _GAP if None in (row, column) else _text(next(elements), matrix.dtype, _DIGITS_OF_MANY)
            for column in columns
        )
        lines.append([f"<th>{_label(row)}</th>", *(f"<td>{cell}</td>" for cell in texts)])
    body = "\n".join(f"<tr>{''.join(line)}</tr>" for line in lines)
    return f"{heading(text)}\n<table>\n{body}\n</table>"


_GAP = "&hellip;"


def _label(position: int | None) -> str:
    return _GAP if position is None else str(position)


def _escape(text: str) -> str:
    from html import escape  # only notebooks need it

    return escape(text)


_DIGITS_OF_MANY = 8
"""The significant digits of an element where many are shown side by side."""


def _text(element: object, dtype: DType, digits: int | None = None) -> str:
    """An element as text, exactly or rounded to `digits` significant digits."""
    if isinstance(element, float):
        return _decimal(element, dtype, digits)
    if isinstance(element, complex):
        part = float32 if dtype is complex64 else float64
        real, imag = _decimal(element.real, part, digits), _decimal(element.imag, part, digits)
        return f"{real}{'' if imag[0] == '-' else '+'}{imag}j"
    return str(element)


def _decimal(value: float, dtype: DType, digits: int | None) -> str:
    exact = _shortest(value, dtype)
    return exact if digits is None or len(exact) <= digits else repr(float(f"{float(exact):.{digits}g}"))


# Significant decimal digits that always suffice to tell two values of a dtype apart.
_DIGITS = {float16: 5, bfloat16: 4, float32: 9}


def _shortest(value: float, dtype: DType) -> str:
    """The shortest decimal that rounds back to the value in its dtype: 0.1, not 0.10000000149."""
    if dtype not in _DIGITS or value != value or value in (float("inf"), float("-inf")):
        return repr(value)
    for digits in range(1, _DIGITS[dtype]):
        short = float(f"{value:.{digits}g}")
        if _round_to(short, dtype) == value:
            return repr(short)
    return repr(float(f"{value:.{_DIGITS[dtype]}g}"))


def _round_to(value: float, dtype: DType) -> float:
    (back,) = unpack(pack([value], dtype), dtype)
    return float(back)


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]], top: int | None = None) -> str:
    """The table as text, each column as wide as its widest cell; with `top`, of the first rows.

    >>> print(plain_table(["name", "n"], [["a", "1"], ["long name", "2"]]))
    name       n
    a          1
    long name  2
    """
    shown = rows[:top]
    widths = [max(map(len, column)) for column in zip(columns, *shown, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (columns, *shown)]
    more = [f"and {len(rows) - len(shown)} more"] if len(rows) > len(shown) else []
    return "\n".join([*map(str.rstrip, lines), *more])
