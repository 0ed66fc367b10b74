"""`for_arrays`: a function of tensors that takes the arrays of any library, and returns arrays of the same one.

The arrays become tensors where they are, the function runs with their backend as the default, and its results go back.
A library that differentiates by itself either sees the ops, as JAX does on values that it traces, or its backend says
by `through_autograd` how the function takes part, as PyTorch's does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from ..declarations.argument_errors import check_arguments_early
from ..dtypes import complex128, float64, get_precision, precision
from ..errors import BackendError, expected
from ..errors.tracebacks import name_in_errors
from ..interchange.arrays import is_plain_array, scalar_dtype
from ..ops.creation.filled import asarray
from ..protocol import Backend
from ..select import DISTRIBUTIONS, call_with_default, claimant, move, owner
from ..select.choice import HOST_LIBRARY, holder
from ..tensor import Tensor
from .arguments import split
from .trace import argument_names
from .tree_containers import Tree
from .trees import flatten, unflatten

P = ParamSpec("P")
R = TypeVar("R")


@check_arguments_early
def for_arrays(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function of tensors take arrays of NumPy, JAX, PyTorch or CuPy, and return arrays of the same library.

    The arrays become tensors where they are: on their device, in their dtype, without a copy. While the function runs,
    new tensors belong to their backend, and have 64 bits if one of the arrays is float64 or complex128. Results are the
    caller's own: those of NumPy, CuPy and PyTorch share no memory with an argument, and a result of NumPy without axes
    is its number. Names of axes end with the function.

    The libraries' transforms take the function: `jax.jit`, `jax.grad` and `jax.vmap`, and `torch.autograd`, in which
    its derivatives are those of `tb.vjp`, of any order. A graph of PyTorch goes through arguments only: a tensor that
    the function closes over is a constant.

    Parameters
    ----------
    function
        Takes tensors, nested in lists, tuples, dicts and dataclasses, by position or by name, and anything else, which
        it gets as it is. It may return any nested values; tensors among them become arrays. A number of NumPy is an
        array of NumPy without axes, but next to another library's arrays it is a number.

    Returns
    -------
    Callable
        The function of arrays. Called with tensors or arrays of `tensorbackend.numpy`, or without any array, it passes
        all arguments on and returns what the function returns.

    Raises
    ------
    BackendError
        Before the function runs: for arrays of two libraries or tensors next to arrays, for arrays on two devices, and
        for arrays of a library whose plugin is not installed.

    Examples
    --------
    >>> import numpy
    >>> import tensorbackend as tb
    >>> @tb.for_arrays
    ... def normalised(x):
    ...     return x / tb.linalg.norm(x)
    >>> normalised(numpy.asarray([3.0, 4.0]))
    array([0.6, 0.8])
    >>> normalised(tb.asarray([3.0, 4.0]))
    f32[2] numpy [0.6, 0.8]

    See Also
    --------
    backend_of : The backend that values of any library belong to.
    asarray : Makes a tensor of an array.
    """

    @wraps(function)
    def call(*arguments: P.args, **keywords: P.kwargs) -> R:
        result: R = _unseen(lambda: _call_on_arrays(function, arguments, keywords))
        return result

    return name_in_errors(call, "for_arrays")


def _call_on_arrays(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Calls a function of tensors with the arrays of a library, and returns arrays of that library."""
    leaves, tree = flatten((arguments, keywords))
    libraries: list[Any] = [_library(leaf) for leaf in leaves]
    numbers = [place for place, leaf in enumerate(leaves) if scalar_dtype(leaf.__class__) is not None]
    if numbers and any(
        library is Tensor or (library is not None and library.name != HOST_LIBRARY) for library in libraries
    ):
        for place in numbers:  # a number of NumPy is one of its arrays only where it is alone or next to others
            libraries[place] = None
    found: list[Any] = list(dict.fromkeys(library for library in libraries if library is not None))
    if len(found) > 1:
        names = argument_names(function, arguments, keywords)
        came = {names[place]: _Class(leaves[place]) for place in map(libraries.index, found[:2])}
        remedy = "convert one of them to the other's library first"
        raise BackendError(f"{_name(function)}: {expected('arrays of one library', remedy, **came)}")
    if not found or found[0] is Tensor:
        return function(*arguments, **keywords)
    places = [place for place, library in enumerate(libraries) if library is not None]
    arrays = [leaves[place] for place in places]
    home = _home(function, arrays, found[0])
    call = _Call(function, leaves, tree, places, home)
    results = home.through_autograd(call, arrays)
    if results is None:
        tensors = call([asarray(array, backend=home) for array in arrays])
        # What an enclosing trace of this library records stays a tensor.
        results = [home.exported(x) if x.backend is home else x for x in tensors]
    return call.nested(results)


def _unseen(call: Callable[[], Any]) -> Any:
    """A call that `torch.compile` makes as it is, rather than trace or compile what runs in it.

    It leaves this function alone because of the attribute below, and because it finds no tensor in its variables.
    """
    compiler: Any = sys.modules.get("torch._dynamo")
    return call() if compiler is None else _left_alone(compiler)(call)


_unseen._torchdynamo_disable = True  # type: ignore[attr-defined] # as torch.compiler.disable() sets it
_unseen._torchdynamo_disable_msg = "tensorbackend computes it"  # type: ignore[attr-defined]


@cache
def _left_alone(compiler: Any) -> Callable[[Callable[[], Any]], Any]:
    """A function that makes a call without the compiler of PyTorch."""
    alone: Callable[[Callable[[], Any]], Any] = compiler.disable(
        lambda call: call(), reason="tensorbackend computes it"
    )
    return alone


class _Call:
    """One call, as a function from the tensors of its arrays to the tensors among its results."""

    def __init__(
        self, function: Callable[..., Any], leaves: Sequence[Any], tree: Tree, places: Sequence[int], home: Backend
    ) -> None:
        self._function, self._leaves, self._tree, self._places, self._home = function, leaves, tree, places, home
        self._result_tree: Tree | None = None

    def __call__(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The tensors among the results, without names, on the backend of the arguments."""
        leaves = list(self._leaves)
        for place, x in zip(self._places, tensors, strict=True):
            leaves[place] = x
        arguments, keywords = unflatten(self._tree, leaves)
        is_wide = any(x.dtype in (float64, complex128) for x in tensors)
        result = call_with_default(self._home, self._run, arguments, keywords, is_wide)
        results, self._result_tree = flatten(_without_boxes(result))
        returned, self._fill = split(results, _is_returned)
        return list(map(self._plain, returned))

    def _run(self, arguments: Any, keywords: Any, is_wide: bool) -> Any:
        if not is_wide or get_precision() == 64:
            return self._function(*arguments, **keywords)
        with precision(64):
            return self._function(*arguments, **keywords)

    def _plain(self, x: Tensor) -> Tensor:
        moved = x if x.backend.dispatch_priority > 1 else move(x, self._home)
        return moved.rename(*(None,) * x.ndim) if any(x.names) else moved

    def nested(self, arrays: Sequence[Any]) -> Any:
        """The result with arrays in place of its tensors."""
        assert self._result_tree is not None  # the function has run
        return unflatten(self._result_tree, self._fill(arrays))


def _without_boxes(result: Any) -> Any:
    """A result with the tensor of an array of the NumPy namespace in place of it, unless it is in a container."""
    return result.tensor if getattr(type(result), "holds_tensor", False) else result


def _is_returned(x: object) -> bool:
    """Whether a leaf of a result is a tensor that has or will have data."""
    return isinstance(x, Tensor) and not x.backend.template_only


def _library(leaf: object) -> Any:
    """What a leaf belongs to: the class of a backend, `Tensor`, or `None` for what is no array.

    Raises `BackendError` for an array of a library whose plugin is not installed.
    """
    if isinstance(leaf, Tensor) or getattr(type(leaf), "holds_tensor", False):
        return Tensor
    if not hasattr(leaf, "dtype") or not hasattr(leaf, "shape"):
        return None
    traced = claimant(leaf)
    kind = owner(leaf) if traced is None else type(traced)
    if kind is not None:
        return kind if kind.name != HOST_LIBRARY or _holds_numbers(leaf) else None
    package = type(leaf).__module__.partition(".")[0]
    if package in DISTRIBUTIONS and is_plain_array(leaf):
        remedy = f"in a checkout of tensorbackend: pip install ./plugins/{DISTRIBUTIONS[package]}"
        raise BackendError(expected(f"the backend of {package} to be installed", remedy, array=_Class(leaf)))
    return None


def _holds_numbers(array: Any) -> bool:
    """Whether an array of NumPy is one of numbers, not of texts, dates or objects."""
    return array.dtype.kind not in "OSUMm" and array.dtype.names is None


def _home(function: Callable[..., Any], arrays: Sequence[Any], kind: type[Backend]) -> Backend:
    """The backend of arrays of one library, on their device."""
    found = dict.fromkeys(holder(array, kind) for array in arrays if claimant(array) is None)
    if len(found) > 1:
        first, second, *_ = found
        text = expected("arrays on one device", "move one of them first", left=first, right=second)
        raise BackendError(f"{_name(function)}: {text}")
    return next(iter(found), None) or kind()


def _name(function: Callable[..., Any]) -> str:
    """The name of a function in errors."""
    return getattr(function, "__name__", type(function).__name__)


class _Class:
    """An array, shown in an error by its class."""

    def __init__(self, array: object) -> None:
        self.kind = type(array)

    def __repr__(self) -> str:
        return f"{self.kind.__module__.partition('.')[0]}.{self.kind.__qualname__}"
