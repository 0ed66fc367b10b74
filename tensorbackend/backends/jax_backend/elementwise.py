"""Elementwise callbacks where XLA's functions differ from the protocol's, or where NumPy's way cannot be traced."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from ...dtypes import DType, bool_, float64
from ...interchange import numpy_dtype
from ...protocol import Kernel, Payload, kernel_of, planned
from ...rules.broadcasting import to_real
from ...template import Template
from ...tensor import Tensor
from ..array_module import complex_functions
from ..array_module.base import NARROW, Array, function, itself, promoting_override
from ..array_module.elementwise import ArrayElementwise
from ..array_module.precision import computing_kernel
from ..array_module.special import error_function as special
from ..array_module.special import gamma
from . import complex_by_parts
from .base import CheckingKernel, JaxBase
from .module import quotient, root, unfused_product

_LARGEST_WHOLE = 100
"""The largest whole exponent for which a power of a complex number is computed by products."""


class JaxElementwise(JaxBase, ArrayElementwise):
    """Functions of one element of each input."""

    _product = function("multiply", complex_functions.product_of)

    @planned
    def multiply(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """The product."""
        product = kernel_of(self._product, out, x1, x2)
        return self._round_products(self.as_numbers(product, x1, x2) if out.dtype.is_inexact else product, out)

    @planned
    def square(self, out: Template, x: Template, /) -> Kernel:
        """The product with itself."""
        return self._round_products(kernel_of(super().square, out, x), out)

    def _round_products(self, product: Kernel, out: Template) -> Kernel:
        """A kernel that rounds a product before XLA can fuse it with a sum, if a composite is being compiled."""
        if not out.dtype.is_floating:
            return product
        compiled, composing = self.enter(product), self.composing

        def kernel(*arrays: Array) -> Array:
            products = compiled(*arrays)
            return unfused_product(products) if composing.now else products

        return CheckingKernel(kernel)

    @planned
    def as_type(self, out: Template, x: Template, /) -> Kernel:
        """The values in `out.dtype`, rounded also where a program casts them back to a wider dtype.

        XLA removes such a pair of casts on a GPU.
        """
        cast = kernel_of(super().as_type, out, x)
        if self.platform == "cpu" or not _may_round(x.dtype, out.dtype):
            return cast
        compiled, traced, lax = self.enter(cast), self.traced, self.lax

        def kernel(values: Array) -> Array:
            rounded = compiled(values)
            if not traced(values):
                return rounded
            if not out.dtype.is_complex:
                return unfused_product(rounded)
            return lax.complex(unfused_product(rounded.real), unfused_product(rounded.imag))

        return CheckingKernel(kernel)

    @planned
    def bitcast(self, out: Template, x: Template, /) -> Kernel:
        """The same bits; a complex number is its real part and then its imaginary part."""
        xp, lax, dtype = self.xp, self.lax, numpy_dtype(out.dtype)
        if x.dtype is out.dtype:
            return itself
        if out.dtype.is_complex:
            return lambda values: lax.complex(*xp.moveaxis(lax.bitcast_convert_type(values, "float32"), -1, 0))
        if x.dtype.is_complex:
            return lambda values: lax.bitcast_convert_type(xp.stack([values.real, values.imag], axis=-1), dtype)
        return lambda values: lax.bitcast_convert_type(values, dtype)

    @planned
    def sign(self, out: Template, x: Template, /) -> Kernel:
        xp = self.xp
        if x.dtype.is_complex:
            return partial(complex_functions.sign, xp)
        return lambda values: xp.where(values == 0, 0, xp.sign(values))

    @planned
    def cosh(self, out: Template, x: Template, /) -> Kernel:
        """(exp(x) + exp(-x)) / 2, without the error of 8 ulps of XLA's own; complex numbers by their parts."""
        if x.dtype.is_complex:
            return partial(complex_by_parts.cosh, self.xp)
        return computing_kernel(lambda values: sum(self._halves(values)), out, x)

    @planned
    def sinh(self, out: Template, x: Template, /) -> Kernel:
        """(exp(x) - exp(-x)) / 2, near zero by its series; complex numbers by their parts."""
        xp = self.xp
        if x.dtype.is_complex:
            return partial(complex_by_parts.sinh, xp)

        def sinh_of_reals(values: Array) -> Array:
            power, rest = self._halves(values)
            near = xp.abs(values) < 1
            small = xp.where(near, values, 0)
            return xp.where(near, small * complex_by_parts.sinh_over(small), xp.copysign(power - rest, values))

        return computing_kernel(sinh_of_reals, out, x)

    def _halves(self, values: Array) -> tuple[Array, Array]:
        """exp(abs(x)) / 2 and exp(-abs(x)) / 2; the former is infinite only if the dtype cannot hold it."""
        xp, size = self.xp, self.xp.abs(values)
        large = size > 80
        power = xp.exp(xp.where(large, size - 1, size))  # `size - 1` is exact; a square of exp(size / 2) is not
        return power * xp.where(large, 0.5 * math.e, 0.5), 0.5 * xp.exp(-size)

    _own_expm1 = function("expm1", complex_functions.expm1)

    @planned
    def expm1(self, out: Template, x: Template, /) -> Kernel:
        """exp(x) - 1, near zero as 2 * sinh(x / 2) * exp(x / 2), without the error of 5 ulps of XLA's own."""
        if not out.dtype.is_floating:
            return kernel_of(self._own_expm1, out, x)
        xp = self.xp

        def values(x: Array) -> Array:
            near, large = xp.abs(x) < 1, x > 80
            small = xp.where(near, x, 0)
            half = 0.5 * small
            power = xp.exp(xp.where(large, x - 1, x)) * xp.where(large, math.e, 1.0)  # see `_halves`
            return xp.where(near, small * (complex_by_parts.sinh_over(half) * xp.exp(half)), power - 1)

        return computing_kernel(self.derived(values, xp.expm1), out, x)

    @planned
    def acosh(self, out: Template, x: Template, /) -> Kernel:
        """The inverse of cosh; its derivative has the right sign left of the imaginary axis, which JAX gets wrong."""
        xp = self.xp
        of_reals: Kernel = xp.arccosh
        if not x.dtype.is_complex:
            return of_reals

        def logarithm_formula(z: Array) -> Array:
            return xp.log(z + xp.sqrt(z - 1) * xp.sqrt(z + 1))

        return self.derived(partial(complex_functions.acosh, xp), logarithm_formula)

    # Near sqrt(1/2) - 1 XLA's log1p of float64 is 128 ulps off

    _narrow_log1p = function("log1p", complex_by_parts.log1p)
    _narrow_atanh = function("arctanh", complex_by_parts.atanh)

    @planned
    def log1p(self, out: Template, x: Template, /) -> Kernel:
        """log(1 + x)."""
        if out.dtype is float64:
            return self.derived(partial(complex_by_parts.real_log1p, self.xp), self.xp.log1p)
        return kernel_of(self._narrow_log1p, out, x)

    @planned
    def atanh(self, out: Template, x: Template, /) -> Kernel:
        """Half the logarithm of (1 + x) / (1 - x)."""
        if out.dtype is float64:
            return self.derived(partial(complex_by_parts.real_atanh, self.xp), self.xp.arctanh)
        return kernel_of(self._narrow_atanh, out, x)

    _own_asin = function("arcsin", complex_functions.asin)
    _own_tanh = function("tanh", complex_by_parts.tanh)

    @planned
    def asin(self, out: Template, x: Template, /) -> Kernel:
        """Arc sine; XLA's own halves the smallest normal numbers, and flushes the result to zero."""
        if not out.dtype.is_floating:
            return kernel_of(self._own_asin, out, x)
        xp = self.xp
        return computing_kernel(lambda x: xp.where(xp.abs(x) < 2.0**-28, x, xp.arcsin(x)), out, x)

    @planned
    def tanh(self, out: Template, x: Template, /) -> Kernel:
        """Hyperbolic tangent; for large float64 numbers XLA's own is 7 ulps off."""
        if out.dtype is not float64:
            return kernel_of(self._own_tanh, out, x)
        xp = self.xp

        def tanh_by_exponential(values: Array) -> Array:
            far = xp.copysign(1 - 2 / (xp.exp(2 * xp.abs(values)) + 1), values)
            return xp.where(xp.abs(values) > 1, far, xp.tanh(values))

        return tanh_by_exponential

    exp = function("exp", complex_by_parts.exp)
    log = function("log", complex_by_parts.log)
    log2 = promoting_override("log2", complex_by_parts.log2)
    log10 = promoting_override("log10", complex_by_parts.log10)
    tan = function("tan", complex_by_parts.tan)
    cos = function("cos", complex_by_parts.cos)
    sin = function("sin", complex_by_parts.sin)
    _own_sqrt = function("sqrt", complex_by_parts.sqrt)
    atan = function("arctan", complex_by_parts.atan)

    # Where XLA treats subnormal numbers as zeros, these functions would return NaN or the wrong sign for them

    @planned
    def atan2(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """The angle."""
        arctan2, flush = self.xp.arctan2, self._flush_subnormals
        return computing_kernel(lambda left, right: arctan2(flush(left), flush(right)), out, x1, x2)

    @planned
    def cbrt(self, out: Template, x: Template, /) -> Kernel:
        """The cube root."""
        return computing_kernel(lambda values: self.xp.cbrt(self._flush_subnormals(values)), out, x)

    def _flush_subnormals(self, values: Array) -> Array:
        """Replaces numbers that compare equal to zero by zeros of the same sign; derivatives pass through unchanged."""

        def flush(array: Array) -> Array:
            return self.xp.where(array == 0, self.xp.copysign(self.xp.zeros_like(array), array), array)

        return self.derived(flush, lambda array: array)(values)

    # Division: XLA's integer quotient by zero is -1, its remainder the dividend

    @planned
    def divide(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """The quotient, rounded once. For a divisor that is broadcast, XLA would multiply by its reciprocal.

        So the divisor depends on the dividend: it is 1 where that is NaN. A barrier would do as well, but where XLA is
        told to keep barriers, it writes what goes through them to memory. For narrow floats a comparison takes longer.
        """
        xp, lax = self.xp, self.lax
        divide: Kernel = xp.divide
        if out.dtype.is_complex:
            divide = self.derived(partial(complex_functions.quotient, xp), lax.div)
            return lambda left, right: divide(*xp.broadcast_arrays(left, right))
        if out.dtype is not float64 and not self.rounds_once:
            dtype = numpy_dtype(out.dtype)
            return lambda left, right: quotient(*xp.broadcast_arrays(left.astype(dtype), right.astype(dtype)))
        if x2.shape == out.shape:
            return divide
        if out.dtype in NARROW:
            return lambda left, right: divide(left, lax.optimization_barrier(xp.broadcast_to(right, out.shape)))
        return lambda left, right: divide(left, xp.where(left == left, right, 1))

    @planned
    def sqrt(self, out: Template, x: Template, /) -> Kernel:
        """The root, rounded once."""
        if out.dtype.is_complex or out.dtype is float64 or self.rounds_once:
            return kernel_of(self._own_sqrt, out, x)
        return self.promoting_kernel(root, out, x)

    @planned
    def reciprocal(self, out: Template, x: Template, /) -> Kernel:
        """1 / x, rounded once."""
        if out.dtype.is_complex or out.dtype is float64 or self.rounds_once:
            return kernel_of(super().reciprocal, out, x)
        xp = self.xp
        return self.promoting_kernel(lambda values: quotient(xp.ones_like(values), values), out, x)

    @planned
    def floor_divide(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """The floor of the quotient; an integer over zero is 0."""
        xp = self.xp

        def divide_integers(left: Array, right: Array) -> Array:
            quotient, rest, divisor = self._truncate_division(left, right)
            if out.dtype.kind == "int":
                quotient = quotient - ((rest != 0) & ((rest < 0) != (divisor < 0)))
            return xp.where(right == 0, 0, quotient)

        def divide_floats(left: Array, right: Array) -> Array:
            left, right = xp.broadcast_arrays(*map(self._flush_subnormals, (left, right)))
            factor = self._factor_of_smallest(left, right)
            left, right = left * factor, right * factor
            # The remainder of the quotient rounded to zero is exact; that of the floor may be rounded.
            rest = self.lax.rem(left, right)
            whole = (left - rest) / right - ((rest != 0) & ((rest < 0) != (right < 0)))
            floor = xp.floor(whole)
            floor = floor + (whole - floor > 0.5)
            signed_floor = xp.where(floor == 0, xp.copysign(floor, left / right), floor)
            plain = xp.isfinite(left) & xp.isfinite(right) & (right != 0)
            return xp.where(plain, signed_floor, left / right)

        return self._wide_kernel(divide_floats, out) if out.dtype.is_floating else divide_integers

    def _factor_of_smallest(self, left: Array, right: Array) -> Array:
        """A power of two for operands of float32 whose remainder may be subnormal, which XLA takes for 0."""
        xp = self.xp
        if left.dtype != xp.float32:
            return xp.ones((), left.dtype)
        return xp.where((abs(left) < 2.0**100) & (abs(right) < 2.0**-100), xp.float32(2**24), xp.float32(1))

    @planned
    def remainder(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """The remainder with the divisor's sign; 0 for an integer divided by zero."""
        xp = self.xp

        def integer_remainder(left: Array, right: Array) -> Array:
            _, rest, divisor = self._truncate_division(left, right)
            if out.dtype.kind == "int":
                rest = xp.where((rest != 0) & ((rest < 0) != (divisor < 0)), rest + divisor, rest)
            return xp.where(right == 0, 0, rest)

        def float_remainder(left: Array, right: Array) -> Array:
            left, right = xp.broadcast_arrays(*map(self._flush_subnormals, (left, right)))
            if (
                left.dtype == xp.float32
            ):  # a multiple of a small divisor leaves the same remainder, of a smaller dividend
                left = xp.where(abs(right) < 2.0**-100, self.lax.rem(left, right * xp.float32(2.0**64)), left)
            factor = self._factor_of_smallest(left, right)
            rest = self._floor_rest(left * factor, right * factor)
            return xp.where(rest == 0, xp.copysign(rest, right), rest / factor)

        return self._wide_kernel(float_remainder, out) if out.dtype.is_floating else integer_remainder

    @planned
    def quotient(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """The quotient rounded to zero; an integer over zero is 0."""
        return lambda left, right: self.xp.where(right == 0, 0, self._truncate_division(left, right)[0])

    def _truncate_division(self, left: Array, right: Array) -> tuple[Array, Array, Array]:
        """The quotient rounded to zero, the remainder and the divisor of integers; a divisor of 0 is replaced by 1."""
        left, right = self.xp.broadcast_arrays(left, right)
        right = self.xp.where(right == 0, self.xp.ones_like(right), right)
        return self.lax.div(left, right), self.lax.rem(left, right), right

    def _floor_rest(self, left: Array, right: Array) -> Array:
        """left - floor(left / right) * right for floats, rounded only if the dtype cannot hold it."""
        rest = self.lax.rem(left, right)
        return self.xp.where((rest != 0) & ((rest < 0) != (right < 0)), rest + right, rest)

    # Powers

    @planned
    def pow(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """The power; an integer to a negative power is 1 / x1**-x2 rounded to zero."""
        xp = self.xp
        if out.dtype.is_complex:
            return lambda base, exponent: self._complex_power(*xp.broadcast_arrays(base, exponent))
        if out.dtype.is_floating:
            return lambda base, exponent: xp.power(*xp.broadcast_arrays(base, exponent))

        def integer_power(base: Array, exponent: Array) -> Array:
            base, exponent = xp.broadcast_arrays(base, exponent)
            # Only -1 and 1 have a reciprocal that does not round to zero, and each is its own reciprocal.
            power = self._integer_power(base, xp.where(exponent < 0, -exponent & 1, exponent))
            return xp.where((exponent < 0) & (xp.abs(base) != 1), 0, power)

        return integer_power

    def _integer_power(self, base: Array, exponent: Array) -> Array:
        """Computes powers by repeated squaring, until no exponent has bits left; JAX's own stops after 6 bits, so that
        3**65 would be 3."""

        def step(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            product, square, left = state
            return self.xp.where(left & 1 == 1, product * square, product), square * square, left >> 1

        start = self.xp.ones_like(base), base, exponent
        return self.lax.while_loop(lambda state: (state[2] > 0).any(), step, start)[0]

    def _complex_power(self, x: Array, y: Array) -> Array:
        """Powers by repeated squaring for small whole exponents, else in the polar form; 1 for an exponent of 0.

        Where that result cannot be used, exp(y * log(x)).
        """
        xp, dtype = self.xp, x.dtype
        if self.wide is float64:
            x, y = x.astype("complex128"), y.astype("complex128")
        whole = (y.imag == 0) & (xp.abs(y.real) <= _LARGEST_WHOLE) & (xp.trunc(y.real) == y.real)
        polar = xp.polar_power(x, y, complex_by_parts.angle(xp, x.imag, x.real))
        powers = xp.where(whole, self._whole_power(x, xp.where(whole, y.real, 0)), polar)
        usable = xp.isfinite(powers) & (powers != 0) & xp.isfinite(x) & xp.isfinite(y) & (x != 0)
        usable &= ~complex_functions.is_near_one(xp, x, y)
        product = xp.product_by_parts(y, complex_by_parts.log(xp, x))
        rest = xp.where(y == 0, 1, complex_by_parts.exp(xp, product))
        return xp.where(usable, powers, rest).astype(dtype)

    def _whole_power(self, x: Array, exponent: Array) -> Array:
        xp = self.xp
        left, product, square = xp.abs(exponent).astype("int32"), xp.ones_like(x), x
        for bit in range(_LARGEST_WHOLE.bit_length()):
            product = xp.where(left >> bit & 1 == 1, product * square, product)
            square = square * square
        return xp.where(exponent < 0, complex_functions.quotient(xp, xp.ones_like(x), product), product)

    # Special functions

    def float64_kernel(self, function: Callable[..., Array], out: Template, /, *inputs: Template) -> Kernel:
        """A kernel that calls a function of the array module and wide arrays, and rounds to the result's dtype.

        Its derivative is that of JAX's own function, if there is one. That function is a few ulps less accurate, but
        ours has branches whose derivatives are NaN.
        """
        differentiable = {
            special.erf: self.lax.erf,
            special.erfc: self.lax.erfc,
            special.erf_inv: self.lax.erf_inv,
            gamma.digamma: self.lax.digamma,
            gamma.log_gamma: self.lax.lgamma,
        }.get(function)
        values = partial(function, self.xp)
        chosen = values if differentiable is None else self.derived(values, differentiable)
        return self._wide_kernel(lambda *arrays: chosen(*self.xp.broadcast_arrays(*arrays)), out)

    def _wide_kernel(self, function: Kernel, out: Template) -> Kernel:
        """A kernel for floats of any width, from a function of arrays in the wide dtype."""
        wide, narrow = numpy_dtype(self.wide), self.caster(self.wide, out.dtype)
        return lambda *arrays: narrow(function(*[array.astype(wide) for array in arrays]))

    # Gradients

    def stop_gradient(self, out: Template, x: Tensor, /) -> Payload:
        """x without a gradient, by JAX's own function."""
        return self.lax.stop_gradient(x.data)

    def scaled_gradient(self, out: Template, x: Tensor, scale: Tensor, /) -> Payload:
        """x itself, with its derivative multiplied by `scale`."""
        if not x.dtype.is_inexact:
            return x.data
        same = self.jax.custom_jvp(lambda data, scale: data)
        same.defjvp(lambda primals, tangents: (primals[0], (tangents[0] * primals[1]).astype(primals[0].dtype)))
        return same(x.data, scale.data)


def _may_round(source: DType, target: DType) -> bool:
    """Whether a cast may round a number to a dtype for which there is a wider one."""
    real = to_real(target)
    if not target.is_inexact or source is bool_ or real is float64 or real.bits < 8:
        return False
    # A float of 16 bits holds all integers of 8 bits, one of 32 those of 16.
    return 2 * source.bits > real.bits if source.is_integer else to_real(source).bits >= real.bits
