"""Graphs in files: programs that outlive the source that they were traced from.

A file is in the format of safetensors: the captured tensors are its tensors, and the nodes a text in JSON among its
metadata. Nothing in it is code. Each op has a version, and a file says which versions it needs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, Final

from ..declarations.argument_errors import check_arguments
from ..dtypes import DType
from ..errors import ArgumentError, FileError, TensorBackendError, expected
from ..files import safetensors
from ..files.replace import as_path, replace_file
from ..files.source import FileDefect, Source, broken, locate_errors
from ..protocol import BackendLike
from ..rules.window import Windows
from ..select import get_backend
from ..template import Template
from ..tensor import Tensor
from .graph import NO_OPTION, Graph, TracedCall
from .loops import CONTROL
from .node import CAPTURED, PARAMETER, RENAMED, Node, Value, spec_of_default
from .saved_nodes import PACKAGE, specs
from .saved_reader import Reader, parts_of
from .simplify import expanded
from .tree_containers import Tree

KEY: Final = "tensorbackend.graph"
"""The key of the nodes in the metadata of a file."""

FORMAT: Final = 1
"""The version of the JSON's structure."""

VERSIONS: Final[Mapping[str, int]] = {}
"""The versions of the ops whose meaning has changed since the first release, by callback; 1 for all others.

Whoever changes what an op means for the same options raises its version, so that older programs are refused rather than
computed in another way.
"""

SUFFIX: Final = ".safetensors"


@check_arguments
def save_graph(path: str | os.PathLike[str], graph: Graph, /) -> None:
    """Write a traced function with the tensors that it captures to a file, as a program that needs no source.

    Ops of the library stay ops, also composites, so that each backend computes them in its own way; ops that are
    declared elsewhere become their parts, and a gradient of your own becomes that of the function itself.

    Parameters
    ----------
    path : str or os.PathLike
        Where to write; the suffix is `.safetensors`. The file is replaced as a whole, as by `save`.
    graph : Graph
        What `trace` returns.

    Raises
    ------
    ArgumentError
        For what a file cannot hold: calls of Python functions, collectives, and results in a class that
        `register_tree_node` registered. The text names the op and its line.
    OSError
        Where the file cannot be written.

    Examples
    --------
    >>> import tempfile, tensorbackend as tb
    >>> weight = tb.ones((3, 2))
    >>> graph = tb.trace(lambda x: {"y": tb.softmax(x @ weight)})("f32[n=4, 3]")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tb.save_graph(f"{folder}/model.safetensors", graph)
    ...     program = tb.load_graph(f"{folder}/model.safetensors")
    >>> program(tb.zeros((4, 3)))["y"].shape
    (4, 2)

    See Also
    --------
    load_graph : Reads the file.
    trace : Makes a graph of a function.
    """
    place = as_path(path)
    if not isinstance(graph, Graph):
        raise ArgumentError(expected("a graph", "make one with trace()", graph=graph))
    if not place.endswith(SUFFIX):
        raise ArgumentError(expected(f"a file name that ends in {SUFFIX}", path=place))
    writer = _Writer()
    document = {"format": FORMAT, "graph": writer.graph(graph), "ops": writer.ops}
    text = json.dumps(document, separators=(",", ":"))
    with replace_file(place) as file:
        safetensors.write(file, writer.tensors, {KEY: text})


@check_arguments
def load_graph(path: str | os.PathLike[str], /, *, backend: BackendLike = None, max_bytes: int | None = None) -> Graph:
    """Read a graph that `save_graph` wrote. It runs, and is differentiated, compiled and measured like a traced one.

    The file may come from anywhere: nothing in it is run while it is read, and each node is compared with what the rule
    of its op gives before a kernel sees it.

    Parameters
    ----------
    path : str or os.PathLike
        A file of `save_graph`.
    backend : Backend, type or str, optional
        Where the captured tensors live, and so the backend of the arguments; by default the default backend.
    max_bytes : int, optional
        How many bytes the tensors may take together, as in `load`.

    Returns
    -------
    Graph
        The program. Its arguments and results are nested as those of the traced function; results in dataclasses come
        in named tuples with the same fields.

    Raises
    ------
    FileError
        For a file that is cut off or is no program, for ops that this version of the library does not have or has in
        another version, and for a node whose result is not what its op gives.
    OSError
        Where the file cannot be read.

    Examples
    --------
    >>> import tempfile, tensorbackend as tb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tb.save_graph(f"{folder}/f.safetensors", tb.trace(lambda x, y: x * y)("f32[n=2]", "f32[n=2]"))
    ...     product = tb.load_graph(f"{folder}/f.safetensors")
    >>> tb.grad(lambda x: tb.sum(product(x, x)))(tb.asarray([1.0, 3.0])).tolist()
    [2.0, 6.0]
    """
    place = as_path(path)
    chosen = get_backend(backend)
    with Source(place) as source, locate_errors(path=place):
        metadata = safetensors.metadata_of(source, max_bytes)
        if KEY not in metadata:
            raise FileDefect("a file that save_graph() wrote", "read tensors with load()", keys=sorted(metadata))
        source.seek(0)
        tensors = safetensors.read(source, chosen, max_bytes)
        document = json.loads(metadata[KEY])
        if not isinstance(document, dict) or document.keys() != {"format", "graph", "ops"}:
            raise broken("a program without its parts")
        if document["format"] != FORMAT:
            raise FileDefect(f"a program of format {FORMAT}", "update tensorbackend", format=document["format"])
        _check_versions(document["ops"])
        try:
            return Reader(tensors).graph(document["graph"])
        except RecursionError:
            raise broken("a program that is nested too deep") from None
        except FileError:
            raise
        except TensorBackendError as error:  # about a template or an option that the file has
            raise broken(error) from error


def _check_versions(ops: Any) -> None:
    """Raises `FileDefect` for ops that are not there, or mean something else here."""
    if not isinstance(ops, dict) or not all(type(version) is int for version in ops.values()):
        raise broken("a program without versions of its ops")
    known = {*specs(), *CONTROL, PARAMETER, CAPTURED, RENAMED}
    missing = sorted(op for op in ops if op not in known)
    if missing:
        raise FileDefect("ops that this version of tensorbackend has", "update it", ops=missing)
    other = {op: version for op, version in ops.items() if version != VERSIONS.get(op, 1)}
    if other:
        raise FileDefect("ops in the versions of this tensorbackend", "trace the function again", versions=other)


class _Writer:
    """Graphs as objects of JSON, and the tensors that they capture."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self.ops: dict[str, int] = {}

    def graph(self, graph: Graph) -> dict[str, Any]:
        """A graph, with the nodes in order and numbers in place of values."""
        whole = expanded(graph, _is_ours)
        places: dict[Value, list[int]] = {}
        nodes = []
        for number, node in enumerate(whole.nodes):
            places.update({value: [number, value.index] for value in node.values})
            nodes.append(self.node(node, places))
        return {
            "nodes": nodes,
            "names": list(whole.names),
            "outputs": [places[value] for value in whole.outputs],
            "tree": self.tree(whole.out_tree, named=True),
            "call": self.call(graph.call),
        }

    def node(self, node: Node, places: Mapping[Value, list[int]]) -> dict[str, Any]:
        """A node; `ArgumentError` for what no file holds."""
        entry: dict[str, Any] = {"op": node.op, "out": self.option(node.out, node)}
        self.ops[node.op] = VERSIONS.get(node.op, 1)
        if node.line is not None:
            entry["line"] = [node.line.file.rpartition("/")[2], node.line.number, node.line.function]
        if node.op == PARAMETER:
            return entry
        if node.op == CAPTURED:
            entry["tensor"] = self.tensor(node)
            return entry
        if node.op != RENAMED and node.op not in (CONTROL if node.default is not None else ()) and not _is_known(node):
            raise _refusal(node, "an op of the library that computes by itself")
        entry["in"] = [
            operand if operand is None else places[operand] if isinstance(operand, Value)
            else {"each": [places[value] for value in operand]}
            for operand in node.inputs
        ]  # fmt: skip
        options = node.options["correlation"]._asdict() if node.op == "conv" else node.options  # type: ignore[attr-defined] # a `Correlation`
        entry["options"] = {name: self.option(value, node) for name, value in options.items()}
        if node.default is not None:
            entry["composite"] = True
        if node.products != "highest":
            entry["products"] = node.products
        return entry

    def tensor(self, node: Node) -> str:
        """The name of a captured tensor, which is written once."""
        x = node.tensor
        if x is None or x.backend.name == "expr":
            raise _refusal(node, "a graph that captures no value of another trace")
        for name, other in self.tensors.items():
            if other is x:
                return name
        name = str(len(self.tensors))
        self.tensors[name] = parts_of(x)
        return name

    def call(self, call: TracedCall | None) -> Any:
        """How the arguments were nested; `None` where a class of the user's is among them."""
        if call is None:
            return None
        try:
            options = [None if option is NO_OPTION else [self.option(option, None)] for option in call.options]
            return {"tree": self.tree(call.tree), "options": options}
        except ArgumentError:
            return None  # it is called with its tensors one after another

    def tree(self, tree: Tree, *, named: bool = False) -> Any:
        """How leaves are nested; with `named`, classes with fields are allowed, of which a file holds the names."""
        if tree.kind is None:
            return "leaf"
        kind = tree.kind.__name__
        if tree.kind not in (tuple, list, dict, type(None)):
            if not named or not (is_dataclass(tree.kind) or hasattr(tree.kind, "_fields")):
                remedy = "return tuples, lists, dictionaries, named tuples and dataclasses"
                raise ArgumentError(expected("a graph whose results are in containers", remedy, kind=tree.kind))
            kind = f"named {kind}"
        keys = [self.option(key, None) for key in tree.keys]
        return {"kind": kind, "keys": keys, "children": [self.tree(child, named=named) for child in tree.children]}

    def option(self, value: Any, node: Node | None) -> Any:
        """An option: numbers and texts as they are, anything else as an object that says what it is."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return {"float": value.hex()}
        if type(value) is complex:
            return {"complex": [value.real.hex(), value.imag.hex()]}
        if isinstance(value, DType):
            return {"dtype": value.name}
        if isinstance(value, Template):
            return {"shape": list(value.shape), "dtype": value.dtype.name, "names": list(value.names)}
        if isinstance(value, Graph):
            return {"graph": self.graph(value)}
        if type(value) in (tuple, list, Windows):
            return {type(value).__name__.lower(): [self.option(entry, node) for entry in value]}
        raise _refusal(node, "options that a file can hold", option=value)


def _is_ours(node: Node) -> bool:
    """Whether a composite stays a node: if the package declares it."""
    spec = spec_of_default(node.default)
    return spec is not None and spec.module.startswith(PACKAGE) and specs().get(node.op) is spec


def _is_known(node: Node) -> bool:
    """Whether the file can name the op of a node."""
    return _is_ours(node) if node.default is not None else node.op in specs()


def _refusal(node: Node | None, expectation: str, **came: Any) -> ArgumentError:
    where = {} if node is None else {"op": node.op, "line": str(node.line)}
    return ArgumentError(expected(expectation, "leave it out of the traced function", **where, **came))
