"""A model as a function: its inputs, names, parameters, gradients and transforms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
import tensorbackend as tb
from onnx import ModelProto, helper, numpy_helper
from small_models import by_onnxruntime, model, value
from tensorbackend.errors import ArgumentError, DTypeError, ShapeError

from tensorbackend_onnx import MissingOperators, ModelError, load

rng = numpy.random.default_rng(0)


def network() -> ModelProto:
    """A network of two layers, which flattens its input by a shape that it computes."""
    rng = numpy.random.default_rng(1)
    return model(
        [
            helper.make_node("Shape", ["x"], ["shape"], "shape", end=1),
            helper.make_node("Concat", ["shape", "rest"], ["flat_shape"], "flat_shape", axis=0),
            helper.make_node("Reshape", ["x", "flat_shape"], ["flat"], "flat"),
            helper.make_node("Gemm", ["flat", "w1", "b1"], ["z"], "first", transB=1),
            helper.make_node("Relu", ["z"], ["h"], "relu"),
            helper.make_node("MatMul", ["h", "w2"], ["y"], "second"),
        ],
        [value("x", "float", ("batch", 2, 3))],
        [value("y", "float", ("batch", 4))],
        {
            "rest": numpy.array([-1]),
            "w1": rng.standard_normal((5, 6)).astype("f"),
            "b1": rng.standard_normal(5).astype("f"),
            "w2": rng.standard_normal((5, 4)).astype("f"),
        },
    )


X = rng.standard_normal((7, 2, 3)).astype("f")


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax", "torch"])
def test_a_model_computes_what_onnxruntime_computes(backend: str) -> None:
    loaded = load(network())
    result = loaded(tb.asarray(X, backend=backend))
    assert result.backend.name == backend
    assert result.names == ("batch", None)
    numpy.testing.assert_allclose(numpy.asarray(result), by_onnxruntime(network(), X)[0], rtol=1e-5, atol=1e-6)


def test_inputs_outputs_and_parameters_are_described() -> None:
    loaded = load(network())
    assert repr(loaded) == "model(x: f32[batch: ?][2][3]) -> y: f32[batch: ?][4]"
    assert loaded.inputs["x"].template(batch=7) == tb.Template((7, 2, 3), "f32", ("batch", None, None))  # type: ignore[union-attr]
    assert {name: template.shape for name, template in loaded.templates.items()} == {
        "w1": (5, 6),
        "b1": (5,),
        "w2": (5, 4),
    }
    assert loaded.parameters["w2"].backend.name == "numpy"
    assert loaded.parameters_on("jax")["w2"].backend.name == "jax"
    assert loaded.opsets == {"": 22}


def test_a_shape_in_the_file_is_a_constant_and_no_parameter() -> None:
    assert "rest" not in load(network()).parameters


def test_apply_is_a_pure_function_of_parameters_and_inputs() -> None:
    loaded = load(network())
    parameters, x = loaded.parameters, tb.asarray(X)

    def loss(parameters: Any, x: Any) -> Any:
        return tb.sum(loaded.apply(parameters, x) ** 2)

    gradient = tb.grad(loss)(parameters, x)
    hidden = X.reshape(7, 6) @ numpy.asarray(parameters["w1"]).T + numpy.asarray(parameters["b1"])
    hidden = numpy.maximum(hidden, 0)
    by_hand = hidden.T @ (2 * hidden @ numpy.asarray(parameters["w2"]))
    numpy.testing.assert_allclose(numpy.asarray(gradient["w2"]), by_hand, rtol=1e-4, atol=1e-4)
    numpy.testing.assert_allclose(
        numpy.asarray(tb.jit(loaded.apply)(parameters, x)), numpy.asarray(loaded(x)), rtol=1e-5, atol=1e-6
    )
    mapped = tb.vmap(lambda one: loaded.apply(parameters, one[None])[0])(tb.rename(x, None, None, None))
    numpy.testing.assert_allclose(numpy.asarray(mapped), numpy.asarray(loaded(x)), rtol=1e-5, atol=1e-6)


def test_a_dry_run_tells_costs_by_node() -> None:
    loaded = load(network())
    report = tb.dry_run(loaded.apply, loaded.templates, tb.Template((1000, 2, 3), "f32"))
    assert report.flops >= 2 * 1000 * (6 * 5 + 5 * 4)
    lines = {row[-1] for row in report.shown_program(False).table("line")}
    assert "graph:4" in lines  # the fourth node of the graph that is called graph


def test_inputs_may_be_given_by_name_and_as_arrays() -> None:
    loaded = load(network())
    assert numpy.array_equal(numpy.asarray(loaded(x=X)), numpy.asarray(loaded(tb.asarray(X))))


@pytest.mark.parametrize(
    ("inputs", "error", "text"),
    [
        ((), ArgumentError, "a value for each input"),
        ((X, X), ArgumentError, "at most 1 inputs"),
        ((X[:, :1],), ShapeError, "for input x"),
        ((X.astype("d"),), DTypeError, "x.astype"),
    ],
)
def test_wrong_inputs_are_errors_that_name_the_input(inputs: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        load(network())(*inputs)


def test_names_of_the_user_stand_in_place_of_the_files() -> None:
    loaded = load(network(), names={"x": ("example", "row", "column")})
    assert loaded(X).names == ("example", None)
    with pytest.raises(ShapeError, match="a name, or None, for each axis"):
        load(network(), names={"x": ("example",)})
    with pytest.raises(ArgumentError, match="names for inputs among"):
        load(network(), names={"z": ("example",)})


def test_names_that_clash_are_left_away_and_noted() -> None:
    proto = model(
        [helper.make_node("MatMul", ["x", "x"], ["y"], "square")],
        [value("x", "float", ("n", "m"))],
        [value("y", "float", None)],
    )
    x = rng.standard_normal((3, 3)).astype("f")
    loaded = load(proto)
    numpy.testing.assert_allclose(numpy.asarray(loaded(x)), x @ x, rtol=1e-5)
    assert loaded.notes == ["MatMul 'square' leaves away the names of axes, which clash there"]


def test_all_missing_operators_are_named_at_once_with_their_nodes() -> None:
    proto = model(
        [
            helper.make_node("Frob", ["x"], ["a"], "first", domain="acme"),
            helper.make_node("StringConcat", ["a", "a"], ["b"]),
            helper.make_node("Frob", ["b"], ["y"], "third", domain="acme"),
        ],
        [value("x", "float", (1,))],
        [value("y", "float", (1,))],
        domains=[("acme", 1)],
    )
    with pytest.raises(MissingOperators, match=r"acme\.Frob in 'first', 'third'; StringConcat in 'b'"):
        load(proto)


def test_local_functions_are_called_with_their_attributes() -> None:
    body = [
        helper.make_node("Constant", [], ["a"], value_float=2.0),
        helper.make_node("Mul", ["x", "a"], ["twice"]),
        helper.make_node("LeakyRelu", ["twice"], ["y"]),
    ]
    body[2].attribute.append(onnx.AttributeProto(name="alpha", type="FLOAT", ref_attr_name="slope"))
    function = helper.make_function(
        "acme", "Twice", ["x"], ["y"], body, [helper.make_opsetid("", 22)], attributes=["slope"]
    )
    proto = model(
        [helper.make_node("Twice", ["x"], ["y"], domain="acme", slope=0.25)],
        [value("x", "float", (2,))],
        [value("y", "float", (2,))],
        domains=[("acme", 1)],
        functions=[function],
    )
    assert load(proto)(numpy.array([-1, 1], "f")).tolist() == [-0.5, 2.0]


def test_a_number_that_decides_on_a_shape_may_be_an_input() -> None:
    proto = model(
        [helper.make_node("Reshape", ["x", "shape"], ["y"])],
        [value("x", "float", (6,)), value("shape", "int64", (2,))],
        [value("y", "float", None)],
    )
    loaded = load(proto)
    assert loaded.read_inputs == ("shape",)
    for backend in ("numpy", "jax", "torch", "binary"):
        x = tb.asarray(numpy.arange(6, dtype="f"), backend=backend)
        for shape in ((2, 3), (3, 2)):
            assert loaded(x, tb.asarray(numpy.array(shape), backend=backend)).shape == shape


def test_a_model_whose_shapes_depend_on_data_runs_by_operators_on_jax() -> None:
    proto = model(
        [helper.make_node("NonZero", ["x"], ["y"])], [value("x", "float", (2, 2))], [value("y", "int64", None)]
    )
    x = numpy.array([[0, 1], [2, 0]], "f")
    assert load(proto)(tb.asarray(x, backend="jax")).tolist() == [[0, 1], [1, 0]]


def test_a_choice_that_data_decides_on_is_made_in_a_traced_function() -> None:
    def branch(name: str, operator: str) -> Any:
        output = value(name, "float", (2,))
        return helper.make_graph([helper.make_node(operator, ["x"], [name])], name, [], [output])

    proto = model(
        [
            helper.make_node("ReduceSum", ["x"], ["total"], keepdims=0),
            helper.make_node("Greater", ["total", "zero"], ["positive"]),
            helper.make_node("If", ["positive"], ["y"], then_branch=branch("t", "Exp"), else_branch=branch("e", "Neg")),
        ],
        [value("x", "float", (2,))],
        [value("y", "float", (2,))],
        {"zero": numpy.array(0, "f")},
    )
    loaded = load(proto)
    for x in (numpy.array([1, 2], "f"), numpy.array([-1, -2], "f")):
        right = by_onnxruntime(proto, x)[0]
        numpy.testing.assert_allclose(numpy.asarray(loaded(x)), right, rtol=1e-6)
        numpy.testing.assert_allclose(numpy.asarray(tb.jit(loaded)(tb.asarray(x))), right, rtol=1e-6)
        numpy.testing.assert_allclose(numpy.asarray(loaded(tb.asarray(x, backend="jax"))), right, rtol=1e-6)


def test_weights_of_a_file_are_mapped_and_external_data_is_read_when_first_used(tmp_path: Path) -> None:
    weights = rng.standard_normal((40, 40)).astype("f")
    proto = model(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        [value("x", "float", (1, 40))],
        [value("y", "float", (1, 40))],
        {"w": weights},
    )
    x = rng.standard_normal((1, 40)).astype("f")
    onnx.save(proto, tmp_path / "inside.onnx")
    onnx.save(proto, tmp_path / "outside.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    for name in ("inside", "outside"):
        loaded = load(tmp_path / f"{name}.onnx")
        numpy.testing.assert_allclose(numpy.asarray(loaded(x)), x @ weights, rtol=1e-4, atol=1e-5)
    (tmp_path / "weights.bin").write_bytes(b"short")
    with pytest.raises(ModelError, match="within the 5 bytes"):
        load(tmp_path / "outside.onnx")


@pytest.mark.parametrize("location", ["../weights.bin", "/etc/passwd", "", "a/../../weights.bin"])
def test_external_data_outside_the_models_folder_is_refused(tmp_path: Path, location: str) -> None:
    proto = network()
    tensor = proto.graph.initializer[1]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    (tmp_path / "weights.bin").write_bytes(bytes(1000))
    (tmp_path / "model").mkdir()
    onnx.save_model(proto, tmp_path / "model" / "model.onnx")
    with pytest.raises(ModelError, match="in a file in the model's folder"):
        load(tmp_path / "model" / "model.onnx")


def test_an_input_with_a_default_may_be_given_by_name() -> None:
    nodes = [helper.make_node("Mul", ["x", "factor"], ["y"]), helper.make_node("Reshape", ["y", "shape"], ["z"])]
    inputs = [value("x", "float", (2, 3)), value("factor", "float", (3,)), value("shape", "int64", (2,))]
    factor, other, shape = numpy.ones(3, "f") * 2, numpy.arange(3, dtype="f"), numpy.array([3, 2])
    proto = model(nodes, inputs, [value("z", "float", None)], {"factor": factor, "shape": shape})
    loaded, x = load(proto), numpy.arange(6, dtype="f").reshape(2, 3)
    assert list(loaded.inputs) == ["x"]
    numpy.testing.assert_array_equal(numpy.asarray(loaded(x)), (x * 2).reshape(3, 2))
    for backend in ("numpy", "jax"):
        found = loaded(tb.asarray(x, backend=backend), factor=other, shape=numpy.array([6, 1]))
        assert found.backend.name == backend
        numpy.testing.assert_array_equal(numpy.asarray(found), (x * other).reshape(6, 1))
    with pytest.raises(ShapeError, match="input factor"):
        loaded(x, factor=numpy.ones((2, 2), "f"))


def test_two_nodes_for_one_value_are_refused() -> None:
    x, y = [value("x", "float", (2,))], [value("y", "float", (2,))]
    exp = helper.make_node("Exp", ["x"], ["y"])
    one = helper.make_node("Constant", [], ["y"], value=numpy_helper.from_array(numpy.ones(2, "f")))
    for nodes in ([exp, helper.make_node("Sin", ["x"], ["y"])], [exp, one], [one, exp], [one, one],
                  [helper.make_node("Sin", ["x"], ["x"]), exp]):  # fmt: skip
        with pytest.raises(ModelError, match="one node for each value"):
            load(model(nodes, x, y))
