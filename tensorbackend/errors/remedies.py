"""What to write in place of shapes and names that do not fit, told from the values alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .hints import rows


def of_shape(shape: object) -> dict[str, str]:
    """What to write in place of what is no shape, by function; that for `""` is for any other.

    >>> of_shape({"a": 2, "b": 3})[""], of_shape(3.0)[""]
    ("write (2, 3), and names=('a', 'b')", 'write 3')
    """
    several: list[Any] = list(shape) if isinstance(shape, list | tuple) else [shape]
    pairs: Mapping[Any, Any] = shape if isinstance(shape, Mapping) else {}
    if several and several[0] is None and all(isinstance(pair, tuple) and len(pair) == 2 for pair in several[1:]):
        pairs = dict(several[1:])  # a mapping as the key of a call has it
    if pairs:
        if not all(map(_is_size, pairs.values())):
            return {}
        return {"": f"write {(*pairs.values(),)!r}, and names={(*pairs,)!r}"}
    of_draws = {**rows("arguments.shape", "arguments.dtype")}
    if all(_is_size(size) or (isinstance(size, float) and size.is_integer()) for size in several):
        whole = tuple(map(int, several))
        return of_draws | {"": f"write {whole if isinstance(shape, list | tuple) else whole[0]}"}
    if not all(isinstance(size, int | str) or type(size).__name__ == "DType" for size in several):
        return of_draws
    named = "names of axes are names=('time', 'place')"
    if type(several[-1]).__name__ in ("str", "DType") and all(isinstance(size, int) for size in several[:-1]):
        named += f", and a dtype is dtype={str(several[-1])!r}"
    return {"": named}


def _is_size(size: object) -> bool:
    """Whether a number could be a size; one of thousands of digits cannot be shown."""
    return type(size) is int and abs(size) < 1 << 63


def of_no_real_number(is_complex: bool) -> str:
    """What to write in place of a result of a complex dtype or of whole numbers, where a gradient is asked for.

    >>> of_no_real_number(True), of_no_real_number(False)
    ('take its real() or abs()', 'compute it in a floating dtype, as integers and bools have no gradient')
    """
    whole = "compute it in a floating dtype, as integers and bools have no gradient"
    return "take its real() or abs()" if is_complex else whole


def of_names(names: Sequence[Any], ndim: int) -> str:
    """What to write in place of a number of names that is not that of the axes, or of names that occur twice.

    >>> of_names(["point"], 2), of_names(["point", "point"], 2)
    ("write ('point', 'point2'), or ('point', None)", "write ('point', 'point2')")
    >>> of_names(["a", "b", "c"], 2)
    'use None for an axis without, as in (None, None)'
    """
    if len(names) == 1 and ndim == 2 and isinstance(names[0], str):
        return f"write {(names[0], f'{names[0]}2')}, or {(names[0], None)}"
    if 0 < len(names) < ndim and all(name is None or isinstance(name, str) for name in names):
        return f"use None for an axis without, as in {(*names, *[None] * (ndim - len(names)))}"
    if len(names) != ndim or not all(name is None or isinstance(name, str) for name in names):
        return f"use None for an axis without, as in {(None,) * ndim}"
    told: list[str | None] = []
    for place, name in enumerate(names):
        count = names[: place + 1].count(name)
        told.append(name if name is None or count == 1 else f"{name}{count}")
    return f"write {tuple(told)}"


def of_meeting(left: Sequence[str | None], right: Sequence[str | None], *, whole: bool = True) -> str:
    """What to write where the names of two operands, or of some of their axes, differ at one place.

    >>> of_meeting(("row", "column"), ("column", "row"))
    "right.rename('row', 'column') pairs the axes by position, right.align_as(left) by name"
    """
    if None in left or None in right:  # as align_as() takes no axis without a name
        return "rename() one, or name every axis for align_as()"
    if not {*left} & {*right}:
        return "rename() lets their axes pair by position, aligned(x, y, outer=True) by name"
    if whole and len(left) == len(right) and {*left} == {*right}:
        renamed = f"right.rename({', '.join(map(repr, left))})"
        return f"{renamed} pairs the axes by position, right.align_as(left) by name"
    return "align_as() pairs axes by name, rename() lets them pair by position"


def of_element(element: object) -> str:
    """What to write in place of what is no number.

    >>> of_element(None), of_element("text")
    ("write float('nan') for a number that is missing", '')
    """
    if element is None:
        return "write float('nan') for a number that is missing"
    return "write tb.sparse.from_scipy(A)" if type(element).__module__.startswith("scipy.sparse") else ""


def install_remedy(*extras: str) -> str:
    """The command that installs one of some extras. It names a checkout, as no package index has the package yet."""
    return "in a checkout of tensorbackend: " + " or ".join(f"pip install '.[{extra}]'" for extra in extras)
