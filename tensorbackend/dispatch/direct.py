"""Public functions written in other ops, for which a backend may have a kernel of its own, as for `x[key]` and `take`.

The first call of a kind runs the function, and then plans the kernel; the next ones run the kernel. Where the kernel
raises an error, the function runs, and raises it in the library's words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, TypeVar

from ..declarations.op_specs import OpSpec, read_parameters
from ..declarations.parameters import Role
from ..declarations.signature_errors import adapt
from ..docstrings import document
from ..tensor import Tensor
from .generated import ABSENT, generate, passed
from .kernels import Shaped
from .ready_calls import Dispatcher, ReadyCall, record
from .watching import Subject, holds_kernels, watch_kernel

P = ParamSpec("P")
R = TypeVar("R")


def direct(
    plan: Callable[Concatenate[R, P], ReadyCall | None], *, key: str = "", number: str = ""
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Lets calls of a function run a backend's own kernel.

    `plan` takes the result of a call that the function has served, and the arguments. It decides from templates and
    options alone, and returns `None` where the backend has no kernel. `key` names the parameter that is a key of the
    first one, as in `x[key]`; the numbers in it, and a parameter `number`, reach the kernel as data. Sizes of a result
    that depend on data are those of its payload (`kernels.Shaped`).
    """

    def declare(function: Callable[P, R]) -> Callable[P, R]:
        op: Callable[P, R] = DirectPath(document(function), plan, {key: "key", number: "number"}).op
        return op

    return declare


class DirectPath(Dispatcher):
    """The calls of such a function that are ready."""

    direct, precise = True, False

    def __init__(
        self, function: Callable[..., Any], plan: Callable[..., ReadyCall | None], roles: Mapping[str, Role]
    ) -> None:
        parameters = tuple([
            parameter._replace(role=roles.get(parameter.name, parameter.role))
            for parameter in read_parameters(function)
        ])  # fmt: skip
        name = function.__name__
        nested = all(parameter.role != "option" for parameter in parameters)
        super().__init__(OpSpec(name, "composite", name, function, parameters), sole=False, nested=nested)
        self.function, self.plan = function, plan
        checked = None if "key" in roles else self._adapt  # an operator, `x[key]`, gets no other arguments
        self.op: Any = update_wrapper(generate(self, self.serve, adapt=checked), function)
        holds_kernels(self)

    def _adapt(self, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """The result of a call that the signature takes under other names; raises an error for any other such call."""
        arguments, keywords = passed(self.spec, arguments, keywords)
        return self.op(*arguments, **(adapt(self.function, arguments, keywords) or keywords))

    def serve(self, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """The result of the function; the next call of the kind runs the backend's kernel, if it has one."""
        if any(argument is ABSENT for argument in (*arguments, *keywords.values())):
            return self._adapt(arguments, keywords)
        result = self.function(*arguments, **keywords)
        try:
            key = self.key_of(*arguments, **keywords)
            known = self.calls.find(key)
        except Exception:  # an argument that has no key
            return result
        ready = self.plan(result, *arguments, **keywords) if known is None else None
        if ready is not None:
            inputs = [Shaped(x.template) if isinstance(x, Tensor) else None for x in arguments]
            kinds = tuple(inputs), ready.out
            subject = Subject(self.spec.name, self.spec.name, arguments[0].backend, kinds=kinds)
            self.calls.store(key, record(ready._replace(subject=subject, kernel=watch_kernel(ready.kernel, subject))))
        return result
