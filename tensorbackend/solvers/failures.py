"""The error of a solve that fails, on request."""

from __future__ import annotations

from typing import Any

import numpy

from ..errors import ConvergenceError, expected
from ..expr.hooks import debug_callback
from ..expr.host import host_call
from ..ops.composite.linalg.norms import vector_norm
from ..tensor import Tensor
from .core import Outcome


def refuse_failure(outcome: Outcome) -> None:
    """Raises `ConvergenceError` unless all examples have converged; in compiled code too, once data are available."""

    def look(*flags: Tensor) -> None:
        _look("a solver", *map(numpy.asarray, flags))

    debug_callback(look, *_summary(outcome))


def require_convergence(outcome: Outcome) -> Tensor:
    """A number 1 for each example of a gradient's solve, or `ConvergenceError` unless all have converged.

    A gradient drops calls that are made only for side effects, but not a number that it multiplies by.
    """

    def ones(*flags: Any) -> Any:
        _look("the solve of a gradient", *flags)
        return numpy.ones(flags[0].shape)

    told = tuple([part.detach() for part in _summary(outcome)])
    return host_call(ones, told[0].template.replace(dtype=told[-1].dtype), *told)


def _summary(outcome: Outcome) -> tuple[Tensor, ...]:
    return outcome.converged, outcome.diverged, outcome.iterations, vector_norm(outcome.residual, axis=-1)


def _look(what: str, converged: Any, diverged: Any, iterations: Any, residual: Any) -> None:
    """Raises an error unless all examples have converged."""
    if converged.all():
        return
    remedy = "raise max_iterations or the tolerance, give a preconditioner or a null_space, or use another method"
    raise ConvergenceError(
        expected(
            f"{what} to converge",
            remedy,
            converged=converged.tolist(),
            diverged=diverged.tolist() if diverged.any() else False,
            iterations=iterations.tolist(),
            residual=residual.tolist(),
        )
    ).named("solve")
