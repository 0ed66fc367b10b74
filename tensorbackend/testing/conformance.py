"""One call on a backend against BinaryBackend: values in ulps, templates, names, and errors to the letter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..errors import DataError, TemplateDataError, TensorBackendError, UnsupportedOp, expected
from ..protocol import Backend
from ..select import get_backend
from ..template import Template
from ..tensor import Tensor
from .bounds import READS_DATA, bound_of
from .calls import Invocation
from .compare import assert_equal
from .divergences import EXPECTED, Divergence, Judgement, Outcome, divergences
from .scales import Allowance, allowances
from .subnormals import flushed, least_normal, nearer


class Verdict(NamedTuple):
    """What became of a call that was not wrong."""

    ulps: float
    """The greatest distance from the reference's elements."""
    divergence: Divergence | None = None
    """The row without which it had been wrong."""


def outcome(call: Invocation) -> Outcome:
    """The tensors that a call gives, or the error that it raises on purpose."""
    try:
        result = call.run()
    except TensorBackendError as error:
        return error
    return [result] if isinstance(result, Tensor) else list(result)


def check(call: Invocation, backend: Backend | str) -> float:
    """The greatest distance in ulps of a call on a backend from the same call on BinaryBackend.

    Raises `AssertionError` where the distance is beyond the op's bound and no row of `divergences` allows it, a
    template or name differs, the dry run on templates says something else, or the errors are not the same. Raises
    `UnsupportedOp` where the backend does.
    """
    return judge(call, backend).ulps


def judge(call: Invocation, backend: Backend | str, rows: Sequence[Divergence] | None = None) -> Verdict:
    """`check`, with the divergence that was needed; `rows` are the backend's own unless others are given."""
    target = get_backend(backend)
    wanted = outcome(call.on("binary"))
    _check_dry_run(call, wanted)
    actual = _outcome_on(call, target)
    try:
        return Verdict(_compared(call, actual, wanted, EXPECTED))
    except AssertionError:
        for row in divergences(target) if rows is None else rows:
            if row.concerns(call, wanted):
                try:
                    return Verdict(_relaxed(call, actual, wanted, row.judgement), row)
                except AssertionError:
                    continue
        raise


def _outcome_on(call: Invocation, backend: Backend) -> Outcome:
    for x in call.tensors:
        if x.dtype not in backend.dtypes:
            remedy = "cast with astype(), or use another backend"
            raise UnsupportedOp(expected(f"a dtype that the backend {backend.name!r} holds", remedy, dtype=x.dtype))
    found = outcome(call.on(backend))
    if isinstance(found, UnsupportedOp):
        raise found
    return found


def _compared(call: Invocation, actual: Outcome, wanted: Outcome, judgement: Judgement) -> float:
    """The greatest distance of two outcomes, within the op's bound or the wider one of a judgement."""
    if isinstance(wanted, TensorBackendError):
        _same_error(call, actual, wanted)
        return 0
    assert not isinstance(actual, TensorBackendError), f"{call!r} raises {actual!r} where the reference gives a result"
    assert len(actual) == len(wanted), f"{call!r} gives {len(actual)} tensors, not {len(wanted)}"
    bound = bound_of(call.name, {x.dtype for x in [*call.tensors, *wanted]})
    bound = bound._replace(ulps=max(bound.ulps, judgement.ulps))
    farthest = 0.0
    for a, b, allowed in zip(actual, wanted, allowances(call, bound, wanted), strict=True):
        least = max(judgement.absolute, least_normal(b.dtype) if judgement.flushes and bound.ulps else 0.0)
        absolute = _at_least(least, allowed)
        farthest = max(farthest, assert_equal(a, b, ulps=bound.ulps, absolute=absolute, call=repr(call)))
    return farthest


def _at_least(least: float, allowed: Allowance) -> Allowance:
    return [max(least, each) for each in allowed] if isinstance(allowed, list) else max(least, allowed)


def _relaxed(call: Invocation, actual: Outcome, wanted: Outcome, judgement: Judgement) -> float:
    """The greatest distance of two outcomes as a row says that they are judged."""
    if not judgement.compared:
        if isinstance(actual, list) and isinstance(wanted, list):
            _same_templates(call, actual, wanted)
        return 0
    if not judgement.flushes:
        return _compared(call, actual, wanted, judgement)
    found, kept = _flushed(actual), _flushed(wanted)
    zeros = _flushed(outcome(call.on("binary").mapped(flushed)))
    if isinstance(found, list) and isinstance(kept, list) and isinstance(zeros, list):
        same = _templates(found) == _templates(kept) == _templates(zeros)
        if same:  # each element is right by either reading
            kept = list(map(nearer, found, kept, zeros))
    try:
        return _compared(call, found, kept, judgement)
    except AssertionError:
        return _compared(call, found, zeros, judgement)


def _flushed(found: Outcome) -> Outcome:
    return found if isinstance(found, TensorBackendError) else list(map(flushed, found))


def _templates(tensors: Sequence[Tensor]) -> list[Template]:
    return [x.template for x in tensors]


def _check_dry_run(call: Invocation, wanted: Outcome) -> None:
    """A dry run gives the templates of the results, and every error that does not depend on data."""
    dry = outcome(call.on("template"))
    if call.name in READS_DATA and isinstance(dry, TemplateDataError):
        return
    if isinstance(wanted, TensorBackendError):
        if not isinstance(wanted, DataError):
            _same_error(call, dry, wanted)
        return
    assert not isinstance(dry, TensorBackendError), f"the dry run of {call!r} raises {dry!r}"
    _same_templates(call, dry, wanted)


def _same_templates(call: Invocation, actual: Sequence[Tensor], wanted: Sequence[Tensor]) -> None:
    came, right = _templates(actual), _templates(wanted)
    assert came == right, f"{call!r} gives {came} on {actual[0].backend if actual else 'a backend'}, not {right}"


def _same_error(call: Invocation, actual: object, wanted: TensorBackendError) -> None:
    same = type(actual) is type(wanted) and str(actual) == str(wanted)
    assert same, f"{call!r} raises {wanted!r}, but here comes {actual!r}"
