"""The functions of `jit`: from the arguments of a call to a compilation.

A call is served by the first of these that takes it:

1. the code written for the compilation that was found last, which checks the arguments itself (`warm_calls`);
2. another compilation, found by the templates and backends of arguments that are all tensors;
3. a compilation found by the whole key: the nesting of the arguments, templates, options, backend and precision;
4. a program for many sizes, found by the same key without the sizes (`sized`);
5. a new trace of the function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial, wraps
from inspect import unwrap
from operator import attrgetter, index
from typing import Any, Final, NamedTuple, cast

from ..caching.option_keys import remember
from ..dispatch.watching import is_watching
from ..dtypes import defaults
from ..errors import ArgumentError, BackendError, expected
from ..errors.tracebacks import is_ours, name_in_errors
from ..ops.creation.filled import asarray
from ..protocol import Backend
from ..scopes import in_own_context
from ..select import common_backend, get_backend, move
from ..sizes import NeedsSizes
from ..template import Template
from ..tensor import Tensor
from .aliases import owners_of, refuse_aliases, run_watched, shares_written
from .arguments import StaticArgument, as_tensors, is_array, option_key, split
from .compilations import Cache, Compilations
from .compiled_graphs import Compiled, Lowered
from .donation import donated_places
from .expr_backend import expect_repeats
from .graph import Graph, held_by
from .sized import SizedPrograms
from .trace import argument_names, check_results, trace_leaves
from .tree_containers import Tree
from .trees import flatten, unflatten
from .warm_calls import OTHERWISE, call_of, unwritten

_TEMPLATE, _BACKEND = map(attrgetter, ("template", "backend"))


class Call(NamedTuple):
    """A call that no compilation was found for by its tensors alone."""

    given: tuple[tuple[Any, ...], dict[str, Any]]
    """The arguments by position and by name, static ones wrapped as `StaticArgument`."""
    tree: Tree
    """The nesting of these."""
    leaves: Sequence[Any]
    """Their leaves; arrays, and numbers that are traced, as tensors."""
    tensors: Sequence[Tensor]
    """The tensors among the leaves."""
    backend: Backend

    def key(self, forms: Sequence[object]) -> tuple[Any, ...]:
        """The key of the call. `forms` are the templates of the tensors, or their kinds to leave out the sizes."""
        options = tuple(None if isinstance(leaf, Tensor) else option_key(leaf) for leaf in self.leaves)
        return self.tree, tuple(forms), options, self.backend, defaults.current_precision()

    def home(self, graph: Graph) -> Backend:
        """The backend of the tensors and of those that the function has captured."""
        held = [*self.tensors, *held_by(graph)]
        try:
            return common_backend(held) if held else self.backend
        except BackendError:
            own = common_backend(self.tensors)  # raises where the arguments differ among themselves
            captured = next(x for x in held_by(graph) if x.backend is not own)
            remedy = f"pass what the function captures as an argument, or copy it with tb.backend_copy(x, {own.name!r})"
            wanted = f"captured tensors on the backend of the arguments, {own.name!r}"
            got = {"captured": captured.template, "backend": captured.backend}
            raise BackendError(expected(wanted, remedy, **got)) from None


class CompiledFunction:
    """A function with its compilations."""

    def __init__(
        self,
        function: Callable[..., Any],
        static: tuple[frozenset[int], frozenset[str]],
        traced: tuple[type, ...],
        cache_size: int,
        donate: tuple[str, ...],
    ) -> None:
        self.function: Final = function
        self.static_numbers, self.static_names = static
        self.traced: Final = traced
        """The classes of the numbers that are traced as tensors."""
        self.donate: Final = donate
        self.name: Final = f"jit({getattr(function, '__name__', 'function')})"
        self.sized: Final[dict[Any, SizedPrograms]] = {}
        """The programs for many sizes, by the key of a call without the sizes."""
        code = getattr(unwrap(function), "__code__", None)
        # A user cannot change how a function of this package is called.
        self.history: Final = Compilations(self.name, warns=code is None or not is_ours(code.co_filename))
        self.cache: Final = Cache(index(cache_size), (self.sized, self.history))

    def public(self) -> Any:
        """The function that users call; it is a function, so that a class may have it as a method."""
        cache, run = self.cache, self.run

        @wraps(self.function)
        def jitted(*arguments: Any, **keywords: Any) -> Any:
            last = cache.last
            if last is not None:
                result = last.warm(last, arguments, keywords)
                if result is not OTHERWISE:
                    return result
            return run(arguments, keywords)

        wrapper: Any = name_in_errors(jitted, "jit")
        wrapper.cache_info, wrapper.cache_clear, wrapper.lower = cache.info, cache.clear, self.lower
        wrapper.compilations = self.history
        return wrapper

    def run(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The result of a call that the last compilation does not take."""
        compiled = None if keywords or self.donate else self._find(arguments)
        if compiled is not None and compiled.warm is not unwritten:
            result = self._again(compiled, arguments, keywords)
            if result is not OTHERWISE:
                return result
        given = self._mark_static(arguments, keywords)
        leaves, tree = flatten(given)
        nested = () if tree == _flat(len(arguments)) else (tree,)
        if nested and not self.donate:
            compiled = self._find(leaves, tree)
        if compiled is not None and (compiled.warm is not unwritten or self._write_code(compiled, leaves, tree)):
            result = self._again(compiled, arguments, keywords)
            if result is not OTHERWISE:
                return result
        tensors = as_tensors(leaves)
        backend = common_backend([leaf for leaf in tensors if isinstance(leaf, Tensor)])
        if backend.dispatch_priority > 1:  # a trace, templates or a tape
            result = self.function(*arguments, **keywords)
            check_results(result)
            return result
        return self._run_key(self._call(given, tree, tensors, backend), leaves, nested)

    def _run_key(self, call: Call, as_given: Sequence[Any], nested: tuple[Tree, ...]) -> Any:
        """The result of a call by its whole key."""
        key = call.key([x.template for x in call.tensors])
        try:
            compiled = self.cache.get(key)
        except TypeError:
            expectation, remedy = "hashable options of a compiled function", "pass tensors, numbers, strings or tuples"
            raise ArgumentError(
                expected(expectation, remedy, options=[option[0] for option in key[2] if option])
            ) from None
        if compiled is None:
            result = OTHERWISE if self.donate else self._run_sized(call)
            if result is not OTHERWISE:
                return result
            compiled = self._compile(key, call, nested)
        elif not self.donate and (compiled.warm is not unwritten or self._write_code(compiled, as_given, call.tree)):
            self.cache.prefer(compiled)
        self._refuse_aliases(compiled.written, call)
        return compiled([move(x, compiled.backend) for x in call.tensors])

    def lower(self, *arguments: Any, **keywords: Any) -> Lowered:
        """The program that would be compiled for these arguments."""
        given = self._mark_static(arguments, keywords)
        leaves, tree = flatten(given)
        leaves = as_tensors(leaves)
        held = [leaf for leaf in leaves if isinstance(leaf, Tensor) and leaf.backend.dispatch_priority <= 1]
        backend = common_backend(held) if held else get_backend()
        call = self._call(given, tree, leaves, backend)
        return Lowered(self._trace(call, call.leaves), backend)

    # Compilations that are found by tensors alone

    def _find(self, leaves: Sequence[Any], *tree: Tree) -> Compiled | None:
        """The compilation for leaves that are all tensors, if it is known; without a tree they are the arguments."""
        try:
            return cast("Compiled", self.cache.quick[_quick_key(leaves, tree)])
        except (KeyError, AttributeError, TypeError):
            return None

    def _again(self, compiled: Compiled, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Calls a compilation that was found in the cache; returns its result, or `OTHERWISE`."""
        self.cache.prefer(compiled)
        return compiled.warm(compiled, arguments, keywords)

    def _write_code(self, compiled: Compiled, leaves: Sequence[Any], tree: Tree) -> bool:
        """Writes code for the calls of a compilation if it takes such leaves unchanged; returns whether it does."""
        if not _accepts(leaves, compiled.backend, self.traced):
            return False
        shared = partial(shares_written, tree, compiled.written) if compiled.written else None
        compiled.warm = call_of(tree, leaves, compiled.out_tree, compiled.results, compiled.backend, shared)
        return True

    # Arguments

    def _mark_static(
        self, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, with static ones wrapped as `StaticArgument`."""
        numbers, names = self.static_numbers, self.static_names
        if not (numbers or names):
            return arguments, keywords
        return (
            tuple([StaticArgument(value) if place in numbers else value for place, value in enumerate(arguments)]),
            {name: StaticArgument(value) if name in names else value for name, value in keywords.items()},
        )

    def _call(self, given: Any, tree: Tree, leaves: Sequence[Any], backend: Backend) -> Call:
        """The call with such leaves; Python numbers of the classes to trace become tensors."""
        if self.traced:
            leaves = [asarray(leaf, backend=backend) if type(leaf) in self.traced else leaf for leaf in leaves]
        return Call(given, tree, leaves, [leaf for leaf in leaves if isinstance(leaf, Tensor)], backend)

    def _paths(self, call: Call) -> list[str]:
        """The paths of the leaves, by the names of parameters."""
        return argument_names(self.function, *call.given)

    def _refuse_aliases(self, written: Sequence[int], call: Call) -> None:
        """Raises `ArgumentError` if leaves of a call to which the function writes share memory with others."""
        if written:
            refuse_aliases(owners_of(call.given, call.tree), written, partial(self._paths, call))

    # Traces

    @in_own_context
    def _trace(self, call: Call, leaves: Sequence[Any]) -> Graph:
        """The graph of the function for a call, with tensors or templates among the leaves."""
        written: list[int] = []

        def flat(traced_leaves: list[Any]) -> Any:
            values = [x.value if isinstance(x, StaticArgument) else x for x in traced_leaves]
            positional, named = unflatten(call.tree, values)
            watched = run_watched(self.function, positional, named, call.tree)
            written[:] = watched.written
            return watched.result

        with expect_repeats():
            graph = trace_leaves(flat, leaves, self._paths(call))
        graph.written = tuple(written) if len(leaves) > 1 else ()
        return graph

    def _compile(self, key: tuple[Any, ...], call: Call, nested: tuple[Tree, ...]) -> Compiled:
        """A new compilation, entered under the key of the call, and under its tensors if it has no other leaves."""
        graph, paths, tensors = self._trace(call, call.leaves), self._paths(call), call.tensors
        home = call.backend if self.donate else call.home(graph)
        self.history.note(paths, call.leaves, home)
        places = donated_places(self.donate, paths, call.leaves)
        compiled = self.cache.store(key, Compiled(graph, home, self.name, places))
        if tensors and len(tensors) == len(call.leaves) and not self.donate and all(x.backend is home for x in tensors):
            self.cache.quick[_quick_key(tensors, nested)] = compiled
        return compiled

    # Programs for many sizes

    def _run_sized(self, call: Call) -> Any:
        """The result of a program for many sizes, or `OTHERWISE`."""
        kind = call.key([x.template.kind for x in call.tensors])
        programs = self.sized.get(kind)
        if programs is None:
            remember(self.sized, kind, programs := SizedPrograms())
        tensors, backend = call.tensors, call.backend
        if is_watching() or not tensors:  # a profile shows the lines of a program for these sizes alone
            return OTHERWISE
        shapes = tuple([x.template.shape for x in tensors])
        found = programs.find(shapes)
        hit = found is not None
        if found is None:
            if not backend.plans_kinds:
                pairs = zip(self._paths(call), call.leaves, strict=True)
                programs.warn(shapes, [path for path, leaf in pairs if isinstance(leaf, Tensor)], self.name)
                return OTHERWISE
            program = programs.add([x.template for x in tensors], backend, partial(self._trace_sizes, call))
            if program is None:
                return OTHERWISE
            self.history.note(self._paths(call), call.leaves, backend, many_sizes=True)
            found = program, program.shapes(*shapes)
        program, numbers = found
        self._refuse_aliases(program.written, call)
        try:
            result = program.run(numbers, [move(x, backend) for x in tensors])
        except NeedsSizes:
            programs.failed = True
            return OTHERWISE
        self.cache.count(hit=hit)
        return result

    def _trace_sizes(self, call: Call, symbolic: list[Template]) -> Graph:
        """The graph for templates in place of the tensors; `NeedsSizes` if its program would run elsewhere."""
        graph = self._trace(call, split(call.leaves)[1](symbolic))
        if call.home(graph) is not call.backend:
            raise NeedsSizes
        return graph


def _quick_key(leaves: Sequence[Any], tree: tuple[Tree, ...]) -> tuple[Any, ...]:
    """The key of leaves that are all tensors; the tree is left out where these are the arguments themselves."""
    return defaults.current_precision(), *tree, *map(_TEMPLATE, leaves), *map(_BACKEND, leaves)


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
