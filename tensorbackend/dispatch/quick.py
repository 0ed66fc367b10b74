"""The code of a warm call: one look-up, one kernel, one tensor.

Here are the records of calls that memos hold, and the closures of ops of one or two tensors without options. The code
of any other op is generated (`generated.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from ..dtypes import defaults
from ..errors import DeallocatedError, TensorBackendError
from ..memo import NUMBERS
from ..protocol import Backend, Kernel, Payload
from ..protocol.within import elsewhere, is_entered, within
from ..rules.plan import Out
from ..template import Template
from ..tensor import Tensor, blank_tensor
from .near import Near
from .watching import Subject


class Ready(NamedTuple):
    """A call for which nothing is left to do but to run its kernel."""

    out: Out
    kernel: Kernel
    result: Callable[..., Any] | None = None
    """Makes the public result of several tensors; a tuple by default."""
    subject: Subject | None = None
    """The computation of the kernel, for a profile."""


Record: TypeAlias = tuple[Out, Kernel, Callable[..., Any] | None, Callable[..., Any] | None, Kernel, Any]
"""A ready call as a memo holds it: a plain tuple, which unpacks quicker than a named one.

Its members are the output template; a function of payloads; the function that runs it in a context, or `None`
(`protocol.within`); the function that makes the public result of several tensors, or `None`; the kernel, which does
what the second and the third do together; and the subject of the kernel.
"""


def record(ready: Ready) -> Record:
    """A ready call as a memo holds it."""
    function, run = within(ready.kernel)
    return ready.out, function, run, ready.result, ready.kernel, ready.subject


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


class Lookup:
    """What a warm call turns to when it has no exact plan."""

    __slots__ = ("call", "key_of", "missed")

    def __init__(self, missed: Missed, key_of: KeyOf | None) -> None:
        self.missed: Final = missed
        self.key_of = key_of
        """The function of an exact key, `None` until an op's code is generated."""
        self.call: Callable[..., Any] = self._miss
        """Takes the arguments of the call. It takes the full path, until the op has plans by kind (`kind_lookup`)."""

    def _miss(self, *arguments: Any, **keywords: Any) -> Any:
        assert self.key_of is not None  # the op's code has run
        return self.missed(self.key_of, arguments, keywords)


def of_one(near: Near, lookup: Lookup, failed: Failed) -> Callable[[Any], Any]:
    """The op of one tensor and no options."""
    entries, recovered = near.entries, recovery(failed)

    def op(x: Any, /) -> Any:
        try:
            out, function, run, backend = entries[x.template]
            if x.backend is backend:
                tensor = blank_tensor()
                tensor.template = out
                tensor.backend = backend
                tensor.data = function(x.data) if run is None else run(function, x.data)
                return tensor
        except Exception as error:  # the call is not ready, or whatever a backend's code raises
            unknown = error.__class__ is KeyError and error.__traceback__.tb_next is None  # type: ignore[union-attr]
            if not unknown and not is_miss(error, x):
                tensor.data = recovered(error, backend, run, function, (x.data,), (x,))
                return tensor
        return lookup.call(x)  # here, so that no error has a look-up's error as its context

    return op


def _key_of_one(x: Any, /) -> Any:
    return x.template, x.backend


def of_two(near: Near, lookup: Lookup, failed: Failed) -> Callable[[Any, Any], Any]:
    """The op of two tensors and no options, or of a tensor and a Python number."""
    entries, recovered = near.entries, recovery(failed)
    first_number, second_number = (beside_number(near, position, lookup, failed) for position in (0, 1))

    def op(x1: Any, x2: Any, /) -> Any:
        if x1.__class__ is not x2.__class__:  # quicker than to catch that a number has no template
            return second_number(x1, x2) if x1.__class__ is Tensor else first_number(x2, x1)
        try:
            out, function, run, backend = entries[x1.template][x2.template]
            if x1.backend is backend and x2.backend is backend:
                tensor = blank_tensor()
                tensor.template = out
                tensor.backend = backend
                tensor.data = function(x1.data, x2.data) if run is None else run(function, x1.data, x2.data)
                return tensor
        except Exception as error:  # the call is not ready, or whatever a backend's code raises
            unknown = error.__class__ is KeyError and error.__traceback__.tb_next is None  # type: ignore[union-attr]
            if not unknown and not is_miss(error, x1, x2):
                tensor.data = recovered(error, backend, run, function, (x1.data, x2.data), (x1, x2))
                return tensor
        return lookup.call(x1, x2)  # here, so that no error has a look-up's error as its context

    return op


def beside_number(near: Near, position: int, lookup: Lookup, failed: Failed) -> Callable[[Any, Any], Any]:
    """The op of a tensor and a Python number, which is the first operand (position 0) or the second one (position 1).

    The function takes the tensor first in both cases, as a reflected operator does.
    """
    entries, recovered, first = near.numbers[position], recovery(failed), position == 0

    def op(x: Any, number: Any, /) -> Any:
        data1 = data2 = None  # until the number's payload is made, which may fail
        try:
            out, function, run, backend, constant = entries[defaults.current_precision()][x.template][number.__class__]
            if x.backend is backend:
                data1, data2 = (constant(number), x.data) if first else (x.data, constant(number))
                tensor = blank_tensor()
                tensor.template = out
                tensor.backend = backend
                tensor.data = function(data1, data2) if run is None else run(function, data1, data2)
                return tensor
        except Exception as error:  # the call is not ready, or whatever a backend's code raises
            unknown = error.__class__ is KeyError and error.__traceback__.tb_next is None  # type: ignore[union-attr]
            if not unknown and not is_miss(error, x, number):
                operands = (number, x) if first else (x, number)
                tensor.data = recovered(error, backend, run, function, (data1, data2), operands)
                return tensor
        return lookup.call(number, x) if first else lookup.call(x, number)

    return op


def _key_of_two(x1: Any, x2: Any, /) -> Any:
    if x1.backend is not x2.backend:
        raise KeyError
    return x1.template, x2.template, x2.backend


KEYS_OF: Final = None, _key_of_one, _key_of_two
"""The functions that return the key of a plain op, by the number of its operands."""


def is_miss(error: Exception, *operands: Any) -> bool:
    """Whether an error in the warm code leaves the call to the full path.

    It does if it comes from a look-up, from an operand that is no tensor or has lost its data, or from a number that
    the dtype does not hold. A look-up raises `KeyError` or `AttributeError` in the frame of the warm code. A kernel in
    C may do so too; the full path then runs it again, and raises its error.
    """
    trace = error.__traceback__
    if any(x.__class__ is not Tensor and x.__class__ not in NUMBERS for x in operands):
        return True
    if isinstance(error, TensorBackendError):
        return isinstance(error, DeallocatedError) or any(x.__class__ in NUMBERS for x in operands)
    direct = trace is not None and trace.tb_next is None
    return direct and isinstance(error, KeyError | AttributeError)


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
