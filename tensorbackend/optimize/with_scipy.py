"""SciPy's methods, imported on first use, which minimise one example after the other on the host."""

from __future__ import annotations

from typing import Any, Final

from ..errors import BackendError, UnsupportedOp, expected
from ..expr.expr_backend import ExprBackend
from ..expr.grad.functions import value_and_grad
from ..expr.graph import Graph
from ..expr.jit import jit
from ..expr.trees import flatten
from ..ops.creation.values import asarray
from ..ops.reduction import sum as sum_
from ..ops.shape import reshape
from ..tensor import Tensor
from .objective import value_at

METHODS: Final = (
    "Nelder-Mead", "Powell", "CG", "BFGS", "Newton-CG", "L-BFGS-B", "TNC", "COBYLA", "SLSQP", "trust-constr",
)  # fmt: skip
_WITHOUT_GRADIENT = ("Nelder-Mead", "Powell", "COBYLA")
_WITHOUT_BOUNDS = ("CG", "BFGS", "Newton-CG")


@jit(static_argnums=0)
def _value_and_gradient(
    graph: Graph, constants: tuple[Tensor, ...], x: Tensor, chosen: Tensor
) -> tuple[Tensor, Tensor]:
    """The value of the example whose weight in `chosen` is 1, and its gradient with respect to all of x."""
    template = graph.templates[-1]

    def total(x: Tensor) -> Tensor:
        value = value_at(graph, constants, reshape(x, template.shape, names=template.names))
        return sum_(reshape(value, (-1,)) * chosen)

    value_and_gradient: tuple[Tensor, Tensor] = value_and_grad(total)(x)
    return value_and_gradient


def minimise_with_scipy(method: str, plan: Any, tensors: Any) -> list[Tensor]:
    """Returns x, the value, the iterations, and whether each example has converged, and has diverged."""
    import numpy

    x0 = tensors.x0
    if any(isinstance(x.backend, ExprBackend) or not x.backend.holds_data for x in flatten(tensors)[0]):
        remedy = "use 'l-bfgs', or call it outside a trace, and take gradients on a tape"
        raise BackendError(expected("tensors with data for a method of SciPy", remedy, method=method, x0=x0.template))
    try:
        from scipy.optimize import minimize
    except ImportError:
        raise UnsupportedOp(expected(f"SciPy for the method {method!r}", "pip install scipy"), x0.dtype) from None
    if plan.bounded and method in _WITHOUT_BOUNDS:
        raise BackendError(expected(f"no bounds for the method {method!r}", "use 'l-bfgs' or 'L-BFGS-B'"))
    start = numpy.asarray(x0, numpy.float64)
    rows = start.reshape(-1, start.shape[-1])
    count = len(rows)
    lower, upper = (numpy.broadcast_to(numpy.asarray(x), start.shape).reshape(rows.shape) for x in tensors[2:4])
    tolerance, most = (numpy.asarray(x).reshape(count) for x in tensors[4:6])
    minimisers, facts = numpy.array(rows), []
    for place in range(count):
        chosen = asarray(numpy.eye(count)[place], dtype=x0.dtype, backend=x0.backend)

        def both(x: Any, place: int = place, chosen: Tensor = chosen) -> tuple[float, Any]:
            whole = numpy.array(rows)
            whole[place] = x
            at = asarray(whole.reshape(start.shape), dtype=x0.dtype, backend=x0.backend)
            value, slope = _value_and_gradient(plan.graph, tensors.constants, at, chosen)
            return float(value), numpy.asarray(slope, numpy.float64).reshape(rows.shape)[place]

        gradient = method not in _WITHOUT_GRADIENT
        bounds = list(zip(lower[place], upper[place], strict=True)) if plan.bounded else None
        result = minimize(
            both if gradient else lambda x, both=both: both(x)[0],
            rows[place],
            jac=True if gradient else None,
            method=method,
            tol=float(tolerance[place]),
            bounds=bounds,
            options={"maxfun" if method == "TNC" else "maxiter": int(most[place])},
        )
        minimisers[place] = result.x
        finite = bool(numpy.isfinite(result.fun)) and bool(numpy.isfinite(result.x).all())
        steps = getattr(result, "nit", getattr(result, "nfev", 0))
        facts.append((float(result.fun), int(steps), bool(result.success) and finite, not finite))
    batch = start.shape[:-1]
    columns = [asarray(numpy.array(column).reshape(batch), backend=x0.backend) for column in zip(*facts, strict=True)]
    x = asarray(minimisers.reshape(start.shape), dtype=x0.dtype, backend=x0.backend)
    value, iterations, converged, diverged = columns
    return [x, asarray(value, dtype=x0.dtype), asarray(iterations, dtype="int32"), converged, diverged]
