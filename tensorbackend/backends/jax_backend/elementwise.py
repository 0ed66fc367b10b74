"""Elementwise callbacks where XLA's functions differ from the protocol's, or where NumPy's way cannot be traced."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...dtypes import float64
from ...interchange import numpy_dtype
from ...protocol import Payload
from ...template import Template
from ...tensor import Tensor
from ..array_module import complex_functions, gamma, incomplete_gamma, special
from ..array_module.base import Array, function, kernel, promoting
from ..array_module.elementwise import ArrayElementwise
from . import complex_by_parts, logarithms
from .base import JaxBase
from .rounding import unfused

_LARGEST_WHOLE = 100
"""Up to this size whole exponents of complex numbers go by products."""


class JaxElementwise(JaxBase, ArrayElementwise):
    """Functions of one element of each input."""

    _product = function("multiply", complex_functions.multiply)

    def multiply(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """The product."""
        return self._rounded(out, self._product(out, x1, x2))

    def square(self, out: Template, x: Tensor, /) -> Payload:
        """The product with itself."""
        return self._rounded(out, super().square(out, x))

    def _rounded(self, out: Template, product: Array) -> Array:
        """A product, in a composite that is compiled as one that no sum takes over before it is rounded."""
        return unfused(product) if self.composing.now and out.dtype.is_floating else product

    @kernel
    def bitcast(self, out: Template, x: Tensor, /) -> Payload:
        """The same bits; a complex number is its real part and then its imaginary one."""
        cast, wanted = self.lax.bitcast_convert_type, numpy_dtype(out.dtype)
        if x.dtype is out.dtype:
            return x.data
        if out.dtype.is_complex:
            return self.lax.complex(*self.xp.moveaxis(cast(x.data, "float32"), -1, 0))
        values = self.xp.stack([x.data.real, x.data.imag], axis=-1) if x.dtype.is_complex else x.data
        return cast(values, wanted)

    @kernel
    def select(self, out: Template, condition: Tensor, x1: Tensor, x2: Tensor, /) -> Payload:
        """x1 where the condition holds, else x2."""
        return self.xp.where(condition.data, x1.data, x2.data)

    @kernel
    def real(self, out: Template, x: Tensor, /) -> Payload:
        """The real parts."""
        return self.xp.real(x.data)

    @kernel
    def imag(self, out: Template, x: Tensor, /) -> Payload:
        """The imaginary parts."""
        return self.xp.imag(x.data)

    @kernel
    def sign(self, out: Template, x: Tensor, /) -> Payload:
        """The sign, 0.0 for both zeros; complex numbers are divided by their magnitude."""
        if x.dtype.is_complex:
            return complex_functions.sign(self.xp, x.data)
        return self.xp.where(x.data == 0, 0, self.xp.sign(x.data))

    @kernel
    def cosh(self, out: Template, x: Tensor, /) -> Payload:
        """(exp(x) + exp(-x)) / 2, without the 8 ulps of XLA's own; complex numbers by their tables."""
        if x.dtype.is_complex:
            return complex_by_parts.cosh(self.xp, x.data)
        power, rest = self._halves(x)
        return self.narrowed(power + rest, out)

    @kernel
    def sinh(self, out: Template, x: Tensor, /) -> Payload:
        """(exp(x) - exp(-x)) / 2, near zero from expm1(x); complex numbers by their tables."""
        xp = self.xp
        if x.dtype.is_complex:
            return complex_by_parts.sinh(xp, x.data)
        values = self.widened(x)
        power, rest = self._halves(x)
        growth = xp.expm1(xp.where(xp.abs(values) < 1, values, 0))
        near = 0.5 * (growth + growth / (growth + 1))
        far = xp.copysign(power - rest, values)
        return self.narrowed(xp.where(xp.abs(values) < 1, near, far), out)

    def _halves(self, x: Tensor) -> tuple[Array, Array]:
        """exp(abs(x)) / 2 and exp(-abs(x)) / 2; the former overflows no sooner than it must."""
        xp, size = self.xp, self.xp.abs(self.widened(x))
        large = size > 80
        root = xp.exp(xp.where(large, 0.5 * size, size))
        return xp.where(large, 0.5 * root * root, 0.5 * root), 0.5 * xp.exp(-size)

    @kernel
    def acosh(self, out: Template, x: Tensor, /) -> Payload:
        """The inverse of cosh; its derivative has the right sign left of the imaginary axis, which JAX gets wrong."""
        xp = self.xp
        if not x.dtype.is_complex:
            return xp.arccosh(x.data)

        def own(z: Array) -> Array:
            return xp.log(z + xp.sqrt(z - 1) * xp.sqrt(z + 1))

        return self._derived(partial(complex_functions.acosh, xp), own)(x.data)

    # Near sqrt(1/2) - 1 XLA's log1p of float64 is 128 ulps off

    _narrow_log1p = function("log1p", complex_by_parts.log1p)
    _narrow_atanh = function("arctanh", complex_by_parts.atanh)

    def log1p(self, out: Template, x: Tensor, /) -> Payload:
        """log(1 + x)."""
        return self._wide_log1p(out, x) if out.dtype is float64 else self._narrow_log1p(out, x)

    def atanh(self, out: Template, x: Tensor, /) -> Payload:
        """Half the logarithm of (1 + x) / (1 - x)."""
        return self._wide_atanh(out, x) if out.dtype is float64 else self._narrow_atanh(out, x)

    @kernel
    def _wide_log1p(self, out: Template, x: Tensor, /) -> Payload:
        return self._derived(partial(logarithms.log1p, self.xp), self.xp.log1p)(x.data)

    @kernel
    def _wide_atanh(self, out: Template, x: Tensor, /) -> Payload:
        return self._derived(partial(logarithms.atanh, self.xp), self.xp.arctanh)(x.data)

    _own_asin = function("arcsin", complex_functions.asin)
    _own_tanh = function("tanh", complex_by_parts.tanh)

    def asin(self, out: Template, x: Tensor, /) -> Payload:
        """Arc sine; XLA's own halves what is as small as a normal number can be, and takes it for zero."""
        return self._near_zero(out, x) if out.dtype.is_floating else self._own_asin(out, x)

    @kernel
    def _near_zero(self, out: Template, x: Tensor, /) -> Payload:
        values = self.widened(x)
        small = self.xp.abs(values) < 2.0**-28
        return self.narrowed(self.xp.where(small, values, self.xp.arcsin(values)), out)

    def tanh(self, out: Template, x: Tensor, /) -> Payload:
        """Hyperbolic tangent; of large float64 XLA's own is 7 ulps off."""
        return self._from_one(out, x) if out.dtype is float64 else self._own_tanh(out, x)

    @kernel
    def _from_one(self, out: Template, x: Tensor, /) -> Payload:
        xp, size = self.xp, self.xp.abs(x.data)
        far = xp.copysign(1 - 2 / (xp.exp(2 * size) + 1), x.data)
        return xp.where(size > 1, far, xp.tanh(x.data))

    log = function("log", complex_by_parts.log)
    log2 = promoting("log2", complex_by_parts.log2)
    log10 = promoting("log10", complex_by_parts.log10)
    tan = function("tan", complex_by_parts.tan)
    cos = function("cos", complex_by_parts.cos)
    sin = function("sin", complex_by_parts.sin)
    abs = function("abs", complex_by_parts.magnitude)
    sqrt = function("sqrt", complex_by_parts.sqrt)
    atan = function("arctan", complex_by_parts.atan)

    # Of subnormal numbers, where they are taken for zeros, XLA makes NaN here, or a number of the other sign

    @kernel
    def atan2(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """The angle."""
        left, right = (self._zeroed(self.widened(x)) for x in (x1, x2))
        return self.narrowed(self.xp.arctan2(left, right), out)

    @kernel
    def cbrt(self, out: Template, x: Tensor, /) -> Payload:
        """The cube root."""
        return self.narrowed(self.xp.cbrt(self._zeroed(self.widened(x))), out)

    def _zeroed(self, values: Array) -> Array:
        """Zeros of their sign for what counts as zero; to a derivative nothing happens."""

        def zeroed(each: Array) -> Array:
            return self.xp.where(each == 0, self.xp.copysign(self.xp.zeros_like(each), each), each)

        return self._derived(zeroed, lambda each: each)(values)

    # Division: XLA's integer quotient by zero is -1, its remainder the dividend

    @kernel
    def divide(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """The quotient, rounded once: by a divisor that is broadcast XLA multiplies with its reciprocal."""
        left, right = self.xp.broadcast_arrays(x1.data, x2.data)
        if out.dtype.is_complex:
            return self._derived(partial(complex_functions.divide, self.xp), self.lax.div)(left, right)
        return left / (right if x2.shape == out.shape else self.lax.optimization_barrier(right))

    @kernel
    def floor_divide(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """The floor of the quotient; an integer over zero is 0."""
        xp = self.xp
        if not out.dtype.is_floating:
            quotient, rest, divisor = self._truncated(x1.data, x2.data)
            if out.dtype.kind == "int":
                quotient = quotient - ((rest != 0) & ((rest < 0) != (divisor < 0)))
            return xp.where(x2.data == 0, 0, quotient)
        left, right = xp.broadcast_arrays(*(self._zeroed(self._float64(x)) for x in (x1, x2)))
        whole = (left - self._floor_rest(left, right)) / right
        floor = xp.floor(whole)
        floor = floor + (whole - floor > 0.5)
        found = xp.where(floor == 0, xp.copysign(floor, left / right), floor)
        plain = xp.isfinite(left) & xp.isfinite(right) & (right != 0)
        return self.cast(xp.where(plain, found, left / right), self.wide, out.dtype)

    @kernel
    def remainder(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """The remainder with the divisor's sign; of an integer by zero 0."""
        xp = self.xp
        if not out.dtype.is_floating:
            _, rest, divisor = self._truncated(x1.data, x2.data)
            if out.dtype.kind == "int":
                rest = xp.where((rest != 0) & ((rest < 0) != (divisor < 0)), rest + divisor, rest)
            return xp.where(x2.data == 0, 0, rest)
        left, right = xp.broadcast_arrays(*(self._zeroed(self._float64(x)) for x in (x1, x2)))
        rest = self._floor_rest(left, right)
        return self.cast(xp.where(rest == 0, xp.copysign(rest, right), rest), self.wide, out.dtype)

    @kernel
    def quotient(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """The quotient rounded to zero; an integer over zero is 0."""
        return self.xp.where(x2.data == 0, 0, self._truncated(x1.data, x2.data)[0])

    def _truncated(self, left: Array, right: Array) -> tuple[Array, Array, Array]:
        """Quotient to zero, remainder and divisor of integers, of a divisor 0 those by 1."""
        left, right = self.xp.broadcast_arrays(left, right)
        right = self.xp.where(right == 0, self.xp.ones_like(right), right)
        return self.lax.div(left, right), self.lax.rem(left, right), right

    def _floor_rest(self, left: Array, right: Array) -> Array:
        """left - floor(left / right) * right of floats, without rounding where it fits."""
        rest = self.lax.rem(left, right)
        return self.xp.where((rest != 0) & ((rest < 0) != (right < 0)), rest + right, rest)

    # Powers

    @kernel
    def pow(self, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
        """The power; an integer to a negative one is 1 / x1**-x2 rounded to zero."""
        xp = self.xp
        if out.dtype.is_complex:
            return self._complex_power(*xp.broadcast_arrays(x1.data, x2.data))
        base, exponent = xp.broadcast_arrays(x1.data, x2.data)
        if out.dtype.is_floating:
            return xp.power(base, exponent)
        # Only -1 and 1 have a reciprocal that does not round to zero, and they are their own.
        power = self._integer_power(base, xp.where(exponent < 0, -exponent & 1, exponent))
        return xp.where((exponent < 0) & (xp.abs(base) != 1), 0, power)

    def _integer_power(self, base: Array, exponent: Array) -> Array:
        """By repeated squaring, as far as the exponents have bits: JAX's own stops after 6, and 3**65 would be 3."""

        def step(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            found, square, left = state
            return self.xp.where(left & 1 == 1, found * square, found), square * square, left >> 1

        start = self.xp.ones_like(base), base, exponent
        found: Array = self.lax.while_loop(lambda state: (state[2] > 0).any(), step, start)[0]
        return found

    def _complex_power(self, x: Array, y: Array) -> Array:
        """A small whole exponent by repeated squaring, else the polar form, else exp(y * log(x)); of 0 it is one."""
        xp, dtype = self.xp, x.dtype
        if self.wide is float64:
            x, y = x.astype("complex128"), y.astype("complex128")
        whole = (y.imag == 0) & (xp.abs(y.real) <= _LARGEST_WHOLE) & (xp.trunc(y.real) == y.real)
        found = xp.where(
            whole, self._whole_power(x, xp.where(whole, y.real, 0)), complex_functions.polar_power(xp, x, y)
        )
        usable = xp.isfinite(found) & (found != 0) & xp.isfinite(x) & xp.isfinite(y) & (x != 0)
        product = complex_functions.product_by_parts(xp, y, complex_by_parts.log(xp, x))
        rest = xp.where(y == 0, 1, complex_functions.exp(xp, product))
        return xp.where(usable, found, rest).astype(dtype)

    def _whole_power(self, x: Array, exponent: Array) -> Array:
        xp = self.xp
        left, found, square = xp.abs(exponent).astype("int32"), xp.ones_like(x), x
        for bit in range(_LARGEST_WHOLE.bit_length()):
            found = xp.where(left >> bit & 1 == 1, found * square, found)
            square = square * square
        return xp.where(exponent < 0, complex_functions.divide(xp, xp.ones_like(x), found), found)

    # Special functions

    def in_float64(self, function: Callable[..., Array], out: Template, /, *inputs: Tensor) -> Array:
        """What a function of the module and wide arrays gives, in the result's dtype; with JAX's own derivative.

        JAX's values are a few ulps less accurate, but ours have branches whose derivatives are no numbers.
        """
        columns = self.xp.broadcast_arrays(*map(self._float64, inputs))
        own = {
            special.erf: self.lax.erf,
            special.erfc: self.lax.erfc,
            special.erf_inv: self.lax.erf_inv,
            gamma.digamma: self.lax.digamma,
            gamma.log_gamma: self.lax.lgamma,
        }.get(function)
        values = partial(function, self.xp)
        chosen = values if own is None else self._derived(values, own)
        return self.cast(chosen(*columns), self.wide, out.dtype)

    def _float64(self, x: Tensor) -> Array:
        return x.data.astype(numpy_dtype(self.wide))

    # XLA's own are 20 ulps off and more, and NaN for some infinities: the host computes the values

    @kernel
    def gamma_inc_l(self, out: Template, a: Tensor, x: Tensor, /) -> Payload:
        """P(a, x), computed in float64 on the host."""
        return self._on_host(incomplete_gamma.gamma_inc_l, self.jax.scipy.special.gammainc, out, a, x)

    @kernel
    def gamma_inc_u(self, out: Template, a: Tensor, x: Tensor, /) -> Payload:
        """Q(a, x), computed in float64 on the host."""
        return self._on_host(incomplete_gamma.gamma_inc_u, self.jax.scipy.special.gammaincc, out, a, x)

    def _on_host(
        self, function: Callable[..., Array], own: Callable[..., Array], out: Template, /, *inputs: Tensor
    ) -> Array:
        """What a function gives for NumPy's float64 arrays, with the derivative of JAX's own."""
        columns = self.xp.broadcast_arrays(*map(self._float64, inputs))
        if self.wide is not float64:
            return self.cast(own(*columns), self.wide, out.dtype)

        def called(*arrays: Any) -> Any:
            import numpy

            flat = (numpy.asarray(each).reshape(-1) for each in arrays)
            with numpy.errstate(all="ignore"):
                return function(numpy, *flat).reshape(arrays[0].shape)

        def values(*arrays: Array) -> Array:
            shape = self.jax.ShapeDtypeStruct(arrays[0].shape, arrays[0].dtype)
            return self.jax.pure_callback(called, shape, *arrays, vmap_method="broadcast_all")

        return self.cast(self._derived(values, own)(*columns), float64, out.dtype)

    def _derived(self, values: Callable[..., Array], own: Callable[..., Array]) -> Callable[..., Array]:
        """A function that has the derivative of another."""
        derived = self.jax.custom_jvp(values)
        derived.defjvp(lambda primals, tangents: (derived(*primals), self.jax.jvp(own, primals, tangents)[1]))
        return derived  # type: ignore[no-any-return] # of the values' kind
