"""The meaning of an annotation beyond its type, such as that an int or a name is an axis.

An alias carries its `Meaning` as metadata. So `Axis` and `int | str` are different objects, however an annotation
spells them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple, TypeAlias


class Meaning(NamedTuple):
    """The meaning of a parameter that is annotated with an alias."""

    word: Literal["tensor", "axis", "axes", "sole axis", "dtype", "like", "shape"]


Axis: TypeAlias = Annotated[int | str, Meaning("axis")]
"""An axis by position, negative ones from the end, or by name."""

Axes: TypeAlias = Annotated[Axis | Sequence[Axis] | None, Meaning("axes")]
"""Axes of a reduction: one, several, or `None` for all."""

SoleAxis: TypeAlias = Annotated[Axis | None, Meaning("sole axis")]
"""An axis that may be left out, as `None`, where the tensor has only one."""

ShapeLike: TypeAlias = Annotated[int | Sequence[int], Meaning("shape")]
"""The sizes of axes: a sequence of ints, or one int."""

Ints: TypeAlias = tuple[int, ...]
"""Ints as a callback gets them in an option: positions of axes, sizes, strides."""
