"""The code of a warm call of a compiled function, written for the arguments that it was compiled for.

For `step({"a": x, "b": y}, 0.5)`, which returns a pair of tensors, the code is:

    def call(entry, arguments, keywords):
        try:
            if not (len(arguments) == 2): return otherwise
            v0, v1, = arguments
            if not (type(v0) is n0 and len(v0) == 2): return otherwise
            v2, v3, = n1(v0)
            if not (v1 is n2): return otherwise
            if not (not keywords): return otherwise
            if not ((v2.template, v2.backend, v3.template, v3.backend, ) == n3): return otherwise
            if not (defaults.current_precision() is n4): return otherwise
        except misses:
            return otherwise
        entry.calls += 1
        try:
            payloads = entry.kernel(v2.data, v3.data)
        except Exception as error:  # each error of a kernel gets a note with the op and its line
            note(error, backend)
            raise
        v4 = blank_tensor()
        v5 = blank_tensor()
        v4.data, v5.data, = payloads
        v4.template = n5
        v4.backend = backend
        v5.template = n6
        v5.backend = backend
        v6 = (v4, v5, )
        return v6

The nesting of the arguments is usually that of the last call. `flatten` looks up the class of each container, sorts
the keys of dictionaries and makes a tree. This code instead expects the nesting of the last call, and checks it while
unpacking. A loop over the leaves takes several times as long, especially next to threads that evict the processor's
caches: it reads more objects and runs more code.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from operator import attrgetter, itemgetter
from typing import Any, Final, TypeAlias

from ..dtypes import DType, defaults
from ..protocol import Backend
from ..template import Template
from ..tensor import Tensor, blank_tensor
from .aliases import is_holder, root_of
from .arguments import StaticArgument
from .evaluate import note
from .source import function_of
from .tree_containers import LEAF, Tree, container_of_tree, registered
from .trees import flatten

WarmCall: TypeAlias = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
"""Takes a cache entry, which has a `kernel` and counts its `calls`, and the positional and named arguments. Returns the
result of the call, or `OTHERWISE` for arguments that the code was not written for."""

OTHERWISE: Final = object()
"""What a warm call returns for arguments that its code was not written for."""

_FILE: Final = os.path.join(os.path.dirname(__file__), "<call>")
"""The file name in the code of a call: one of this package, whose frames tracebacks leave out."""

_MISSES: Final = (LookupError, AttributeError, TypeError, ValueError)
"""The errors to which arguments of another nesting lead."""

_UNCHANGING: Final = frozenset({bool, int, float, complex, str, bytes, type(None), DType})
"""Classes of options that never change. Options that hash by identity count as unchanging too."""


def unwritten(entry: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The call of an entry that has no code yet."""
    return OTHERWISE


def call_of(
    tree: Tree,
    leaves: Sequence[Any],
    out_tree: Tree,
    results: Sequence[Template],
    backend: Backend,
    refused: Callable[[tuple[Any, ...], dict[str, Any]], bool] | None = None,
) -> WarmCall:
    """Writes the code of calls with such arguments, whose tensors are on a backend and whose other leaves are options.

    Parameters
    ----------
    tree
        The nesting of the pair of positional and named arguments.
    leaves
        The leaves of that pair.
    out_tree, results
        The nesting of the result, and the templates of its leaves.
    backend
        The backend of the tensors and of the results.
    refused
        Whether the code is not for some arguments, whatever their nesting and templates; it is asked only if one tensor
        or array is among them twice.
    """
    writer = _Writer(backend)
    positional, named = tree.children
    writer.write_call([*leaves], positional, named, refused)
    writer.write_result(out_tree, results)
    return function_of("\n".join(writer.lines), _FILE, "call", writer.namespace)


class _Writer:
    """Writes the source of a call, and stores the objects that it refers to."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.lines = ["def call(entry, arguments, keywords):"]
        self.namespace: dict[str, Any] = {
            "backend": backend,
            "blank_tensor": blank_tensor,
            "defaults": defaults,
            "flatten": flatten,
            "misses": _MISSES,
            "note": note,
            "otherwise": OTHERWISE,
            "registered": registered,
            "root": root_of,
        }
        self._variables = self._bound = 0
        self._tensors: list[tuple[str, Template]] = []
        """The variable of each tensor among the arguments, and its template."""
        self._owners: list[str] = []
        """The expression of the identity of each tensor, or of the array whose elements an array shows."""

    def write_call(self, leaves: list[Any], positional: Tree, named: Tree, refused: Callable[..., bool] | None) -> None:
        """Writes the lines that check the arguments, and call the kernel."""
        leaves.reverse()
        self._line("try:")
        self._unless(f"len(arguments) == {len(positional.children)}")
        self._parts("arguments", positional.children, leaves)
        if named.children:
            self._unless(f"len(keywords) == {len(named.children)}")
            self._parts(f"{self._name(_several(itemgetter, named.keys))}(keywords)", named.children, leaves)
        else:
            self._unless("not keywords")
        kinds = self._name(tuple([kind for _, template in self._tensors for kind in (template, self.backend)]))
        attributes = "".join([f"{variable}.template, {variable}.backend, " for variable, _ in self._tensors])
        self._unless(f"({attributes}) == {kinds}")
        self._unless(f"defaults.current_precision() is {self._name(defaults.current_precision())}")
        if refused is not None:  # asked only where one object is there twice, as that takes longer
            owners = ", ".join(self._owners)
            apart = f"len({{{owners}}}) == {len(self._owners)}"
            self._unless(f"{apart} or not {self._name(refused)}(arguments, keywords)")
        self._line("except misses:")
        self._line("    return otherwise")
        self._line("entry.calls += 1")
        self._line("try:")
        operands = ", ".join([f"{variable}.data" for variable, _ in self._tensors])
        self._line(f"    payloads = entry.kernel({operands})")
        self._line("except Exception as error:")  # each error of a kernel gets a note with the op and its line
        self._line("    note(error, backend)")
        self._line("    raise")

    def write_result(self, tree: Tree, results: Sequence[Template]) -> None:
        """Writes the lines that make tensors from the payloads, and nest them."""
        variables = [self._variable() for _ in results]
        for variable in variables:
            self._line(f"{variable} = blank_tensor()")
        if variables:
            self._line(f"{''.join(f'{variable}.data, ' for variable in variables)} = payloads")
        for variable, template in zip(variables, results, strict=True):
            self._line(f"{variable}.template = {self._name(template)}")
            self._line(f"{variable}.backend = backend")
        variables.reverse()
        self._line(f"return {self._nest_expression(tree, variables)}")

    # Arguments

    def _parts(self, parts: str, children: Sequence[Tree], leaves: list[Any]) -> None:
        """Writes the lines that read the parts of a container; `parts` is an expression for the sequence of them.

        Removes their leaves from the end of the list.
        """
        if not children:
            return
        variables = [self._variable() for _ in children]
        self._line(f"    {''.join(f'{variable}, ' for variable in variables)} = {parts}")
        for variable, child in zip(variables, children, strict=True):
            if child.kind is None:
                self._leaf(variable, leaves.pop())
            else:
                self._container(variable, child, leaves)

    def _container(self, variable: str, tree: Tree, leaves: list[Any]) -> None:
        """Writes the lines that read a container."""
        kind: Any = tree.kind
        if kind is type(None):
            self._unless(f"{variable} is None")
            return
        name = self._name(kind)
        if kind in (dict, tuple, list):
            self._unless(f"type({variable}) is {name} and len({variable}) == {len(tree.children)}")
            read = f"{self._name(_several(itemgetter, tree.keys))}({variable})" if kind is dict else variable
        elif kind not in registered and issubclass(kind, tuple) and hasattr(kind, "_fields"):
            self._unless(f"type({variable}) is {name} and {name} not in registered")
            read = variable
        elif kind not in registered and not issubclass(kind, dict | list | tuple) and is_dataclass(kind):
            self._unless(f"type({variable}) is {name} and {name} not in registered")
            read = f"{self._name(_several(attrgetter, tree.keys))}({variable})"
        else:
            below, tree_variable = self._variable(), self._variable()
            self._line(f"    {below}, {tree_variable} = flatten({variable})")
            self._unless(f"{tree_variable} == {self._name(tree)}")
            before = len(self._owners)
            self._parts(below, (LEAF,) * tree.size, leaves)
            if is_holder(kind):
                self._owners[before:] = [f"id(root({variable}))"]
            return
        self._parts(read, tree.children, leaves)

    def _leaf(self, variable: str, leaf: Any) -> None:
        """Writes the line that checks an option. Tensors are noted, and checked together later."""
        if isinstance(leaf, Tensor):
            self._tensors.append((variable, leaf.template))
            self._owners.append(f"id({variable})")
            return
        option = leaf.value if type(leaf) is StaticArgument else leaf
        kind, name = type(option), self._name(option)
        same = f"{variable} is {name}"
        if kind in (int, str) or (kind is float and option and option == option):  # but for signs of zero, and NaN
            same = f"{same} or (type({variable}) is {self._name(kind)} and {variable} == {name})"
        elif not _is_unchanging(option):  # the same object has the same key as long as it has the same hash
            same = f"{same} and hash({variable}) == {self._name(hash(option))}"
        self._unless(same)

    # Results

    def _nest_expression(self, tree: Tree, variables: list[str]) -> str:
        """The expression of containers around tensors, whose variables are taken from the end of the list."""
        if tree.kind is None:
            return variables.pop()
        kind: Any = tree.kind
        parts = [self._nest_expression(child, variables) for child in tree.children]
        row = "".join([f"{part}, " for part in parts])
        if kind is type(None):
            return "None"
        if kind is tuple:
            expression = f"({row})"
        elif kind is list:
            expression = f"[{row}]"
        elif kind is dict:
            of = dict(zip(tree.keys, parts, strict=True))
            filled = getattr(tree.keys, "insertion_order", tree.keys)
            expression = f"{{{', '.join([f'{self._name(key)}: {of[key]}' for key in filled])}}}"
        else:
            expression = f"{self._name(container_of_tree(tree).rebuilt)}({self._name(tree)}, ({row}))"
        variable = self._variable()  # a line for each, as Python limits how deep expressions nest
        self._line(f"{variable} = {expression}")
        return variable

    # Lines and names

    def _line(self, text: str) -> None:
        self.lines.append(f"    {text}")

    def _unless(self, condition: str) -> None:
        """Writes the line that returns `OTHERWISE` if a condition does not hold."""
        self._line(f"    if not ({condition}): return otherwise")

    def _variable(self) -> str:
        self._variables += 1
        return f"v{self._variables - 1}"

    def _name(self, value: Any) -> str:
        """A name for an object."""
        name = f"n{self._bound}"
        self._bound += 1
        self.namespace[name] = value
        return name


def _is_unchanging(option: Any) -> bool:
    """Whether an option never changes, so that the same object is the same option."""
    kind = type(option)
    if kind is tuple:
        return all(map(_is_unchanging, option))
    return kind in _UNCHANGING or getattr(kind, "__hash__", None) is object.__hash__


def _several(getter: Callable[..., Callable[[Any], Any]], keys: tuple[Any, ...]) -> Callable[[Any], Any]:
    """A getter of the parts under some keys, which always returns a tuple."""
    if not keys:
        return lambda value: ()
    one = getter(*keys)
    return one if len(keys) > 1 else lambda value: (one(value),)
