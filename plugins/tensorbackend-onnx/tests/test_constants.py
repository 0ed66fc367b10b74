"""What must be known while a model is traced: the constants of a model are, whichever operator reads them."""

from __future__ import annotations

from typing import Any

import numpy
import onnx
import pytest
import tensorbackend as tb
from onnx import helper, numpy_helper
from small_models import model, value
from tensorbackend.errors import TemplateDataError, TensorBackendError

from tensorbackend_onnx import MissingOperators, ModelError, export, load
from tensorbackend_onnx.conformance import cases
from tensorbackend_onnx.operators.registry import HOST_ELEMENTS

PARTS = 4


def with_constants(proto: Any, arrays: Any) -> Any:
    """A model whose inputs are initialisers; `None` if one of them is large."""
    whole = onnx.ModelProto()
    whole.CopyFrom(proto)
    for declared, x in zip(list(whole.graph.input), arrays, strict=False):
        if not isinstance(x, numpy.ndarray) or x.size > HOST_ELEMENTS or x.dtype.kind not in "fiub":
            return None
        whole.graph.initializer.append(numpy_helper.from_array(x, declared.name))
    del whole.graph.input[:]
    return whole


@pytest.mark.parametrize("part", range(PARTS))
def test_an_operator_whose_inputs_are_constants_is_traced(part: int) -> None:
    judged, wrong = 0, []
    for place, case in enumerate(cases("node")):
        if place % PARTS != part or not case.data or "expanded" in case.name or isinstance(case.model, str):
            continue
        proto = with_constants(case.model, case.data[0][0])
        if proto is None:
            continue
        try:
            loaded = load(proto)
        except (MissingOperators, ModelError, TensorBackendError):
            continue
        try:
            tb.trace(loaded.apply)(loaded.templates)
            judged += 1
        except TemplateDataError:
            wrong.append(case.name)
        except TensorBackendError:
            continue
    assert not wrong
    assert judged > 200


MASK = numpy.tril(numpy.ones((3, 3), "f"))

NODES: dict[str, tuple[list[tuple[str, list[str], list[str]]], dict[str, Any]]] = {
    "range": ([("Range", ["start", "end", "step"], ["numbers"]), ("Add", ["x", "numbers"], ["y"])],
              {"start": numpy.float32(0), "end": numpy.float32(3), "step": numpy.float32(1)}),
    "cast range": ([("Cast", ["end"], ["whole"]), ("Range", ["start", "whole", "step"], ["numbers"]),
                    ("Add", ["x", "numbers"], ["y"])],
                   {"start": numpy.float32(0), "end": numpy.int32(3), "step": numpy.float32(1)}),
    "dropout": ([("Dropout", ["x", "rate", "training"], ["y"])],
                {"rate": numpy.float32(0.4), "training": numpy.bool_(False)}),
    "split": ([("SplitToSequence", ["x", "split"], ["xs"]), ("SequenceAt", ["xs", "place"], ["y"])],
              {"split": numpy.array([1, 2]), "place": numpy.int64(1)}),
    "nonzero": ([("NonZero", ["mask"], ["places"]), ("Cast", ["places"], ["cast"]),
                 ("ReduceSum", ["cast"], ["total"]), ("Add", ["x", "total"], ["y"])], {"mask": MASK}),
}  # fmt: skip


@pytest.mark.parametrize("name", NODES)
def test_constants_are_known_in_each_way_of_running_a_model(name: str) -> None:
    steps, constants = NODES[name]
    nodes = []
    for operator, inputs, outputs in steps:
        options: dict[str, Any] = {"to": 1} if operator == "Cast" else {"keepdims": 0} if "Sum" in operator else {}
        nodes.append(helper.make_node(operator, inputs, outputs, **options))
    if name == "split":
        nodes[0].attribute.append(helper.make_attribute("axis", 1))
    loaded = load(model(nodes, [value("x", "float", (2, 3))], [value("y", "float", None)], constants))
    x = tb.asarray(numpy.arange(6, dtype="f").reshape(2, 3))
    right = numpy.asarray(loaded(x))
    assert loaded.read_inputs == ()
    numpy.testing.assert_array_equal(numpy.asarray(tb.jit(loaded.apply)(loaded.parameters, x)), right)
    assert tb.dry_run(loaded.apply, loaded.templates, x.template).peak[0] > 0
    again = load(export(loaded.apply, x.template, parameters=loaded.parameters))
    numpy.testing.assert_array_equal(numpy.asarray(again(x)), right)
