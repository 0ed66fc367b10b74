"""Activation functions of neural networks, in `tb.nn`.

Results in float16 and bfloat16 are computed in float32 and rounded once. Integers are converted to the default
floating dtype, except in `relu`, which keeps their dtype. At 0 the gradient is the one from the left; at the two kinks
of the hard variants it is the mean of the slopes on both sides.
"""

from __future__ import annotations

import math

from ....dispatch import composite
from ....dtypes import finfo, float32, promote_types
from ....rules.accuracy import LIBRARY, Bound
from ....rules.broadcasting import check_dtype, to_floating
from ....tensor import Tensor
from ...elementwise.basic import astype, where
from ...elementwise.binary import maximum, minimum
from ...elementwise.complex_functions import sigmoid
from ...elementwise.transcendental import erfc, exp, expm1
from .functions import logaddexp

SELU_SCALE = 1.0507009873554804934193349852946
SELU_ALPHA = 1.6732632423543772848170429916717
"""The constants with which mean 0 and variance 1 are a fixed point (Klambauer et al. 2017, equation 14)."""

FEW_STEPS = Bound(8, "functions with a few ulps each")
# gelu(-38) in float64 is about exp(-722), and the rounding of 722 is an error of up to 1444 ulps of that.
MAGNIFIED = Bound(1536, "an exponential, which magnifies the rounding of its argument")


def _wide(x: Tensor) -> Tensor:
    """x in the floating dtype that an activation is computed in."""
    dtype = to_floating(check_dtype(x.dtype, "real or bool"))
    return astype(x, promote_types(dtype, float32))


def _narrow(result: Tensor, x: Tensor) -> Tensor:
    """A result in the floating dtype of x."""
    return astype(result, to_floating(x.dtype))


@composite
def relu(x: Tensor, /) -> Tensor:
    """Rectified linear unit: max(x, 0). The gradient at 0 is 0.

    Parameters
    ----------
    x : Tensor
        A tensor of any shape, of a real dtype.

    Returns
    -------
    Tensor
        A tensor with the shape, dtype and names of x.

    Raises
    ------
    DTypeError
        For a complex dtype, and bool.

    Examples
    --------
    >>> tb.nn.relu(tb.asarray([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    check_dtype(x.dtype, "real")
    return maximum(x, 0)


@composite
def leaky_relu(x: Tensor, /, *, slope: float = 0.01) -> Tensor:
    """Leaky rectified linear unit: x where it is positive, elsewhere x times a slope.

    Parameters
    ----------
    slope : float, default 0.01
        The factor where x is not positive.

    Examples
    --------
    >>> tb.nn.leaky_relu(tb.asarray([-1.0, 2.0]), slope=0.5).tolist()
    [-0.5, 2.0]
    """
    wide = _wide(x)
    return _narrow(where(wide > 0, wide, wide * slope), x)


def _exponential(wide: Tensor, alpha: float) -> Tensor:
    """x where it is positive, elsewhere alpha * (exp(x) - 1)."""
    positive = wide > 0
    return where(positive, wide, expm1(where(positive, 0, wide)) * alpha)


@composite.within(LIBRARY)
def elu(x: Tensor, /, *, alpha: float = 1.0) -> Tensor:
    """x where it is positive, elsewhere alpha * (exp(x) - 1).

    Parameters
    ----------
    alpha : float, default 1.0
        The scale of the negative part, whose limit at -inf is -alpha.

    Examples
    --------
    >>> tb.nn.elu(tb.asarray([-1000.0, 2.0])).tolist()
    [-1.0, 2.0]

    References
    ----------
    D.-A. Clevert, T. Unterthiner, S. Hochreiter: Fast and accurate deep network learning by exponential linear units,
    ICLR 2016.
    """
    return _narrow(_exponential(_wide(x), alpha), x)


@composite.within(FEW_STEPS)
def selu(x: Tensor, /) -> Tensor:
    """Scaled exponential linear unit: `elu` with the alpha and the scale that keep mean 0 and variance 1.

    Examples
    --------
    >>> [round(element, 4) for element in tb.nn.selu(tb.asarray([-1000.0, 1.0])).tolist()]
    [-1.7581, 1.0507]

    References
    ----------
    G. Klambauer, T. Unterthiner, A. Mayr, S. Hochreiter: Self-normalizing neural networks, NeurIPS 2017.
    """
    return _narrow(_exponential(_wide(x), SELU_ALPHA) * SELU_SCALE, x)


def _gate(wide: Tensor, gate: Tensor) -> Tensor:
    """x times a gate that is 0 at -inf."""
    return _clip_minus_infinity(wide) * gate


def _clip_minus_infinity(wide: Tensor) -> Tensor:
    """x with the smallest finite number in place of -inf, as -inf times a gate of 0 is NaN."""
    return maximum(wide, -finfo(wide.dtype).max)


@composite.within(FEW_STEPS)
def silu(x: Tensor, /) -> Tensor:
    """x * sigmoid(x), also called swish.

    Examples
    --------
    >>> tb.nn.silu(tb.asarray([-float("inf"), 0.0, 100.0])).tolist()
    [-0.0, 0.0, 100.0]

    References
    ----------
    D. Hendrycks, K. Gimpel: Gaussian error linear units, 2016, arXiv:1606.08415.
    """
    wide = _wide(x)
    # Far below 0 the sigmoid is exp(x), which is subnormal before the product is: so x is multiplied by its root twice.
    root = exp(minimum(wide, 0.0) * 0.5)
    far = _gate(wide, root) * root
    return _narrow(where(wide < -40.0, far, _gate(wide, sigmoid(wide))), x)


@composite.within(MAGNIFIED)
def gelu(x: Tensor, /, *, approximate: bool = False) -> Tensor:
    """Gaussian error linear unit: x times the probability that a standard normal number is less than x.

    Parameters
    ----------
    approximate : bool, default False
        Whether to use the paper's formula with the hyperbolic tangent, in a form that is accurate where the result
        is tiny, instead of the complementary error function.

    Examples
    --------
    >>> [round(tb.nn.gelu(1.0, approximate=approximate).item(), 5) for approximate in (False, True)]
    [0.84134, 0.84119]

    References
    ----------
    D. Hendrycks, K. Gimpel: Gaussian error linear units, 2016, arXiv:1606.08415.
    """
    wide = _wide(x)
    if approximate:
        # (1 + tanh(z)) / 2 is sigmoid(2 * z). Beyond 32 the gate is 0 or 1; clipping x there keeps its cube finite.
        near = minimum(maximum(wide, -32.0), 32.0)
        cube = near * near * near
        gate = sigmoid((near + cube * 0.044715) * (2 * math.sqrt(2 / math.pi)))
        return _narrow(_gate(wide, gate), x)
    # x is halved and not the gate, which would become subnormal sooner.
    gate = erfc(wide * -math.sqrt(0.5))
    return _narrow(_clip_minus_infinity(wide) * 0.5 * gate, x)


@composite.within(FEW_STEPS)
def softplus(x: Tensor, /) -> Tensor:
    """log(1 + exp(x)), without overflow.

    >>> [round(element, 4) for element in tb.nn.softplus(tb.asarray([0.0, 1000.0])).tolist()]
    [0.6931, 1000.0]
    """
    return _narrow(logaddexp(_wide(x), 0.0), x)


@composite.within(FEW_STEPS)
def log_sigmoid(x: Tensor, /) -> Tensor:
    """The logarithm of `sigmoid`, accurate where the result is tiny.

    >>> tb.nn.log_sigmoid(tb.asarray([-1000.0])).tolist()
    [-1000.0]
    """
    return _narrow(-logaddexp(-_wide(x), 0.0), x)


@composite
def hard_tanh(x: Tensor, /) -> Tensor:
    """x clipped to the range from -1 to 1.

    >>> tb.nn.hard_tanh(tb.asarray([-3.0, 0.5])).tolist()
    [-1.0, 0.5]
    """
    return _narrow(minimum(maximum(_wide(x), -1.0), 1.0), x)


@composite.within(FEW_STEPS)
def hard_sigmoid(x: Tensor, /) -> Tensor:
    """x / 6 + 1/2 clipped to the range from 0 to 1.

    Examples
    --------
    >>> tb.nn.hard_sigmoid(tb.asarray([-3.0, 0.0, 4.0])).tolist()
    [0.0, 0.5, 1.0]

    References
    ----------
    A. Howard et al.: Searching for MobileNetV3, ICCV 2019.
    """
    return _narrow(_hard_gate(_wide(x)), x)


@composite.within(FEW_STEPS)
def hard_silu(x: Tensor, /) -> Tensor:
    """x * hard_sigmoid(x), also called hard swish.

    Examples
    --------
    >>> tb.nn.hard_silu(tb.asarray([-4.0, 0.0, 4.0])).tolist()
    [-0.0, 0.0, 4.0]

    References
    ----------
    A. Howard et al.: Searching for MobileNetV3, ICCV 2019.
    """
    wide = _wide(x)
    return _narrow(_gate(wide, _hard_gate(wide)), x)


def _hard_gate(wide: Tensor) -> Tensor:
    return minimum(maximum(wide + 3.0, 0.0), 6.0) * (1 / 6)
