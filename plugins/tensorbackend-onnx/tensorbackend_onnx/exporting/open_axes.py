"""Export with open axes: a symbolic trace, its guards, and the comparison where these leave sizes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy
import tensorbackend as tb
from onnx import ModelProto
from tensorbackend.errors import ArgumentError, UnsupportedOp, expected
from tensorbackend.expr.graph import Graph
from tensorbackend.sizes import NeedsSizes
from tensorbackend.template import intern_template

from ..model import load
from .expressions import Range
from .guards import EXAMPLES, Guard, OpenTrace
from .models import Written, model_of, written
from .size_nodes import reads, renamed
from .writer import array_of

CLOSE = 1e-3
"""How close the results of the model must be where its guards leave a size out, relative to the largest number."""


class Opening(NamedTuple):
    """What is exported."""

    traced: Callable[..., Graph]
    first: tuple[Any, ...]
    """The templates of the parameters, as the first argument, if there are parameters."""
    templates: Sequence[Any]
    leaves: Sequence[tb.Tensor]
    """The parameters."""
    opset: int

    def arguments(self, sizes: Mapping[str, Any]) -> list[Any]:
        """The templates of the arguments at some sizes of open axes."""
        return [*self.first, *tb.tree_map(lambda template: _resized(template, sizes), list(self.templates))]

    def graph(self, sizes: Mapping[str, Any]) -> Graph:
        """The function traced at such sizes."""
        return self.traced(*self.arguments(sizes))


def read_ranges(given: Sequence[str] | Mapping[str, tuple[int, int | None]]) -> dict[str, Range]:
    """The sizes of each open axis."""
    if isinstance(given, str):
        raise ArgumentError(expected("a list of names of axes", "write open=('batch',)", open=given))
    ranges = {name: Range(1) for name in given}
    if isinstance(given, Mapping):
        for name, pair in given.items():
            try:
                least, most = pair
                ranges[name] = Range(int(least), None if most is None else int(most))
            except (TypeError, ValueError):
                raise ArgumentError(expected("the least and the largest size of an open axis", open=given)) from None
            if not 1 <= ranges[name].least <= (most or least):
                raise ArgumentError(expected("sizes from 1 on, the least first", open=given))
    if len(ranges) > len(EXAMPLES):
        raise ArgumentError(expected(f"at most {len(EXAMPLES)} open axes", open=list(ranges)))
    return ranges


def opened(opening: Opening, ranges: Mapping[str, Range]) -> ModelProto:
    """The model of a function whose open axes may have any size of their ranges.

    Raises
    ------
    UnsupportedOp
        Something depends on a size in a way that no model has.
    """
    axes = {axis for template in tb.tree_leaves(list(opening.templates)) for axis in getattr(template, "names", ())}
    missing = [name for name in ranges if name not in axes]
    if missing:
        raise ArgumentError(expected("open axes that inputs have", open=missing))
    trace = OpenTrace(tuple(ranges), ranges)
    try:
        try:
            graph = opening.graph(trace.names)
            done = written(graph, opening.opset, opening.leaves, trace)
        except NeedsSizes:
            raise trace.refusal(trace.history[-1]) from None
        except UnsupportedOp:
            raise
        except Exception as error:  # of any class: code that cannot compute with a symbolic size
            opening.graph({name: size.value for name, size in trace.names.items()})  # raises it if it is the function's
            raise UnsupportedOp(
                expected(
                    f"steps that need not know the sizes of open axes, got {type(error).__name__}: {error}, at "
                    f"{trace.where or trace.last}",
                    "leave the axis out of open=",
                )
            ) from error
        exceptions = trace.exceptions(ranges)
        model = model_of(done)
        function = load(model) if exceptions else None
        found = [(*_judged(opening, function, trace, sizes), sizes, guard) for sizes, guard in exceptions]
        different = [(sizes, guard) for word, _, sizes, guard in found if word == "different"]
        if different:
            raise trace.refusal(different[-1][1], [sizes for sizes, _ in different])
        refused = [(sizes, guard) for word, _, sizes, guard in found if word == "refused"]
        narrowed = _narrowed(trace, ranges, refused)
        if any(own != Range(1) for own in narrowed.values()):
            model = _checking(done, narrowed)
        for _, shapes, _, _ in found:
            _loosened(model, shapes)
        return model
    finally:
        trace.open = False


def _resized(template: Any, sizes: Mapping[str, Any]) -> Any:
    """A template with other sizes of named axes."""
    if not isinstance(template, tb.Template):
        return template
    shape: Any = tuple([sizes.get(name or "", size) for name, size in zip(template.names, template.shape, strict=True)])
    return intern_template(shape, template.dtype, template.names, template.weak)


Shapes = list[tuple[int, ...]]


def _judged(opening: Opening, model: Any, trace: OpenTrace, sizes: Mapping[str, int]) -> tuple[str, Shapes]:
    """Whether the function refuses some sizes; if not, whether the model's results are equal or different.

    Where they are equal, also the shapes of the results.
    """
    whole = {name: sizes.get(name, size.value) for name, size in trace.names.items()}
    try:
        arguments = opening.arguments(whole)
        graph = opening.traced(*arguments)
    except Exception:  # of any class: the function refuses such sizes
        return "refused", []
    rng = numpy.random.default_rng(0)
    for draw in (_drawn, _zeros):
        inputs = [draw(rng, parameter.template) for parameter in graph.parameters[len(opening.leaves) :]]
        given = iter([*opening.leaves, *inputs])
        try:
            results = graph(*tb.tree_map(lambda template, given=given: next(given), arguments))
        except Exception:  # drawn integers may be no indices
            continue
        break
    else:
        return "refused", []
    try:
        found = model(*map(array_of, inputs))
    except Exception:  # of any class
        return "different", []
    right = [array_of(own) for own in tb.tree_leaves(results)]
    pairs = zip(right, found if isinstance(found, tuple) else (found,), strict=True)
    if all(_close(own, numpy.asarray(other)) for own, other in pairs):
        return "equal", [own.shape for own in right]
    return "different", []


def _loosened(model: ModelProto, shapes: Shapes) -> None:
    """Leave sizes of outputs open that are others at some size of an open axis."""
    for output, shape in zip(model.graph.output, shapes, strict=False):
        for declared, size in zip(output.type.tensor_type.shape.dim, shape, strict=True):
            if declared.HasField("dim_value") and declared.dim_value != size:
                declared.Clear()


def _drawn(rng: Any, template: tb.Template) -> tb.Tensor:
    shape = template.shape
    if template.dtype.kind in ("int", "uint", "bool"):
        return tb.asarray(rng.integers(0, 2, shape)).astype(template.dtype)
    numbers = rng.standard_normal(shape)
    return tb.asarray(
        numbers + 1j * rng.standard_normal(shape) if template.dtype.kind == "complex" else numbers
    ).astype(template.dtype)


def _zeros(rng: Any, template: tb.Template) -> tb.Tensor:
    return tb.zeros(template.shape, dtype=template.dtype)


def _close(own: Any, other: Any) -> bool:
    if own.shape != other.shape:
        return False
    if own.dtype.kind not in "fV":
        return bool(numpy.array_equal(own, other))
    own, other = own.astype("float64"), other.astype("float64")
    finite = numpy.abs(own[numpy.isfinite(own)])
    return bool(numpy.allclose(own, other, rtol=CLOSE, atol=CLOSE * finite.max(initial=0.0), equal_nan=True))


def _narrowed(
    trace: OpenTrace, ranges: Mapping[str, Range], refused: Sequence[tuple[Mapping[str, int], Guard]]
) -> dict[str, Range]:
    """The ranges without the sizes that the function refuses, which must be the least of an axis."""
    narrowed = dict(ranges)
    left = sorted(refused, key=lambda pair: tuple(pair[0].values()))
    for sizes, guard in left:
        (name, size), *others = sizes.items()
        if others or size > narrowed[name].least:
            raise trace.refusal(guard)
        narrowed[name] = narrowed[name]._replace(least=max(size + 1, narrowed[name].least))
    return narrowed


def _checking(done: Written, ranges: Mapping[str, Range]) -> ModelProto:
    """The model that states the ranges of sizes, and fails outside them."""
    shared, main = done.writer.shared, done.writer.nodes
    assert shared.sizes is not None
    assert shared.trace is not None
    ranks = {
        name: parameter.template.ndim + (parameter.template.dtype.kind == "complex")
        for name, parameter in list(zip(done.names, done.graph.parameters, strict=True))[len(done.leaves) :]
    }
    read = {name: name for name in ranks if reads(main, name)}
    for axis, own in ranges.items():
        if own == Range(1):
            continue
        source = shared.trace.names[axis].source
        first = shared.sizes.sources[source].name
        name = first if first in read else next(iter(read), first)
        checked = shared.sizes.checked(source, own, read.get(name, name), ranks[name])
        renamed(main, read.get(name, name), checked)
        read[name] = checked
    model = model_of(done)
    for axis, own in ranges.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = f"size of {axis}", str(own)
    return model
