"""Branches and loops whose conditions are not known while a function is traced."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import tensorbackend as tb
from onnx import TensorProto, helper
from small_models import model, value

from tensorbackend_onnx import load


@pytest.mark.parametrize("shapes", [((), (1,)), ((1,), ()), ((1, 1), (1,)), ((3,), (3,))])
def test_branches_may_differ_by_the_axes_of_one_element(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    def branch(name: str, number: float, shape: tuple[int, ...]) -> Any:
        tensor = helper.make_tensor(name, TensorProto.FLOAT, shape, numpy.full(shape, number, "f").ravel())
        node = helper.make_node("Constant", [], [name], value=tensor)
        return helper.make_graph([node], name, [], [value(name, "float", None)])

    branches = {"then_branch": branch("t", 2.0, shapes[0]), "else_branch": branch("e", 3.0, shapes[1])}
    nodes = [helper.make_node("If", ["c"], ["r"], **branches), helper.make_node("Mul", ["x", "r"], ["y"])]
    inputs = [value("x", "float", (3,)), value("c", "bool", ())]
    loaded = load(model(nodes, inputs, [value("y", "float", (3,))]))
    x = tb.tensor([1.0, 2.0, 3.0])
    for flag in (True, False):
        result = tb.jit(loaded.apply)(loaded.parameters, x, tb.tensor(flag))
        assert numpy.asarray(result).ravel().tolist() == numpy.asarray(loaded(x, flag)).ravel().tolist()
