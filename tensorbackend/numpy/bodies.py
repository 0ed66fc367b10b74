"""Functions of tensors that run as the kernel of their ops when a call comes again.

The first calls of a kind run the function op by op. A later one traces it, and from then on one kernel runs: that of
the op, if the function is a single op and what surrounds it, else a program. A function that reads data always runs op
by op.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from ..caching.memos import POLICY
from ..caching.option_keys import remember
from ..declarations.op_specs import OpSpec, read_parameters
from ..declarations.parameters import Role
from ..dispatch.composites import programs
from ..dispatch.generated import generate
from ..dispatch.ready_calls import Dispatcher, ReadyCall, record
from ..dispatch.watching import Subject, holds_kernels, watch_kernel
from ..dtypes import defaults
from ..protocol import Backend, Kernel
from ..protocol.callbacks import CompositeCall
from ..protocol.planned import templates_of
from ..select import apart, call_with_default
from ..tensor import Tensor


def computes(backend: Backend) -> bool:
    """Whether calls on a backend run kernels, rather than record or plan what others compute."""
    return backend.holds_data and backend.dispatch_priority <= 1


def planned_kernel(backend: Backend, function: Callable[..., Any], inputs: Sequence[Any], result: Any) -> Kernel | None:
    """The kernel of a function of tensors, from templates in place of them; `None` for one that reads data."""
    out = result.template if isinstance(result, Tensor) else tuple([each.template for each in result])

    def default(out: Any, tensors: Sequence[Any], options: Mapping[str, Any]) -> Any:
        return function(*tensors)

    return programs.call(backend, default, CompositeCall(out, tuple(inputs), {}))


class Body(Dispatcher):
    """The calls of a function of tensors that are ready."""

    direct = True

    def __init__(self, function: Callable[..., Any], roles: Mapping[str, Role]) -> None:
        parameters = tuple([
            parameter._replace(role=roles.get(parameter.name, "option"))
            for parameter in read_parameters(function, strict=False)
        ])  # fmt: skip
        name = function.__name__
        super().__init__(OpSpec(name, "composite", name, function, parameters), sole=False, nested=False)
        self.function: Final = function
        self.op: Final = generate(self, self.serve)
        holds_kernels(self)

    def serve(self, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """The result of the function, op by op; a kind of call that came often is planned."""
        first = arguments[0]
        if first.__class__ is not Tensor:
            if not first:
                return self.function(*arguments, **keywords)
            first = first[0]
        backend = first.backend
        home = apart(backend)
        if home is None:
            result = self.function(*arguments, **keywords)
        else:  # what the function makes itself is there too
            result = call_with_default(home, partial(self.function, *arguments, **keywords))
        if computes(backend) and not defaults.cast_blocks:
            try:
                key = self.key_of(*arguments, **keywords)
                times = self.times.get(key, 0)
            except Exception:  # an argument that has no key
                return result
            if times <= POLICY.calls_before_body:
                remember(self.times, key, times + 1)
            if times == POLICY.calls_before_body:
                self._plan(key, backend, result, arguments, keywords)
        return result

    def _plan(
        self, key: Any, backend: Backend, result: Any, arguments: Sequence[Any], keywords: dict[str, Any]
    ) -> None:
        """Makes the calls under a key ready, unless the function reads data."""
        places = [place for place, x in enumerate(self.spec.parameters) if x.role != "option"]

        def of_tensors(*tensors: Any) -> Any:
            given = list(arguments)
            for place, tensor in zip(places, tensors, strict=True):
                given[place] = tensor
            return self.function(*given, **keywords)

        kernel = planned_kernel(backend, of_tensors, templates_of([arguments[place] for place in places]), result)
        if kernel is not None:
            subject = Subject(self.spec.name, self.spec.name, backend)
            made = getattr(result, "_make", None)
            out = result.template if isinstance(result, Tensor) else tuple([each.template for each in result])
            ready = ReadyCall(out, watch_kernel(kernel, subject), made and (lambda *parts: made(parts)), subject)
            self.calls.store(key, record(ready))
