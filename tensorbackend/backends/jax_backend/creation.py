"""Callbacks that create arrays. Numbers are operands of their kernels, so that nothing is compiled for one value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...caching.option_keys import kind_of, remember
from ...dtypes import COMPLEX_OF, DType, Scalar, float32, float64
from ...interchange import numpy_dtype
from ...protocol import Kernel, Payload, planned
from ...protocol.planned import entered_kernel
from ...template import Template, intern_template
from ...tensor import Tensor
from ..array_module.base import Array
from ..array_module.casting import caster
from ..array_module.creation import ArrayCreation
from .base import JaxBase
from .module import unfused_product

if TYPE_CHECKING:
    import numpy


class JaxCreation(JaxBase, ArrayCreation):
    """Constants, identity matrices and counters."""

    numbers: dict[tuple[Any, ...], Array]
    """Numbers on the device, by dtype and value."""

    spacings: dict[tuple[Any, ...], tuple[Kernel, list[Array]]]
    """The kernel of `spaced` and its numbers on the device, by the template and the numbers."""

    def constant(self, out: Template, /, *, value: Scalar) -> Payload:
        """Every element is `value`. The number is never traced, and is kept, as putting it on a device takes long."""
        key = out.dtype, value, kind_of(value)
        number = self.numbers.get(key)
        if number is None:
            with self.jax.ensure_compile_time_eval():
                number = self.from_numpy(intern_template((), out.dtype, ()), self.rounded(out, value), copy=False)
            remember(self.numbers, key, number)
        return self.lasting(lambda: self._filled(out, self.tensor(number))) if out.shape else number

    @planned
    def _filled(self, out: Template, number: Template, /) -> Kernel:
        return lambda value: self.xp.full(out.shape, value)

    def rounded(self, out: Template, value: Scalar) -> numpy.ndarray[Any, Any]:
        """A Python number in the dtype of a template, rounded once."""
        import numpy

        source = float64 if out.dtype.is_floating and out.dtype is not float32 else out.dtype
        with numpy.errstate(all="ignore"):
            scalar = numpy.asarray(value, numpy_dtype(source))
            return numpy.asarray(caster(numpy, source, out.dtype)(scalar))

    def spaced(self, out: Template, /, *, start: Scalar, step: Scalar, last: Scalar | None) -> Payload:
        """Numbers from `start` on, `step` apart; without float64, all but integers are computed on the host."""
        if self.wide is not float64 and not isinstance(start, int):
            return self.lasting(lambda: self.from_numpy(out, _spaced_on_host(out, start, step, last), copy=False))
        key = out, start, step, last, *map(kind_of, (start, step, last))
        known = self.spacings.get(key)
        if known is None:
            wide = (
                self.long if isinstance(start, int) else COMPLEX_OF[self.wide] if type(start) is complex else self.wide
            )
            numbers = [self._number(number, wide) for number in (start, step, last) if number is not None]
            plan: Any = self._spaced
            known = (
                entered_kernel(self, plan.__plan__, out, [[x.template for x in numbers]], {}),
                [x.data for x in numbers],
            )
            remember(self.spacings, key, known)
        kernel, arrays = known
        return self.lasting(lambda: kernel(arrays))

    def _number(self, value: Scalar, dtype: DType) -> Tensor:
        """A number as a tensor without axes; an integer wraps to the width of the dtype."""
        if isinstance(value, int):
            half = 1 << (dtype.bits - 1)
            value = (value + half) % (2 * half) - half
        template = intern_template((), dtype, ())
        return Tensor(template, self, self.constant(template, value=value))

    @planned
    def _spaced(self, out: Template, numbers: Sequence[Template], /) -> Kernel:
        """A kernel of a start, a step and perhaps the last number; products are rounded before the start is added."""
        lax, (count,), wide = self.lax, out.shape, numbers[0].dtype
        narrow = self.caster(wide, out.dtype)
        counter = self.wide if wide.is_inexact else wide

        def kernel(arrays: Sequence[Array]) -> Array:
            start, step, *last = arrays
            places = lax.iota(numpy_dtype(counter), count)
            if wide.is_complex:
                moved = lax.complex(unfused_product(places * step.real), unfused_product(places * step.imag))
            else:
                moved = unfused_product(places * step) if wide.is_floating else places * step
            values = moved + start
            if last:
                values = self.xp.where(places == count - 1, last[0], values)
            return narrow(values)

        return kernel


def _spaced_on_host(out: Template, start: Scalar, step: Scalar, last: Scalar | None) -> numpy.ndarray[Any, Any]:
    """Numbers from `start` on, `step` apart, computed in float64 or complex128 and rounded once."""
    import numpy

    wide = COMPLEX_OF[float64] if type(start) is complex else float64
    numbers = numpy.full(out.shape, start, numpy_dtype(wide))
    places = numpy.arange(out.size, dtype=float)
    numbers.real += places * complex(step).real
    if type(start) is complex:
        numbers.imag += places * complex(step).imag
    if last is not None and out.size:
        numbers[-1] = last
    return numpy.asarray(caster(numpy, wide, out.dtype)(numbers))
