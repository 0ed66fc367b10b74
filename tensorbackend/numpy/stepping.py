"""Functions whose result is a view by a step: straight-line code that finds the step of a call by a look-up."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from types import FunctionType
from typing import Any, Final, ParamSpec

from ..caching.option_keys import holds_entries, remember
from ..errors import ArgumentError
from ..template import is_symbolic_template
from ..tensor import Tensor
from .arrays import Step, functions, ndarray, reshape_to, view_by_step, view_of
from .conversion import asarray
from .functions import public
from .host_arrays import compile_late, parameters_of
from .layouts import is_writeable, lock

P = ParamSpec("P")

_STEPS: Final[dict[Any, Step]] = {}
"""The steps of calls, by the function, the template of the array and the options."""

holds_entries("steps of views", _STEPS)

_INTS: Final = frozenset({int})

_OPTION: Final = "{0} if {0} is None or {0}.__class__ is str or {0}.__class__ is int else ints({0})"

_SOURCE: Final = """\
def {name}({head}):
    x = {first} if {first}.__class__ is ndarray else asarray({first})
    t = x._t
    if t is None:
        t = x._read()
    try:
        key = plan, t.template, {key}
        step = steps.get(key)
    except KeyError:
        step = key = None
    if step is None:
        step = plan(t.template, {passed})
        keep(key, step)
    return view_by_step(x, t, step)
"""


def _ints(option: Any) -> tuple[int, ...]:
    """An option that is a sequence of ints, as part of a key; `KeyError` for any other, as True and 1.0 equal 1."""
    if (option.__class__ is tuple or option.__class__ is list) and _INTS.issuperset(map(type, option)):
        return tuple(option)
    raise KeyError


def _keep(key: Any, step: Step) -> None:
    """Enters the step of a call, unless a size is symbolic: what its plan asked holds for one trace."""
    if key is not None and not is_symbolic_template(key[1]):
        remember(_STEPS, key, step)


def view_by(plan: Callable[P, Step]) -> Callable[P, ndarray]:
    """Make a function whose result is a view as `planned_view` does, and register it."""
    return public(planned_view(plan), home=False)


def planned_view(plan: Callable[P, Step]) -> Callable[P, ndarray]:
    """Make a function whose result is a view from one that finds the step.

    The function gets the template of the array in its place, and the options.
    """
    scope: dict[str, Any] = {
        "__name__": __package__, "asarray": asarray, "ints": _ints, "keep": _keep, "ndarray": ndarray, "plan": plan,
        "steps": _STEPS, "view_by_step": view_by_step,
    }  # fmt: skip
    name = plan.__name__
    made: Any = compile_late(name, lambda: _source(plan, scope), scope)
    face = FunctionType(plan.__code__, plan.__globals__, name, plan.__defaults__)
    face.__kwdefaults__ = plan.__kwdefaults__
    made.__doc__, made.__qualname__, made.__wrapped__ = plan.__doc__, name, face
    made.__annotations__ = face.__annotations__ = {**plan.__annotations__, "return": "ndarray"}
    return made  # type: ignore[no-any-return] # generated code has no types


def _source(plan: Callable[..., Any], scope: dict[str, Any]) -> str:
    """The source of the function around a plan; the defaults of its options are entered in the scope."""
    given = signature(plan)
    first, *options = given.parameters
    return _SOURCE.format(
        name=plan.__name__, head=", ".join(parameters_of(given, scope)), first=first,
        key="".join(f"{_OPTION.format(each)}, " for each in options),
        passed=", ".join(f"{each}={each}" for each in options),
    )  # fmt: skip


def never_written(old: Tensor, new: Tensor) -> Tensor:
    """The `write` of views whose elements overlap, which are written to place by place."""
    raise AssertionError("overlapping views are written to place by place")


def chain(*steps: Step) -> Step:
    """The step of a view of a view."""
    first, *others = steps
    if not others:
        return first
    rest = chain(*others)
    lay, then = first.lay, rest.lay

    def write(old: Tensor, new: Tensor) -> Tensor:
        return first.write(old, rest.write(first.how(old), new))

    return Step(
        lambda t: rest.how(first.how(t)),
        write,
        None if lay is None or then is None else lambda layout: then(lay(layout)),
        writeable=first.writeable and rest.writeable,
    )


def _set_writeable(x: ndarray, writeable: bool) -> None:
    """Makes an array read-only, or writeable again, which a view of a read-only array cannot be."""
    if x._t is not None:
        lock(x, not writeable)
        return
    if writeable == is_writeable(x):
        return
    if writeable and not is_writeable(x._base):
        raise ArgumentError("cannot set WRITEABLE flag to True of this array")
    how = x._how
    if how.__class__ is Step:
        changed = Step(how.how, how.write, how.lay, writeable=writeable, owns=how.owns, overlaps=how.overlaps,
                       template=how.template)  # fmt: skip
        x._make_view(x._base, changed, x._of)
        return
    shown = x._template()
    step = reshape_to(shown.shape)
    step.writeable = False
    x._make_view(view_of(x._base, how, x._of), step, shown)


functions["set_writeable"] = _set_writeable
