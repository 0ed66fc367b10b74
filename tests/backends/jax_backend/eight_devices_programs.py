"""Training steps and a transformer, as XLA compiles them for a mesh of eight devices. `test_mesh.py` runs these."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding

import tensorbackend as tb

from .mesh_of_eight import ON_MESH, PartitionSpec, divided


def network(model: Any, inputs: tb.Tensor, targets: tb.Tensor) -> tb.Tensor:
    up, down = model
    hidden = tb.maximum(tb.dot(inputs, up, contract=(["feature"], ["feature"])), 0.0)
    return tb.mean(tb.square(tb.dot(hidden, down, contract=(["hidden"], ["hidden"])) - targets))


def step(model: Any, inputs: tb.Tensor, targets: tb.Tensor) -> Any:
    value, gradient = tb.value_and_grad(network)(model, inputs, targets)
    return value, tb.tree_map(lambda p, g: p - 0.1 * g, model, gradient)


def by_hand(up: Any, down: Any, inputs: Any, targets: Any) -> Any:
    """Return the results of the same step, with shardings written by hand."""

    def loss(model: Any) -> Any:
        hidden = jnp.maximum(inputs @ model[0], 0.0)
        constrain: Any = jax.lax.with_sharding_constraint
        hidden = constrain(hidden, NamedSharding(ON_MESH.mesh, PartitionSpec("data", "model")))
        return jnp.mean(jnp.square(hidden @ model[1] - targets))

    value, (of_up, of_down) = jax.value_and_grad(loss)((up, down))
    return value, up - 0.1 * of_up, down - 0.1 * of_down


def compiled(function: Callable[..., Any], *tensors: tb.Tensor) -> Any:
    """Return the program that XLA compiles from a function of tensors."""
    return program(ON_MESH, tb.jit(function).lower(*tensors).graph)


def program(backend: Any, graph: Any) -> Any:
    """Return the program that XLA compiles from a graph whose arguments are laid out by their names."""
    struct: Any = jax.ShapeDtypeStruct
    shapes = [
        struct(template.shape, jnp.dtype(template.dtype.name), sharding=backend.whole(template))
        for template in graph.templates
    ]
    return jax.jit(backend.program(graph)).lower(*shapes).compile()


def collectives(compiled: Any) -> list[tuple[str, str]]:
    """Return the collectives of a compiled program and the shapes of their results, with sizes in sorted order."""
    kinds = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"
    return sorted(
        (
            kind,
            str(
                sorted(
                    sorted(map(int, filter(None, shape.split(",")))) for shape in re.findall(r"\[([\d,]*)\]", shapes)
                )
            ),
        )
        for shapes, kind in re.findall(rf"= ([^=]*?) ({kinds})(?:-start)?\(", compiled.as_text())
    )


def test_steps_of_nested_parameters_lie_by_their_names_in_each_call() -> None:
    rng = np.random.default_rng(0)
    names = {"up": ("feature", "hidden"), "down": ("hidden", "out"), "inputs": ("batch", "feature")}
    sizes = {"feature": 6, "hidden": 8, "out": 4, "batch": 16}
    drawn = {key: rng.normal(size=[sizes[axis] for axis in axes]).astype(np.float32) for key, axes in names.items()}
    losses = []
    for backend in (tb.get_backend("numpy"), ON_MESH):
        x = {key: tb.asarray(array, names=names[key], backend=backend) for key, array in drawn.items()}
        targets = tb.asarray(np.ones((16, 4), np.float32), names=("batch", "out"), backend=backend)

        @tb.jit
        def trained(model: dict[str, Any], inputs: tb.Tensor, rate: float, targets: tb.Tensor = targets) -> Any:
            value, gradient = tb.value_and_grad(network)(model["layers"], inputs, targets)
            layers = tb.tree_map(lambda p, g: p - rate * g, model["layers"], gradient)
            return value, {"layers": layers, "count": model["count"] + 1}

        model: Any = {"layers": (x["up"], x["down"]), "count": tb.asarray(0, backend=backend)}
        for rate in (0.1, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01):
            value, model = trained(model, x["inputs"], rate)
            losses.append(value.item())
            assert [weight.names for weight in model["layers"]] == [names["up"], names["down"]]
            if backend is ON_MESH:
                assert [divided(weight) for weight in model["layers"]] == [((), ("model",)), (("model",), ())]
        assert model["count"].item() == 7
        assert trained.cache_info()[:2] == (5, 2)
    np.testing.assert_allclose(losses[7:], losses[:7], rtol=1e-5)


def test_a_compiled_step_is_that_of_hand_written_shardings() -> None:
    rng = np.random.default_rng(0)
    shapes = {(256, 512): ("feature", "hidden"), (512, 64): ("hidden", "out"), (128, 256): ("batch", "feature")}
    tensors = [
        tb.asarray(rng.normal(size=shape).astype(np.float32), names=names, backend=ON_MESH)
        for shape, names in {**shapes, (128, 64): ("batch", "out")}.items()
    ]
    ours = compiled(lambda up, down, inputs, targets: step((up, down), inputs, targets), *tensors)

    def put(*axes: str | None) -> NamedSharding:
        return NamedSharding(ON_MESH.mesh, PartitionSpec(*axes))

    hand = jax.jit(by_hand, out_shardings=(put(), put(None, "model"), put("model"))).lower(*[x.data for x in tensors])
    theirs: Any = hand.compile()
    mine, yours = ours.cost_analysis(), theirs.cost_analysis()
    assert mine["bytes accessed"] <= yours["bytes accessed"]
    assert mine["flops"] == pytest.approx(yours["flops"], rel=1e-3)
    assert collectives(ours) == collectives(theirs) != []
    assert ours.memory_analysis().temp_size_in_bytes <= theirs.memory_analysis().temp_size_in_bytes


# The transformer of the examples


@pytest.fixture(scope="module")
def transformer() -> Any:
    sys.path.insert(0, str(Path(__file__).parents[3] / "examples"))
    try:
        import transformer
    finally:
        del sys.path[0]
    transformer.LAYERS = 1  # one layer shows the same, and compiles in half the time
    return transformer


SHARED = {"batch": "data", "head": "model", "hidden": "model", "character": "model"}
TRAINED: Any = tb.JaxBackend(mesh=tb.Mesh({"data": 4, "model": 2}), layout=SHARED)


@pytest.fixture(scope="module")
def drawn(transformer: Any) -> Any:
    """The untrained model on the host, where nothing is compiled."""
    with tb.default_backend("numpy"):
        return transformer.initial(tb.random.key(0))


@pytest.fixture(scope="module")
def initial(drawn: Any) -> Any:
    """The untrained model on the mesh."""
    return tb.backend_copy(drawn, TRAINED)


def losses(transformer: Any, backend: Any, model: Any) -> tuple[Any, list[float]]:
    """Return the model after 4 steps, and the loss of each step."""
    loss_values = []
    with tb.default_backend(backend):
        text = tb.asarray([transformer.ALPHABET.index(character) for character in transformer.TEXT])
        # Compute the zeros from the weights, so that JAX commits them to the same devices. JAX would compile the step
        # a second time for uncommitted zeros.
        velocity = tb.jit(lambda model: tb.tree_map(lambda weight: weight * 0, model))(model)
        for number in range(4):
            key = tb.random.fold_in(tb.random.key(0), number + 1)
            value, model, velocity = transformer.step(model, velocity, text, key)
            loss_values.append(value.item())
    return model, loss_values


def test_the_transformer_learns_alike_on_one_device_and_on_eight(transformer: Any, drawn: Any, initial: Any) -> None:
    model, together = losses(transformer, TRAINED, initial)
    _, alone = losses(transformer, tb.get_backend("jax"), tb.backend_copy(drawn, "jax"))
    assert max(abs(a - b) for a, b in zip(together, alone, strict=True)) < 1e-5
    for weight in (model.characters, model.layers[0].queries, model.layers[0].gathered, model.layers[0].down):
        assert divided(weight) == tuple(() if SHARED.get(name) != "model" else ("model",) for name in weight.names)


def test_no_value_of_the_transformers_step_is_whole_on_each_device(transformer: Any, initial: Any) -> None:
    """Each value of the compiled step, gradients and updates included, has the size of the part of one device.

    The test ignores values of less than 4 KiB. Before JAX 0.10.2 it ignores values of less than 8 KiB, as XLA makes
    index vectors of such sizes there.
    """
    with tb.default_backend(TRAINED):
        text = tb.zeros(148_480, dtype="int64")  # without names, so each device has the whole tensor
        graph = transformer.step.lower(initial, initial, text, tb.random.key(1)).graph
        logits = tb.jit(transformer.predicted)(initial, tb.zeros((16, 64), dtype="int64", names=("batch", "time")))
    assert divided(logits) == (("data",), (), ("model",))
    values = [
        template for node in graph.nodes for template in ([node.out] if isinstance(node.out, tb.Template) else node.out)
    ]
    named = [template for template in values if any(template.names)]
    parts = {int(np.prod(TRAINED.layout.of(template).shard_shape)) for template in named} | {text.size}
    hidden, scores = 16 * 64 * 256, 16 * 4 * 64 * 64
    assert {hidden, scores} <= {template.size for template in named} - parts
    matches = re.findall(r"\b[fsu](\d+)\[([\d,]+)\]", program(TRAINED, graph).as_text())
    sized = [(int(np.prod([*map(int, shape.split(","))])), int(bits)) for bits, shape in matches]
    least = 8192 if jax.__version__ in ("0.10.0", "0.10.1") else 4096
    sizes = {size for size, bits in sized if size * bits >= 8 * least}
    assert sizes <= parts
    assert {hidden // 8, scores // 8} <= sizes
