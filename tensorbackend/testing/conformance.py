"""One call on a backend against BinaryBackend: values in ulps, templates, names, and errors to the letter."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import DataError, TemplateDataError, TensorBackendError
from ..protocol import Backend
from ..tensor import Tensor
from .bounds import READS_DATA, bound_of
from .calls import Invocation
from .compare import assert_equal
from .scales import allowances


def outcome(call: Invocation) -> list[Tensor] | TensorBackendError:
    """The tensors that a call gives, or the error that it raises on purpose."""
    try:
        result = call.run()
    except TensorBackendError as error:
        return error
    return [result] if isinstance(result, Tensor) else list(result)


def check(call: Invocation, backend: Backend | str) -> float:
    """The greatest distance in ulps of a call on a backend from the same call on BinaryBackend.

    Raises `AssertionError` where the distance is beyond the op's bound, a template or name differs, the dry run
    on templates says something else, or the errors are not the same.
    """
    wanted = outcome(call.on("binary"))
    _check_dry_run(call, wanted)
    actual = outcome(call.on(backend))
    if isinstance(wanted, TensorBackendError):
        _same_error(call, actual, wanted)
        return 0
    assert not isinstance(actual, TensorBackendError), f"{call!r} raises {actual!r} where the reference gives a result"
    assert len(actual) == len(wanted), f"{call!r} gives {len(actual)} tensors, not {len(wanted)}"
    bound = bound_of(call.name, {x.dtype for x in [*call.tensors, *wanted]})
    pairs = zip(actual, wanted, allowances(call, bound, wanted), strict=True)
    return max((assert_equal(a, b, ulps=bound.ulps, absolute=each, call=repr(call)) for a, b, each in pairs), default=0)


def _check_dry_run(call: Invocation, wanted: Sequence[Tensor] | TensorBackendError) -> None:
    """A dry run gives the templates of the results, and every error that does not depend on data."""
    dry = outcome(call.on("template"))
    if call.name in READS_DATA and isinstance(dry, TemplateDataError):
        return
    if isinstance(wanted, TensorBackendError):
        if not isinstance(wanted, DataError):
            _same_error(call, dry, wanted)
        return
    assert not isinstance(dry, TensorBackendError), f"the dry run of {call!r} raises {dry!r}"
    for shape_only, real in zip(dry, wanted, strict=True):
        text = f"the dry run of {call!r} gives {shape_only.template}, but {real.template} comes"
        assert shape_only.template is real.template, text


def _same_error(call: Invocation, actual: object, wanted: TensorBackendError) -> None:
    same = type(actual) is type(wanted) and str(actual) == str(wanted)
    assert same, f"{call!r} raises {wanted!r}, but here comes {actual!r}"
