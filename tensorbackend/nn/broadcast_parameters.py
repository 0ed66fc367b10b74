"""Parameters, reshaped to broadcast along the axes that they belong to."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import NamesError, ShapeError, expected
from ..ops.shape import permute_dims, reshape
from ..template import check_meeting
from ..tensor import Tensor


def reshape_parameter(parameter: Tensor, x: Tensor, axes: Sequence[int], what: str) -> Tensor:
    """The parameter for some axes of x, reshaped to broadcast with x.

    [feature: 4] for axis 1 of [batch: 2][feature: 4][time: 3] is [1][feature: 4][1]. A parameter for several
    axes has them in x's order or, if they are named, in any order.
    """
    axes = sorted(axes)
    if parameter.ndim == len(axes) and None not in parameter.names:
        axis_names = [x.names[axis] for axis in axes]
        if {*parameter.names} == {*axis_names}:
            parameter = permute_dims(parameter, tuple(map(parameter.names.index, axis_names)))
    sizes = tuple(x.shape[axis] for axis in axes)
    if parameter.shape != sizes:
        raise ShapeError(
            expected(f"{what} of shape {sizes}", **{what.split()[-1]: parameter.template, "x": x.template})
        )
    names: list[str | None] = [None] * x.ndim
    shape = [1] * x.ndim
    for place, axis in enumerate(axes):
        names[axis], shape[axis] = parameter.names[place], parameter.shape[place]
        check_meeting((parameter.names[place],), (x.names[axis],), parameter.template, x.template)
    if len({name for name in names if name}) < sum(name is not None for name in names):
        raise NamesError(expected("each name once in a tensor", names=tuple(names)))
    return reshape(parameter, tuple(shape), names=tuple(names))
