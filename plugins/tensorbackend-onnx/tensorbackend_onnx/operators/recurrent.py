"""Recurrent layers, as loops over time that start at either end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, NamedTuple

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.errors import ArgumentError, expected

from .activations import ACTIVATIONS
from .elementwise import UNARY
from .registry import Attributes, operator, optional

Activation = Callable[[Tensor], Tensor]
Cell = Callable[[tuple[Tensor, ...], Tensor], tuple[Tensor, ...]]
"""From the state and the projected input of a step to the next state, whose first tensor is the output."""

FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    "affine": lambda x, *, alpha=1.0, beta=0.0: alpha * x + beta,
    "scaledtanh": lambda x, *, alpha=1.0, beta=1.0: alpha * tb.tanh(beta * x),
    **{name.lower(): UNARY[name] for name in ("Sigmoid", "Softplus", "Tanh")},
    **{name.lower(): ACTIVATIONS[name] for name in ("Elu", "HardSigmoid", "LeakyRelu", "Relu", "Softsign")},
    "thresholdedrelu": ACTIVATIONS["ThresholdedRelu"],
}
"""The activations, some of which take numbers: `alpha` and `beta`."""


class Layer(NamedTuple):
    """What the recurrent operators have in common."""

    activations: tuple[Activation, ...]
    """Those of all directions, one after another."""
    clip: float | None
    directions: tuple[bool, ...]
    """For each direction whether it starts at the end."""
    layout: int

    def limited(self, x: Tensor) -> Tensor:
        """The input of an activation, within the limits of the node."""
        return x if self.clip is None else tb.clip(x, -self.clip, self.clip)

    def of(self, direction: int) -> tuple[Activation, ...]:
        """The activations of a direction, with their inputs limited."""
        count = len(self.activations) // len(self.directions)
        chosen = self.activations[direction * count : (direction + 1) * count]
        return tuple(lambda x, f=function: f(self.limited(x)) for function in chosen)


@dataclass(frozen=True, kw_only=True)
class RecurrentAttributes(Attributes):
    """The attributes of all recurrent operators."""

    activation_alpha: tuple[float, ...] | None = None
    activation_beta: tuple[float, ...] | None = None
    activations: tuple[str, ...] | None = None
    clip: float | None = None
    direction: str = "forward"
    hidden_size: int | None = None
    layout: int = 0
    output_sequence: int = 0

    def layer(self, *default: str) -> Layer:
        """The layer, with the default activations of a direction."""
        directions = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}.get(self.direction)
        if directions is None:
            raise ArgumentError(expected("forward, reverse or bidirectional", direction=self.direction))
        numbers = {"alpha": iter(self.activation_alpha or ()), "beta": iter(self.activation_beta or ())}
        chosen = []
        for name in self.activations or default * len(directions):
            function = FUNCTIONS.get(name.lower())
            if function is None:
                raise ArgumentError(expected(f"activations among {list(FUNCTIONS)}", activation=name))
            given = {word: next(numbers[word], None) for word in signature(function).parameters if word in numbers}
            chosen.append(partial(function, **{word: value for word, value in given.items() if value is not None}))
        return Layer(tuple(chosen), self.clip, directions, self.layout)


def _run(
    layer: Layer,
    x: Tensor,
    lengths: Tensor | None,
    states: Sequence[Tensor | None],
    hidden: int,
    cell: Callable[[int], tuple[Callable[[Tensor], Tensor], Cell]],
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


def _initial(state: Tensor | None, direction: int, x: Tensor, hidden: int, layout: int) -> Tensor:
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


def _biases(bias: Tensor | None, direction: int, gates: int, hidden: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """The biases of the input and of the state."""
    if bias is None:
        zeros = tb.zeros((gates * hidden,), dtype=like.dtype, like=like)
        return zeros, zeros
    return bias[direction, : gates * hidden], bias[direction, gates * hidden :]


@operator("RNN")
def rnn(
    x: Tensor, weights: Tensor, recurrence: Tensor, *others: Tensor | None, attributes: RecurrentAttributes
) -> tuple[Tensor, ...]:
    """The plain recurrent layer."""
    bias, lengths, state = optional(others, 3)
    layer = attributes.layer("tanh")
    hidden = recurrence.shape[-1]

    def cell(place: int) -> tuple[Callable[[Tensor], Tensor], Cell]:
        (function,) = layer.of(place)
        first, second = _biases(bias, place, 1, hidden, weights)

        def step(state: tuple[Tensor, ...], projected: Tensor) -> tuple[Tensor, ...]:
            return (function(projected + state[0] @ recurrence[place].T),)

        return lambda z: z @ weights[place].T + (first + second), step

    return _run(layer, x, lengths, (state,), hidden, cell)


@operator("GRU")
def gru(
    x: Tensor,
    weights: Tensor,
    recurrence: Tensor,
    *others: Tensor | None,
    attributes: RecurrentAttributes,
    linear_before_reset: int = 0,
) -> tuple[Tensor, ...]:
    """Gated recurrent units, with the gates update, reset and hidden."""
    bias, lengths, state = optional(others, 3)
    layer = attributes.layer("sigmoid", "tanh")
    hidden = recurrence.shape[-1]

    def cell(place: int) -> tuple[Callable[[Tensor], Tensor], Cell]:
        gate, inner = layer.of(place)
        first, second = _biases(bias, place, 3, hidden, weights)
        gates, candidate = recurrence[place, : 2 * hidden].T, recurrence[place, 2 * hidden :].T
        own = second[2 * hidden :]

        def step(state: tuple[Tensor, ...], projected: Tensor) -> tuple[Tensor, ...]:
            (old,) = state
            both = gate(projected[:, : 2 * hidden] + old @ gates + second[: 2 * hidden])
            update, reset = both[:, :hidden], both[:, hidden:]
            kept = reset * (old @ candidate + own) if linear_before_reset else (reset * old) @ candidate + own
            new = inner(projected[:, 2 * hidden :] + kept)
            return ((1 - update) * new + update * old,)

        return lambda z: z @ weights[place].T + first, step

    return _run(layer, x, lengths, (state,), hidden, cell)


@dataclass(frozen=True, kw_only=True)
class LSTMAttributes(RecurrentAttributes):
    """The attributes of long short-term memory."""

    input_forget: int = 0


@operator("LSTM")
def lstm(
    x: Tensor, weights: Tensor, recurrence: Tensor, *others: Tensor | None, attributes: LSTMAttributes
) -> tuple[Tensor, ...]:
    """Long short-term memory, with the gates input, output, forget and cell."""
    products = tuple(lambda place, z, all=matrices: z @ all[place].T for matrices in (weights, recurrence))
    return run_lstm(x, recurrence.shape[-1], products, attributes, *optional(others, 5))


def run_lstm(
    x: Tensor,
    hidden: int,
    products: Sequence[Callable[[int, Tensor], Tensor]],
    attributes: LSTMAttributes,
    bias: Tensor | None,
    lengths: Tensor | None,
    state: Tensor | None,
    memory: Tensor | None,
    peepholes: Tensor | None,
) -> tuple[Tensor, ...]:
    """The outputs, the last output and the last memory; `products` multiply x and outputs by a direction's weights."""
    layer, (project, recur) = attributes.layer("sigmoid", "tanh", "tanh"), products

    def cell(place: int) -> tuple[Callable[[Tensor], Tensor], Cell]:
        gate, inner, outer = layer.of(place)
        first, second = _biases(bias, place, 4, hidden, x)
        peeps: Any = (0, 0, 0) if peepholes is None else tb.split(peepholes[place], 3)

        def step(state: tuple[Tensor, ...], projected: Tensor) -> tuple[Tensor, ...]:
            output, memory = state
            i, o, f, c = tb.split(projected + recur(place, output), 4, axis=-1)
            entry = gate(i + peeps[0] * memory)
            forget = 1 - entry if attributes.input_forget else gate(f + peeps[2] * memory)
            memory = forget * memory + entry * inner(c)
            return gate(o + peeps[1] * memory) * outer(memory), memory

        return lambda z: project(place, z) + (first + second), step

    return _run(layer, x, lengths, (state, memory), hidden, cell)
