"""A backend of pyhf that computes by `tensorbackend.numpy`: pyhf's own, with `np` and SciPy's functions replaced.

Copy this file, import it and write `pyhf.set_backend(pyhf_tensorbackend.TensorbackendBackend())`. Fits take gradients
by `tb.value_and_grad`, compiled once for each model. Where arrays are is chosen as always, by `tb.default_backend`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy
from pyhf import get_backend
from pyhf.optimize import common
from pyhf.tensor import BackendRetriever, numpy_backend
from scipy import stats

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.numpy import special


def _density(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    return np.exp(-np.square(np.divide(np.subtract(x, loc), scale)) / 2) / np.multiply(scale, math.sqrt(2 * math.pi))


def _cumulative(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    return special.ndtr(np.asarray(np.divide(np.subtract(x, loc), scale)))


class Normal:
    """What pyhf calls of `scipy.stats.norm`."""

    pdf = staticmethod(_density)
    cdf = staticmethod(_cumulative)

    def __call__(self, loc: Any, scale: Any) -> Any:
        return stats.norm(numpy.asarray(loc), numpy.asarray(scale))


NAMES = {**vars(numpy_backend), "np": np, "special": special, "norm": Normal()}
NAMES |= {"gammaln": special.gammaln, "xlogy": special.xlogy}
"""What the methods of pyhf's NumPy backend find under their names."""


def _by_ours(cls: type, *bases: type) -> type:
    """Return a class of pyhf's NumPy backend whose methods compute by our functions."""
    methods = {name: method for name, method in vars(cls).items() if isinstance(method, FunctionType)}
    for name, method in methods.items():
        methods[name] = FunctionType(method.__code__, NAMES, name, method.__defaults__, method.__closure__)
    slots = () if bases else ("rate", "loc", "scale")
    return type(cls.__name__, bases, {**methods, "__slots__": slots})


class TensorbackendBackend(_by_ours(numpy_backend.numpy_backend, numpy_backend.numpy_backend)):  # type: ignore[misc] # pyhf has no types
    """pyhf's functions on our arrays."""

    __slots__ = ()
    array_type = np.ndarray

    def __init__(self, name: str = "tensorbackend", **options: Any) -> None:
        super().__init__(**options)
        self.name = name  # type: ignore[misc] # a slot of the base
        self.default_do_grad = True  # type: ignore[misc]

    def to_numpy(self, tensor_in: Any) -> Any:
        return numpy.asarray(tensor_in)


NAMES |= {name: _by_ours(NAMES[name]) for name in ("_BasicPoisson", "_BasicNormal")}
NAMES["numpy_backend"] = TensorbackendBackend
BackendRetriever._array_types.add(np.ndarray)  # which specifications may hold


@lru_cache(maxsize=64)
def _compiled(objective: Callable[..., Any], model: Any, gradient: bool, stitched: Sequence[Any]) -> Callable[..., Any]:
    """The function that a fit minimizes, of its free parameters, the data and the values of the fixed ones.

    Parameters
    ----------
    objective, model : objects
        pyhf's function of all parameters, the data and the model.
    gradient : bool
        Whether to return the gradient by the free parameters as well.
    stitched : sequence
        The places of the fixed and of the free parameters; empty where all parameters are free.
    """

    def value(free: Any, data: Any, fixed: Any) -> Any:
        parameters = free
        if stitched:
            parameters = np.concatenate([fixed, free])[np.argsort(np.asarray([*stitched[0], *stitched[1]]))]
        return objective(parameters, data, model)[0]

    return tb.jit(tb.value_and_grad(value) if gradient else value)


def _wrap_objective(
    objective: Callable[..., Any],
    data: Any,
    model: Any,
    stitch: Callable[..., Any],
    do_grad: bool = False,
    jit_pieces: Mapping[str, Any] | None = None,
) -> Callable[[Any], Any]:
    """Return what pyhf's optimizers call."""
    pieces = jit_pieces or {"do_stitch": False}
    places = (tuple(pieces["fixed_idx"]), tuple(pieces["variable_idx"])) if pieces["do_stitch"] else ()
    tensorlib, _ = get_backend()
    fixed = tensorlib.astensor(pieces["fixed_values"] if places else [])
    function = _compiled(objective, model, do_grad, places)

    def wrapped(parameters: Any) -> Any:
        found = function(tensorlib.astensor(parameters), data, fixed)
        return tuple(map(numpy.asarray, found)) if do_grad else numpy.asarray(found)

    return wrapped


_THEIRS = common._get_tensor_shim
common._get_tensor_shim = lambda: _wrap_objective if isinstance(get_backend()[0], TensorbackendBackend) else _THEIRS()
