"""A function of tensors as an ONNX model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import onnx
import tensorbackend as tb
from onnx import ModelProto
from tensorbackend.errors import ArgumentError, expected
from tensorbackend.expr.graph import Graph
from tensorbackend.rules.template_text import parse_template

from ..operators.registry import NEWEST
from . import contraction, control, elementwise, indexing, pairs, parts, reduction, shape  # noqa: F401 # they declare ops
from .models import model_of, written
from .open_axes import Opening, opened, read_ranges

OLDEST, DEFAULT = 18, 22
"""The oldest opset that is written, and the default."""

APART_BYTES = 10**9
"""The number of bytes of parameters above which they go to a file next to the model."""


def export(
    function: Callable[..., Any],
    *templates: Any,
    path: str | os.PathLike[str] | None = None,
    parameters: Any = None,
    opset: int = DEFAULT,
    open: Sequence[str] | Mapping[str, tuple[int, int | None]] = (),
) -> ModelProto:
    """Write a function of tensors as an ONNX model.

    The function is traced, so that the model has what it computes for these templates. Softmax, layer normalisation,
    gelu and the like become ONNX's own operators. Complex inputs, outputs and parameters are pairs of real and
    imaginary parts along a last axis, as in ONNX's operator `DFT`: no operator of ONNX computes with complex numbers.

    Parameters
    ----------
    function
        A function of tensors, nested in any way, that `tb.trace` takes.
    *templates
        The templates of its arguments, or text such as `"f32[batch=8, 3]"`; names of axes become names of sizes.
    path
        Where the model is saved. Parameters of more than a gigabyte go to a file of the same name with `.data`.
    parameters
        Tensors, nested in any way, that the function takes first; they become initialisers.
    opset
        The version of ONNX's operators, from 18 on.
    open
        Names of axes whose sizes the model leaves open, from 1 on; or a dict of the least and the largest size of each,
        `None` for no largest. The function is traced with sizes that are expressions, and the model computes them. If
        the function has other steps at some sizes, that is an error; sizes that it refuses itself are stated in the
        model's metadata, as is a range, and the model fails when it runs at such a size.

    Returns
    -------
    onnx.ModelProto
        The model.

    Raises
    ------
    UnsupportedOp
        For an op that ONNX lacks, and for what depends on the size of an open axis; with the user's line.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> model = export(lambda x: tb.exp(x) + 1, "f32[batch=2, 3]", open=("batch",))
    >>> [node.op_type for node in model.graph.node]
    ['Exp', 'Add', 'Identity']
    """
    if not OLDEST <= opset <= NEWEST:
        raise ArgumentError(expected(f"an opset from {OLDEST} to {NEWEST}", opset=opset))
    if any(isinstance(x, str) and x.endswith(".onnx") for x in templates):
        raise ArgumentError(expected("templates by position", "write path='model.onnx'", templates=templates))
    leaves: list[tb.Tensor] = []

    def collected(leaf: tb.Tensor) -> tb.Template:
        leaves.append(leaf)
        return leaf.template

    first: tuple[Any, ...] = ()
    if parameters is not None:
        first = (tb.tree_map(collected, parameters),)
    given = list(_read(templates))
    if open:
        model = opened(Opening(tb.trace(function), first, given, leaves, opset), read_ranges(open))
    else:
        model = model_of(written(tb.trace(function)(*first, *given), opset, leaves))
    if path is not None:
        save(model, path)
    return model


def export_graph(graph: Graph, *, opset: int = DEFAULT, strict: bool = False) -> tuple[ModelProto, frozenset[str]]:
    """A graph as a model, and the ops of it that were written as their parts.

    A `strict` model has this library's results where ONNX leaves them open: a maximum of a window with NaN is NaN.

    Raises
    ------
    UnsupportedOp
        For an op that ONNX lacks.
    """
    done = written(graph, opset, strict=strict)
    return model_of(done), frozenset(done.writer.shared.apart)


def save(model: ModelProto, path: str | os.PathLike[str]) -> None:
    """Save a model, with its parameters in a file next to it where they are large."""
    large = sum(len(tensor.raw_data) for tensor in model.graph.initializer) > APART_BYTES
    place = os.fspath(path)
    if large:
        onnx.save_model(model, place, save_as_external_data=True, location=f"{os.path.basename(place)}.data")
    else:
        onnx.save_model(model, place)


def _read(templates: Sequence[Any]) -> list[Any]:
    """Templates; those passed as text are parsed, and tensors are replaced by their templates."""

    def template(leaf: Any) -> Any:
        if isinstance(leaf, tb.Tensor):
            return leaf.template
        return parse_template(leaf) if isinstance(leaf, str) else leaf

    leaves = (str, tb.Template)
    return [template(part) if isinstance(part, leaves) else tb.tree_map(template, part) for part in templates]
