"""Complex functions with tensorbackend's special values, where nothing but the result overflows or underflows.

PyTorch's functions are kept for finite numbers of moderate size. Where a part is infinite or NaN the tables of
`tensorbackend.extending` decide, and where a step on the way may overflow the formulas work on the parts.
complex64 is computed in complex128.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import TypeAlias

from tensorbackend.extending import ComplexFormulas

from .library import torch
from .looking import may_look
from .ways import Array

Function: TypeAlias = Callable[..., Array]


def join(real: Array, imaginary: Array) -> Array:
    """Makes a complex tensor of its parts; arithmetic with 1j loses signs of zeros, and turns infinities into NaN."""
    return torch.complex(*torch.broadcast_tensors(real, imaginary))


def parts(z: Array) -> tuple[Array, Array]:
    """The real and the imaginary part."""
    return torch.real(z), torch.imag(z)


def all_finite(values: Array) -> bool:
    """Whether all values are known to be finite, by their sum; if that overflows, or in a trace, the answer is no."""
    if not may_look():
        return False
    numbers = torch.view_as_real(values) if values.is_complex() else values
    return math.isfinite(numbers.sum().item())


def widened(function: Function) -> Function:
    """A function computed in complex128, its result in the dtype of its operands."""

    @wraps(function)
    def in_complex128(*operands: Array) -> Array:
        return function(*(z.to(torch.complex128) for z in operands)).to(operands[0].dtype)

    return in_complex128


class _Formulas(ComplexFormulas):
    """The shared formulas, on PyTorch's functions."""

    def join(self, real: Array, imaginary: Array) -> Array:
        return join(real, imaginary)

    def constants(self, values: tuple[float, ...], places: Array) -> Array:
        return torch.tensor(values, dtype=torch.float64, device=places.device)[places]

    def abs(self, x: Array) -> Array:
        return magnitude(x) if x.is_complex() else torch.abs(x)

    def frexp(self, x: Array) -> tuple[Array, Array]:
        mantissa, exponent = torch.frexp(x)
        return torch.where(torch.isfinite(x), mantissa, x), exponent

    def ldexp(self, x: Array, exponent: Array) -> Array:
        return scale(x, exponent)

    def ascontiguousarray(self, x: Array) -> Array:
        return x


formulas = _Formulas(torch)


# Functions of one number


def _whole(finite: Function, values: Function) -> Function:
    """Makes a function of all numbers: `finite` computes finite numbers, `values` the others."""

    @widened
    def function(z: Array) -> Array:
        if all_finite(z):
            return finite(z)
        inside = torch.isfinite(z)
        return torch.where(inside, finite(torch.where(inside, z, 0)), values(z))

    return function


def _table(name: str) -> Function:
    return lambda z: formulas.special(name, z)


def _rotated(function: Function) -> Function:
    """f(z) = -i g(iz): the sine from the hyperbolic one, and likewise all of these (Array API standard)."""
    return lambda z: formulas.divide_by_i(function(formulas.multiply_by_i(z)))


def _steps(c: Array, s: Array, a: Array, half: float = 1.0) -> Array:
    """(c + sj) * exp(a) * half: exp(a) may overflow where a product with a small sine does not."""
    step = 700.0
    for _ in range(3):
        over = a > step
        factor = torch.ones_like(a).masked_fill(over, math.exp(step))
        c, s, a = c * factor, s * factor, torch.where(over, a - step, a)
    last = torch.exp(a.clamp(max=step))
    # Halve before the last product: a sine may be subnormal, and the product may overflow.
    return join(c * half * last, s * half * last)


def _exp(z: Array) -> Array:
    a, b = parts(z)
    if (torch.abs(a) < 700.0).all():
        return torch.exp(z)
    return _steps(torch.cos(b), torch.sin(b), a)


def _cosh(z: Array, odd: bool = False) -> Array:
    """cosh(a) cos(b) + sinh(a) sin(b) j; if it is `odd`, the hyperbolic sine, whose parts have the other factors."""
    a, b = parts(z)
    size, side = torch.abs(a), torch.copysign(torch.ones_like(a), a)
    c, s = (side * torch.cos(b), torch.sin(b)) if odd else (torch.cos(b), side * torch.sin(b))
    small = size.clamp(max=22.0)
    rise, run = torch.sinh(small), torch.cosh(small)
    near = join(rise * c, run * s) if odd else join(run * c, rise * s)
    return torch.where(size < 22.0, near, _steps(c, s, size, 0.5))


def _sinh(z: Array) -> Array:
    return _cosh(z, odd=True)


def _tanh(z: Array) -> Array:
    """sinh(a) cosh(a) / d and sin(b) cos(b) / d, with d = sinh(a)**2 + cos(b)**2 (Kahan, 1987)."""
    a, b = parts(z)
    size = torch.abs(a)
    small = size.clamp(max=22.0)
    sine, cosine = torch.sin(b), torch.cos(b)
    rise, run = torch.sinh(small), torch.cosh(small)
    below = rise * rise + cosine * cosine
    near = join(torch.copysign(rise * run / below, a), sine * cosine / below)
    decay = torch.exp(-2 * size)
    large = join(torch.copysign(torch.ones_like(a), a), 4 * sine * cosine * decay)
    return torch.where(size < 22.0, near, large)


def _expm1(z: Array) -> Array:
    """exp(z) - 1 = expm1(a) cos(b) - 2 sin(b/2)**2 + exp(a) sin(b) j: no part loses digits near zero."""
    a, b = parts(z)
    half = torch.sin(0.5 * b)
    near = join(torch.expm1(a) * torch.cos(b) - 2 * half * half, torch.exp(a) * torch.sin(b))
    return torch.where(a > 700.0, _exp(z), near)  # 1 is far below the last place there


def _log(z: Array) -> Array:
    """The real part is half of log1p(a**2 + b**2 - 1) near the unit circle, else the logarithm of the magnitude."""
    a, b = parts(z)
    larger, smaller = torch.maximum(torch.abs(a), torch.abs(b)), torch.minimum(torch.abs(a), torch.abs(b))
    # The square of a float64 is the sum of two: the terms that cancel are added exactly.
    high, low = _square(larger)
    high2, low2 = _square(smaller)
    beyond = ((high - 1) + high2) + (low + low2)
    exponent = torch.frexp(larger)[1]
    scaled = torch.hypot(scale(larger, -exponent), scale(smaller, -exponent))
    far = torch.log(scaled) + exponent.to(a.dtype) * math.log(2)
    size = torch.hypot(larger, smaller)
    ordinary = (size > 1e-300) & (size < 1e300)
    far = torch.where(ordinary, torch.log(size), far)
    near = (larger > 0.5) & (larger < 2.0) & (beyond > -0.5) & (beyond < 1.0)
    return join(torch.where(near, 0.5 * torch.log1p(beyond), far), torch.atan2(b, a))


def _square(x: Array) -> tuple[Array, Array]:
    """x * x as the unevaluated sum of two floats (Dekker, 1971), for x of moderate size."""
    split = 134217729.0 * x
    high = split - (split - x)
    low = x - high
    product = x * x
    return product, low * low - (product - high * high - 2 * high * low)


def _log1p(z: Array) -> Array:
    """log(1 + z): the real part is half of log1p(2a + a**2 + b**2). The terms may cancel, so their sum is
    compensated."""
    a, b = parts(z)
    beyond = _sum(2 * a, *_square(a), *_square(b))
    moderate = (torch.abs(a) < 4) & (torch.abs(b) < 4) & (beyond > -0.5) & (beyond < 1.0)
    far_real, _ = parts(_log(join(1 + a, b)))
    near = torch.where((beyond == 0) & (a == 0), a, 0.5 * torch.log1p(beyond))
    return join(torch.where(moderate, near, far_real), torch.atan2(b, 1 + a))


def _sum(*terms: Array) -> Array:
    """Returns a compensated sum, which adds the rounding errors (T. Ogita, S. M. Rump, S. Oishi, 2005)."""
    total, rest = terms[0], torch.zeros_like(terms[0])
    for term in terms[1:]:
        new = total + term
        part = new - total
        rest = rest + ((total - (new - part)) + (term - part))
        total = new
    return total + rest


def _sqrt(z: Array) -> Array:
    """One part is sqrt((abs(z) + abs(a)) / 2), the other abs(b) / 2 over it; operands are scaled by a power of 4."""
    a, b = parts(z)
    larger = torch.maximum(torch.abs(a), torch.abs(b))
    exponent = 2 * torch.div(torch.frexp(larger)[1], 2, rounding_mode="floor")
    x, y = scale(a, -exponent), scale(b, -exponent)
    root = torch.sqrt(0.5 * (torch.hypot(x, y) + torch.abs(x)))
    other = torch.where(root == 0, 0.0, 0.5 * torch.abs(y) / torch.where(root == 0, 1.0, root))
    half = torch.div(exponent, 2, rounding_mode="floor")
    real, imaginary = torch.where(a >= 0, root, other), torch.where(a >= 0, other, root)
    return join(scale(real, half), torch.copysign(scale(imaginary, half), b))


def scale(x: Array, exponent: Array) -> Array:
    """x times a power of two whose exponent may be beyond those of float64: in steps of which one rounds."""
    first = torch.div(exponent, 2, rounding_mode="floor").clamp(-1022, 1023)
    second = (exponent - first).clamp(-1022, 1023)
    return x * _two_to(first, x.dtype) * _two_to(second, x.dtype) * _two_to(exponent - first - second, x.dtype)


def _two_to(exponent: Array, dtype: torch.dtype) -> Array:
    """A power of two within float64's normal ones, by its bits."""
    return ((exponent.to(torch.int64) + 1023) << 52).view(torch.float64).to(dtype)


def _own(name: str) -> Function:
    return lambda z: getattr(torch, name)(z)


def _acos(z: Array) -> Array:
    """From the roots of 1 - z and 1 + z (Kahan, 1987); PyTorch's own loses digits near 1."""
    a, b = parts(z)
    (p, q), (r, s) = parts(_sqrt(join(1 - a, -b))), parts(_sqrt(join(1 + a, b)))
    near = join(2 * torch.atan2(p, r), torch.asinh(r * q - s * p))
    far_size = torch.log(torch.hypot(a / 2, b / 2)) + 2 * math.log(2)
    far = join(torch.atan2(torch.abs(b), a), torch.copysign(far_size, -b))
    return torch.where(torch.maximum(torch.abs(a), torch.abs(b)) > 1e300, far, near)


def _atanh(z: Array) -> Array:
    """PyTorch's own on the CPU, and by real functions on a GPU.

    There PyTorch's loses digits of small numbers and overflows with large ones.
    """
    if not z.is_cuda:
        return torch.atanh(z)
    a, b = parts(z)
    size = torch.abs(a)
    larger, ratio = _larger_and_ratio(a, b)
    real = 0.25 * torch.log1p(4 * size / ((1 - size) * (1 - size) + b * b))
    # Next to 1 and -1 the squares underflow.
    apart = torch.hypot(1 - size, b)
    beside = 0.5 * (math.log(2) - torch.log(apart))
    real = torch.where((apart > 0) & (apart < 1e-100), beside, real)
    angle = 0.5 * torch.atan2(2 * b, (1 - size) * (1 + size) - b * b)
    # For large z, the real part is that of 1 / z and the imaginary part is pi / 2 with the sign of b.
    far = larger > 1e100
    real = torch.where(far, size / larger / larger / (1.0 + ratio * ratio), real)
    angle = torch.where(far, torch.copysign(torch.full_like(b, math.pi / 2), b), angle)
    return join(torch.copysign(real, a), angle)


acos = _whole(_acos, _table("acos"))
acosh = _whole(_own("acosh"), _table("acosh"))
asin = _whole(_own("asin"), _rotated(_table("asinh")))
asinh = _whole(_own("asinh"), _table("asinh"))
atan = _whole(_rotated(_atanh), _rotated(_table("atanh")))
atanh = _whole(_atanh, _table("atanh"))
cos = _whole(lambda z: _cosh(formulas.multiply_by_i(z)), lambda z: formulas.special("cosh", formulas.multiply_by_i(z)))
cosh = _whole(_cosh, _table("cosh"))
exp = _whole(_exp, _table("exp"))
expm1 = _whole(_expm1, formulas.special_expm1)
log = _whole(_log, _table("log"))
log1p = _whole(_log1p, _table("log1p"))
sin = _whole(_rotated(_sinh), _rotated(_table("sinh")))
sinh = _whole(_sinh, _table("sinh"))
sqrt = _whole(_sqrt, _table("sqrt"))
tan = _whole(_rotated(_tanh), _rotated(_table("tanh")))
tanh = _whole(_tanh, _table("tanh"))


def log_to(base: float) -> Function:
    """The logarithm to a base, part by part."""

    def function(z: Array) -> Array:
        a, b = parts(log(z))
        return join(a / math.log(base), b / math.log(base))

    return function


log2, log10 = log_to(2), log_to(10)


def magnitude(z: Array) -> Array:
    """Returns the absolute value; it is infinite if a part is infinite, even if the other is NaN."""
    a, b = parts(z)
    return torch.where(torch.isinf(a) | torch.isinf(b), math.inf, length(a, b))


def length(a: Array, b: Array) -> Array:
    """The root of the sum of two squares; next to the largest numbers CUDA's, which may be 2 ulps off, overflows."""
    hypotenuse = torch.hypot(a, b)
    if not a.is_cuda:
        return hypotenuse
    larger, ratio = _larger_and_ratio(a, b)
    inside = torch.isinf(hypotenuse) & torch.isfinite(larger)
    return torch.where(inside, larger * torch.sqrt(1.0 + ratio * ratio), hypotenuse)


def _larger_and_ratio(a: Array, b: Array) -> tuple[Array, Array]:
    """The larger magnitude, and the smaller over it."""
    larger, smaller = torch.maximum(torch.abs(a), torch.abs(b)), torch.minimum(torch.abs(a), torch.abs(b))
    return larger, smaller / larger


sign = widened(formulas.sign_of)


def negate(z: Array) -> Array:
    """-z by parts: PyTorch subtracts some from zero, which loses a sign."""
    return torch.view_as_complex(-torch.view_as_real(z))


# Functions of two numbers


def add(x: Array, y: Array) -> Array:
    """The sum by parts: PyTorch multiplies the second operand by one, which makes NaN of infinities."""
    return torch.view_as_complex(torch.view_as_real(x) + torch.view_as_real(y))


def subtract(x: Array, y: Array) -> Array:
    """The difference by parts, as in `add`."""
    return torch.view_as_complex(torch.view_as_real(x) - torch.view_as_real(y))


def multiply(x: Array, y: Array) -> Array:
    """The product; by parts where a step overflows, as PyTorch gives other infinities and NaN."""
    quick_product = x * y
    return quick_product if all_finite(quick_product) else _product(x, y)


@widened
def _product(x: Array, y: Array) -> Array:
    return formulas.exact_product(x, y, formulas.product_by_parts(x, y))  # type: ignore[no-any-return] # a tensor


def square(x: Array) -> Array:
    """x * x."""
    return multiply(x, x)


def divide(x: Array, y: Array) -> Array:
    """Returns the quotient; PyTorch divides finite complex64 in complex128, where no intermediate value overflows."""
    if y.dtype is torch.complex64 and all_finite(x) and all_finite(y) and (torch.view_as_real(y) != 0).all():
        return (x.to(torch.complex128) / y.to(torch.complex128)).to(torch.complex64)
    return widened(formulas.quotient)(x, y)


def reciprocal(x: Array) -> Array:
    """1 / x."""
    return divide(torch.ones_like(x), x)


@widened
def power(x: Array, y: Array) -> Array:
    """x to the power y: a small whole exponent by products, else the polar form, else exp(y * log(x)).

    The first two keep more digits where they give a finite nonzero result. x to the power 0 is 1.
    """
    x, y = torch.broadcast_tensors(x, y)
    re, im = parts(y)
    whole = (im == 0) & (torch.abs(re) <= 100) & (torch.trunc(re) == re)
    polar = formulas.polar_power(x, y, torch.atan2(torch.imag(x), torch.real(x)))
    powers = torch.where(whole, _whole_power(x, torch.where(whole, re, 0.0)), polar)
    usable = torch.isfinite(powers) & (powers != 0) & torch.isfinite(x) & torch.isfinite(y) & (x != 0)
    if usable.all():
        return powers
    general = exp(formulas.product_by_parts(y, log(x)))
    return torch.where(usable, powers, torch.where(y == 0, 1, general))


def _whole_power(x: Array, exponent: Array) -> Array:
    """Computes powers by repeated squaring, for whole exponents from -127 to 127."""
    left, running_product = torch.abs(exponent).to(torch.int64), torch.ones_like(x)
    for _ in range(7):
        if not left.any():
            break
        running_product = torch.where((left & 1) != 0, formulas.product_by_parts(running_product, x), running_product)
        x, left = formulas.product_by_parts(x, x), left >> 1
    return torch.where(exponent < 0, reciprocal(running_product), running_product)


# Reductions of the last axis


def cumulative_product(values: Array) -> Array:
    """Products of the elements up to each, from the first to the last."""
    if not values.shape[-1]:
        return values
    columns = values.to(torch.complex128).unbind(-1)
    products = [columns[0]]
    for column in columns[1:]:
        products.append(formulas.product_by_parts(products[-1], column))
    return torch.stack(products, -1).to(values.dtype)


def product(values: Array) -> Array:
    """Multiplies the halves of the axis repeatedly; if the product is not finite, multiplies from first to last."""
    wide = values.to(torch.complex128)
    if not wide.shape[-1]:
        return torch.ones_like(wide[..., :0].sum(-1)).to(values.dtype)
    halves = wide
    while halves.shape[-1] > 1:
        middle = halves.shape[-1] // 2
        paired = formulas.product_by_parts(halves[..., :middle], halves[..., middle : 2 * middle])
        halves = torch.cat((paired, halves[..., 2 * middle :]), -1)
    products = halves[..., 0]
    if not torch.isfinite(products).all():
        products = torch.where(torch.isfinite(products), products, cumulative_product(wide)[..., -1])
    return products.to(values.dtype)
