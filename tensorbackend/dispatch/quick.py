"""The code of a warm call: one look-up, one kernel, one tensor.

Here are the records of calls that memos hold, and the closures of ops of one or two tensors without options. The code
of any other op is generated (`generated.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from ..dtypes import defaults
from ..memo import NUMBERS
from ..protocol import Backend, Kernel, Payload
from ..protocol.within import elsewhere, is_entered, within
from ..rules.plan import Out
from ..template import Template
from ..tensor import Tensor, blank_tensor
from .near import Near


class Ready(NamedTuple):
    """A call for which nothing is left to do but to run its kernel."""

    out: Out
    kernel: Kernel
    result: Callable[..., Any] | None = None
    """Makes the public result of several tensors; a tuple by default."""


Record: TypeAlias = tuple[Out, Kernel, Callable[..., Any] | None, Callable[..., Any] | None, Kernel]
"""A ready call as a memo holds it: a plain tuple, which unpacks quicker than a named one.

Its members are the output template; a function of payloads; the function that runs it in a context, or `None`
(`protocol.within`); the function that makes the public result of several tensors, or `None`; and the kernel, which does
what the second and the third do together.
"""


def record(ready: Ready) -> Record:
    """A ready call as a memo holds it."""
    function, run = within(ready.kernel)
    return ready.out, function, run, ready.result, ready.kernel


class Beside(NamedTuple):
    """A ready call whose operands may be Python numbers."""

    record: Record
    constants: tuple[Callable[[Any], Payload] | None, ...]
    """For each operand the function that makes the payload of a number; `None` for a tensor."""


Memo: TypeAlias = dict[Any, Record]
"""The records of calls by their keys."""

BesideMemo: TypeAlias = dict[Any, Beside]
KeyOf: TypeAlias = Callable[..., Any]
"""Returns the key of a call for its arguments; raises one of `MISSES` for a call that has no key."""

Missed: TypeAlias = Callable[[KeyOf, Sequence[Any], dict[str, Any]], Any]
"""Runs the full path of a call; takes the `KeyOf` of the op, and the arguments by position and by name."""

Failed: TypeAlias = Callable[[Exception, Backend, Sequence[Any]], None]
"""Raises the error that the user sees in place of a kernel's, if that is another one; takes the arguments too."""


def of_one(near: Near, missed: Missed, failed: Failed) -> Callable[[Any], Any]:
    """The op of one tensor and no options."""
    entries, recovered = near.entries, recovery(failed)

    def op(x: Any, /) -> Any:
        try:
            backend = x.backend
            out, function, run, _, _ = entries[backend][x.template]
            data = x.data  # which a sparse matrix does not have, though it has a template
        except (KeyError, AttributeError):
            pass  # so that no error below has this one as its context
        else:
            tensor = blank_tensor()
            tensor.template = out
            tensor.backend = backend
            try:
                tensor.data = function(data) if run is None else run(function, data)
            except Exception as error:  # whatever a backend's code raises
                tensor.data = recovered(error, backend, run, function, (data,), (x,))
            return tensor
        return missed(_key_of_one, (x,), {})

    return op


def _key_of_one(x: Any, /) -> Any:
    return x.template, x.backend


def of_two(near: Near, beside: BesideMemo, missed: Missed, failed: Failed) -> Callable[[Any, Any], Any]:
    """The op of two tensors and no options, or of a tensor and a Python number."""
    entries, recovered = near.entries, recovery(failed)

    def op(x1: Any, x2: Any, /) -> Any:
        if x1.__class__ is not x2.__class__:  # quicker than to catch that a number has no template
            return with_number(x1, x2)
        try:
            backend = x2.backend
            if x1.backend is not backend:
                raise KeyError
            out, function, run, _, _ = entries[backend][x1.template][x2.template]
            data1, data2 = x1.data, x2.data
        except (KeyError, AttributeError):
            pass  # so that no error below has this one as its context
        else:
            tensor = blank_tensor()
            tensor.template = out
            tensor.backend = backend
            try:
                tensor.data = function(data1, data2) if run is None else run(function, data1, data2)
            except Exception as error:  # whatever a backend's code raises
                tensor.data = recovered(error, backend, run, function, (data1, data2), (x1, x2))
            return tensor
        return missed(_key_of_two, (x1, x2), {})

    def with_number(x1: Any, x2: Any) -> Any:
        first = x1.__class__ in NUMBERS
        x, number = (x2, x1) if first else (x1, x2)
        try:
            backend = x.backend
            kinds = (number.__class__, x.template) if first else (x.template, number.__class__)
            (out, function, run, _, _), constants = beside[defaults.current_precision(), *kinds, backend]
            data = x.data
        except (KeyError, AttributeError):
            pass  # so that no error below has this one as its context
        else:  # as in `op`, since a function for both would cost a frame
            constant: Any = constants[0 if first else 1]
            data1, data2 = (constant(number), data) if first else (data, constant(number))
            tensor = blank_tensor()
            tensor.template = out  # type: ignore[assignment] # such an op has one result
            tensor.backend = backend
            try:
                tensor.data = function(data1, data2) if run is None else run(function, data1, data2)
            except Exception as error:  # whatever a backend's code raises
                tensor.data = recovered(error, backend, run, function, (data1, data2), (x1, x2))
            return tensor
        return missed(_key_of_two, (x1, x2), {})

    return op


def _key_of_two(x1: Any, x2: Any, /) -> Any:
    if x1.backend is not x2.backend:
        raise KeyError
    return x1.template, x2.template, x2.backend


def recovery(failed: Failed) -> Callable[..., Payload]:
    """The function that handles a kernel's error: it runs the kernel once more if its context was in use, or raises."""

    def recovered(
        error: Exception,
        backend: Backend,
        run: Any,
        function: Kernel,
        payloads: Sequence[Any],
        arguments: Sequence[Any],
    ) -> Payload:
        if run is not None and is_entered(error):
            try:
                return elsewhere(run, function, *payloads)
            except Exception as other:  # whatever a backend's code raises
                other.__context__ = None  # the first error did not lead to this one
                error = other
        failed(error, backend, arguments)
        raise error

    return recovered


def operands_of(arguments: Sequence[Any]) -> Iterator[Template]:
    """The templates of the tensors among the arguments of a call."""
    for argument in arguments:
        if isinstance(argument, Tensor):
            yield argument.template
        elif isinstance(argument, list | tuple):
            yield from operands_of(argument)
