"""Calls of NumPy's and SciPy's functions with tensors: `numpy.exp(x)` is our op of that name, on the tensor's backend.

A function or an option that we do not have is computed by NumPy on the host, and the result is moved back to the
tensor's backend; this needs data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..declarations.op_specs import OPS
from ..errors import ArgumentError, DTypeError, OperandError, TemplateDataError, TensorBackendError
from ..errors.hints import rows
from ..interchange import is_plain_array
from ..tensor import Tensor, bind
from .creation.values import asarray

_OTHERWISE = frozenset({"histogram", "split", "unstack", "broadcast_arrays", "meshgrid", "nonzero", "argwhere"})
"""Functions of NumPy whose results differ from those of our functions with the same names."""


def _counterpart(function: Any, x: Tensor) -> Callable[..., Any] | None:
    """Our function with the name of another library's, in the namespace with the same name; `None` if there is none."""
    namespace = x.__array_namespace__()
    name = rows("synonyms").get(function.__name__, function.__name__)
    if name in _OTHERWISE or name not in OPS:
        return None
    _, _, space = getattr(function, "__module__", "").partition(".")
    place = getattr(namespace, space) if space in ("linalg", "fft") else namespace
    return getattr(place, name, None)


def _to_host(value: Any) -> Any:
    """Tensors as NumPy's arrays, also in lists, tuples and dictionaries."""
    if isinstance(value, Tensor):
        return value.__array__()
    if isinstance(value, Mapping):
        return {key: _to_host(entry) for key, entry in value.items()}
    return type(value)(map(_to_host, value)) if type(value) in (list, tuple) else value


def _back(value: Any, like: Tensor) -> Any:
    """NumPy's arrays and numbers as tensors on the backend of `like`; an array of its shape gets its names."""
    if type(value) in (list, tuple):
        return type(value)(_back(element, like) for element in value)
    if not hasattr(value, "__array_interface__"):
        return value
    try:
        tensor = asarray(value, backend=like.backend)
    except DTypeError:  # an array of strings, objects or dates
        return value
    return tensor.rename(*like.names) if tensor.shape == like.shape else tensor


_OF_TEMPLATE: dict[str, Callable[[Tensor], Any]] = {
    "ndim": lambda x: x.ndim,
    "shape": lambda x: x.shape,
    "iscomplexobj": lambda x: x.dtype.is_complex,
    "isrealobj": lambda x: not x.dtype.is_complex,
}
"""Functions of NumPy that need no data of a tensor, so that they also take traced tensors, which have none."""


def _call_numpy(function: Any, arguments: Sequence[Any], options: Mapping[str, Any], *, name: str = "") -> Any:
    """Calls NumPy on the host; raises NumPy's errors about the arguments as our own."""
    name = name or getattr(function, "__name__", "function")
    try:
        on_host = _to_host(tuple(arguments)), _to_host(dict(options))
    except TemplateDataError as error:
        error.named(f"NumPy's {name}, which is computed on the host for these arguments")
        raise
    try:
        return function(*on_host[0], **on_host[1])
    except (TypeError, ValueError) as error:
        kinds: dict[type, type[TensorBackendError]] = {TypeError: OperandError, ValueError: ArgumentError}
        if isinstance(error, OperandError):  # of a matrix or a result, which says what to write for this function
            error.named(name)
        kind = kinds.get(type(error))
        if kind is None:  # a subclass, which tells more
            raise
        raise kind(f"NumPy's {name}: {error}") from error


def _concatenate(arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = None) -> None: ...


def _unravel_index(indices: Any, shape: Any, order: Any = None) -> None: ...


def _where(condition: Any, x: Any = None, y: Any = None, /) -> None: ...


_IN_C: dict[str, Callable[..., None]] = {"concatenate": _concatenate, "unravel_index": _unravel_index, "where": _where}
"""The parameters of functions that NumPy has in C, for which it has a signature only from 2.4 on."""


@bind
def numpy_ufunc(x: Tensor, ufunc: Any, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Calls a universal function of NumPy or SciPy with tensors; see `Tensor.__array_ufunc__`."""
    if method == "__call__" and not options:
        counterpart = _counterpart(ufunc, x)
        if counterpart is not None:
            try:
                return counterpart(*inputs)
            except OperandError:  # lists, which NumPy takes for arrays, or an object that computes the function itself
                if any(hasattr(value, "__array_ufunc__") and not isinstance(value, Tensor) and not is_plain_array(value)
                       for value in inputs):  # fmt: skip
                    return NotImplemented
    out = options.get("out", ())
    if any(isinstance(target, Tensor) for target in out):  # no payload is ever written to
        return NotImplemented
    result = _call_numpy(getattr(ufunc, method), inputs, options, name=ufunc.__name__)
    return result if out else _back(result, x)


@bind
def numpy_function(
    x: Tensor, function: Any, types: Sequence[type], arguments: Sequence[Any], options: Mapping[str, Any]
) -> Any:
    """Calls a function of NumPy that is not universal with tensors; see `Tensor.__array_function__`."""
    import numpy

    if not all(issubclass(argument_type, Tensor | numpy.ndarray) for argument_type in types):
        return NotImplemented
    of_template = _OF_TEMPLATE.get(function.__name__)
    if of_template is not None and len(arguments) == 1:
        return of_template(x)
    counterpart = _counterpart(function, x)
    call = None if counterpart is None else _translate(function, counterpart, arguments, options)
    if counterpart is not None and call is not None:
        try:
            return counterpart(*call[0], **call[1])
        except OperandError:  # lists, which NumPy takes for arrays
            pass
    return _back(_call_numpy(function, arguments, options), x)


def _translate(
    function: Any, counterpart: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]] | None:
    """The arguments of a call of NumPy's function in the form that ours takes; `None` if ours cannot take them."""
    from inspect import Parameter, signature

    try:
        bound_arguments = signature(_IN_C.get(function.__name__, function)).bind(*arguments, **options).arguments
    except (TypeError, ValueError):
        return None
    parameters = signature(counterpart).parameters
    first = [name for name, parameter in parameters.items() if parameter.kind is Parameter.POSITIONAL_ONLY]
    if len(bound_arguments) < len(first) or any(
        parameter.kind is Parameter.VAR_POSITIONAL for parameter in parameters.values()
    ):
        return None
    names = list(bound_arguments)
    required = {
        name
        for name, parameter in parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty
    }
    rest = {name: bound_arguments[name] for name in names[len(first) :] if bound_arguments[name] is not None}
    if not required <= rest.keys() <= parameters.keys():
        return None
    return [bound_arguments[name] for name in names[: len(first)]], rest
