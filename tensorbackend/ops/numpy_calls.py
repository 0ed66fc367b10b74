"""NumPy's and SciPy's functions of tensors: `numpy.exp(x)` is our op of that name, on the tensor's backend.

A function or an option that we do not have is computed by NumPy on the host, and the result goes back to the tensor's
backend; that needs data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import ArgumentError, DTypeError, OperandError, TemplateDataError, TensorBackendError
from ..opspec import OPS
from ..synonyms import SYNONYMS
from ..tensor import Tensor, bind
from .creation.values import asarray

_OTHERWISE = frozenset({"histogram", "split", "unstack", "broadcast_arrays", "meshgrid", "nonzero", "argwhere"})
"""Functions of NumPy that give something else than ours of their names."""


def _own(function: Any, x: Tensor) -> Callable[..., Any] | None:
    """Our function of the name of another library's, in the namespace of the same name."""
    namespace = x.__array_namespace__()
    name = SYNONYMS.get(function.__name__, function.__name__)
    if name in _OTHERWISE or name not in OPS:
        return None
    _, _, space = getattr(function, "__module__", "").partition(".")
    place = getattr(namespace, space) if space in ("linalg", "fft") else namespace
    found: Callable[..., Any] | None = getattr(place, name, None)
    return found


def _on_host(value: Any) -> Any:
    """Tensors as NumPy's arrays, also in lists, tuples and dictionaries."""
    if isinstance(value, Tensor):
        return value.__array__()
    if isinstance(value, Mapping):
        return {key: _on_host(each) for key, each in value.items()}
    return type(value)(map(_on_host, value)) if type(value) in (list, tuple) else value


def _back(value: Any, like: Tensor) -> Any:
    """NumPy's arrays and numbers as tensors on the backend of one; an array of the same shape gets its names."""
    if type(value) in (list, tuple):
        return type(value)(_back(each, like) for each in value)
    if not hasattr(value, "__array_interface__"):
        return value
    try:
        made = asarray(value, backend=like.backend)
    except DTypeError:  # of strings, objects, dates
        return value
    return made.rename(*like.names) if made.shape == like.shape else made


_OF_TEMPLATE: dict[str, Callable[[Tensor], Any]] = {
    "ndim": lambda x: x.ndim,
    "shape": lambda x: x.shape,
    "iscomplexobj": lambda x: x.dtype.is_complex,
    "isrealobj": lambda x: not x.dtype.is_complex,
}
"""Functions of NumPy that ask for no data of a tensor, which a traced one does not have."""


def _by_numpy(function: Any, arguments: Sequence[Any], options: Mapping[str, Any], *, name: str = "") -> Any:
    """Calls NumPy on the host; raises NumPy's errors about the arguments as our own."""
    name = name or getattr(function, "__name__", "function")
    try:
        on_host = _on_host(tuple(arguments)), _on_host(dict(options))
    except TemplateDataError as error:
        if error.operation is None:  # an op that runs has put its own name there
            error.named(f"NumPy's {name}, which is computed on the host for these arguments")
        raise
    try:
        return function(*on_host[0], **on_host[1])
    except (TypeError, ValueError) as error:
        kinds: dict[type, type[TensorBackendError]] = {TypeError: OperandError, ValueError: ArgumentError}
        kind = kinds.get(type(error))
        if kind is None:  # one that says more by its class
            raise
        raise kind(f"NumPy's {name}: {error}") from error


def _concatenate(arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = None) -> None: ...


def _unravel_index(indices: Any, shape: Any, order: Any = None) -> None: ...


def _where(condition: Any, x: Any = None, y: Any = None, /) -> None: ...


_IN_C: dict[str, Callable[..., None]] = {
    "concatenate": _concatenate,
    "unravel_index": _unravel_index,
    "where": _where,
}
"""The parameters of functions that NumPy has in C, for which it gives a signature only from 2.4 on."""


@bind
def numpy_ufunc(x: Tensor, ufunc: Any, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Calls a universal function of NumPy or SciPy with tensors; see `Tensor.__array_ufunc__`."""
    if method == "__call__" and not options:
        own = _own(ufunc, x)
        if own is not None:
            try:
                return own(*inputs)
            except OperandError:
                return NotImplemented
    out = options.get("out", ())
    if any(isinstance(each, Tensor) for each in out):  # no payload is ever written to
        return NotImplemented
    found = _by_numpy(getattr(ufunc, method), inputs, options, name=ufunc.__name__)
    return found if out else _back(found, x)


@bind
def numpy_function(
    x: Tensor, function: Any, types: Sequence[type], arguments: Sequence[Any], options: Mapping[str, Any]
) -> Any:
    """Calls another function of NumPy with tensors; see `Tensor.__array_function__`."""
    import numpy

    if not all(issubclass(each, Tensor | numpy.ndarray) for each in types):
        return NotImplemented
    of_template = _OF_TEMPLATE.get(function.__name__)
    if of_template is not None and len(arguments) == 1:
        return of_template(x)
    own = _own(function, x)
    call = None if own is None else _translated(function, own, arguments, options)
    if own is not None and call is not None:
        try:
            return own(*call[0], **call[1])
        except OperandError:  # lists, which NumPy takes for arrays
            pass
    return _back(_by_numpy(function, arguments, options), x)


def _translated(
    function: Any, own: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]] | None:
    """The arguments of a call of NumPy's function as ours takes them; `None` where it does not."""
    from inspect import Parameter, signature

    try:
        given = signature(_IN_C.get(function.__name__, function)).bind(*arguments, **options).arguments
    except (TypeError, ValueError):
        return None
    parameters = signature(own).parameters
    first = [name for name, each in parameters.items() if each.kind is Parameter.POSITIONAL_ONLY]
    if len(given) < len(first) or any(each.kind is Parameter.VAR_POSITIONAL for each in parameters.values()):
        return None
    names = list(given)
    required = {
        name for name, each in parameters.items() if each.kind is each.KEYWORD_ONLY and each.default is each.empty
    }
    rest = {name: given[name] for name in names[len(first) :] if given[name] is not None}
    if not required <= rest.keys() <= parameters.keys():
        return None
    return [given[name] for name in names[: len(first)]], rest
