"""`jit`: a function traced once for the templates that it is called with, and compiled for their backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, overload

from ..declarations.argument_errors import check_arguments_early
from .arguments import static_places
from .compilations import CacheInfo, Compilations
from .compiled_functions import CompiledFunction
from .compiled_graphs import Lowered
from .donation import check_donated

P = ParamSpec("P")
R = TypeVar("R")


class Jitted(Protocol, Generic[P, R]):
    """A function compiled by `jit`, with its cache."""

    __wrapped__: Callable[P, R]
    """The function itself."""

    def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> R:
        """Runs the compiled function."""

    def cache_info(self) -> CacheInfo:
        """The number of compilations in the cache, and the number of calls that found one."""

    compilations: Compilations
    """What was compiled, for `explain_compilations`."""

    def cache_clear(self) -> None:
        """Clears all compilations."""

    def lower(self, *arguments: Any, **keywords: Any) -> Lowered:
        """The program that would be compiled for these arguments, which may be templates; nothing is computed."""


@overload
def jit(
    function: Callable[P, R],
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    trace_floats: bool = False,
    trace_ints: bool = False,
    cache_size: int = 256,
    donate: str | Sequence[str] = (),
) -> Jitted[P, R]: ...
@overload
def jit(
    function: None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    trace_floats: bool = False,
    trace_ints: bool = False,
    cache_size: int = 256,
    donate: str | Sequence[str] = (),
) -> Callable[[Callable[P, R]], Jitted[P, R]]: ...
@check_arguments_early
def jit(
    function: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    trace_floats: bool = False,
    trace_ints: bool = False,
    cache_size: int = 256,
    donate: str | Sequence[str] = (),
) -> Any:
    """Compile a function: it is traced once for each combination of templates and options, and then runs compiled.

    JAX compiles the whole function by XLA; NumPy runs chains of elementwise ops block by block; other backends run
    the simplified graph. Under a trace, on templates or on a tape, the function itself is called.

    Any argument but a tensor is an option: a number, a text, a function, or any object that hashes and is compared by
    value. Each value of an option has its own compilation. A tensor that the function closes over is constant: it keeps
    its value at the trace. The function's assignments to an argument have no effect for the caller.

    Parameters
    ----------
    function
        A function of tensors and options, nested like the arguments of `trace`. Without it `jit` is a decorator with
        options: `@tb.jit(static_argnames="mode")`.
    static_argnums, static_argnames
        The arguments that are options as a whole, by position or by name: containers of tensors, or objects of the
        user's own classes. They must be hashable. If such an object changes but its hash does not, the compilation
        keeps the object's state at the trace. A position includes the name of its parameter, and a name its position.
    trace_floats
        Whether Python floats and complex numbers are tensors without axes of their default dtype, rather than options,
        so that a thousand learning rates need one compilation. Next to a float16 tensor the result is then float32.
    trace_ints
        Whether Python ints are tensors likewise, such as the number of a step. Ints that are sizes or axes, or that
        choose what the function does, must be options.
    donate
        The names of parameters whose tensors the caller gives up, as a training step does with the old parameters and
        state. They are deallocated, each of them is freed at its last use, and on JAX results take their memory. Under
        a trace nothing is donated.
    cache_size
        The maximum number of compilations. If there are more, one that was not called recently is dropped.

    Returns
    -------
    Jitted
        The compiled function, with `cache_info()`, `cache_clear()` and `lower()`, which shows the program for
        some arguments.

    Raises
    ------
    ArgumentError
        For an option that is not hashable. For an object that is equal only to itself and has attributes: the
        attributes might change, and the compilation would not. Immediately, by `jit` itself, for a static argument that
        the function does not have.

    Examples
    --------
    >>> @tb.jit
    ... def scaled(x, power):
    ...     return tb.exp(-x * x) * 2 ** power
    >>> scaled(tb.zeros(2), 3).tolist(), scaled(tb.zeros(2), 3).tolist()
    ([8.0, 8.0], [8.0, 8.0])
    >>> scaled.cache_info()
    CacheInfo(hits=1, misses=1, maxsize=256, currsize=1)
    >>> move = tb.jit(lambda place, step: place + step, donate="place")
    >>> place = tb.zeros(2)
    >>> move(place, 1.5).tolist(), place.deallocated
    ([1.5, 1.5], True)
    >>> step = tb.jit(lambda x, rate: x - rate * x, trace_floats=True)
    >>> [step(tb.ones(()), rate).item() for rate in (0.5, 0.25)], step.cache_info().misses
    ([0.5, 0.75], 1)
    """
    if function is None:
        return partial(
            jit,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            trace_floats=trace_floats,
            trace_ints=trace_ints,
            cache_size=cache_size,
            donate=donate,
        )
    static = static_places(function, static_argnums, static_argnames)
    traced = (*((float, complex) if trace_floats else ()), *((int,) if trace_ints else ()))
    return CompiledFunction(function, static, traced, cache_size, check_donated(function, donate)).public()
