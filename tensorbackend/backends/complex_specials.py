"""The values of complex functions where a part is infinite or NaN: tables that every backend reads.

The values are the Array API standard's (2024.12), and C99's (annex G) where the standard has no row. A sign that both
leave open is positive in the quadrant that a table lists. In the other quadrants values follow by symmetry: all these
functions have f(conj(z)) = conj(f(z)), some are odd (f(-z) = -f(z)), cosh is even.
"""

from __future__ import annotations

from math import inf, nan, pi
from typing import NamedTuple

Entry = tuple[float, float]
Row = tuple[Entry, Entry, Entry, Entry]


class Specials(NamedTuple):
    """The special values of one function of z = a + bj."""

    symmetry: str
    """"odd" or "even" where a negative `a` follows from a positive one, else ""."""
    real: tuple[float, ...]
    """Real parts: rows by the kind of `a` (-inf, 0, finite, inf, NaN), columns by that of abs(b) (0, finite, inf,
    NaN), row-major. Where both parts are finite there is no special value, and the entry is not read."""
    imaginary: tuple[float, ...]
    """Imaginary parts in the same order, for a non-negative `b`."""
    rotates: bool
    """Whether the parts at an infinite `a` and a finite `b` other than 0 are multiplied by cos(b) and sin(b)."""


_N: Entry = (nan, nan)
_X: Entry = (0.0, 0.0)  # not read


def _table(*rows: Row, symmetry: str = "", rotates: bool = False) -> Specials:
    """A table of rows for an `a` of -inf (left out where that row follows by symmetry), 0, finite, inf and NaN."""
    if symmetry:
        rows = (rows[2], *rows)
    entries = [entry for row in rows for entry in row]
    return Specials(symmetry, tuple(re for re, _ in entries), tuple(im for _, im in entries), rotates)


_FINITE_EXP: Row = (_X, _X, _N, _N)
_NAN_EXP: Row = ((nan, 0.0), _N, _N, _N)
_INF_EXP: Row = ((inf, 0.0), (inf, inf), (inf, nan), (inf, nan))
_LOG = _table(
    ((inf, pi), (inf, pi), (inf, 0.75 * pi), (inf, nan)),
    *2 * ((_X, _X, (inf, pi / 2), _N),),
    ((inf, 0.0), (inf, 0.0), (inf, pi / 4), (inf, nan)),
    (_N, _N, (inf, nan), _N),
)

SPECIALS: dict[str, Specials] = {
    "acos": _table(
        ((pi, -inf), (pi, -inf), (0.75 * pi, -inf), (nan, inf)),
        (_X, _X, (pi / 2, -inf), (pi / 2, nan)),
        (_X, _X, (pi / 2, -inf), _N),
        ((0.0, -inf), (0.0, -inf), (pi / 4, -inf), (nan, inf)),
        (_N, _N, (nan, -inf), _N),
    ),
    "acosh": _table(
        ((inf, pi), (inf, pi), (inf, 0.75 * pi), (inf, nan)),
        (_X, _X, (inf, pi / 2), (nan, pi / 2)),
        (_X, _X, (inf, pi / 2), _N),
        ((inf, 0.0), (inf, 0.0), (inf, pi / 4), (inf, nan)),
        (_N, _N, (inf, nan), _N),
    ),
    "asinh": _table(
        *2 * ((_X, _X, (inf, pi / 2), _N),),
        ((inf, 0.0), (inf, 0.0), (inf, pi / 4), (inf, nan)),
        ((nan, 0.0), _N, (inf, nan), _N),
        symmetry="odd",
    ),
    "atanh": _table(
        (_X, _X, (0.0, pi / 2), (0.0, nan)),
        (_X, _X, (0.0, pi / 2), _N),
        ((0.0, pi / 2), (0.0, pi / 2), (0.0, pi / 2), (0.0, nan)),
        (_N, _N, (0.0, pi / 2), _N),
        symmetry="odd",
    ),
    "cosh": _table(
        (_X, _X, (nan, 0.0), (nan, 0.0)), _FINITE_EXP, _INF_EXP, _NAN_EXP, symmetry="even", rotates=True
    ),
    "exp": _table(4 * ((0.0, 0.0),), *2 * (_FINITE_EXP,), _INF_EXP, _NAN_EXP, rotates=True),
    "log": _LOG,
    "log1p": _LOG,
    "sinh": _table(
        (_X, _X, (0.0, nan), (0.0, nan)), _FINITE_EXP, _INF_EXP, _NAN_EXP, symmetry="odd", rotates=True
    ),
    "sqrt": _table(
        ((0.0, inf), (0.0, inf), (inf, inf), (nan, inf)),
        *2 * ((_X, _X, (inf, inf), _N),),
        ((inf, 0.0), (inf, 0.0), (inf, inf), (inf, nan)),
        (_N, _N, (inf, inf), _N),
    ),
    "tanh": _table(
        (_X, _X, (0.0, nan), (0.0, nan)), _FINITE_EXP, 4 * ((1.0, 0.0),), _NAN_EXP, symmetry="odd"
    ),
}  # fmt: skip
