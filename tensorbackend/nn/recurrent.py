"""Recurrent layers over an axis of steps, each step one iteration of a scan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments, check_construction
from ..dispatch.operands import nameless
from ..errors import ArgumentError, DTypeError, ShapeError, expected
from ..expr.control import scan
from ..ops.composite.contraction import matmul
from ..ops.composite.shape.arranging import moveaxis, split
from ..ops.creation.filled import asarray, iota, rename, zeros
from ..ops.creation.values import operand_tensors
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.binary import logical_and
from ..ops.elementwise.complex_functions import sigmoid
from ..ops.elementwise.transcendental import tanh
from ..ops.shape import broadcast_to, expand_dims, permute_dims
from ..rules.accuracy import Bound, declare_bound
from ..rules.axes import normalize_axis
from ..rules.broadcasting import broadcast, result_type, to_floating
from ..tensor import Tensor, TensorLike
from ..tensor.missing_names import explain_missing

STEPPED = Bound(64, "steps of sigmoids of sums of products", "square", tame=True)

State = TypeVar("State", bound=tuple[Tensor, ...])
Parameters = Mapping[str, Tensor]


@explain_missing
@check_construction
class LSTMState(NamedTuple):
    """State that `lstm` carries from step to step: two tensors (batch..., units)."""

    hidden: Tensor
    cell: Tensor


@explain_missing
class LSTMResult(NamedTuple):
    """Result of `lstm`."""

    outputs: Tensor
    state: LSTMState


@explain_missing
@check_construction
class GRUState(NamedTuple):
    """State that `gru` carries from step to step: (batch..., units)."""

    hidden: Tensor


@explain_missing
class GRUResult(NamedTuple):
    """Result of `gru`."""

    outputs: Tensor
    state: GRUState


class _Sequence(NamedTuple):
    """A sequence whose steps come first."""

    gates: Tensor
    """(time, batch..., gates): what the input, with the bias, contributes to the gates."""
    mask: Tensor | None
    """(time, batch..., 1): whether each step is within the lengths and the mask."""
    recurrent: Tensor
    names: tuple[str | None, ...]
    """The names of the carried values: the batch axes, then the units."""
    order: tuple[int, ...]
    """For each axis of the scanned tensors, the axis of x that it was."""

    def initial(self) -> Tensor:
        units = self.recurrent.shape[0]
        shape = (*self.gates.shape[1:-1], units)
        return zeros(shape, dtype=self.gates.dtype, names=self.names, like=self.gates)


def _sequence(
    x: Tensor,
    parameters: Parameters,
    gates: int,
    time: Axis,
    axis: Axis,
    mask: TensorLike | None,
    lengths: TensorLike | None,
) -> _Sequence:
    """The sequence that a layer with this number of gates scans."""
    lacking = [name for name in ("input", "recurrent") if name not in parameters]
    if lacking:
        raise ArgumentError(expected("parameters input and recurrent", parameters=sorted(parameters)))
    weight, recurrent, bias = parameters["input"], parameters["recurrent"], parameters.get("bias")
    along, feature = normalize_axis(x.template, time), normalize_axis(x.template, axis)
    if along == feature:
        raise ShapeError(expected("two axes, for steps and features", time=time, axis=axis))
    units = recurrent.shape[0] if recurrent.ndim else 0
    shapes: dict[str, tuple[int, ...]] = {
        "input": (x.shape[feature], gates * units),
        "recurrent": (units, gates * units),
        "bias": (gates * units,),
        "recurrent_bias": (gates * units,),
    }
    for name, shape in shapes.items():
        parameter = parameters.get(name)
        if parameter is not None and parameter.shape != shape:
            expectation = f"the parameter {name} of shape {shape}, which follows from x and the units"
            raise ShapeError(expected(expectation, **{name: parameter.template, "x": x.template}))
    batch = [batch_axis for batch_axis in range(x.ndim) if batch_axis not in (along, feature)]
    moved = permute_dims(x, (along, *batch, feature))
    dtype = to_floating(result_type([x.template, weight.template, recurrent.template]))
    lead = x.template.replace(
        shape=tuple(x.shape[batch_axis] for batch_axis in batch),
        names=tuple(x.names[batch_axis] for batch_axis in batch),
    )
    inside = None
    if lengths is not None:
        (_, counts) = operand_tensors(x, lengths)
        if not counts.dtype.is_integer:
            raise DTypeError(expected("lengths of an integer dtype", lengths=counts.template))
        spread = _broadcast_steps(counts, lead.shape, lead.names, "lengths")
        inside = iota((moved.shape[0], *(1,) * len(batch)), axis=0, dtype="int64", like=x) < astype(spread, "int64")
    if mask is not None:
        step_mask = operand_tensors(x, mask)[1]
        shape = (*lead.shape, moved.shape[0])
        held = moveaxis(_broadcast_steps(step_mask, shape, (*lead.names, x.names[along]), "a mask"), -1, 0)
        inside = held if inside is None else logical_and(inside, held)
    if inside is not None:
        inside = expand_dims(rename(inside, *moved.names[:-1]), axis=inside.ndim)
        # Before the product: else the gradient of the weights has 0 times whatever other steps hold.
        moved = where(inside, moved, 0)
    summed = matmul(astype(moved, dtype), astype(rename(weight, weight.names[0], None), dtype))
    if bias is not None:
        summed = summed + astype(rename(bias, None), dtype)
    return _Sequence(
        summed,
        inside,
        astype(rename(recurrent, None, None), dtype),
        (*lead.names, recurrent.names[0]),
        (along, *batch, feature),
    )


def _broadcast_steps(x: Tensor, shape: tuple[int, ...], names: tuple[str | None, ...], what: str) -> Tensor:
    """Lengths or a mask, broadcast to a shape with names."""
    target_template = x.template.replace(shape=shape, names=names)
    merged_shape, merged = broadcast([target_template, x.template])
    if merged_shape != shape:
        raise ShapeError(expected(f"{what} that broadcast to {shape}", **{what.split()[-1]: x.template}))
    return broadcast_to(x, shape, names=merged)


def _scan(
    sequence: _Sequence, state: State, step: Callable[[State, Tensor], State], reverse: bool
) -> tuple[Tensor, State]:
    """The hidden state after each step, with its axes in x's order, and the state after the last step."""
    kind = type(state)

    def iteration(carry: State, entry: tuple[Tensor, Tensor | None]) -> tuple[State, Tensor]:
        gates, inside = entry
        next_state = kind(
            *(rename(part, *sequence.names) for part in step(kind(*map(nameless, carry)), nameless(gates)))
        )
        if inside is None:
            return next_state, next_state[0]
        held = nameless(inside)
        after = kind(*(where(held, new, old) for new, old in zip(next_state, carry, strict=True)))
        return after, where(held, next_state[0], 0)

    last, outputs = scan(iteration, state, (sequence.gates, sequence.mask), reverse=reverse)
    return permute_dims(outputs, tuple(map(sequence.order.index, range(outputs.ndim)))), last


def _initial(sequence: _Sequence, state: tuple[Tensor, ...] | None, count: int) -> list[Tensor]:
    """The parts of the given state, with the layer's dtype and names, or `count` tensors of zeros."""
    zero = sequence.initial()
    if state is None:
        return [zero] * count
    for part in state:
        if part.shape != zero.shape:
            raise ShapeError(expected(f"a state of shape {zero.shape}", state=part.template))
    return [astype(rename(part, *sequence.names), zero.dtype) for part in state]


@check_arguments
@declare_bound(STEPPED)
def lstm(
    x: TensorLike,
    parameters: Parameters,
    state: LSTMState | None = None,
    /,
    *,
    time: Axis = -2,
    axis: Axis = -1,
    lengths: TensorLike | None = None,
    mask: TensorLike | None = None,
    reverse: bool = False,
) -> LSTMResult:
    """Long short-term memory layer (Hochreiter and Schmidhuber 1997; forget gate: Gers et al. 2000).

    Parameters
    ----------
    x : Tensor
        A tensor with an axis of steps, an axis of features, and batch axes, in any order.
    parameters : mapping of str to Tensor
        `"input"` of shape (features, 4 * units), `"recurrent"` (units, 4 * units) and, optionally, `"bias"`
        (4 * units). The gates are in the order input, forget, cell, output, as in PyTorch.
    time, axis : int or str, default -2 and -1
        The axis of the steps, and the axis of the features.
    lengths : Tensor, optional
        The number of steps of each example; broadcasts to the batch axes. Steps beyond it have outputs of 0 and leave
        the state unchanged.
    mask : Tensor, optional
        Bool: true for valid steps. It broadcasts to the batch axes with the steps last. Other steps are treated
        like those beyond a length.
    reverse : bool, default False
        Whether to process the steps from the last to the first; with lengths, from the last step of each example.

    Returns
    -------
    LSTMResult
        The outputs, with x's axes except for units in place of the features, and the state after the last step.

    Raises
    ------
    ArgumentError
        For parameters that lack a weight.
    ShapeError
        For parameters, a state, lengths or a mask of another shape.

    Examples
    --------
    >>> parameters = {"input": tb.ones((3, 8)), "recurrent": tb.ones((2, 8), names=("unit", None)), "bias": tb.zeros(8)}
    >>> x = tb.ones((4, 5, 3), names=("batch", "time", "feature"))
    >>> outputs, state = tb.nn.lstm(x, parameters, time="time", lengths=tb.asarray([5, 0, 1, 2]))
    >>> outputs.template, state.hidden[1].tolist()
    (f32[batch: 4][time: 5][unit: 2], [0.0, 0.0])
    """
    x = asarray(x)
    sequence = _sequence(x, parameters, 4, time, axis, mask, lengths)

    def step(carry: LSTMState, gates: Tensor) -> LSTMState:
        enter, forget, cell, leave = split(gates + matmul(carry.hidden, sequence.recurrent), 4, axis=-1)
        kept = sigmoid(forget) * carry.cell
        memory = kept + sigmoid(enter) * tanh(cell)
        return LSTMState(sigmoid(leave) * tanh(memory), memory)

    return LSTMResult(*_scan(sequence, LSTMState(*_initial(sequence, state, 2)), step, reverse))


@check_arguments
@declare_bound(STEPPED)
def gru(
    x: TensorLike,
    parameters: Parameters,
    state: GRUState | None = None,
    /,
    *,
    time: Axis = -2,
    axis: Axis = -1,
    lengths: TensorLike | None = None,
    mask: TensorLike | None = None,
    reverse: bool = False,
) -> GRUResult:
    """Gated recurrent unit layer (Cho et al. 2014), with the reset gate applied to the recurrent product.

    Parameters
    ----------
    x : Tensor
        As in `lstm`.
    parameters : mapping of str to Tensor
        `"input"` of shape (features, 3 * units), `"recurrent"` (units, 3 * units) and, optionally, `"bias"` and
        `"recurrent_bias"` (3 * units). The gates are in the order reset, update, new, as in PyTorch.
    time, axis, lengths, mask, reverse
        As in `lstm`.

    Returns
    -------
    GRUResult
        The outputs and the state after the last step, as in `lstm`.

    Raises
    ------
    ArgumentError, ShapeError
        As for `lstm`.

    Examples
    --------
    >>> parameters = {"input": tb.ones((3, 6)), "recurrent": tb.ones((2, 6), names=("unit", None))}
    >>> tb.nn.gru(tb.ones((5, 3), names=("time", "feature")), parameters).outputs.template
    f32[time: 5][unit: 2]
    """
    x = asarray(x)
    sequence = _sequence(x, parameters, 3, time, axis, mask, lengths)
    extra = parameters.get("recurrent_bias")

    def step(carry: GRUState, gates: Tensor) -> GRUState:
        product = matmul(carry.hidden, sequence.recurrent)
        if extra is not None:
            product = product + astype(rename(extra, None), product.dtype)
        input_gates, recurrent_gates = split(gates, 3, axis=-1), split(product, 3, axis=-1)
        reset, update = (sigmoid(input_gates[place] + recurrent_gates[place]) for place in (0, 1))
        fresh = tanh(input_gates[2] + reset * recurrent_gates[2])
        return GRUState(fresh + update * (carry.hidden - fresh))

    return GRUResult(*_scan(sequence, GRUState(*_initial(sequence, state, 1)), step, reverse))
