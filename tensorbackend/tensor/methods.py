"""The ops that a tensor has as methods, besides its operators: those that NumPy, PyTorch and JAX users expect.

Each takes its op's options, the first ones also by position: `x.sum(0)`. `tensor.bind` sets the op's docstring. The op
itself says what is wrong with an unknown keyword, such as `x.sum(dim=0)`.

Methods and operators look up ops in a table. `import tensorbackend` does not import modules that many programs never
need, so the table calls `load_ops` before it reports a missing name. So its readers always see every op.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Never, Self

from ..annotations import Axes, Axis
from ..dtypes import DType, DTypeLike
from ..errors import DTypeError
from ..registration import SuppliedFunction
from ..template import Names, NamesLike

load_ops: SuppliedFunction[Callable[[], None]] = SuppliedFunction(lambda: None)
"""Imports the modules that declare ops, once."""


class _PublicFunctions(dict[str, Callable[..., Any]]):
    """Public functions by name, which cannot be typed more closely; `tensor.bind` adds them."""

    def __missing__(self, name: str) -> Callable[..., Any]:
        load_ops.call()
        if name in self:
            return self[name]
        raise KeyError(name)


ops: dict[str, Callable[..., Any]] = _PublicFunctions()


def _is_axis_or_flag(x: OpMethods, dtype: object) -> bool:
    """Whether an argument in the place of a dtype is meant as `keepdims`, or as a second axis."""
    return isinstance(dtype, int) or (isinstance(dtype, str) and dtype in x.names)


class OpMethods:
    """Reductions, changes of shape and casts of a tensor."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def dtype(self) -> DType: ...

        @property
        def names(self) -> Names: ...

        def __round__(self, digits: int | None = None) -> Self: ...

    # Reductions

    def sum(
        self,
        axis: Axes = None,
        dtype: DTypeLike | None = None,
        *surplus: Never,
        keepdims: bool = False,
        **unknown: Never,
    ) -> Self:
        """The sum along axes."""
        if surplus or unknown:
            return ops["sum"](self, *([] if dtype is None else [dtype]), *surplus, axis=axis, **unknown)
        try:
            return ops["sum"](self, axis=axis, dtype=dtype, keepdims=keepdims)
        except DTypeError:
            if _is_axis_or_flag(self, dtype):
                return ops["sum"](self, dtype, axis=axis)
            raise

    def prod(
        self,
        axis: Axes = None,
        dtype: DTypeLike | None = None,
        *surplus: Never,
        keepdims: bool = False,
        **unknown: Never,
    ) -> Self:
        """The product along axes."""
        if surplus or unknown:
            return ops["prod"](self, *([] if dtype is None else [dtype]), *surplus, axis=axis, **unknown)
        try:
            return ops["prod"](self, axis=axis, dtype=dtype, keepdims=keepdims)
        except DTypeError:
            if _is_axis_or_flag(self, dtype):
                return ops["prod"](self, dtype, axis=axis)
            raise

    def mean(self, axis: Axes = None, *surplus: Never, keepdims: bool = False, **unknown: Never) -> Self:
        """The arithmetic mean along axes."""
        if surplus or unknown:
            return ops["mean"](self, *surplus, axis=axis, **unknown)
        return ops["mean"](self, axis=axis, keepdims=keepdims)

    def var(
        self, axis: Axes = None, *surplus: Never, correction: float = 0.0, keepdims: bool = False, **unknown: Never
    ) -> Self:
        """The variance along axes."""
        if surplus or unknown:
            return ops["var"](self, *surplus, axis=axis, **unknown)
        return ops["var"](self, axis=axis, correction=correction, keepdims=keepdims)

    def std(
        self, axis: Axes = None, *surplus: Never, correction: float = 0.0, keepdims: bool = False, **unknown: Never
    ) -> Self:
        """The standard deviation along axes."""
        if surplus or unknown:
            return ops["std"](self, *surplus, axis=axis, **unknown)
        return ops["std"](self, axis=axis, correction=correction, keepdims=keepdims)

    def max(self, axis: Axes = None, *surplus: Never, keepdims: bool = False, **unknown: Never) -> Self:
        """The maximum along axes."""
        if surplus or unknown:
            return ops["max"](self, *surplus, axis=axis, **unknown)
        return ops["max"](self, axis=axis, keepdims=keepdims)

    def min(self, axis: Axes = None, *surplus: Never, keepdims: bool = False, **unknown: Never) -> Self:
        """The minimum along axes."""
        if surplus or unknown:
            return ops["min"](self, *surplus, axis=axis, **unknown)
        return ops["min"](self, axis=axis, keepdims=keepdims)

    def all(self, axis: Axes = None, *surplus: Never, keepdims: bool = False, **unknown: Never) -> Self:
        """Whether all elements along axes are true."""
        if surplus or unknown:
            return ops["all"](self, *surplus, axis=axis, **unknown)
        return ops["all"](self, axis=axis, keepdims=keepdims)

    def any(self, axis: Axes = None, *surplus: Never, keepdims: bool = False, **unknown: Never) -> Self:
        """Whether any element along axes is true."""
        if surplus or unknown:
            return ops["any"](self, *surplus, axis=axis, **unknown)
        return ops["any"](self, axis=axis, keepdims=keepdims)

    def argmax(self, axis: Axis | None = None, *surplus: Never, keepdims: bool = False, **unknown: Never) -> Self:
        """The index of the maximum along an axis."""
        if surplus or unknown:
            return ops["argmax"](self, *surplus, axis=axis, **unknown)
        return ops["argmax"](self, axis=axis, keepdims=keepdims)

    def argmin(self, axis: Axis | None = None, *surplus: Never, keepdims: bool = False, **unknown: Never) -> Self:
        """The index of the minimum along an axis."""
        if surplus or unknown:
            return ops["argmin"](self, *surplus, axis=axis, **unknown)
        return ops["argmin"](self, axis=axis, keepdims=keepdims)

    # Shapes

    def reshape(self, *shape: int | Sequence[int], names: NamesLike = None, **unknown: Never) -> Self:
        """The same elements in another shape, a tuple or separate sizes."""
        new_shape = shape[0] if len(shape) == 1 else shape
        if unknown:
            return ops["reshape"](self, *(shape and [new_shape]), **unknown)
        return ops["reshape"](self, new_shape, names=names)

    def flatten(self, *surplus: Never, **unknown: Never) -> Self:
        """The elements along one axis: `reshape(x, -1)`."""
        if surplus:
            of_memory = isinstance(surplus[0], str) and surplus[0] not in self.names
            axes: Any = surplus if len(surplus) > 1 else surplus[0]
            return self.flatten(**{"order" if of_memory else "start_dim": axes})
        if unknown:
            return ops["reshape"](self, -1, **unknown)
        return ops["reshape"](self, -1)

    ravel = flatten

    def transpose(self, *axes: Axis | Sequence[Axis], **unknown: Never) -> Self:
        """The axes in another order, by default reversed: `permute_dims`."""
        order = axes[0] if len(axes) == 1 and isinstance(axes[0], Sequence) and not isinstance(axes[0], str) else axes
        if unknown:
            return ops["permute_dims"](self, *(axes and [order]), **unknown)
        return ops["permute_dims"](self, order or None)

    def squeeze(self, axis: Axes = None, *surplus: Never, **unknown: Never) -> Self:
        """The tensor without axes of size 1, all of them by default."""
        if surplus or unknown:
            return ops["squeeze"](self, *([] if axis is None else [axis]), *surplus, **unknown)
        return ops["squeeze"](self, axis=axis)

    # Elements

    def astype(self, dtype: DTypeLike, *, copy: bool = True, **unknown: Never) -> Self:
        """The values in another dtype."""
        if unknown:
            return ops["astype"](self, dtype, **unknown)
        return ops["astype"](self, dtype, copy=copy)

    def clip(self, min: Any = None, max: Any = None, **unknown: Never) -> Self:
        """Each element clipped to two bounds."""
        if unknown:
            return ops["clip"](self, **unknown)
        return ops["clip"](self, min, max)

    def round(self, decimals: int = 0, **unknown: Never) -> Self:
        """Each element rounded to a number of decimal digits, by default to an integral value; ties to even."""
        if unknown:
            return ops["round"](self, **unknown)
        return self.__round__(decimals)

    def conj(self) -> Self:
        """The complex conjugates."""
        return ops["conj"](self)

    @property
    def real(self) -> Self:
        """The real parts; for a tensor that is not complex, its elements."""
        return ops["real"](self) if self.dtype.is_complex else ops["astype"](self, self.dtype)

    @property
    def imag(self) -> Self:
        """The imaginary parts; for a tensor that is not complex, zeros."""
        return ops["imag"](self) if self.dtype.is_complex else ops["zeros_like"](self)
