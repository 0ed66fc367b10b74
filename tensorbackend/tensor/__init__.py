"""Tensor: a template, a backend and that backend's payload.

The operators need the ops, and the ops need `Tensor`. This cycle is broken here: `bind` adds each public op to a table
when it is declared, and the methods look it up by name. Nothing here imports an op.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Never, NoReturn, Protocol, SupportsIndex, TypeAlias, TypeVar

from ..annotations import Meaning
from ..dtypes import DType, Scalar
from ..dtypes.packing import unpack
from ..errors import ArgumentError, DeallocatedError, DTypeError, OperandError, ShapeError, SignatureError, expected
from ..errors.hints import rows
from ..errors.tracebacks import name_in_errors
from ..rules.plan import integer
from ..template import Names, Shape, Template
from .construction import TensorType, bytes_of
from .devices import Device as Device
from .devices import device_of
from .methods import OpMethods, ops
from .missing_names import MissingAttributes, explain_assignments
from .operators import Operators

if TYPE_CHECKING:
    import numpy

    from ..mesh import Sharding
    from ..protocol import Backend, BackendLike

Function = TypeVar("Function", bound=Callable[..., Any])

_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")

# A table of late-bound functions cannot be typed more closely than by what nearly all of them return.
_ops: dict[str, Callable[..., Tensor]] = ops


def bind(function: Function) -> Function:
    """Registers a public function by its name for the methods of `Tensor`; a method of that name gets its docstring."""
    name = function.__name__
    _ops[name] = function
    method = vars(OpMethods).get(name)
    if method is not None and not isinstance(method, property):
        method.__doc__ = function.__doc__
    return function


def public_op(name: str) -> Callable[..., Tensor]:
    """Look up a public op by name, for modules of layers below the ops."""
    return _ops[name]


@explain_assignments
class Tensor(Operators, MissingAttributes, metaclass=TensorType):
    """An array with named axes on a backend. Ops never change it; `x[...] = v` assigns a new value.

    >>> import tensorbackend as tb
    >>> x = tb.tensor([[1, 2, 3], [4, 5, 6]], names=("batch", "feature"))
    >>> x.shape, x.dtype, x.names, x.backend.name
    ((2, 3), int64, ('batch', 'feature'), 'numpy')
    """

    __slots__ = ("__weakref__", "backend", "data", "template")

    template: Template
    """Shape, dtype and names."""
    backend: Backend
    """The backend that holds the data and runs the ops."""
    data: Any
    """The backend's own payload; reading it after a transfer or deallocation raises `DeallocatedError`."""

    __hash__ = None  # type: ignore[assignment] # == is elementwise

    if TYPE_CHECKING:  # at run time the metaclass takes the arguments

        def __init__(self, template: Template, backend: Backend, data: Any) -> None: ...

    # Shape, dtype and names

    @property
    def shape(self) -> Shape:
        """Size of each axis."""
        return self.template.shape

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.template.dtype

    @property
    def names(self) -> Names:
        """Name or `None` of each axis."""
        return self.template.names

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.template.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.template.size

    @property
    def nbytes(self) -> int:
        """Size of the data in bytes."""
        return self.template.nbytes

    @property
    def sharding(self) -> Sharding | None:
        """The sharding of the tensor on the mesh of its backend; `None` on a single device.

        >>> import tensorbackend as tb
        >>> tb.zeros(2).sharding is None
        True
        """
        return self.backend.sharding(self)

    @property
    def device(self) -> Device:
        """The device that holds the data, such as `"cpu"`: text that knows its backend."""
        return device_of(self)

    @property
    @name_in_errors
    def T(self) -> Tensor:
        """The transpose of a tensor of two axes; a tensor of fewer axes itself."""
        if len(self.template.shape) != 2:
            if len(self.template.shape) < 2:
                return self
            remedy = "use .mT for stacks of matrices or permute_dims()"
            raise ShapeError(expected("a tensor of at most two axes for .T", remedy, shape=self.shape))
        return _ops["matrix_transpose"](self)

    @property
    def mT(self) -> Tensor:
        """The transpose of the last two axes."""
        return _ops["matrix_transpose"](self)

    def __repr__(self) -> str:
        return self.backend.inspect(self)

    def __dir__(self) -> list[str]:
        return dir(type(self))

    def _repr_html_(self) -> str:
        """The HTML that a notebook shows: template, backend, and a table of the elements at the ends of each axis."""
        text: str = ops["notebook"](self)
        return text

    def __format__(self, specification: str) -> str:
        """Formats a tensor of one element as its number; without a specification, any tensor as its text."""
        if not specification:
            return str(self)
        number = self.item()
        try:
            return format(number, specification)
        except ValueError:
            expectation = f"a format of {type(number).__name__}"
            raise ArgumentError(expected(expectation, specification=specification)) from None

    def __len__(self) -> int:
        if not self.shape:
            raise OperandError(expected("a tensor with axes for len()", shape=self.shape))
        return self.shape[0]

    # Names

    def rename(self, /, *names: str | None, **renamed: str | None) -> Tensor:
        """The tensor with other axis names: all of them by position, or some by keyword.

        >>> import tensorbackend as tb
        >>> x = tb.zeros((2, 3), names=("row", "column"))
        >>> x.rename("a", "b").names, x.rename(row="a").names
        (('a', 'b'), ('a', 'column'))
        """
        return _ops["rename"](self, *names, **renamed)

    def align_to(self, *names: str, **unknown: Never) -> Tensor:
        """The tensor with its axes in the order of `names`, and an axis of size 1 for each name that it lacks."""
        return _ops["align_to"](self, names, **unknown)

    def align_as(self, other: Tensor, **unknown: Never) -> Tensor:
        """The tensor with its axes in the order of another's names, ready to broadcast with it."""
        return _ops["align_as"](self, other, **unknown)

    # Indexing

    def __getitem__(self, key: Index | tuple[Index, ...]) -> Tensor:
        return _ops["getitem"](self, key)

    def __setitem__(self, key: Index | tuple[Index, ...], value: Any) -> None:
        _ops["setitem"](self, key, value)

    def __iter__(self) -> Iterator[Tensor]:
        return (self[position] for position in range(len(self)))

    def isel(self, /, *surplus: Never, **keys: Any) -> Tensor:
        """Indexes axes by name, each separately: an int drops the axis, a slice, list, mask or tensor keeps it.

        >>> import tensorbackend as tb
        >>> tb.iota((2, 3), names=("batch", "time"), axis="time").isel(time=slice(1, 3)).tolist()
        [[1, 2], [1, 2]]
        """
        return _ops["isel"](self, *surplus, **keys)

    # Out of the tensor

    @name_in_errors
    def item(self, *surplus: Never) -> Scalar:
        """The Python number in a tensor of one element; `ShapeError` for any other size."""
        if surplus:
            raise SignatureError(expected("no arguments", "index it first, as in x[0, 1].item()", index=surplus))
        template = self.template
        if template.size != 1:
            raise ShapeError(expected("a tensor of one element", "index it first", shape=self.shape))
        element: Scalar = unpack(bytes_of(self.backend, self, 1), template.dtype)[0]
        return element

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers, a number if there are no axes."""
        nested: list[Any] = list(unpack(bytes_of(self.backend, self, self.size), self.dtype))
        if not self.shape:
            return nested[0]
        for position in range(len(self.shape) - 1, 0, -1):
            length, count = self.shape[position], 1
            for size in self.shape[:position]:
                count *= size
            nested = [nested[start * length : (start + 1) * length] for start in range(count)]
        return nested

    @name_in_errors
    def to_binary(self, limit: int | None = None) -> bytes:
        """The first `limit` elements, by default all, as bytes: row-major, native byte order."""
        return bytes_of(self.backend, self, self.size if limit is None else min(integer(0, limit=limit), self.size))

    def __bool__(self) -> bool:
        if self.template.size != 1:
            error = ShapeError(
                expected("a tensor of one element as a condition", "use any() or all()", shape=self.shape)
            )
            raise error.named("bool")
        return bool(self.item())

    def _number(self) -> float:
        """The Python number in a tensor of one element, which must be real."""
        if self.dtype.is_complex:
            raise DTypeError(expected("a real number", "take real() or imag() first", tensor=self.template))
        return self.item()  # type: ignore[return-value] # not complex, by its dtype

    def __int__(self) -> int:
        return int(self._number())

    def __float__(self) -> float:
        return float(self._number())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __trunc__(self) -> int:
        return math.trunc(self._number())

    def __index__(self) -> int:
        if not self.dtype.is_integer or self.shape:
            raise OperandError(expected("an integer tensor without axes as an index", tensor=self.template))
        return int(self.item())  # type: ignore[arg-type] # an int, by its dtype

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
        """A read-only NumPy array: a view if the payload allows it, a copy if `copy` is true."""
        return self.backend.to_numpy(self, dtype, copy)

    def __dlpack__(
        self,
        *,
        stream: int | Any | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of the payload, if the backend supports that."""
        options = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
        return self.backend.to_dlpack(self, **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's device type and number: (1, 0) on the CPU."""
        return self.backend.dlpack_device()

    @property
    def __cuda_array_interface__(self) -> Mapping[str, Any]:
        """The data by the CUDA array interface; only tensors in the memory of a CUDA device have it."""
        interface = self.backend.cuda_array_interface(self)
        if interface is None:
            remedy = "move it to such a backend first"
            raise AttributeError(expected("a tensor on a CUDA device", remedy, backend=self.backend))
        return interface

    def __reduce__(self) -> tuple[Any, ...]:
        if self.backend.template_only:
            return _ops["template"], (self.shape, self.dtype, self.names)
        return _ops["from_binary"], (self.to_binary(), self.template, self.backend)

    def __copy__(self) -> Tensor:
        return Tensor(self.template, self.backend, self.data)  # payloads never change

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return self.__copy__()

    # Backends

    @property
    def deallocated(self) -> bool:
        """Whether the data was released."""
        return isinstance(self, Deallocated)

    @name_in_errors
    def backend_copy(self, backend: BackendLike = None) -> Tensor:
        """A copy on another backend, by default the default one, in its own memory; this tensor keeps its data."""
        return _ops["backend_copy"](self, backend)

    @name_in_errors
    def backend_transfer(self, backend: BackendLike = None) -> Tensor:
        """The tensor moved to another backend, by default the default one; using this one later raises
        `DeallocatedError`.

        A transfer to the tensor's own backend returns the tensor itself and keeps its data.
        """
        return _ops["backend_transfer"](self, backend)

    def backend_deallocate(self) -> None:
        """Releases the data; using the tensor later raises `DeallocatedError`, but calling this again does not."""
        _ops["backend_deallocate"](self)

    def detach(self) -> Tensor:
        """The tensor detached from its computation: no gradient flows through it.

        For a tensor on a tape it is a tensor with the same data on the backend beneath, off the tape. For a value of a
        trace it is `stop_gradient`. For any other tensor it is a new tensor with the same data.

        Returns
        -------
        Tensor
            A tensor of the same shape, dtype, names and elements.

        Examples
        --------
        >>> import tensorbackend as tb
        >>> with tb.tape() as tape:
        ...     x = tape.watch(tb.asarray(3.0))
        ...     y = x * x.detach()
        >>> tb.gradient(y, x).item(), y.detach().backend
        (3.0, NumpyBackend())
        """
        return _ops.get("off_tape", _ops["stop_gradient"])(self)

    def block_until_ready(self) -> Tensor:
        """The tensor itself, once its data is computed; backends that compute asynchronously wait for it.

        >>> import tensorbackend as tb
        >>> tb.zeros(2).block_until_ready().tolist()
        [0.0, 0.0]
        """
        self.backend.block_until_ready(self)
        return self

    # The Array API standard

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """The namespace of the standard's functions: tensorbackend; `ValueError` for a version it does not have."""
        import tensorbackend

        if api_version is not None and api_version not in _VERSIONS:
            raise ArgumentError(expected(f"one of the versions {', '.join(_VERSIONS)}", api_version=api_version))
        return tensorbackend

    @name_in_errors
    def to_device(self, device: str, /, *, stream: object = None, **unknown: Never) -> Tensor:
        """The tensor on another device of its backend, or next to another tensor; a copy unless it is there already."""
        return _ops["asarray"](self, device=device, **unknown)

    # NumPy

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Computes `numpy.exp(x)` and `array + x` by our op of that name, on the backend of the tensors.

        A universal function that we do not have, such as those of `scipy.special`, is computed on the host.
        """
        if method == "__call__" and not options:
            op = _ops.get(ufunc.__name__) or _ops.get(rows("synonyms").get(ufunc.__name__, ""))
            if op is not None:
                try:
                    return op(*inputs)
                except OperandError:
                    pass  # a list, or an object with operators of its own
        return _ops["numpy_ufunc"](self, ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        """Computes `numpy.sum(x, axis=0)` by our function if it has the same options, otherwise by NumPy's on
        the host."""
        return _ops["numpy_function"](self, function, types, arguments, options)


blank_tensor: Callable[[], Tensor] = type.__call__.__get__(Tensor)
"""Makes a tensor without attributes, which the caller sets at once, in half of the time of `Tensor(...)`."""


class Deallocated(Tensor):
    """A tensor whose data was released: everything except the data is as before.

    It is a class of its own, because a `Tensor.__getattr__` would slow down every attribute of every tensor.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{self.template!r} {self.backend.name}, deallocated"

    def _repr_html_(self) -> str:
        from html import escape  # only notebooks need it

        return f"<code>{escape(repr(self))}</code>"

    @property
    def data(self) -> NoReturn:
        """Raises `DeallocatedError`."""
        remedy = "keep the result of backend_transfer(), or of the call to which it was donated, or use backend_copy()"
        raise DeallocatedError(expected("a tensor that still has its data", remedy, tensor=self.template))


class ForeignArray(Protocol):
    """An array of another library, such as a `numpy.ndarray`."""

    def __array__(self, *arguments: Any, **options: Any) -> Any: ...


def rename_like(x: Tensor, out: Template) -> Tensor:
    """The tensor under the names of `out`, a template of its shape and dtype; on a mesh they decide its layout."""
    backend = x.backend
    return Tensor(out, backend, backend.laid(x.data, out) if backend.lays_by_name else x.data)


TensorLike: TypeAlias = Annotated[Tensor | bool | int | float | complex | ForeignArray, Meaning("tensor")]
"""A tensor, a Python number or another library's array: all that an op takes for a tensor."""

Like: TypeAlias = Annotated[Tensor | None, Meaning("like")]
"""A tensor on whose backend and device a new tensor is made; `None` by default."""

Index: TypeAlias = SupportsIndex | slice | Any | None
"""A key of `x[...]`: ints, slices, None, masks and integer tensors, other libraries' arrays and lists of numbers. `Any`
stands for arrays, lists and `...`."""
