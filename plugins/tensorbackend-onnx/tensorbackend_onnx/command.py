"""What the command line shows of a model, and runs of it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, ShapeError, expected

from .model import Model, load
from .types import TensorType

COLUMNS = ("op", "calls", "result", "FLOPs", "transc.", "read", "written", "memory", "node")

Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""A heading, the names of columns, and rows."""


def program(
    path: str | os.PathLike[str], texts: Sequence[str], *, gradient: bool = False
) -> tuple[Callable[..., Any], list[Any]]:
    """A model as a function of its parameters and inputs, and their templates.

    For a gradient the function is the sum of all outputs that are tensors of floats.
    """
    model = load(path)

    def summed(parameters: Any, *inputs: Any) -> tb.Tensor:
        results = model.apply(parameters, *inputs)
        outputs = results if isinstance(results, tuple) else (results,)
        floats = [x for x in outputs if isinstance(x, tb.Tensor) and tb.isdtype(x.dtype, "real floating")]
        if not floats:
            raise ArgumentError(expected("an output of floats to differentiate", outputs=model.outputs))
        return reduce(tb.add, [tb.sum(x) for x in floats])

    summed.__qualname__ = f"the sum of {os.path.basename(os.fspath(path))}"
    return (summed if gradient else model.apply), [model.templates, *arranged(model, texts)]


def arranged(model: Model, texts: Sequence[str]) -> list[Any]:
    """The templates of a model's inputs: those that are given, in order or by name, and those that the file has."""
    given: dict[str, Any] = {}
    free = list(model.inputs)
    for text in texts:
        name, equals, written = text.partition("=")
        named = bool(equals) and "[" not in name
        if name not in model.inputs if named else not free:
            raise ArgumentError(expected(f"templates of {len(model.inputs)} inputs, {list(model.inputs)}", got=text))
        key = name if named else free[0]
        given[key] = written if named else text  # which dry runs read
        free = [other for other in free if other != key]
    return [given[name] if name in given else _closed(name, kind) for name, kind in model.inputs.items()]


def _closed(name: str, kind: Any) -> tb.Template:
    try:
        if not isinstance(kind, TensorType):
            raise ShapeError(expected("an input that is a tensor", type=kind))
        return kind.template()
    except ShapeError as error:
        raise ArgumentError(expected(f"a template for input {name}, {kind!r}", _example(name, kind))) from error


def _example(name: str, kind: Any) -> str:
    """A template for an input whose sizes are open, each of which is 8."""
    if not isinstance(kind, TensorType) or kind.shape is None:
        return f"such as {name}=f32[1, 3]"
    axes = zip(kind.names, kind.shape, strict=True)
    sizes = (f"{own}={size or 8}" if own else f"{size or 8}" for own, size in axes)
    return f"such as '{name}={kind.dtype.alias}[{', '.join(sizes)}]'"


class Description(NamedTuple):
    """What there is to show of a model."""

    path: str
    model: Model
    costs: Any
    """The `DryRun` of the model; `None` where a size of an input is not known."""
    missing: str
    """What the costs need, if there are none."""

    def tables(self, top: int) -> list[Table]:
        """Inputs and outputs, parameters, operators, and the nodes that cost most."""
        model = self.model
        ends = [[kind, *row.values()] for kind, rows in self._ends().items() for row in rows]
        parameters = self._parameters()
        tables: list[Table] = [
            (f"{self.path}, opsets {model.opsets}", ("", "name", "template"), ends),
            ("{count} parameters: {numbers:,} numbers, {bytes:,} bytes".format(**parameters), (), ()),
            (
                f"{len(model.operators)} nodes",
                ("operator", "nodes"),
                [[name, str(count)] for name, count in Counter(model.operators).most_common()],
            ),
        ]
        if self.costs is None:
            return [*tables, (f"costs: {self.missing}", (), ())]
        rows = self.costs.shown_program(False).table("line")
        heading = f"the nodes that cost most, {min(top, len(rows))} of {len(rows)}"
        return [*tables, (self.costs.summary(), (), ()), (heading, COLUMNS, rows[:top])]

    def to_json(self) -> dict[str, Any]:
        """The same for programs; costs are those of a dry run, `None` where they are not known."""
        return {
            "file": self.path,
            "opsets": dict(self.model.opsets),
            **{f"{kind}s": rows for kind, rows in self._ends().items()},
            "parameters": self._parameters(),
            "operators": dict(Counter(self.model.operators).most_common()),
            "costs": None if self.costs is None else self.costs.to_json(),
        }

    def _ends(self) -> dict[str, list[dict[str, str]]]:
        ends = {"input": self.model.inputs, "output": self.model.outputs}
        return {
            end: [{"name": name, "template": repr(kind)} for name, kind in kinds.items()] for end, kinds in ends.items()
        }

    def _parameters(self) -> dict[str, int]:
        templates = self.model.templates.values()
        return {
            "count": len(templates),
            "numbers": sum(template.size for template in templates),
            "bytes": sum(template.nbytes for template in templates),
        }


def describe(path: str | os.PathLike[str], texts: Sequence[str], *, needs_costs: bool = False) -> Description:
    """A model with its costs, if the sizes of all inputs are known; they have to be if costs are needed."""
    model = load(path)
    try:
        inputs = arranged(model, texts)
    except ArgumentError as error:
        if texts or needs_costs:
            raise
        return Description(os.fspath(path), model, None, str(error))
    return Description(os.fspath(path), model, tb.dry_run(model.apply, model.templates, *inputs), "")
