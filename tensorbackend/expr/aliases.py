"""Arguments that share memory: a traced function that writes to one of them is refused.

Each leaf of the arguments becomes a value of its own in a trace, so a write to one would not be seen through another,
as it is without the trace. A function that only reads may get one array or tensor any number of times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from ..errors import ArgumentError, expected
from ..tensor import Tensor
from .arguments import is_array
from .scopes import current
from .trace import argument_names
from .tree_containers import Tree, container_of_class
from .trees import PlainText, flatten, parts_by_key


def owners_of(value: Any, tree: Tree) -> list[Any]:
    """For each leaf of nested containers the tensor or array that a write to it changes; `None` for any other leaf."""
    if tree.kind is None:
        return [value if isinstance(value, Tensor) or is_array(value) else None]
    if is_holder(tree.kind):
        return [value]
    parts = parts_by_key(value) or {}
    pairs = zip(tree.keys, tree.children, strict=True)
    return [owner for key, child in pairs for owner in owners_of(parts[key], child)]


def root_of(x: Any) -> Any:
    """The array whose elements a view shows, or the tensor or array itself."""
    base = None if isinstance(x, Tensor) else getattr(x, "base", None)
    return x if base is None else base


def is_holder(kind: type) -> bool:
    """Whether the instances of a class are arrays around a tensor, which a write replaces."""
    return getattr(kind, "holds_tensor", False)


def _state(root: Any) -> Tensor | None:
    """The elements of a tensor or array now, whose payload a write replaces; `None` for another library's array."""
    if is_holder(type(root)):
        held: Tensor = root.tensor
        return held
    return Tensor(root.template, root.backend, root.data) if isinstance(root, Tensor) else None


def _share(x: Any, y: Any) -> bool:
    """Whether a write to one of two arrays with one root changes the other."""
    if x is y or isinstance(x, Tensor) or isinstance(y, Tensor) or type(x) is not type(y):
        return True
    namespace = getattr(x, "__array_namespace__", None)
    return True if namespace is None else bool(namespace().shares_memory(x, y))


def find_alias(owners: Sequence[Any], written: Sequence[int]) -> tuple[int, int] | None:
    """The places of an owner that is written to and of another that shows the write; `None` without such a pair."""
    places: dict[int, list[int]] = {}
    for place, owner in enumerate(owners):
        if owner is not None:
            places.setdefault(id(root_of(owner)), []).append(place)
    for place in written:
        owner = owners[place]
        for other in () if owner is None else places[id(root_of(owner))]:
            if other != place and _share(owner, owners[other]):
                return place, other
    return None


def any_shared(owners: Sequence[Any]) -> bool:
    """Whether two leaves have one root."""
    roots = [id(x if x.__class__ is Tensor else root_of(x)) for x in owners if x is not None]
    return len(set(roots)) < len(roots)


def share_memory(arguments: Sequence[Any], keywords: dict[str, Any]) -> bool:
    """Whether two leaves of the arguments of a call have one root."""
    found: list[Any] = []
    try:
        _gather((*arguments, *keywords.values()), found)
    except RecursionError:  # a container that holds itself, which is refused where the arguments are flattened
        return False
    return any_shared(found)


def _gather(value: Any, found: list[Any]) -> None:
    """As `owners_of`, without other leaves, in one pass over the containers."""
    kind = type(value)
    container = None if kind is Tensor or is_holder(kind) else container_of_class(kind)
    if container is not None:
        for child in container.parts(value)[1]:
            if child.__class__ is Tensor:
                found.append(child)
            else:
                _gather(child, found)
    elif kind is Tensor or is_holder(kind) or is_array(value):
        found.append(value)


def refuse_aliases(owners: Sequence[Any], written: Sequence[int], names: Callable[[], Sequence[str]]) -> None:
    """Raises `ArgumentError` if an argument to which a function writes shares memory with another argument."""
    pair = find_alias(owners, written)
    if pair is None:
        return
    of = names()
    one, other = [of[place].removesuffix("[0]") if is_holder(type(owners[place])) else of[place] for place in pair]
    expectation = f"{one}, to which the function writes, to share no memory with another argument"
    copy = "np.array(x)" if not isinstance(owners[pair[0]], Tensor) else "tb.tensor(x)"
    raise ArgumentError(expected(expectation, f"pass a copy, {copy}, of one of them", shared_with=PlainText(other)))


def shares_written(tree: Tree, written: Sequence[int], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether arguments to which a compiled function writes share memory with others."""
    return find_alias(owners_of((arguments, keywords), tree), written) is not None


class Watched(NamedTuple):
    """The result of a function that ran in a trace, and the leaves of its arguments to which it wrote."""

    result: Any
    written: tuple[int, ...]
    before: list[tuple[Any, Tensor]]
    """The tensors and arrays with data to which it wrote, and their elements before."""


def run_watched(
    function: Callable[..., Any], arguments: Sequence[Any], keywords: dict[str, Any], tree: Tree, *, data: bool = False
) -> Watched:
    """Calls a function in a trace, and sees to which leaves of its arguments it writes.

    `data` says whether to watch arguments with data too; a write to one of these copies it.
    """
    roots = [None if owner is None else root_of(owner) for owner in owners_of((tuple(arguments), keywords), tree)]
    states = [_state(root) for root in roots]
    if not data:
        states = [None if state is None or state.backend.holds_data else state for state in states]
    result = function(*arguments, **keywords)
    scope = current()
    passed_on = set() if scope is None else set(map(id, scope.written))
    written, before = [], []
    for place, (root, state) in enumerate(zip(roots, states, strict=True)):
        now = None if state is None else _state(root)
        if state is not None and now is not None and now.data is not state.data:
            written.append(place)
            if state.backend.holds_data:
                before.append((root, state))
        elif id(root) in passed_on:
            written.append(place)
    return Watched(result, tuple(written), before)


def call_watched(
    function: Callable[..., Any],
    given: tuple[Sequence[Any], dict[str, Any]],
    arguments: tuple[Sequence[Any], dict[str, Any]],
    names: Callable[[], Sequence[str]] | None = None,
) -> Any:
    """Calls a function in a trace with what the trace has for the arguments of the user.

    `names` returns those of the leaves of the arguments, by default by the parameters of the function. Raises
    `ArgumentError` if it writes to an argument that shares memory with another, which then is as it was.
    """
    positional, keywords = arguments
    tree = flatten((tuple(positional), keywords))[1]
    owners, scope = owners_of((tuple(positional), keywords), tree), current()
    outer, shared = None if scope is None else scope.outer, any_shared(owners)
    if outer is None and not shared:
        return function(*given[0], **given[1])
    watched = run_watched(function, *given, tree, data=shared)
    try:
        check_writes(owners, watched.written, names or partial(argument_names, function, *arguments))
    except ArgumentError:
        for root, state in watched.before:
            root[...] = state
        raise
    return watched.result


def check_writes(owners: Sequence[Any], written: Sequence[int], names: Callable[[], Sequence[str]]) -> None:
    """As `refuse_aliases`, in a trace; the trace around it then knows of the writes to its values."""
    scope = current()
    if scope is not None and scope.outer is not None:
        scope.outer.written += [root_of(owners[place]) for place in written if owners[place] is not None]
    refuse_aliases(owners, written, names)


def call_body(
    body: Callable[..., Any],
    given: tuple[Any, ...],
    owners: Sequence[Any],
    names: Sequence[str],
    carry_of: Callable[[Any], Any] = lambda result: result,
    first: int = 0,
) -> Any:
    """Calls the body of a loop in its trace.

    Raises `ArgumentError` if it writes to a carried value that shares memory with another argument, at the start or in
    the next iteration. `owners` are those of the values at the start. The carried values begin at the leaf `first` of
    the arguments, and `carry_of` returns those of the next iteration from the body's result.
    """
    result, written, _ = run_watched(body, given, {}, flatten((given, {}))[1])
    if written:
        check_writes(owners, written, lambda: names)
        carry = carry_of(result)
        following = [*[None] * first, *owners_of(carry, flatten(carry)[1])]
        refuse_aliases(following, [place for place in written if place < len(following)], lambda: names)
    return result
