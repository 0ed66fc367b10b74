"""`jit`: a function traced once for the templates that it is called with, and compiled for their backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial, wraps
from inspect import unwrap
from operator import attrgetter, index
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, overload

from ..caching.option_keys import remember
from ..declarations.argument_errors import check_arguments_early
from ..dispatch.watching import is_watching
from ..dtypes import defaults
from ..errors import ArgumentError, expected
from ..errors.tracebacks import is_ours, name_in_errors
from ..ops.creation.filled import asarray
from ..protocol import Backend
from ..scopes import in_own_context
from ..select import common_backend, get_backend, move
from ..sizes import NeedsSizes
from ..template import Template
from ..tensor import Tensor
from .aliases import owners_of, refuse_aliases, run_watched, shares_written
from .arguments import StaticArgument, as_tensors, is_array, option_key, static_places
from .cache import Cache, CacheInfo
from .compilations import Compilations
from .compiled_graphs import Compiled, Lowered
from .donation import check_donated, donated_places
from .graph import Graph
from .record import expect_repeats
from .sized import SizedPrograms
from .trace import argument_names, check_results, trace_leaves
from .tree_containers import Tree
from .trees import flatten, unflatten
from .warm_calls import OTHERWISE, call_of, unwritten

P = ParamSpec("P")
R = TypeVar("R")


_TEMPLATE, _BACKEND = map(attrgetter, ("template", "backend"))


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
    >>> import tensorbackend as tb
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
    return _make_jitted(function, static, traced, cache_size, check_donated(function, donate))


@lru_cache
def _flat(count: int) -> Tree:
    """The tree of `count` positional arguments that are not containers."""
    return flatten(((0,) * count, {}))[1]


def _accepts(leaves: Sequence[Any], backend: Backend, traced: tuple[type, ...]) -> bool:
    """Whether a compilation takes leaves without conversion: each is an option or a tensor on `backend`.

    There must be a tensor, as a call without one depends on the default backend too.
    """
    tensors = False
    for leaf in leaves:
        if isinstance(leaf, Tensor):
            if leaf.backend is not backend:
                return False
            tensors = True
        elif is_array(leaf) or type(leaf) in traced:
            return False
    return tensors


def _make_jitted(
    function: Callable[..., Any],
    static: tuple[frozenset[int], frozenset[str]],
    traced: tuple[type, ...],
    cache_size: int,
    donate: tuple[str, ...] = (),
) -> Any:
    """A function that keeps its compilations."""
    numbers, names = static
    cache: Cache[Compiled] = Cache(index(cache_size))
    sized: dict[Any, SizedPrograms] = {}
    name = f"jit({getattr(function, '__name__', 'function')})"
    code = getattr(unwrap(function), "__code__", None)
    # A user cannot change how a function of this package is called.
    history = Compilations(name, warns=code is None or not is_ours(code.co_filename))

    def mark_static(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, with static ones wrapped as `StaticArgument`."""
        if not (numbers or names):
            return arguments, keywords
        return (
            tuple(
                [StaticArgument(argument) if place in numbers else argument for place, argument in enumerate(arguments)]
            ),
            {name: StaticArgument(argument) if name in names else argument for name, argument in keywords.items()},
        )

    @in_own_context
    def graph_of(call: tuple[tuple[Any, ...], dict[str, Any]], tree: Tree, leaves: Sequence[Any]) -> Graph:
        """The graph of the function for a call, given as the tree and the leaves of its arguments."""

        written: list[int] = []

        def flat(traced_leaves: list[Any]) -> Any:
            positional, named = unflatten(
                tree, [x.value if isinstance(x, StaticArgument) else x for x in traced_leaves]
            )
            watched = run_watched(function, positional, named, tree)
            written[:] = watched.written
            return watched.result

        with expect_repeats():
            graph = trace_leaves(flat, leaves, argument_names(function, *call))
        graph.written = tuple(written) if len(leaves) > 1 else ()
        return graph

    def refuse(written: Sequence[int], call: Any, tree: Tree) -> None:
        """Raises `ArgumentError` if leaves of a call to which the function writes share memory with others."""
        if written:
            refuse_aliases(owners_of(call, tree), written, lambda: argument_names(function, *call))

    def as_arguments(leaves: Sequence[Any], backend: Backend) -> list[Any]:
        """The leaves; Python numbers of the classes to trace become tensors."""
        if not traced:
            return list(leaves)
        return [asarray(leaf, backend=backend) if type(leaf) in traced else leaf for leaf in leaves]

    def lower(*arguments: Any, **keywords: Any) -> Lowered:
        call = mark_static(arguments, keywords)
        leaves, tree = flatten(call)
        leaves = as_tensors(leaves)
        backend = get_backend()
        held = [leaf for leaf in leaves if isinstance(leaf, Tensor) and leaf.backend.dispatch_priority <= 1]
        if held:
            backend = common_backend(held)
        return Lowered(graph_of(call, tree, as_arguments(leaves, backend)), backend)

    def find_compiled(leaves: Sequence[Any], *tree: Tree) -> Compiled | None:
        """The compilation for leaves that are all tensors, if it is known; without a tree they are the arguments."""
        try:
            return cache.quick[defaults.current_precision(), *tree, *map(_TEMPLATE, leaves), *map(_BACKEND, leaves)]
        except (KeyError, AttributeError, TypeError):
            return None

    def again(compiled: Compiled, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Calls a compilation that was found in the cache; returns its result, or `OTHERWISE`."""
        cache.prefer(compiled)
        return compiled.warm(compiled, arguments, keywords)

    def write_code(compiled: Compiled, leaves: Sequence[Any], tree: Tree) -> bool:
        """Writes code for the calls of a compilation if it takes such leaves unchanged; returns whether it does."""
        if not _accepts(leaves, compiled.backend, traced):
            return False
        shared = partial(shares_written, tree, compiled.written) if compiled.written else None
        compiled.warm = call_of(tree, leaves, compiled.out_tree, compiled.results, compiled.backend, shared)
        return True

    def run_sized(
        programs: SizedPrograms,
        call: Any,
        tree: Tree,
        leaves: Sequence[Any],
        tensors: Sequence[Tensor],
        backend: Backend,
    ) -> Any:
        """The result of a program for many sizes, or `OTHERWISE`."""
        shapes = tuple([x.template.shape for x in tensors])
        if is_watching() or not tensors:  # a profile shows the lines of a program for these sizes alone
            return OTHERWISE
        found = programs.find(shapes)
        hit = found is not None
        if found is None:
            if not backend.plans_kinds:
                paths = [path for path, leaf in zip(argument_names(function, *call), leaves, strict=True)
                         if isinstance(leaf, Tensor)]  # fmt: skip
                programs.warn(shapes, paths, name)
                return OTHERWISE

            def trace_symbolic(symbolic: list[Template]) -> Graph:
                rest = iter(symbolic)
                templates = [next(rest) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
                graph = graph_of(call, tree, templates)
                held = [node.tensor for node in graph.captured if node.tensor is not None]
                if common_backend([*tensors, *held]) is not backend:
                    raise NeedsSizes  # the program would run elsewhere
                return graph

            program = programs.add([x.template for x in tensors], backend, trace_symbolic)
            if program is None:
                return OTHERWISE
            history.note(argument_names(function, *call), leaves, backend, many_sizes=True)
            found = program, program.shapes(*shapes)
        program, numbers = found
        refuse(program.written, call, tree)
        try:
            result = program.run(numbers, [move(x, backend) for x in tensors])
        except NeedsSizes:
            programs.failed = True
            return OTHERWISE
        cache.count(hit=hit)
        return result

    def general(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        compiled = None if keywords or donate else find_compiled(arguments)
        if compiled is not None and compiled.warm is not unwritten:
            result = again(compiled, arguments, keywords)
            if result is not OTHERWISE:
                return result
        call = mark_static(arguments, keywords)
        leaves, tree = flatten(call)
        nested = () if tree == _flat(len(arguments)) else (tree,)
        if nested and not donate:
            compiled = find_compiled(leaves, tree)
        if compiled is not None and (compiled.warm is not unwritten or write_code(compiled, leaves, tree)):
            result = again(compiled, arguments, keywords)
            if result is not OTHERWISE:
                return result
        as_given, leaves = leaves, as_tensors(leaves)
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        backend = common_backend(tensors)
        if backend.dispatch_priority > 1:
            result = function(*arguments, **keywords)
            check_results(result)
            return result
        if traced:
            leaves = as_arguments(leaves, backend)
            tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        options = tuple(None if isinstance(leaf, Tensor) else option_key(leaf) for leaf in leaves)
        key = (tree, tuple(x.template for x in tensors), options, backend, defaults.current_precision())
        try:
            compiled = cache.get(key)
        except TypeError:
            expectation, remedy = "hashable options of a compiled function", "pass tensors, numbers, strings or tuples"
            raise ArgumentError(
                expected(expectation, remedy, options=[option[0] for option in options if option])
            ) from None
        if donate:
            if compiled is None:
                graph = graph_of(call, tree, leaves)
                history.note(argument_names(function, *call), leaves, backend)
                places = donated_places(donate, argument_names(function, *call), leaves)
                compiled = cache.store(key, Compiled(graph, backend, name, places))
            refuse(compiled.written, call, tree)
            return compiled([move(x, compiled.backend) for x in tensors])
        if compiled is None:
            kind = (tree, tuple(x.template.kind for x in tensors), options, backend, defaults.current_precision())
            programs = sized.get(kind)
            if programs is None:
                remember(sized, kind, programs := SizedPrograms())
            result = run_sized(programs, call, tree, leaves, tensors, backend)
            if result is not OTHERWISE:
                return result
            graph = graph_of(call, tree, leaves)
            held = [node.tensor for node in graph.captured if node.tensor is not None]
            backend = common_backend([*tensors, *held]) if tensors or held else backend
            history.note(argument_names(function, *call), leaves, backend)
            compiled = cache.store(key, Compiled(graph, backend, name))
            if tensors and len(tensors) == len(leaves) and all(x.backend is backend for x in tensors):
                key = defaults.current_precision(), *nested, *map(_TEMPLATE, tensors), *map(_BACKEND, tensors)
                cache.quick[key] = compiled
        elif compiled.warm is not unwritten or write_code(compiled, as_given, tree):
            cache.prefer(compiled)
        refuse(compiled.written, call, tree)
        return compiled([move(x, compiled.backend) for x in tensors])

    def clear() -> None:
        sized.clear()
        history.clear()

    cache.when_cleared = clear

    @wraps(function)
    def jitted(*arguments: Any, **keywords: Any) -> Any:
        last = cache.last
        if last is not None:
            result = last.warm(last, arguments, keywords)
            if result is not OTHERWISE:
                return result
        return general(arguments, keywords)

    wrapper: Any = name_in_errors(jitted, "jit")
    wrapper.cache_info, wrapper.cache_clear, wrapper.lower = cache.info, cache.clear, lower
    wrapper.compilations = history
    return wrapper
