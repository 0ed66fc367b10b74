"""`fit`: a function that computes again for gradients only what a limit of memory requires."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from ..caching.option_keys import remember
from ..declarations.argument_errors import check_arguments_early
from ..errors import ArgumentError, expected
from ..errors.tracebacks import name_in_errors
from ..expr.recomputation import Selection, select_calls
from ..expr.trees import flatten
from ..tensor import Tensor
from . import parse_bytes, show_bytes
from .candidates import choose_recomputation
from .dry_run import eager_program, optimised_program, pause_collection, trace_call
from .estimate import Estimator
from .program import Program

P = ParamSpec("P")
R = TypeVar("R")


@check_arguments_early
def fit(function: Callable[P, R], size: int | str, *, optimised: bool = False) -> Callable[P, R]:
    """Compute again for gradients only what a limit of memory requires.

    The function computes gradients by `grad` or `value_and_grad`. At the first call with arguments of given shapes, dry
    runs choose which calls of functions that are wrapped in `checkpoint` are computed again: those that save enough
    memory with the fewest operations. All others keep their values. Where a gradient calls no such function, its graph
    is cut into parts where few values are needed later, as between layers, and parts are chosen. A gradient that is a
    sum over several parts or calls may then be added in another order, so that it is rounded in another way.

    Parameters
    ----------
    function : callable
        A function of nested tensors and of anything else, such as a training step.
    size : int or str
        The limit in bytes, or text such as `"80GB"`. It includes the arguments, and what Python and NumPy need besides
        tensors, about 130 kB and 150 bytes for each op.
    optimised : bool, default False
        Whether the limit is for the compiled program, in which ops write over inputs of last use, as XLA and `jit` on
        NumPy do. By default it is for ops that are run one by one.

    Returns
    -------
    callable
        The function with that choice. To compile it, write `tb.jit(tb.fit(step, "80GB", optimised=True))`.

    Raises
    ------
    ArgumentError
        From a call, if no choice that was tried fits.

    See Also
    --------
    dry_run : With `fits=`, shows the choice without data.
    checkpoint : Wraps a function.

    References
    ----------
    Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016.

    Examples
    --------
    >>> layer = tb.checkpoint(lambda x: tb.sin(tb.exp(tb.tanh(x))))
    >>> def chain(x):
    ...     for _ in range(16):
    ...         x = layer(x)
    ...     return tb.sum(x)
    >>> step = tb.fit(tb.grad(chain), "20MB")
    >>> step(tb.zeros(100_000)).shape
    (100000,)
    >>> print(tb.dry_run(chain, "f32[100000]", gradient=True, fits="20MB").recomputation.fits)
    True
    """
    limit = parse_bytes(size) if isinstance(size, str) else int(size)
    known: dict[Any, frozenset[int]] = {}

    @wraps(function)
    def fitted(*arguments: P.args, **keywords: P.kwargs) -> R:
        leaves, tree = flatten((arguments, keywords))
        key = tree, *[leaf.template if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        try:
            chosen = known.get(key)
        except TypeError:  # an argument that does not hash
            chosen, key = None, None  # type: ignore[assignment]
        if chosen is None:
            chosen = _choice(function, arguments, keywords, limit, optimised)
            if key is not None:
                remember(known, key, chosen)
        with select_calls(Selection(chosen, keeps_bodies=False)):
            return function(*arguments, **keywords)

    return name_in_errors(fitted, "fit")


def _choice(function: Any, arguments: Any, keywords: Any, limit: int, optimised: bool) -> frozenset[int]:
    estimator, program_of = Estimator(), optimised_program if optimised else eager_program

    def run() -> Program:
        return program_of(trace_call(function, arguments, keywords, gradient=False), estimator)

    with pause_collection():
        found = choose_recomputation(run, limit, sets_aside=True)
    if found.fits:
        return found.chosen
    remedy = "raise the limit, or wrap more of the function's parts in checkpoint()"
    expectation = f"a limit of at least {show_bytes(found.promised)}, the peak with {found.counted}"
    raise ArgumentError(expected(expectation, remedy, limit=show_bytes(limit)))
