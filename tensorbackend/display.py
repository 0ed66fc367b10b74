"""Printing: the template on the first line, then as many elements as asked for; for notebooks as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .dtypes import DType, bfloat16, complex64, float16, float32, float64
from .elements import pack, unpack
from .template import Shape, Template

_MORE = "..."

EDGE = 5
"""The number of rows and columns of a large table that are shown at each end."""


def show(template: Template, backend: str, elements: Sequence[object], looks: str | None = None) -> str:
    """A tensor as text; elements beyond those given are shown as `...`, `looks` in place of the template.

    >>> from tensorbackend.template import Template
    >>> print(show(Template((2, 3), "f32", ("batch", "feature")), "numpy", [1.0, 2.0, 3.0, 4.0]))
    f32[batch: 2][feature: 3] numpy
    [[1.0, 2.0, 3.0],
     [4.0, ...]]
    """
    texts = iter([_text(element, template.dtype) for element in elements])
    return f"{looks or repr(template)} {backend}\n{_nested(template.shape, texts, template.size - len(elements), 1)}"


def shown(size: int) -> list[int]:
    """The positions along an axis that a table shows: all of them, or some at each end.

    >>> shown(3), shown(1000)
    ([0, 1, 2], [0, 1, 2, 3, 4, 995, 996, 997, 998, 999])
    """
    return list(range(size)) if size <= 2 * EDGE else [*range(EDGE), *range(size - EDGE, size)]


def heading(text: str) -> str:
    """Text such as a template as HTML."""
    return f"<code>{_escaped(text)}</code>"


def table(text: str, matrix: Template, cells: Sequence[Sequence[object]]) -> str:
    """A heading, and the elements of a matrix as a table in HTML.

    Parameters
    ----------
    text : str
        The heading.
    matrix : Template
        The whole matrix.
    cells : sequence of sequence of object
        The elements in the rows and columns that `shown` gives.

    Returns
    -------
    str
        HTML, in which all text is escaped.

    Examples
    --------
    >>> from tensorbackend.template import Template
    >>> html = table("f32[row: 1][column: 2]", Template((1, 2), "f32", ("row", "column")), [[0.5, 1.0]])
    >>> html.count("<td>"), "<td>0.5</td>" in html
    (2, True)
    """
    rows, columns = (_with_gap(size) for size in matrix.shape)
    corner = " \\ ".join(name for name in matrix.names if name)
    lines = [[f"<th>{_escaped(corner)}</th>", *(f"<th>{column}</th>" for column in columns)]]
    values = iter(cells)
    for row in rows:
        elements = iter([] if row is _GAP else next(values))
        texts = (_GAP if _GAP in (row, column) else _text(next(elements), matrix.dtype) for column in columns)
        lines.append([f"<th>{row}</th>", *(f"<td>{each}</td>" for each in texts)])
    body = "\n".join(f"<tr>{''.join(line)}</tr>" for line in lines)
    return f"{heading(text)}\n<table>\n{body}\n</table>"


_GAP = "&hellip;"


def _with_gap(size: int) -> list[int | str]:
    """The positions that are shown, and a sign for those between them."""
    positions: list[int | str] = [*shown(size)]
    return positions if len(positions) == size else [*positions[:EDGE], _GAP, *positions[EDGE:]]


def _escaped(text: str) -> str:
    from html import escape  # only notebooks need it

    return escape(text)


def _nested(shape: Shape, texts: Iterator[str], missing: int, indent: int) -> str:
    if not shape:
        return next(texts, _MORE)
    between = ", " if len(shape) == 1 else ",\n" + " " * indent
    rows: list[str] = []
    for _ in range(shape[0]):
        row = _nested(shape[1:], texts, missing, indent + 1)
        rows.append(row)
        if missing and row.endswith(_MORE + "]" * (len(shape) - 1)):
            break
    return f"[{between.join(rows)}]"


def _text(element: object, dtype: DType) -> str:
    if isinstance(element, float):
        return _shortest(element, dtype)
    if isinstance(element, complex):
        part = float32 if dtype is complex64 else float64
        real, imag = _shortest(element.real, part), _shortest(element.imag, part)
        return f"{real}{'' if imag[0] == '-' else '+'}{imag}j"
    return str(element)


# Significant decimal digits that always suffice to tell two values of a dtype apart.
_DIGITS = {float16: 5, bfloat16: 4, float32: 9}


def _shortest(value: float, dtype: DType) -> str:
    """The shortest decimal that rounds back to the value in its dtype: 0.1, not 0.10000000149."""
    if dtype not in _DIGITS or value != value or value in (float("inf"), float("-inf")):
        return repr(value)
    for digits in range(1, _DIGITS[dtype]):
        short = float(f"{value:.{digits}g}")
        if _rounded(short, dtype) == value:
            return repr(short)
    return repr(float(f"{value:.{_DIGITS[dtype]}g}"))


def _rounded(value: float, dtype: DType) -> float:
    (back,) = unpack(pack([value], dtype), dtype)
    return float(back)


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The table as text, each column as wide as its widest cell.

    >>> print(plain_table(["name", "n"], [["a", "1"], ["long name", "2"]]))
    name       n
    a          1
    long name  2
    """
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (columns, *rows))
    return "\n".join(map(str.rstrip, lines))
