"""LSTM and GRU against loops in NumPy: lengths, masks, both directions, gradients."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DTypeError, NamesError, ShapeError

UNITS = 3


def normal(seed: int, **sizes: int) -> tb.Tensor:
    return tb.random.normal(tb.random.key(seed), tuple(sizes.values()), names=tuple(sizes))


X = normal(0, batch=3, time=5, feature=4)
LENGTHS = tb.asarray([5, 0, 2], names=("batch",))


def parameters(gates: int) -> dict[str, tb.Tensor]:
    return {
        "input": normal(1, feature=4, gate=gates * UNITS),
        "recurrent": normal(2, unit=UNITS, gate=gates * UNITS),
        "bias": normal(3, gate=gates * UNITS),
    }


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def lstm_by_hand(x: Any, p: Any, steps: Any) -> tuple[Any, Any, Any]:
    """Run an LSTM on one example, with its steps in a given order."""
    outputs, h, c = np.zeros((len(x), UNITS)), np.zeros(UNITS), np.zeros(UNITS)
    for t in steps:
        i, f, g, o = np.split(x[t] @ p["input"] + h @ p["recurrent"] + p["bias"], 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs[t] = h
    return outputs, h, c


def gru_by_hand(x: Any, p: Any, steps: Any) -> tuple[Any, Any]:
    outputs, h = np.zeros((len(x), UNITS)), np.zeros(UNITS)
    for t in steps:
        (r, z, n), (hr, hz, hn) = np.split(x[t] @ p["input"] + p["bias"], 3), np.split(h @ p["recurrent"] + 0.5, 3)
        r, z = sigmoid(r + hr), sigmoid(z + hz)
        h = (1 - z) * np.tanh(n + r * hn) + z * h
        outputs[t] = h
    return outputs, h


@pytest.mark.parametrize(("backend", "reverse"), [("binary", True), ("numpy", False), ("numpy", True), ("jax", False)])
def test_lstm(reverse: bool, backend: str, whole: Callable[..., Any]) -> None:
    p = {name: x.backend_copy(backend) for name, x in parameters(4).items()}
    x, lengths = X.backend_copy(backend), LENGTHS.backend_copy(backend)
    lstm = whole(partial(tb.nn.lstm, time="time", reverse=reverse))
    outputs, (hidden, cell) = lstm(x, p, lengths=lengths)
    assert outputs.names == ("batch", "time", "unit")
    assert hidden.names == cell.names == ("batch", "unit")
    plain = {name: np.asarray(parameter) for name, parameter in p.items()}
    for entry, length in enumerate(LENGTHS.tolist()):
        steps = range(length)[:: -1 if reverse else 1]
        references = lstm_by_hand(np.asarray(X)[entry], plain, steps)
        for ours, theirs in zip((outputs, hidden, cell), references, strict=True):
            assert np.allclose(np.asarray(ours)[entry], theirs, atol=1e-5)


@pytest.mark.parametrize(("backend", "reverse"), [("binary", True), ("numpy", False), ("numpy", True), ("jax", False)])
def test_gru(reverse: bool, backend: str, whole: Callable[..., Any]) -> None:
    p = {name: x.backend_copy(backend) for name, x in parameters(3).items()}
    p["recurrent_bias"] = tb.full(3 * UNITS, 0.5, backend=backend)
    gru = whole(partial(tb.nn.gru, reverse=reverse))
    outputs, (hidden,) = gru(X.backend_copy(backend), p, lengths=LENGTHS.backend_copy(backend))
    plain = {name: np.asarray(parameter) for name, parameter in p.items()}
    for entry, length in enumerate(LENGTHS.tolist()):
        references = gru_by_hand(np.asarray(X)[entry], plain, range(length)[:: -1 if reverse else 1])
        assert np.allclose(np.asarray(outputs)[entry], references[0], atol=1e-5)
        assert np.allclose(np.asarray(hidden)[entry], references[1], atol=1e-5)


def test_axes_and_states_may_stand_anywhere() -> None:
    p = parameters(4)
    whole = tb.nn.lstm(X, p)
    turned = tb.nn.lstm(tb.permute_dims(X), p, time="time", axis="feature")
    assert turned.outputs.names == ("unit", "time", "batch")
    assert tb.all_close(turned.outputs.align_as(whole.outputs), whole.outputs, atol=1e-6)
    first = tb.nn.lstm(X[:, :2], p)
    second = tb.nn.lstm(X[:, 2:], p, first.state)
    assert tb.all_close(tb.concat([first.outputs, second.outputs], axis=1), whole.outputs, atol=1e-6)
    one = tb.nn.lstm(X[0], p)
    assert tb.all_close(one.outputs, whole.outputs[0], atol=1e-6)
    mask = tb.iota(5) < LENGTHS[:, None]
    assert tb.nn.lstm(X, p, mask=mask).outputs.tolist() == tb.nn.lstm(X, p, lengths=LENGTHS).outputs.tolist()


def test_what_is_beyond_a_length_changes_nothing() -> None:
    inside = (tb.iota(5) < LENGTHS[:, None])[:, :, None]
    spoilt = tb.where(inside, X, 1e30)

    def loss(p: Any, x: Any) -> Any:
        outputs, state = tb.nn.lstm(x, p, lengths=LENGTHS)
        return tb.sum(outputs**2) + tb.sum(state.cell)

    assert loss(parameters(4), spoilt).item() == loss(parameters(4), X).item()
    gradients, x = tb.grad(loss, argnums=(0, 1))(parameters(4), spoilt)
    clean = tb.grad(loss)(parameters(4), X)
    assert all(tb.all_close(gradients[name], clean[name], atol=1e-5) for name in clean)
    assert tb.sum(tb.abs(tb.where(inside, 0, x))).item() == 0


def test_gradients_are_those_of_differences() -> None:
    p = {name: tb.astype(x, "f64") for name, x in parameters(4).items()}
    x = tb.astype(X, "f64")

    def loss(p: Any) -> Any:
        return tb.sum(tb.nn.lstm(x, p, lengths=LENGTHS).outputs ** 2)

    gradient = tb.jit(tb.grad(loss))(p)["recurrent"]
    moved = np.zeros((UNITS, 4 * UNITS))
    moved[1, 2] = 1e-5
    step = tb.asarray(moved)
    change = loss({**p, "recurrent": p["recurrent"] + step}) - loss({**p, "recurrent": p["recurrent"] - step})
    assert gradient[1, 2].item() == pytest.approx(change.item() / 2e-5, rel=1e-5)


P = parameters(4)
WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: tb.nn.lstm(X, {"input": P["input"]}), ArgumentError, "lstm: expected parameters input and recurrent"),
    (lambda: tb.nn.gru(X, P), ShapeError, r"gru: expected the parameter input of shape \(4, 9\)"),
    (
        lambda: tb.nn.gru(X, {**parameters(3), "recurrent_bias": tb.ones(3)}),
        ShapeError,
        r"gru: expected the parameter recurrent_bias of shape \(9,\)",
    ),
    (lambda: tb.nn.lstm(X, P, lengths=tb.asarray([1, 2])), ShapeError, "lstm: expected sizes that are equal or 1"),
    (lambda: tb.nn.lstm(X, P, lengths=tb.ones(3)), DTypeError, "lstm: expected lengths of an integer dtype"),
    (lambda: tb.nn.lstm(X, P, lengths=LENGTHS.rename("time")), NamesError, "lstm: expected the same name or None"),
    (lambda: tb.nn.lstm(X, P, tb.nn.LSTMState(tb.ones(3), tb.ones(3))), ShapeError, "lstm: expected a state of shape"),
    (lambda: tb.nn.lstm(X.rename(feature="word"), P), NamesError, "the same name or None"),
    (lambda: tb.nn.lstm(X, P, time=-1), ShapeError, "lstm: expected two axes"),
]


@pytest.mark.parametrize(("wrong", "error", "text"), WRONG)
def test_what_does_not_fit(wrong: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        wrong()
