"""The results of a run in a file, so that an engine of another process can be compared with it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from ...declarations.argument_errors import check_arguments_early
from ...dtypes import complex128
from ...errors import ArgumentError, OperandError, expected
from ...files import safetensors
from ...files.replace import as_path, replace_file
from ...files.source import Source, locate_errors
from ...protocol import BackendLike
from ...select import get_backend
from ...tensor import Tensor, rename_like
from ..node import Node
from ..saved_reader import parts_of, whole_of
from .walk import Tensors, Walk, computed, trace_for

KEY: Final = "tensorbackend.run"
"""The key of the ops in the metadata of a file."""

SUFFIX: Final = ".safetensors"


class Recorder:
    """Visits nodes, computes them, and keeps the results."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self.ops: list[str] = []
        self.results: dict[str, Tensor] = {}

    def __call__(self, node: Node, inputs: tuple[Any, ...]) -> Tensors:
        results = computed(self.backend, node, inputs)
        for place, x in enumerate(results):
            bare = rename_like(x, x.template.replace(names=(None,) * x.ndim))
            self.results[f"{len(self.ops)}.{place}"] = parts_of(bare)
        self.ops.append(_described(node))
        return results


class Recording:
    """Visits the nodes of a run in its order, with the results of a file."""

    def __init__(self, path: str) -> None:
        numpy_backend = get_backend("numpy")
        with Source(path) as source, locate_errors(path=path):
            texts = safetensors.metadata_of(source, None)
            source.seek(0)
            self.tensors = safetensors.read(source, numpy_backend, None)
        if KEY not in texts:
            raise OperandError(expected("a file of record_run()", path=path))
        document = json.loads(texts[KEY])
        self.path, self.ops, self.engine = path, document["ops"], document["engine"]
        self.next = 0

    def __call__(self, node: Node, inputs: tuple[Any, ...]) -> Tensors:
        wanted = self.ops[self.next] if self.next < len(self.ops) else "the end of the run"
        if wanted != _described(node):
            remedy = "record the same function with the same arguments, by the same version of tensorbackend"
            came = {"recorded": wanted, "traced": _described(node), "line": str(node.line)}
            raise ArgumentError(expected(f"the calls of the recording {self.path}", remedy, **came))
        results = []
        for place, out in enumerate(node.outs):
            x = self.tensors[f"{self.next}.{place}"]
            results.append(rename_like(whole_of(x) if out.dtype is complex128 else x, out))
        self.next += 1
        return tuple(results)


def _described(node: Node) -> str:
    """A call as the file knows it: the op with the shapes and dtypes of its results."""
    outs = " ".join(f"{out.dtype.name}{list(out.shape)}" for out in node.outs)
    return f"{node.op} {outs}"


def is_recording(engine: object) -> bool:
    """Whether an engine is the path of a file."""
    return isinstance(engine, os.PathLike) or (isinstance(engine, str) and engine.endswith(SUFFIX))


@check_arguments_early
def record_run(
    path: str | os.PathLike[str],
    function: Callable[..., Any],
    /,
    *arguments: Any,
    backend: BackendLike = None,
    gradient: bool = False,
    **keywords: Any,
) -> None:
    """Run a function op by op, and write the results of all its ops to a file.

    `compare` takes the file in place of a backend. So an engine can be compared with one that is installed elsewhere:
    another version of a library, another machine.

    Parameters
    ----------
    path : str or os.PathLike
        Where to write; the suffix is `.safetensors`.
    function
        A function of tensors and of anything else.
    *arguments
        Its arguments, with tensors.
    backend : Backend, type or str, optional
        What runs the ops, by default the default backend.
    gradient : bool, default False
        Whether `value_and_grad(function)` is run in place of the function.
    **keywords
        The function's keyword arguments.

    Examples
    --------
    >>> import tempfile, tensorbackend as tb
    >>> def scores(x):
    ...     return tb.log(tb.sum(tb.exp(x)))
    >>> x = tb.asarray([1.0, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tb.record_run(f"{folder}/run.safetensors", scores, x, backend="binary")
    ...     tb.compare(scores, x, backends=(f"{folder}/run.safetensors", "numpy")).agrees
    True

    See Also
    --------
    compare : Compares an engine with the file.
    """
    place = as_path(path)
    if not place.endswith(SUFFIX):
        raise ArgumentError(expected(f"a file name that ends in {SUFFIX}", path=place))
    chosen = get_backend(backend)
    graph, tensors, _ = trace_for(function, arguments, keywords, gradient=gradient, lift=False)
    recorder = Recorder(chosen)
    Walk(chosen, recorder).run(graph, tensors)
    engine = f"{chosen.name} in {Path(place).name}"
    text = json.dumps({"ops": recorder.ops, "engine": engine}, separators=(",", ":"))
    with replace_file(place) as file:
        safetensors.write(file, recorder.results, {KEY: text})
