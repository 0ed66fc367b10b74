"""Recurrent layers, as loops over time that start at either end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from inspect import signature
from typing import Any, NamedTuple

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.errors import ArgumentError, expected

from .activations import ACTIVATIONS
from .elementwise import UNARY
from .registry import Given, Maybe, Node, operator

Activation = Callable[[Tensor], Tensor]
Cell = Callable[[tuple[Tensor, ...], Tensor], tuple[Tensor, ...]]
"""From the state and the projected input of a step to the next state, whose first tensor is the output."""

Cells = tuple[Callable[[Tensor], Tensor], Cell]
"""The projection of the whole input, and the function of a step."""

FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    "affine": lambda x, *, alpha=1.0, beta=0.0: alpha * x + beta,
    "scaledtanh": lambda x, *, alpha=1.0, beta=1.0: alpha * tb.tanh(beta * x),
    **{name.lower(): UNARY[name] for name in ("Sigmoid", "Softplus", "Tanh")},
    **{name.lower(): ACTIVATIONS[name] for name in ("Elu", "HardSigmoid", "LeakyRelu", "Relu", "Softsign")},
    "thresholdedrelu": ACTIVATIONS["ThresholdedRelu"],
}
"""The activations, some of which take numbers: `alpha` and `beta`."""


LSTM: dict[str, Any] = {
    **dict.fromkeys(("activation_alpha", "activation_beta", "activations", "clip", "hidden_size")),
    "direction": "forward",
    "input_forget": 0,
}
"""The attributes of long short-term memory, with their defaults."""


class Layer(NamedTuple):
    """What the recurrent operators have in common."""

    activations: tuple[Activation, ...]
    """Those of all directions, one after another."""
    directions: tuple[bool, ...]
    """For each direction whether it starts at the end."""
    layout: bool
    """Whether examples are the first axis."""

    def of(self, direction: int) -> tuple[Activation, ...]:
        """The activations of a direction."""
        count = len(self.activations) // len(self.directions)
        return self.activations[direction * count : (direction + 1) * count]


def layer_of(given: Given, *default: str) -> Layer:
    """The layer, with the default activations of a direction; their inputs are within the limits of the node."""
    directions = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}.get(given.direction)
    if directions is None:
        raise ArgumentError(expected("forward, reverse or bidirectional", direction=given.direction))
    numbers = {"alpha": iter(given.activation_alpha or ()), "beta": iter(given.activation_beta or ())}

    def limited(function: Activation, x: Tensor) -> Tensor:
        return function(x if given.clip is None else tb.clip(x, -given.clip, given.clip))

    chosen: list[Activation] = []
    names = given.activations or default * len(directions)
    for name in names[: len(default) * len(directions)]:  # RNN's schema has those of two
        function = FUNCTIONS.get(name.lower())
        if function is None:
            raise ArgumentError(expected(f"activations among {list(FUNCTIONS)}", activation=name))
        own = {word: next(numbers[word], None) for word in signature(function).parameters if word in numbers}
        known = {word: value for word, value in own.items() if value is not None}
        chosen.append(partial(limited, partial(function, **known)))
    return Layer(tuple(chosen), directions, bool(given.layout))


def _run(
    layer: Layer,
    x: Tensor,
    lengths: Maybe,
    states: Sequence[Maybe],
    hidden: int,
    cell: Callable[[int], Cells],
) -> tuple[Tensor, ...]:
    """The outputs of all steps, and the last states, of all directions.

    `cell(direction)` gives the projection of the whole input and the function of a step.
    """
    x = tb.moveaxis(x, 0, 1) if layer.layout else x
    steps = x.shape[0]
    outputs, finals = [], []
    for direction, backwards in enumerate(layer.directions):
        project, step = cell(direction)
        initial = tuple(_initial(state, direction, x, hidden, layer.layout) for state in states)
        within = None if lengths is None else tb.arange(steps, like=lengths)[:, None, None] < lengths[None, :, None]
        step = step if within is None else partial(_held, step)
        projected = project(x)
        inputs: Any = projected if within is None else (projected, within)
        last, output = tb.scan(partial(_collected, step, within is not None), initial, inputs, reverse=backwards)
        outputs.append(output)
        finals.append(last)
    y = tb.stack(outputs, axis=1)
    ends = [tb.stack([final[place] for final in finals]) for place in range(len(states))]
    if layer.layout:
        return tb.permute_dims(y, (2, 0, 1, 3)), *(tb.moveaxis(end, 0, 1) for end in ends)
    return y, *ends


def _initial(state: Maybe, direction: int, x: Tensor, hidden: int, layout: bool) -> Tensor:
    if state is None:
        return tb.zeros((x.shape[1], hidden), dtype=x.dtype, like=x)
    chosen = state[:, direction] if layout else state[direction]
    return tb.asarray(chosen, backend=x.backend) if chosen.backend != x.backend else chosen


def _collected(step: Any, masked: bool, state: tuple[Tensor, ...], inputs: Any) -> tuple[tuple[Tensor, ...], Tensor]:
    """A step of a scan; where the sequence of an example has ended, its output is 0."""
    new = step(state, inputs)
    output = tb.where(inputs[1], new[0], tb.zeros_like(new[0])) if masked else new[0]
    return new, output


def _held(step: Cell, state: tuple[Tensor, ...], inputs: tuple[Tensor, Tensor]) -> tuple[Tensor, ...]:
    """A step that leaves the states of examples alone whose sequence has ended."""
    projected, within = inputs
    return tuple(tb.where(within, new, old) for new, old in zip(step(state, projected), state, strict=True))


def _biases(bias: Maybe, direction: int, gates: int, hidden: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """The biases of the input and of the state."""
    if bias is None:
        zeros = tb.zeros((gates * hidden,), dtype=like.dtype, like=like)
        return zeros, zeros
    return bias[direction, : gates * hidden], bias[direction, gates * hidden :]


def _rnn(function: Activation, weights: Tensor, recurrence: Tensor, first: Tensor, second: Tensor, late: bool) -> Cells:
    """The plain recurrent layer."""

    def step(state: tuple[Tensor, ...], projected: Tensor) -> tuple[Tensor, ...]:
        return (function(projected + state[0] @ recurrence),)

    return lambda z: z @ weights + (first + second), step


def _gru(
    gate: Activation, inner: Activation, weights: Tensor, recurrence: Tensor, first: Tensor, second: Tensor, late: bool
) -> Cells:
    """Gated recurrent units, with the gates update, reset and hidden; `late` resets what the state is multiplied to."""
    hidden = recurrence.shape[0]
    gates, candidate = recurrence[:, : 2 * hidden], recurrence[:, 2 * hidden :]
    own = second[2 * hidden :]

    def step(state: tuple[Tensor, ...], projected: Tensor) -> tuple[Tensor, ...]:
        (old,) = state
        both = gate(projected[:, : 2 * hidden] + old @ gates + second[: 2 * hidden])
        update, reset = both[:, :hidden], both[:, hidden:]
        kept = reset * (old @ candidate + own) if late else (reset * old) @ candidate + own
        new = inner(projected[:, 2 * hidden :] + kept)
        return ((1 - update) * new + update * old,)

    return lambda z: z @ weights + first, step


CELLS: dict[str, tuple[Callable[..., Cells], int, tuple[str, ...]]] = {
    "GRU": (_gru, 3, ("sigmoid", "tanh")),
    "RNN": (_rnn, 1, ("tanh",)),
}
"""The cells of layers with one state, their numbers of gates, and the default activations of a direction."""


@operator(*CELLS)
def of_one_state(
    x: Tensor,
    weights: Tensor,
    recurrence: Tensor,
    bias: Maybe = None,
    lengths: Maybe = None,
    state: Maybe = None,
    *,
    given: Given,
    node: Node,
) -> tuple[Tensor, ...]:
    """A layer whose state is its output."""
    cell, gates, default = CELLS[node.operator]
    layer, hidden, late = layer_of(given, *default), recurrence.shape[-1], bool(given.linear_before_reset)

    def cell_of(place: int) -> Cells:
        biases = _biases(bias, place, gates, hidden, weights)
        return cell(*layer.of(place), weights[place].T, recurrence[place].T, *biases, late)

    return _run(layer, x, lengths, (state,), hidden, cell_of)


@operator("LSTM")
def lstm(
    x: Tensor,
    weights: Tensor,
    recurrence: Tensor,
    bias: Maybe = None,
    lengths: Maybe = None,
    state: Maybe = None,
    memory: Maybe = None,
    peepholes: Maybe = None,
    *,
    given: Given,
) -> tuple[Tensor, ...]:
    """Long short-term memory, with the gates input, output, forget and cell."""
    products = tuple(lambda place, z, all=matrices: z @ all[place].T for matrices in (weights, recurrence))
    return run_lstm(x, recurrence.shape[-1], products, given, bias, lengths, state, memory, peepholes)


def run_lstm(
    x: Tensor, hidden: int, products: Sequence[Callable[[int, Tensor], Tensor]], given: Given, *others: Maybe
) -> tuple[Tensor, ...]:
    """The outputs, the last output and the last memory; `products` multiply x and outputs by a direction's weights."""
    bias, lengths, state, memory, peepholes = others
    layer, (project, recur) = layer_of(given, "sigmoid", "tanh", "tanh"), products

    def cell(place: int) -> Cells:
        gate, inner, outer = layer.of(place)
        first, second = _biases(bias, place, 4, hidden, x)
        peeps: Any = (0, 0, 0) if peepholes is None else tb.split(peepholes[place], 3)

        def step(state: tuple[Tensor, ...], projected: Tensor) -> tuple[Tensor, ...]:
            output, memory = state
            i, o, f, c = tb.split(projected + recur(place, output), 4, axis=-1)
            entry = gate(i + peeps[0] * memory)
            forget = 1 - entry if given.input_forget else gate(f + peeps[2] * memory)
            memory = forget * memory + entry * inner(c)
            return gate(o + peeps[1] * memory) * outer(memory), memory

        return lambda z: project(place, z) + (first + second), step

    return _run(layer, x, lengths, (state, memory), hidden, cell)
