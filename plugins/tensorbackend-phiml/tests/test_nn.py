"""Networks and optimisers of `phiml.nn` on the adapter, compared with PhiML's own on JAX and NumPy's formulas."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorbackend as tb
from phiml import nn
from phiml.backend._backend import get_backend
from phiml.math import batch, channel, jit_compile, l2_loss, native_call, wrap

import tensorbackend_phiml
from tensorbackend_phiml import TensorBackend

pytestmark = pytest.mark.filterwarnings("ignore:Multiple ML libraries")


@pytest.fixture
def n() -> TensorBackend:
    """The adapter over NumPy as the default backend."""
    adapter = tensorbackend_phiml.backend("numpy")
    adapter.seed(0)
    nn.use(adapter)
    return adapter


def copied(theirs: Any, ours: Any) -> None:
    """Give our network the parameters of PhiML's on JAX, whose kernels have the axes (spatial, in, out).

    Both hold them in the order of the layers; JAX's batch normalisation has the offset first.
    """
    flat = leaves(theirs.parameters)
    names = list(ours.parameters)
    assert len(flat) == len(names)
    changed = {}
    for name, value in zip(names, flat, strict=True):
        array = np.asarray(value)
        if array.ndim > 2:
            array = np.moveaxis(array, (-1, -2), (0, 1))
        if name.startswith("up") and name.endswith(("conv0.weight", "shortcut.weight")):  # joined in another order
            array = np.roll(array, array.shape[1] // 2, axis=1)
        changed[name] = array.reshape(-1) if name.endswith("bias") else array
    for name in names:  # the offset and scale of a normalisation are exchanged
        if "norm" in name and name.endswith("weight"):
            other = name.replace("weight", "bias")
            changed[name], changed[other] = changed[other], changed[name]
    ours.parameters = {name: tb.asarray(array) for name, array in changed.items()}


def leaves(tree: Any) -> list[Any]:
    """The arrays of PhiML's nested parameters, the networks' layers in their order."""
    if isinstance(tree, dict):
        order = sorted(tree, key=lambda name: (name == "outc", name.startswith("up"), "sample" in name, name))
        if "inc" in tree:  # ours makes the blocks of a level together
            levels = sum(name.startswith("down") for name in tree)
            order = ["inc", *(f"{way}{level}" for level in range(1, levels + 1) for way in ("down", "up")), "outc"]
        return [leaf for name in order for leaf in leaves(tree[name])]
    if isinstance(tree, tuple | list):
        return [leaf for item in tree for leaf in leaves(item)]
    return [tree]


NETWORKS: dict[str, Callable[[], Any]] = {
    "mlp": lambda: nn.mlp(2, 3, [10, 7], activation="tanh", softmax=True),
    "mlp with norms": lambda: nn.mlp(2, 3, [10, 7], batch_norm=True),
    "conv_net": lambda: nn.conv_net(2, 3, [4], activation="Sigmoid", batch_norm=True),
    "conv_net, one axis": lambda: nn.conv_net(2, 3, [4], in_spatial=1, periodic=True),
    "u_net": lambda: nn.u_net(2, 3, levels=3, filters=4),
    "u_net, one axis": lambda: nn.u_net(2, 3, levels=2, filters=4, in_spatial=1, periodic=True, batch_norm=False),
    "u_net of residual blocks": lambda: nn.u_net(2, 3, levels=2, filters=4, use_res_blocks=True, activation="tanh"),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_computes_what_phimls_does(n: TensorBackend, name: str) -> None:
    ours = NETWORKS[name]()
    jax = get_backend("jax")
    nn.use(jax)
    theirs = NETWORKS[name]()
    copied(theirs, ours)
    axes = 0 if "mlp" in name else 1 if "one axis" in name else 2
    x = np.random.default_rng(0).normal(size=(3, *(8,) * axes, 2)).astype(np.float32)
    np.testing.assert_allclose(n.numpy(ours(x)), np.asarray(theirs(jax.as_tensor(x))), rtol=1e-4, atol=1e-5)


SIZES: dict[str, tuple[int, Callable[[], Any]]] = {
    "mlp": (201, lambda: nn.mlp(2, 3, [10, 12])),
    "u_net": (6587, lambda: nn.u_net(2, 3, levels=3, filters=8, batch_norm=False, in_spatial=(64, 32))),
    "u_net of residual blocks": (113939, lambda: nn.u_net(2, 3, in_spatial=3, use_res_blocks=True)),
    "conv_classifier": (401, lambda: nn.conv_classifier(1, (2,), 1, [10], dense_layers=[], softmax=False)),
    "invertible u_net": (454296, lambda: nn.invertible_net(3, "u_net", in_channels=2)),
    "invertible res_net": (1080, lambda: nn.invertible_net(3, "res_net", in_channels=2, batch_norm=True, layers=[])),
    "invertible conv_net": (576, lambda: nn.invertible_net(3, "conv_net", in_channels=2, batch_norm=True, layers=[])),
    "invertible mlp": (240, lambda: nn.invertible_net(3, "mlp", in_channels=2, batch_norm=True, layers=[2])),
}
"""The numbers of parameters of PhiML's networks, which its own tests state."""


@pytest.mark.parametrize("name", SIZES)
def test_a_network_has_as_many_parameters_as_phimls(n: TensorBackend, name: str) -> None:
    count, make = SIZES[name]
    assert nn.parameter_count(make()) == count


def test_a_residual_network_adds_its_input(n: TensorBackend) -> None:
    net = nn.res_net(2, 2, [2], in_spatial=1, activation="tanh")
    x = np.random.default_rng(0).normal(size=(1, 8, 2)).astype(np.float32)
    weights = {
        name: n.numpy(value) for name, value in nn.get_parameters(net).items() for value in [net.parameters[name]]
    }

    def conv(x: Any, name: str) -> Any:
        kernel, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
        columns = [
            sum(
                np.convolve(x[0, :, k], kernel[out, k, ::-1], "same" if kernel.shape[2] > 1 else "full")
                for k in range(2)
            )
            for out in range(2)
        ]
        return np.stack(columns, axis=-1)[None] + bias

    hidden = np.tanh(conv(np.tanh(conv(x, "Res0.conv0")), "Res0.conv1")) + x
    np.testing.assert_allclose(n.numpy(net(x)), conv(hidden, "Res_out"), rtol=1e-4, atol=1e-6)


def test_a_classifier_gives_chances(n: TensorBackend) -> None:
    net = nn.conv_classifier(1, (8, 8), 3, [2, 4], [1, 2], [5])
    chances = n.numpy(net(np.random.default_rng(0).normal(size=(6, 8, 8, 1)).astype(np.float32)))
    assert chances.shape == (6, 3)
    np.testing.assert_allclose(chances.sum(1), 1, rtol=1e-5)
    assert np.ptp(chances, axis=0).max() > 1e-3


@pytest.mark.parametrize("kind", ["mlp", "conv_net", "u_net"])
def test_an_invertible_network_has_an_inverse(n: TensorBackend, kind: str) -> None:
    sizes: dict[str, Any] = {"mlp": {"layers": [6]}, "conv_net": {"layers": [4]}, "u_net": {"levels": 2, "filters": 4}}
    options = sizes[kind]
    net = nn.invertible_net(3, kind, in_channels=2, activation="tanh", batch_norm=False, **options)
    x = np.random.default_rng(0).normal(size=(3, 2) if kind == "mlp" else (3, 8, 8, 2)).astype(np.float32)
    y = net(x)
    assert np.abs(n.numpy(y) - x).max() > 0.1
    np.testing.assert_allclose(n.numpy(net(y, backward=True)), x, atol=1e-4)


@pytest.mark.parametrize("compiled", [False, True])
def test_training_a_dense_network_is_as_fast_as_phimls(b: TensorBackend, compiled: bool) -> None:
    """Gradient descent from the same parameters has the losses of PhiML's on JAX, which fall."""
    data = np.random.default_rng(0).normal(size=(32, 2)).astype(np.float32)
    labels = np.sin(data[:, :1] * 2) + data[:, 1:]

    def losses(net: Any, optimizer: Any, steps: int, compiled: bool = False) -> list[float]:
        def loss(x: Any, y: Any) -> Any:
            return l2_loss(native_call(net, x) - y)

        function = jit_compile(loss) if compiled else loss
        points, values = (wrap(array, batch("points"), channel("vector")) for array in (data, labels))
        found = [nn.update_weights(net, optimizer, function, points, values.vector[0]) for _ in range(steps)]
        return [float(value.sum) for value in found]

    steps = 3 if b.base.name == "binary" else 30
    nn.use(b)
    ours = nn.mlp(2, 1, [16], activation="tanh")
    jax = get_backend("jax")
    nn.use(jax)
    theirs = nn.mlp(2, 1, [16], activation="tanh")
    copied(theirs, ours)
    expected = losses(theirs, nn.sgd(theirs, 2e-3), steps)
    nn.use(b)
    ours.parameters = {name: x.backend_copy(b.base) for name, x in ours.parameters.items()}
    found = losses(ours, nn.sgd(ours, 2e-3), steps, compiled)
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    assert found[-1] < found[0] * (0.99 if steps == 3 else 0.8)


def descended(make: Callable[[Any], Any], steps: int = 4) -> list[np.ndarray[Any, Any]]:
    """The weights of a linear network while an optimiser reduces the sum of its squared outputs."""
    net = nn.mlp(1, 1, [])
    backend = net.adapter
    net.parameters = {
        "linear_out.weight": tb.asarray([[2.0]], dtype="f32"),
        "linear_out.bias": tb.asarray([0.5], dtype="f32"),
    }
    optimizer = make(net)
    x = wrap(np.ones((3, 1), np.float32), batch("points"), channel("vector"))
    found = []
    for _ in range(steps):
        nn.update_weights(net, optimizer, lambda x: l2_loss(native_call(net, x)), x)
        found.append(backend.numpy(net.parameters["linear_out.weight"])[0, 0])
    return found


def expected_descent(step: Callable[[Any, Any, dict[str, Any], int], Any], steps: int = 4) -> list[Any]:
    """The same by a formula of a step, of the parameters, their gradients, a state and the number of the step."""
    parameters, found = np.array([2.0, 0.5]), []
    state: dict[str, Any] = {}
    for number in range(1, steps + 1):
        gradient = np.full(2, 3 * parameters.sum())
        parameters = parameters - step(parameters, gradient, state, number)
        found.append(parameters[0])
    return found


def momentum_step(parameters: Any, gradient: Any, state: dict[str, Any], number: int) -> Any:
    gradient = gradient + 0.1 * parameters
    state["m"] = 0.9 * state.get("m", 0) + gradient
    return 0.01 * (gradient + 0.9 * state["m"])


def adam_step(parameters: Any, gradient: Any, state: dict[str, Any], number: int) -> Any:
    state["m"] = 0.8 * state.get("m", 0) + 0.2 * gradient
    state["v"] = 0.99 * state.get("v", 0) + 0.01 * gradient**2
    return 0.1 * (state["m"] / (1 - 0.8**number)) / (np.sqrt(state["v"] / (1 - 0.99**number)) + 1e-7)


def adagrad_step(parameters: Any, gradient: Any, state: dict[str, Any], number: int) -> Any:
    gradient = gradient + 0.1 * parameters
    state["v"] = state.get("v", 0.5) + gradient**2
    return 0.1 / (1 + 0.2 * (number - 1)) * gradient / (np.sqrt(state["v"]) + 1e-10)


def rmsprop_step(parameters: Any, gradient: Any, state: dict[str, Any], number: int) -> Any:
    state["v"] = 0.9 * state.get("v", 0) + 0.1 * gradient**2
    state["g"] = 0.9 * state.get("g", 0) + 0.1 * gradient
    state["m"] = 0.5 * state.get("m", 0) + gradient / np.sqrt(state["v"] - state["g"] ** 2 + 1e-8)
    return 0.01 * state["m"]


OPTIMIZERS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any, dict[str, Any], int], Any]]] = {
    "sgd": (lambda net: nn.sgd(net, 0.01, momentum=0.9, weight_decay=0.1, nesterov=True), momentum_step),
    "adam": (lambda net: nn.adam(net, 0.1, betas=(0.8, 0.99)), adam_step),
    "adagrad": (
        lambda net: nn.adagrad(net, 0.1, lr_decay=0.2, weight_decay=0.1, initial_accumulator_value=0.5),
        adagrad_step,
    ),
    "rmsprop": (lambda net: nn.rmsprop(net, 0.01, alpha=0.9, momentum=0.5, centered=True), rmsprop_step),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_takes_its_steps(n: TensorBackend, name: str) -> None:
    make, step = OPTIMIZERS[name]
    np.testing.assert_allclose(descended(make), expected_descent(step), rtol=1e-5)


def test_several_networks_are_trained_together(n: TensorBackend) -> None:
    nets = [nn.mlp(1, 1, []), nn.mlp(1, 1, [])]
    before = [n.numpy(net.parameters["linear_out.weight"]) for net in nets]
    optimizer = nn.sgd(nets, 0.1)
    x = wrap(np.ones((3, 1), np.float32), batch("points"), channel("vector"))
    nn.update_weights(nets, optimizer, lambda x: l2_loss(native_call(nets[0], x) + native_call(nets[1], x) - 1), x)
    changes: list[Any] = [
        n.numpy(net.parameters["linear_out.weight"]) - old for net, old in zip(nets, before, strict=True)
    ]
    assert changes[0] != 0
    np.testing.assert_allclose(changes[0], changes[1], rtol=1e-5)


def test_states_are_saved_and_loaded(n: TensorBackend, tmp_path: Path) -> None:
    net = nn.mlp(1, 1, [3])
    optimizer = nn.adam(net, 0.05)
    x = wrap(np.ones((3, 1), np.float32), batch("points"), channel("vector"))

    def step(net: Any, optimizer: Any) -> float:
        return float(nn.update_weights(net, optimizer, lambda x: l2_loss(native_call(net, x) - 1), x).sum)

    step(net, optimizer)
    files = nn.save_state(net, str(tmp_path / "net")), nn.save_state(optimizer, str(tmp_path / "optimizer"))
    assert files[0] == str(tmp_path / "net.npz")
    expected = [step(net, optimizer) for _ in range(3)]
    again = nn.mlp(1, 1, [3])
    continued = nn.adam(again, 0.9)
    nn.load_state(again, files[0])
    nn.load_state(continued, files[1])
    assert nn.get_learning_rate(continued) == 0.05
    assert [step(again, continued) for _ in range(3)] == expected
    with pytest.raises(ValueError, match="expected the templates"):
        nn.load_state(nn.mlp(1, 1, [4]), files[0])


def test_the_training_loop_of_phiml(n: TensorBackend) -> None:
    net = nn.mlp(1, 1, [])
    optimizer = nn.sgd(net, 0.05)
    x = wrap(np.linspace(-1, 1, 8, dtype=np.float32)[:, None], batch("points"), channel("vector"))
    rates = []

    def loss(x: Any) -> Any:
        return l2_loss(native_call(net, x) - 3 * x.vector[0])

    nn.train(None, net, optimizer, loss, x, max_epochs=200, batch_size=4, measure_peak_memory=False,
             lr_schedule_iter=lambda i: 0.1, on_iter_end=lambda state: rates.append(state.learning_rate))  # fmt: skip
    assert set(rates) == {0.1}
    np.testing.assert_allclose(n.numpy(net.parameters["linear_out.weight"]), [[3]], rtol=1e-3)


def test_a_network_chooses_its_backend(n: TensorBackend) -> None:
    net = nn.mlp(1, 1, [])
    nn.use(get_backend("numpy"))
    assert native_call(net, wrap(np.ones((3, 1)), batch("points"), channel("vector"))).backend is n
    assert not tensorbackend_phiml.backend("binary").is_module(net)


def test_what_networks_cannot_is_told(n: TensorBackend) -> None:
    net = nn.mlp(1, 1, [])
    with pytest.raises(NotImplementedError, match="sgd: expected dampening=0"):
        nn.sgd(net, dampening=0.1)
    with pytest.raises(ValueError, match="expected an activation of ReLU"):
        nn.mlp(1, 1, [2], activation="relu")
    with pytest.raises(ValueError, match="for each of 3 levels"):
        nn.u_net(1, 1, levels=3, filters=[4, 4])
    with pytest.raises(ValueError, match="expected a size for each of blocks"):
        nn.conv_classifier(1, (8, 8), 3, [2, 4], [1])
    with pytest.raises(ValueError, match="as many outputs as inputs"):
        nn.invertible_net(1, "mlp", in_channels=2, out_channels=3, layers=[])
    with pytest.raises(TypeError, match="expected a network of this backend"):
        nn.adam([net, 3])
    with pytest.raises(TypeError, match="expected a network or an optimiser"):
        nn.save_state(3, "somewhere")
