"""How JAX runs a kernel: compiled once for each template, options and kinds of inputs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

from ...dtypes import DType, as_dtype, bool_
from ...dtypes.defaults import product_precision
from ...expr.evaluate import KEPT_BYTES
from ...interchange import payload_dtype
from ...protocol import Kernel, Payload
from ...template import Template, intern_template
from ...tensor import Tensor
from ..array_module.base import Array, ArrayBase
from ..array_module.casting import caster


class ReadsData(BaseException):
    """Raised where a composite that is being compiled reads data: its arrays have no values yet.

    It is not an error, so nothing on the way takes it for an accident of a backend that derives from JaxBackend.
    """


class CheckingKernel:
    """Marks a kernel that calls compiled functions and may read their results, so that it is not compiled itself."""

    __slots__ = ("kernel",)

    def __init__(self, kernel: Kernel) -> None:
        self.kernel: Final = kernel

    def __call__(self, *payloads: Payload) -> Payload:
        return self.kernel(*payloads)


class EagerKernels:
    """A pair of kernels; the one for arrays with values may choose by these values what to compute.

    `kernel` runs while JAX traces a function of the user. There such a choice would make the devices that hold a
    sharded array communicate.
    """

    __slots__ = ("kernel", "on_values")

    def __init__(self, kernel: Kernel, on_values: Kernel) -> None:
        self.kernel: Final = kernel
        self.on_values: Final = on_values

    def __call__(self, *payloads: Payload) -> Payload:
        return self.kernel(*payloads)


def outside_traces(compiled: Kernel, inside: Kernel) -> Kernel:
    """A function compiled with options, which JAX takes only outside of a function that it traces; in one, `inside`.

    A call in a traced function may have no traced argument, so JAX's error tells.
    """

    def call(*payloads: Payload) -> Payload:
        try:
            return compiled(*payloads)
        except ValueError as error:
            if "compiler_options" not in str(error):
                raise
        return inside(*payloads)

    return call


LEAST_WIDE_TERMS: Final = 512
"""The terms from which on the rounding errors of a sum one by one are not left as they are."""


class CompositeScope(threading.local):
    """Whether this thread is compiling a composite."""

    now = False


class JaxBase(ArrayBase):
    """State and helpers of the backend; `setup` sets `jax` and `lax` besides `xp`."""

    jax: Any
    """The package `jax`."""

    lax: Any
    """The module `jax.lax`."""

    place: Any
    """The `jax.Device` of this instance."""

    committed: Any
    """The device to which payloads are committed, so that JAX keeps them and their results there; on a mesh a sharding.

    `None` for JAX's default device."""

    wide: DType
    """The dtype in which special functions compute: float64, or float32 if JAX's 64-bit dtypes are off."""

    long: DType
    """The dtype of positions: int64, or int32 if JAX's 64-bit dtypes are off."""

    @property
    def platform(self) -> str:
        """The platform whose kernels are chosen: "cpu", "gpu" or "tpu"."""
        name: str = self.place.platform
        return name

    @property
    def precision(self) -> Any:
        """The `jax.lax.Precision` of the products that are planned now: HIGHEST, or what `precision` sets."""
        return getattr(self.lax.Precision, product_precision().upper())

    rounds_once: bool
    """Whether quotients and square roots of float32 are left to XLA, which rounds them once except on a GPU.

    On a GPU they are computed in float64, unless JAX's 64-bit dtypes are off."""

    composing: CompositeScope
    """Whether a composite is being compiled."""

    @property
    def compiler_options(self) -> dict[str, Any]:
        """The options with which XLA compiles a program.

        On a CPU, results of 16 bits are computed in float32. Where the next step widens one, XLA would not round it: a
        program would give other numbers than its ops, and another order of equal numbers.
        """
        return {"xla_allow_excess_precision": False} if self.platform == "cpu" else {}

    def adds_one_by_one(self, count: int, dtype: DType) -> bool:
        """Whether XLA's CPU compiler adds so many numbers of a dtype one by one, where it does not add in pairs.

        On a mesh the devices add parts, and what they exchange keeps its dtype.
        """
        return count >= LEAST_WIDE_TERMS and dtype.is_inexact and self.platform == "cpu" and not self.lays_by_name

    def settled(self, kernel: Kernel, out: Any, /) -> Kernel:
        """A kernel whose results have exactly the dtypes of their templates."""
        if isinstance(kernel, CheckingKernel):
            return kernel
        if isinstance(kernel, EagerKernels):
            return EagerKernels(self.settled(kernel.kernel, out), self.settled(kernel.on_values, out))
        if isinstance(out, Template):
            return lambda *arrays: self._convert_dtype(kernel(*arrays), out)
        return lambda *arrays: tuple(map(self._convert_dtype, kernel(*arrays), out))

    def enter(self, kernel: Kernel, /) -> Kernel:
        """Compiles a kernel; without inputs it makes its result on this instance's device."""
        if isinstance(kernel, CheckingKernel):
            return kernel.kernel
        if isinstance(kernel, EagerKernels):
            traced, on_values = self.enter(kernel.kernel), self.enter(kernel.on_values)

            def call_compiled(*arrays: Array) -> Payload:
                of_a_user = any(map(self.traced, arrays)) and not self.composing.now
                return traced(*arrays) if of_a_user else on_values(*arrays)

            return call_compiled
        compiled: Kernel = self.jax.jit(kernel)
        return lambda *arrays: compiled(*arrays) if arrays else self.make_on_device(compiled)

    def make_on_device(self, make: Callable[[], Any]) -> Any:
        """Calls a function without arguments, and puts its result on this instance's device."""
        with self.jax.default_device(self.place):
            payload = self.lasting(make)
        return payload if self.committed is None else self.jax.device_put(payload, self.committed)

    def lasting(self, make: Callable[[], Any]) -> Any:
        """Calls a function that makes a constant, and computes a small one at once even while JAX traces.

        Programs keep small constants. A large one stays part of the traced function, so that its program computes it
        and need not hold it.
        """
        constant = make()
        if not self.traced(constant) or constant.size * constant.dtype.itemsize > KEPT_BYTES:
            return constant
        with self.jax.ensure_compile_time_eval():
            return make()

    def caster(self, source: DType, target: DType) -> Kernel:
        """A kernel that casts; bools become floats by way of int8, as in `as_numbers`.

        XLA rounds float64 to float32 and then to float16.
        """
        cast = caster(self.xp, source, target, self.attempt_kernel, to_half=False)
        if source is not bool_ or not target.is_inexact:
            return cast
        return lambda values: cast(values.astype("int8"))

    def as_numbers(self, kernel: Kernel, *inputs: Template) -> Kernel:
        """A kernel of products, to which bools are passed as int8.

        XLA turns the product with a bool that was cast to a float into a selection: False times NaN would be 0.
        """
        if all(x.dtype is not bool_ for x in inputs):
            return kernel
        return lambda *arrays: kernel(*(array.astype("int8") if array.dtype == bool else array for array in arrays))

    def _convert_dtype(self, data: Array, out: Template) -> Array:
        """An array in exactly the dtype of a template, never in a weak dtype, which JAX may change in a loop."""
        return self.lax.convert_element_type(data, payload_dtype(out.dtype))

    def gather_axes(self, data: Array, axes: Sequence[int]) -> Array:
        """An array in a program of which each device holds these axes whole; on a single device it does anyway."""
        return data

    def derived(self, values: Callable[..., Array], differentiable: Callable[..., Array]) -> Callable[..., Array]:
        """A function with the values of one function and the derivative of another."""
        derived = self.jax.custom_jvp(values)
        derived.defjvp(
            lambda primals, tangents: (derived(*primals), self.jax.jvp(differentiable, primals, tangents)[1])
        )
        return derived  # type: ignore[no-any-return] # a function like `values`

    def tensor(self, data: Array) -> Tensor:
        """An array as a tensor without axis names."""
        return Tensor(template_of(data), self, data)

    def traced(self, array: Array) -> bool:
        """Whether an array has no values yet, because JAX is tracing a function."""
        return isinstance(array, self.jax.core.Tracer)

    def on_host(self, data: Array) -> Any:
        """An array as a NumPy array."""
        import numpy

        return numpy.asarray(data)

    def readable(self, array: Array) -> bool:
        """Whether an array has values to read; it has none while JAX traces a function of the user.

        Raises `ReadsData` if JAX traces a composite in order to compile it; the composite then runs op by op.
        """
        traced = self.traced(array)
        if traced and self.composing.now:
            raise ReadsData
        return not traced


def template_of(data: Array) -> Template:
    """The template of an array, without names."""
    shape: tuple[int, ...] = data.shape
    return intern_template(shape, dtype_of(data), (None,) * len(shape))


def dtype_of(data: Array) -> DType:
    """The dtype of an array."""
    return as_dtype(data.dtype)
