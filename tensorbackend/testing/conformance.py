"""Compares a call on a backend with that on BinaryBackend: values in ulps, templates, names, errors to the letter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy

from ..declarations.argument_errors import check_arguments
from ..dtypes import complex128, float64
from ..errors import DataError, TemplateDataError, TensorBackendError
from ..expr.comparing.allowances import Measured, absolute, allowed, magnitudes_of
from ..expr.comparing.values import Array
from ..expr.trees import flatten
from ..ops.creation.values import asarray
from ..ops.elementwise.basic import astype
from ..protocol import Backend
from ..rules.accuracy import Bound
from ..select import get_backend
from ..template import Template
from ..tensor import Tensor
from .calls import READS_DATA, Invocation, bound_of, names
from .compare import assert_equal
from .contract import answer, observe, outcome, outcome_text
from .divergences import EXPECTED, Divergence, Judgement, Outcome, divergences_of
from .partial import plainly, plans
from .subnormals import FLUSHES, flush_subnormals, nearer, smallest_normal


class Verdict(NamedTuple):
    """The judgement of a correct call."""

    ulps: float
    """The largest distance from the reference's elements."""
    divergence: Divergence | None = None
    """The row that excuses the call, if it needs one."""
    refused: bool = False
    """Whether the call is a mistake, which the backend refuses as the reference does."""


@check_arguments
def check(call: Invocation, backend: Backend | str) -> float:
    """The largest distance in ulps of a call on a backend from the same call on BinaryBackend.

    Raises `AssertionError` where the distance is beyond the op's bound and no row of `divergences_of` allows it, a
    template or name differs, the dry run on templates has another result, or the errors are not the same. Raises
    `UnsupportedOp` where the backend does.

    Parameters
    ----------
    call : Invocation
        The call.
    backend : Backend or str
        The backend, or its name.

    Returns
    -------
    float
        The distance of the farthest element.

    Examples
    --------
    >>> from tensorbackend.testing.calls import Invocation
    >>> x = tb.tensor([1.0, 2.0], backend="binary")
    >>> check(Invocation("negative", (x,), {}), "numpy")
    0.0
    """
    return judge(call, backend).ulps


def judge(call: Invocation, backend: Backend | str, rows: Sequence[Divergence] | None = None) -> Verdict:
    """Checks a call as `check` does, and also returns the divergence that it needed, if any.

    The dispatcher makes the call, and runs the kernel of a planned callback. If the op's own callback is planned, the
    call is made once more in the callback's plain form.

    Parameters
    ----------
    call, backend
        As for `check`.
    rows : sequence of Divergence, optional
        The divergences that are allowed; by default the rows of the backend.

    Returns
    -------
    Verdict
        The largest distance, and the row that was needed.

    Raises
    ------
    AssertionError
        For a result that is beyond the bound, and that no row allows.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> from tensorbackend.testing.calls import Invocation
    >>> x = tb.tensor([1.0, 2.0], backend="binary")
    >>> judge(Invocation("negative", (x,), {}), "numpy").ulps
    0.0
    """
    target = get_backend(backend)
    reference = outcome(call.on("binary"))
    _check_dry_run(call, reference)
    verdict = _judge(call, observe(call, target), reference, target, rows)
    if verdict.refused or not plans(target, call.name):
        return verdict
    other = _judge(call, answer(call, plainly(target)), reference, target, rows)
    return Verdict(max(verdict.ulps, other.ulps), verdict.divergence or other.divergence)


def _judge(
    call: Invocation, actual: Outcome, reference: Outcome, target: Backend, rows: Sequence[Divergence] | None
) -> Verdict:
    try:
        refused = isinstance(reference, TensorBackendError) and not isinstance(reference, DataError)
        return Verdict(_compare(call, actual, reference, EXPECTED, target), refused=refused)
    except AssertionError:
        for row in divergences_of(target) if rows is None else rows:
            if row.concerns(call, reference):
                try:
                    return Verdict(_compare_relaxed(call, actual, reference, row.judgement, target), row)
                except AssertionError:
                    continue
        raise


def check_row(row: Divergence, backend: Backend) -> None:
    """Raises `AssertionError` unless a row's witness differs without the row and passes with it.

    A row that compares nothing must name ops, or it would excuse every failure.

    Parameters
    ----------
    row : Divergence
        The row.
    backend : Backend
        The backend.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> from tensorbackend.testing import divergences_of
    >>> numpy = tb.get_backend("numpy")
    >>> for row in divergences_of(numpy):
    ...     check_row(row, numpy)
    """
    if not row.judgement.compared and not row.ops:
        raise AssertionError(f"the row {row.reason!r} compares nothing and names no ops: it excuses every failure")
    for name in {*row._bare_ops, row.witness.name} - {*names()}:
        raise AssertionError(f"the row {row.reason!r} names {name!r}: expected a name of testing.names()")
    try:
        judge(row.witness, backend, rows=())
    except AssertionError:
        judge(row.witness, backend, rows=[row])
    else:
        raise AssertionError(f"{backend.name} agrees on {row.witness!r} now: remove the row {row.reason!r}")


def _compare(call: Invocation, actual: Outcome, reference: Outcome, judgement: Judgement, backend: Backend) -> float:
    """The largest distance of two outcomes; raises beyond the op's bound and the wider one of a judgement."""
    if isinstance(reference, TensorBackendError) or isinstance(actual, TensorBackendError):
        if outcome_text(actual) != outcome_text(reference):
            raise call.disagreement("error", f"expected {outcome_text(reference)}, got {outcome_text(actual)}", backend)
        return 0
    if len(actual) != len(reference):
        raise call.disagreement("template", f"expected {len(reference)} tensors, got {len(actual)}", backend)
    bound = bound_of(call.name, {x.dtype for x in [*call.tensors, *reference]})
    bound = bound._replace(ulps=max(bound.ulps, judgement.ulps))
    farthest = 0.0
    for a, b, error in zip(actual, reference, allowances(call, bound, reference), strict=True):
        least = max(judgement.absolute, smallest_normal(b.dtype) if judgement.flushes and bound.ulps else 0.0)
        absolute = _raise_allowance(least, error)
        farthest = max(farthest, assert_equal(a, b, ulps=bound.ulps, absolute=absolute, call=call))
    return farthest


def _raise_allowance(least: float, allowed: Allowance) -> Allowance:
    return [max(least, error) for error in allowed] if isinstance(allowed, list) else max(least, allowed)


def _compare_relaxed(
    call: Invocation, actual: Outcome, reference: Outcome, judgement: Judgement, backend: Backend
) -> float:
    """The largest distance of two outcomes by the judgement of a row; raises if that does not allow it."""
    if not judgement.compared:
        if isinstance(actual, list) and isinstance(reference, list) and _templates(actual) != _templates(reference):
            raise call.disagreement(
                "template", f"expected {outcome_text(reference)}, got {outcome_text(actual)}", backend
            )
        return 0
    if not judgement.flushes:
        return _compare(call, actual, reference, judgement, backend)
    ways = FLUSHES if any(x.dtype.is_complex for x in call.tensors) else (flush_subnormals,)
    zeros, *others = (_flush(outcome(call.on("binary").mapped(way))) for way in ways)
    flushed_actual, kept = _flush(actual), _flush(reference)
    for reading in (zeros, *others):  # an element is right if it is near that of any reading
        if isinstance(flushed_actual, list) and isinstance(kept, list) and isinstance(reading, list):
            same = _templates(flushed_actual) == _templates(kept) == _templates(reading)
            kept = list(map(nearer, flushed_actual, kept, reading)) if same else kept
    try:
        return _compare(call, flushed_actual, kept, judgement, backend)
    except AssertionError:
        return _compare(call, flushed_actual, zeros, judgement, backend)


def _flush(answer: Outcome) -> Outcome:
    return answer if isinstance(answer, TensorBackendError) else list(map(flush_subnormals, answer))


def _templates(tensors: Sequence[Tensor]) -> list[Template]:
    return [x.template for x in tensors]


def _check_dry_run(call: Invocation, reference: Outcome) -> None:
    """Checks that a dry run returns the templates of the results, or any error that does not depend on data."""
    dry = outcome(call.on("template"))
    if (call.name in READS_DATA and isinstance(dry, TemplateDataError)) or isinstance(reference, DataError):
        return
    if outcome_text(dry) != outcome_text(reference):
        detail = f"expected {outcome_text(reference)}, as on data, got {outcome_text(dry)}"
        raise call.disagreement("dry run", detail, get_backend("template"))


Allowance: TypeAlias = float | list[float]
"""An absolute error, one for all elements or one for each."""


def allowances(call: Invocation, bound: Bound, results: Sequence[Tensor]) -> list[Allowance]:
    """The absolute error that a bound allows, for each result."""
    binary = call.on("binary")
    operands = [asarray(x) for x in binary.arguments] if bound.scale == "exponent" else binary.tensors
    errors = allowed(Measured(bound, operands, results, lambda: _magnitudes(binary, results)))
    return [error if isinstance(error, float) else numpy.ravel(error).tolist() for error in errors]


def _magnitudes(call: Invocation, results: Sequence[Tensor]) -> list[Array]:
    """The results of the op for the absolute values of its operands, in 64 bits."""
    if any(result.dtype.is_inexact for result in results):
        for sizes in _magnitude_calls(call):
            try:
                return [magnitudes_of(x) for x in flatten(sizes.run())[0]]
            except TensorBackendError:
                continue
    return []


def _magnitude_calls(call: Invocation) -> Iterator[Invocation]:
    """The call with absolute values in 64 bits for all operands except indices.

    Integers next to floats are indices. If all operands are integers, up to two of them may be indices: all choices
    are yielded, as the op refuses floats in place of indices.
    """
    integers = [number for number, x in enumerate(call.tensors) if x.dtype.is_integer]
    if any(x.dtype.is_inexact for x in call.tensors):
        yield _but(call, integers)
        return
    for count in range(3):
        for indices in combinations(integers, count):
            yield _but(call, indices)


def _but(call: Invocation, kept: Sequence[int]) -> Invocation:
    return call.with_tensors(x if number in kept else _wide(x) for number, x in enumerate(call.tensors))


def _wide(x: Tensor) -> Tensor:
    return absolute(astype(x, complex128 if x.dtype.is_complex else float64))
