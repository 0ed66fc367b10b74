"""Random initial weights, scaled by the numbers of inputs and outputs; equal to those of JAX.

The axes of inputs and outputs are by default the last two, as in `x @ weight`; for a kernel of `tb.nn.conv`, pass
`inputs=1, outputs=0`. All other axes are positions of a receptive field.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, Protocol

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..docstrings.sections import as_compiled
from ..dtypes import DTypeLike, as_dtype, float32, promote_types
from ..errors import ArgumentError, ShapeError, expected
from ..ops.composite.random.continuous import normal, truncated_normal, uniform
from ..ops.creation.filled import rename
from ..ops.elementwise.basic import astype
from ..ops.linalg import qr
from ..ops.shape import matrix_transpose, permute_dims, reshape
from ..rules.axes import normalize_axis
from ..rules.plan import choice, number
from ..rules.random import check_floating
from ..template import NamesLike, Template
from ..tensor import Tensor, TensorLike

TRUNCATED = 0.87962566103423978
"""The standard deviation of the standard normal distribution, truncated to -2 to 2."""

Fan = Literal["inputs", "outputs", "mean"]
Distribution = Literal["normal", "truncated normal", "uniform"]


def _variance(scale: float) -> float:
    given = number(scale=scale)
    if not 0 <= given < math.inf:
        raise ArgumentError(expected("a finite number of at least 0 as scale", scale=scale))
    return given


def _weight_template(shape: Sequence[int], dtype: DTypeLike | None, names: NamesLike) -> Template:
    """The template of a weight, which has at least two axes."""
    template = Template(shape, check_floating(None if dtype is None else as_dtype(dtype)), names)
    if template.ndim < 2:
        raise ShapeError(expected("a weight of at least two axes", shape=template.shape))
    return template


@check_arguments
def variance_scaling(
    key: TensorLike,
    /,
    shape: Sequence[int],
    *,
    scale: float = 1.0,
    fan: Fan = "inputs",
    distribution: Distribution = "truncated normal",
    inputs: Axis = -2,
    outputs: Axis = -1,
    dtype: DTypeLike | None = None,
    names: NamesLike = None,
) -> Tensor:
    """Draw random numbers with mean 0 and variance `scale` / fan, the number of inputs or outputs of a unit.

    Parameters
    ----------
    scale : float, default 1.0
        The variance times the fan.
    fan : {"inputs", "outputs", "mean"}, default "inputs"
        The number of inputs or outputs of each unit, or the mean of both.
    distribution : {"normal", "truncated normal", "uniform"}, default "truncated normal"
        The distribution; the truncated normal one has no numbers beyond two standard deviations.

    Raises
    ------
    ArgumentError
        For a scale below 0, or one that is not finite.

    Examples
    --------
    >>> weight = tb.nn.variance_scaling(tb.random.key(0), (400, 100), names=("feature", "unit"))
    >>> abs(tb.std(weight).item() * 20 - 1) < 0.02
    True
    """
    template = _weight_template(shape, dtype, names)
    choice(("inputs", "outputs", "mean"), fan=fan)
    choice(("normal", "truncated normal", "uniform"), distribution=distribution)
    first, second = normalize_axis(template, inputs), normalize_axis(template, outputs)
    if first == second:
        raise ShapeError(expected("two axes, for inputs and outputs", inputs=inputs, outputs=outputs))
    places = math.prod(size for axis, size in enumerate(template.shape) if axis not in (first, second))
    fans = template.shape[first] * places, template.shape[second] * places
    count = {"inputs": fans[0], "outputs": fans[1], "mean": (fans[0] + fans[1]) / 2}[fan]
    deviation = math.sqrt(_variance(scale) / max(1.0, count))
    if distribution == "uniform":
        return uniform(key, shape, template.dtype, -1, names=names) * (math.sqrt(3) * deviation)
    if distribution == "normal":
        return normal(key, shape, template.dtype, names=names) * deviation
    return truncated_normal(key, -2, 2, shape, template.dtype, names=names) * (deviation / TRUNCATED)


class Initialiser(Protocol):
    """A function that makes weights whose variance follows from their shape."""

    def __call__(
        self,
        key: TensorLike,
        /,
        shape: Sequence[int],
        *,
        inputs: Axis = -2,
        outputs: Axis = -1,
        dtype: DTypeLike | None = None,
        names: NamesLike = None,
    ) -> Tensor:
        """The weight."""


def _initialiser(name: str, variance: str, scale: float, fan: Fan, distribution: Distribution) -> Initialiser:
    """An initialiser: `variance_scaling` with the scale, fan and distribution fixed."""

    def initialiser(
        key: TensorLike,
        /,
        shape: Sequence[int],
        *,
        inputs: Axis = -2,
        outputs: Axis = -1,
        dtype: DTypeLike | None = None,
        names: NamesLike = None,
    ) -> Tensor:
        return variance_scaling(
            key, shape, scale=scale, fan=fan, distribution=distribution,
            inputs=inputs, outputs=outputs, dtype=dtype, names=names,
        )  # fmt: skip

    initialiser.__name__ = initialiser.__qualname__ = name
    initialiser.__doc__ = as_compiled(f"""{distribution.capitalize()} numbers of variance {variance}.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.nn.{name}(tb.random.key(0), (3, 4)).template
    f32[3][4]

    See Also
    --------
    variance_scaling : Takes any scale, fan and distribution.
    """)
    return check_arguments(initialiser)


_BOTH, _OF_INPUTS = "2 / (inputs + outputs) (Glorot and Bengio 2010)", "1 / inputs (LeCun et al. 1998)"
_FOR_RELU = "2 / inputs, for `relu` (He et al. 2015)"
glorot_uniform = _initialiser("glorot_uniform", _BOTH, 1.0, "mean", "uniform")
glorot_normal = _initialiser("glorot_normal", _BOTH, 1.0, "mean", "truncated normal")
he_uniform = _initialiser("he_uniform", _FOR_RELU, 2.0, "inputs", "uniform")
he_normal = _initialiser("he_normal", _FOR_RELU, 2.0, "inputs", "truncated normal")
lecun_uniform = _initialiser("lecun_uniform", _OF_INPUTS, 1.0, "inputs", "uniform")
lecun_normal = _initialiser("lecun_normal", _OF_INPUTS, 1.0, "inputs", "truncated normal")


@check_arguments
def orthogonal(
    key: TensorLike,
    /,
    shape: Sequence[int],
    *,
    scale: float = 1.0,
    outputs: Axis = -1,
    dtype: DTypeLike | None = None,
    names: NamesLike = None,
) -> Tensor:
    """Draw a random matrix with orthonormal rows or columns, whichever are fewer (Saxe et al. 2014).

    Parameters
    ----------
    shape : sequence of int
        The shape of the weight, with at least two axes. All axes except that of the outputs form the rows of the
        matrix.
    scale : float, default 1.0
        The length of the rows or columns.
    dtype : dtype, optional
        A floating dtype; by default the default floating dtype. For dtypes narrower than float32, the matrix is
        computed in float32.

    Examples
    --------
    >>> weight = tb.nn.orthogonal(tb.random.key(0), (5, 3))
    >>> bool(tb.all_close(weight.mT @ weight, tb.eye(3), atol=1e-5))
    True
    """
    template = _weight_template(shape, dtype, names)
    kind = template.dtype
    along = normalize_axis(template, outputs)
    columns = template.shape[along]
    rows = template.size // columns if columns else 0
    drawn = normal(key, (max(rows, columns), min(rows, columns)), kind)
    basis = qr(astype(drawn, promote_types(kind, float32)))[0]
    matrix = astype((matrix_transpose(basis) if rows < columns else basis) * scale, kind)
    rest = tuple(size for axis, size in enumerate(template.shape) if axis != along)
    whole = reshape(matrix, (*rest, columns), names=(None,) * template.ndim)
    order = (*range(along), template.ndim - 1, *range(along, template.ndim - 1))
    return rename(permute_dims(whole, order), *template.names)
