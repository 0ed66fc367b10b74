"""`largest_size`: the largest size whose memory fits, such as that of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..declarations.argument_errors import check_arguments_early
from ..errors import ArgumentError, TensorBackendError, expected
from ..expr.trees import flatten, unflatten
from . import parse_bytes
from .dry_run import dry_run

LARGEST: Final = 2**40
"""A size above which no limit is looked for."""
LARGEST_UNIT: Final = 2**16
"""The most samples that a program may need to run at all."""


@check_arguments_early
def largest_size(
    function: Callable[..., Any],
    *templates: Any,
    fits: int | str,
    gradient: bool = False,
    optimised: bool = False,
    **options: Any,
) -> int:
    """Find the largest size, such as that of a batch, with which a call fits into a limit of memory.

    A dry run tells the peak for each size that is tried, by doubling and bisection. A program that needs some samples
    does not run for small sizes: then the size is found among multiples of the first power of 2 for which it does.

    Parameters
    ----------
    function
        A function of tensors and of anything else.
    *templates
        The function's arguments, as for `dry_run`; texts such as `"f32[batch=?, 128]"` have `?` for the size.
    fits : int or str
        The limit in bytes, or text such as `"24GB"`.
    gradient : bool, default False
        Whether the gradient with respect to the first argument is run too.
    optimised : bool, default False
        Whether the peak is that of the rewritten graph instead of eager order.
    **options
        Options of `dry_run`, such as `mesh` or `donate`, and the function's keyword arguments.

    Returns
    -------
    int
        The size; 0 if none fits.

    Raises
    ------
    ArgumentError
        If no template has a size of `?`.

    Examples
    --------
    >>> loss = lambda w, x: tb.mean((x @ w) ** 2)
    >>> tb.largest_size(loss, "f32[128, 10]", "f32[batch=?, 128]", fits="1MB", gradient=True)
    1680
    """
    leaves, tree = flatten((templates, options))
    if not any(isinstance(leaf, str) and "?" in leaf for leaf in leaves):
        raise ArgumentError(expected("a size of ? in a template", "as in 'f32[batch=?, 128]'", templates=templates))
    limit = parse_bytes(fits) if isinstance(fits, str) else fits

    def has_room(size: int) -> bool:
        texts = [leaf.replace("?", str(size)) if isinstance(leaf, str) else leaf for leaf in leaves]
        arguments, keywords = unflatten(tree, texts)
        return dry_run(function, *arguments, gradient=gradient, **keywords).fits(limit, optimised=optimised)

    return search(has_room)[0]


def search(has_room: Callable[[int], bool], tell: Callable[[str], object] = lambda found: None) -> tuple[int, int]:
    """The largest size with room, 0 if there is none, and the unit of which it is a multiple. Each trial is told.

    >>> search(lambda size: size <= 1000)
    (1000, 1)
    """

    def tried(size: int) -> bool:
        try:
            found = has_room(size)
        except TensorBackendError as error:
            error.add_note(f"the open size was {size}")
            raise
        tell(f"size {size} {'fits' if found else 'does not fit'}")
        return found

    unit = _unit(has_room, tell)
    least, most = 0, unit
    while most <= LARGEST and tried(most):
        least, most = most, 2 * most
    while most - least > unit and most <= LARGEST:
        middle = (least + most) // (2 * unit) * unit
        least, most = (middle, most) if tried(middle) else (least, middle)
    return least, unit


def _unit(run: Callable[[int], object], tell: Callable[[str], object]) -> int:
    """The least power of 2 for which a program runs; the error of 1 if there is none."""
    failed: TensorBackendError | None = None
    for size in (1 << place for place in range(LARGEST_UNIT.bit_length())):
        try:
            run(size)
        except TensorBackendError as error:
            failed = failed or error
            tell(f"size {size} does not run")
        else:
            return size
    assert failed is not None
    raise failed
