"""The two kinds of callbacks: what declares one, and which of them a backend defines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar, overload

from ..dtypes import DTypeLike, as_dtype, bool_, int64
from ..errors import BackendError, ContractError, DTypeError, UnsupportedOp, expected
from ..template import Template
from ..tensor import Tensor
from .planned import Payload

if TYPE_CHECKING:
    from inspect import Signature

    from .core import Core

Method = TypeVar("Method", bound=Callable[..., Payload])


Cost: TypeAlias = Literal["transcendental", "operation", "move", "pick", "view", "strided view"]
"""The cost of one element of a callback's result:

- `transcendental`: for inexact inputs a function that a library computes in many steps, such as `exp`; for other inputs
  one operation;
- `operation`: one operation, such as an addition;
- `move`: no operation, the element is only read and written;
- `pick`: as `move`, but only as many elements of the first input are read as the result has;
- `view`: nothing, because the result is a view of the input's memory, as in NumPy, CuPy and PyTorch;
- `strided view`: nothing, as for `view`, but the elements of the view need not be in row-major order.
"""


Reach: TypeAlias = Literal[
    "each", "reduced", "along", "placed", "ordered", "reshaped", "kept", "paired", "read", "written", "put", "window",
    "filtered", "matrix",
]  # fmt: skip
"""How the axes of a callback's result come from the axes of its inputs.

This tells along which axes a mesh may divide a call: an axis that is "needed as a whole" must not be divided.

- `each`: axes broadcast from the right, element by element;
- `reduced`: the axes in the option `axes` are reduced; the results of parts combine into the result of the whole;
- `along`: the axis in the option `axis`, or every axis for `None`, is needed as a whole; the others stay;
- `placed`: axis i of the input becomes axis `axes[i]` of the result; the other axes of the result are new;
- `ordered`: axis i of the result is axis `axes[i]` of the input;
- `reshaped`: axes are matched by their sizes in row-major order;
- `kept`: axes of unchanged size that the options `axis` and `axes` do not name stay; the others are needed as a whole;
- `paired`: the axes `contract1` and `contract2` are summed over, `batch1` and `batch2` are paired and stay;
- `read`, `written`, `put`: elements at indices are read, added to or replaced; the results of parts combine by addition
  for `read` and `written`, but not for `put`;
- `window`: axes stay where windows have one element, without strides and padding; the others are needed as a whole;
- `filtered`: the batch, channel and spatial axes of a convolution;
- `matrix`: all axes but the last two stay.
"""


@overload
def callback(method: Method, /) -> Method: ...
@overload
def callback(*, cost: Cost | None = None, reach: Reach | None = None) -> Callable[[Method], Method]: ...
def callback(
    method: Method | None = None, /, *, cost: Cost | None = None, reach: Reach | None = None
) -> Method | Callable[[Method], Method]:
    """Marks a primitive: a callback that a backend implements. Without an implementation it raises `UnsupportedOp`.

    `cost` is passed if a fixed cost of each element describes the callback, as for every elementwise op. `reach` is
    passed if the callback's family and options do not determine it.
    """
    if method is None:
        return lambda method: _declare(method, "callback", cost, reach)
    return _declare(method, "callback", cost, reach)


def optional_callback(method: Method) -> Method:
    """Marks a composite that a backend may override; without an override its default runs."""
    return _declare(method, "optional_callback", None, None)


def _declare(method: Method, kind: str, cost: Cost | None, reach: Reach | None) -> Method:
    name = method.__name__

    def refuse(self: Core, *inputs: object, **options: object) -> Payload:
        raise UnsupportedOp(
            expected(
                f"a backend that has {name}",
                f"move the tensors first, such as x.backend_transfer('binary'), or implement {name} on the backend",
                backend=self.name,
            )
        )

    refuse.__name__, refuse.__qualname__, refuse.__doc__ = name, method.__qualname__, method.__doc__
    refuse.__wrapped__ = method  # type: ignore[attr-defined] # the typed declaration
    refuse.__declared__ = kind  # type: ignore[attr-defined]
    refuse.__cost__ = cost  # type: ignore[attr-defined]
    refuse.__reach__ = reach  # type: ignore[attr-defined]
    return refuse  # type: ignore[return-value] # same signature, seen through __wrapped__


def limited_to(*dtypes: DTypeLike) -> Callable[[Method], Method]:
    """Marks a backend's callback that supports only inputs of some dtypes.

    For inputs of other dtypes a fall-back runs, or the op raises `UnsupportedOp`.

    Parameters
    ----------
    *dtypes : DType or str
        The dtypes that the callback supports.

    Returns
    -------
    Callable
        The decorator of a callback.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> from tensorbackend.backends.numpy_backend import NumpyBackend
    >>> class Half(NumpyBackend):
    ...     name = "half"
    ...     @limited_to("float16")
    ...     def exp(self, out, x, /):
    ...         return super().exp(out, x)
    >>> Half().supports("exp", "float32")
    False
    """
    if any(isinstance(dtype, list | tuple | set | frozenset) for dtype in dtypes):
        raise DTypeError(expected("dtypes one by one", "write limited_to('f32', 'f64')", dtypes=dtypes))
    allowed = frozenset(map(as_dtype, dtypes))

    def mark(method: Method) -> Method:
        method.__dtypes__ = allowed  # type: ignore[attr-defined]
        return method

    return mark


def defines(backend: type[Core], name: str) -> bool:
    """Return whether a backend's class has a method for an op other than the protocol's declaration."""
    method = getattr(backend, name, None)
    return method is not None and not hasattr(method, "__declared__")


def plain_signature(declared: Callable[..., Any]) -> Signature:
    """The signature of a method of the protocol, without types."""
    from inspect import Signature, signature  # slow to import, and only errors and plugins need it

    return Signature([x.replace(annotation=x.empty) for x in signature(declared).parameters.values()])


def takes(method: Callable[..., Any], wanted: Signature) -> bool:
    """Whether a function takes all arguments of a signature; true for other objects, whose signature may be unknown."""
    from inspect import signature
    from types import FunctionType

    if not isinstance(method, FunctionType):
        return True
    kinds = [(x.name, x.kind.name) for x in wanted.parameters.values()]
    positional = [name for name, kind in kinds if kind.startswith("POSITIONAL")]
    several = [name for name, kind in kinds if kind == "VAR_POSITIONAL"] * 2
    keywords = dict.fromkeys(name for name, kind in kinds if kind == "KEYWORD_ONLY")
    try:
        signature(method).bind(*positional, *several, **keywords)
    except TypeError:
        return False
    return True


def check_class(kind: type[Core], declared: type[Core]) -> None:
    """Raises an error for a class that lacks a dtype that each backend holds, or whose transport has another form."""
    if kind.__module__.startswith("tensorbackend."):
        return
    if not {bool_, int64} <= kind.dtypes:
        duty = f"bool and int64 among the dtypes of the backend {kind.name!r}"
        raise BackendError(expected(duty, "add them", dtypes=sorted(map(str, kind.dtypes))))
    for name in ("from_binary", "to_binary", "from_numpy", "to_numpy", "from_dlpack", "violation", "compile_graph"):
        method, wanted = getattr(kind, name), plain_signature(getattr(declared, name))
        if not takes(method, wanted):
            duty = f"{name} of the backend {kind.name!r} in the form in which it is called"
            raise ContractError(expected(duty, f"write {name}{wanted}", signature=str(plain_signature(method))))


def own_method(backend: Core, name: str) -> Callable[..., Payload] | None:
    """Return a backend's own method for an op, or `None` if it only inherits the protocol's declaration.

    Parameters
    ----------
    backend : Backend
        The backend.
    name : str
        The name of a callback, or of another op that the backend may override.

    Returns
    -------
    Callable or None
        The bound method.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> numpy = tb.get_backend("numpy")
    >>> own_method(numpy, "add") is None, own_method(numpy, "no_such_op") is None
    (False, True)
    """
    return getattr(backend, name) if defines(type(backend), name) else None


Default: TypeAlias = Callable[..., "Tensor | tuple[Tensor, ...]"]
"""The default implementation of a composite, which takes the parts of a `CompositeCall`."""


class CompositeCall(NamedTuple):
    """One call of a composite, as `optional` and `compile_composite` get it."""

    out: Template | tuple[Template, ...]
    """The template of the result, a tuple of them for several results."""
    inputs: tuple[Tensor | tuple[Tensor, ...] | None, ...]
    """The tensors in the order of the composite's parameters, `None` where one was left out; `compile_composite` gets
    templates in their place."""
    options: Mapping[str, object]
    """The other parameters by name: defaults filled, axes as non-negative ints, dtypes as `DType`."""
