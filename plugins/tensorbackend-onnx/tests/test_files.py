"""Files that are broken or hostile: a clear error, before memory is taken."""

from __future__ import annotations

import os
import random
import tracemalloc
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
import tensorbackend as tb
from onnx import ModelProto, TensorProto, helper
from small_models import model, value
from tensorbackend.errors import TensorBackendError

from tensorbackend_onnx import MissingOperators, ModelError, load
from tensorbackend_onnx.conformance import cases
from tensorbackend_onnx.types import TensorType

MUTATIONS = int(os.environ.get("TENSORBACKEND_EXAMPLES", "300"))
"""The number of mutations of each of three models."""


def small_models() -> list[bytes]:
    """A convolution with weights, a loop with a body and a quantised product, from ONNX's own tests."""
    names = ("test_basic_conv_with_padding", "test_loop11", "test_qlinearmatmul_2D_uint8_float32")
    found = {case.name: case.model for case in cases("node", only="|".join(names))}
    proto = found["test_basic_conv_with_padding"]
    assert isinstance(proto, ModelProto)
    weights = numpy.arange(9, dtype="f").reshape(1, 1, 3, 3)
    kept = [given for given in proto.graph.input if given.name == "x"]
    with_weights = model(list(proto.graph.node), kept, list(proto.graph.output), {"W": weights})
    others = [found[name] for name in names[1:]]
    assert all(isinstance(other, ModelProto) for other in others)
    return [with_weights.SerializeToString(), *(other.SerializeToString() for other in others)]  # type: ignore[union-attr]


def mutated(data: bytes, draw: random.Random) -> bytes:
    """A few bytes changed, added or taken away."""
    changed = bytearray(data)
    for _ in range(draw.randint(1, 2)):
        place = draw.randrange(len(changed))
        match draw.randrange(8):
            case 0 | 1 | 2 | 3 | 4:
                changed[place] = draw.randrange(256)
            case 5:
                changed[place:place] = bytes(draw.randrange(256) for _ in range(draw.randint(1, 8)))
            case 6:
                del changed[place : place + draw.randint(1, 8)]
            case _:
                changed[place : place + 1] = draw.choice([b"\xff\xff\xff\xff\x07", b"\x00", b"\x80" * 9 + b"\x01"])
        changed = changed or bytearray(b"\x00")
    return bytes(changed)


def sample(declared: Any) -> Any:
    """Data for an input, if its shape is small."""
    if not isinstance(declared, TensorType):
        raise ModelError("expected a tensor")
    sizes = [size or 1 for size in declared.shape or ()]
    if len(sizes) > 8 or numpy.prod([float(size) for size in sizes]) > 1e5:
        raise ModelError("expected a small input")
    return tb.ones(sizes, dtype=declared.dtype)


@pytest.mark.parametrize("number", range(3))
@pytest.mark.filterwarnings("ignore")
def test_mutations_of_a_file_are_models_or_clear_errors(number: int) -> None:
    data = small_models()[number]
    draw = random.Random(number)
    models = errors = 0
    load(data)  # whatever is imported or kept once
    tracemalloc.start()
    for _ in range(MUTATIONS):
        changed = mutated(data, draw)
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        try:
            load(changed)
            models += 1
        except TensorBackendError as error:
            errors += bool(str(error))
        assert tracemalloc.get_traced_memory()[1] - before < len(changed) + 50_000_000
    tracemalloc.stop()
    assert models + errors == MUTATIONS
    assert min(models, errors) > 0


@pytest.mark.parametrize("number", range(3))
@pytest.mark.filterwarnings("ignore")
def test_what_a_mutated_model_computes_is_a_tensor_or_a_clear_error(number: int) -> None:
    data = small_models()[number]
    draw = random.Random(100 + number)
    ran = errors = 0
    for _ in range(MUTATIONS // 3):
        try:
            loaded = load(mutated(data, draw))
            loaded(*(sample(declared) for declared in loaded.inputs.values()))
            ran += 1
        except TensorBackendError as error:
            errors += bool(str(error))
    assert ran > 0
    assert ran + errors == MUTATIONS // 3


@pytest.mark.parametrize("data", [b"", b"\xff" * 20, b"not a model", b"\x3a\xff\xff\xff\xff\x0f", bytes(100)])
def test_what_is_not_a_model_is_a_model_error(data: bytes) -> None:
    with pytest.raises(TensorBackendError):
        load(data)


def test_an_empty_file_and_a_missing_one(tmp_path: Any) -> None:
    (tmp_path / "empty.onnx").write_bytes(b"")
    with pytest.raises(ModelError, match="an empty file"):
        load(tmp_path / "empty.onnx")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing.onnx")


def with_initialiser(tensor: TensorProto) -> ModelProto:
    proto = model(
        [helper.make_node("Add", ["x", "w"], ["y"])], [value("x", "float", (1,))], [value("y", "float", None)]
    )
    proto.graph.initializer.append(tensor)
    return proto


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (TensorProto(name="w", data_type=1, dims=[10**6, 10**6], raw_data=b"1234"), "got 4"),
        (TensorProto(name="w", data_type=1, dims=[2**62, 4], raw_data=b""), "less than"),
        (TensorProto(name="w", data_type=1, dims=[-1], raw_data=b"1234"), "at least 0"),
        (TensorProto(name="w", data_type=18, dims=[1], raw_data=b"1"), "float8e4m3fnuz"),
        (TensorProto(name="w", data_type=99, dims=[1], raw_data=b"1"), "type=99"),
        (TensorProto(name="w", data_type=1, dims=[3], float_data=[1.0]), "12 bytes"),
    ],
)
def test_an_initialiser_must_have_the_data_that_its_shape_says(tensor: TensorProto, text: str) -> None:
    with pytest.raises(TensorBackendError, match=text):
        load(with_initialiser(tensor))


def nested(depth: int) -> ModelProto:
    """Branches within branches."""
    graph = helper.make_graph([], "leaf", [], [value("c", "bool", ())])
    for level in range(depth):
        node = helper.make_node("If", ["c"], [f"r{level}"], then_branch=graph, else_branch=graph)
        graph = helper.make_graph([node], f"g{level}", [], [value(f"r{level}", "bool", ())])
    node = helper.make_node("If", ["c"], ["y"], then_branch=graph, else_branch=graph)
    return model([node], [value("c", "bool", ())], [value("y", "bool", ())])


def test_functions_that_call_themselves_or_double_each_time_are_refused() -> None:
    imports = [helper.make_opsetid("", 22), helper.make_opsetid("acme", 1)]

    def function(name: str, called: str) -> Any:
        nodes = [
            helper.make_node(called, ["x"], ["a"], domain="acme"),
            helper.make_node(called, ["a"], ["y"], domain="acme"),
        ]
        return helper.make_function("acme", name, ["x"], ["y"], nodes, imports)

    def calling(functions: list[Any]) -> ModelProto:
        node = helper.make_node("F0", ["x"], ["y"], domain="acme")
        inputs, outputs = [value("x", "float", (1,))], [value("y", "float", (1,))]
        return model([node], inputs, outputs, domains=[("acme", 1)], functions=functions)

    with pytest.raises(ModelError, match="deep"):
        load(calling([function("F0", "F0")]))
    with pytest.raises(ModelError, match="at most"):
        load(calling([function(f"F{n}", f"F{n + 1}") for n in range(40)]))


def test_graphs_may_be_nested_but_not_without_end() -> None:
    assert load(nested(3))(numpy.array(True)).tolist() is True
    with pytest.raises(TensorBackendError):
        load(nested(12).SerializeToString()[:-9])


def test_an_opset_that_is_newer_than_the_importer_says_so() -> None:
    proto = model([], [value("x", "float", (1,))], [value("x", "float", (1,))], opset=999)
    with pytest.raises(MissingOperators, match="update tensorbackend-onnx"):
        load(proto)


def test_inputs_that_nothing_computes_and_attributes_that_nobody_knows_are_named() -> None:
    x, y = [value("x", "float", (1,))], [value("y", "float", (1,))]
    with pytest.raises(ModelError, match=r"computed before, got \['z'\]"):
        load(model([helper.make_node("Relu", ["z"], ["y"])], x, y))
    with pytest.raises(ModelError, match="attributes among"):
        load(model([helper.make_node("LeakyRelu", ["x"], ["y"], beta=1.0)], x, y))
    with pytest.raises(ModelError, match="2 to 2 inputs"):
        load(model([helper.make_node("MatMul", ["x"], ["y"])], x, y))


@pytest.mark.parametrize("shift", range(4))
def test_weights_of_a_file_are_aligned_wherever_they_lie(shift: int, tmp_path: Path) -> None:
    weight = numpy.arange(1024, dtype="f").reshape(32, 32)
    nodes = [helper.make_node("MatMul", ["x", "w" * (shift + 1)], ["y"])]
    proto = model(nodes, [value("x", "float", (2, 32))], [value("y", "float", (2, 32))], {"w" * (shift + 1): weight})
    onnx.save(proto, tmp_path / "model.onnx")
    (found,) = load(tmp_path / "model.onnx").parameters_on("numpy").values()
    assert found.data.flags.aligned
    assert numpy.array_equal(numpy.asarray(found), weight)
