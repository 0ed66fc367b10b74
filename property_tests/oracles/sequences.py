"""Oracles of recurrent layers, connectionist temporal classification and edit distances, step by step."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy
import scipy.special
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import DType, bool_
from tensorbackend.protocol import Backend
from tensorbackend.testing import Invocation
from tensorbackend.testing.generators import integers
from tensorbackend.testing.strategies import Draw, shapes, tensors

from .table import FLOATING, INTEGER, law, named, reference, wide

HALVES = st.integers(-4, 4).map(lambda number: number / 2)

# Recurrent layers


def recurrent_call(draw: Draw, dtype: DType, gates: int, biases: tuple[str, ...], kind: Any) -> Invocation:
    """Lengths, masks, both directions, initial states; anything in the steps that do not count; axes in any order."""
    batch = draw(st.sampled_from([{}, {"batch": 2}, {}, {"batch": 3}, {"batch": 0}]))
    time, features, units = draw(st.sampled_from([3, 1, 2, 3, 0])), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    sizes = {**batch, "time": time, "feature": features}
    order = draw(st.permutations(list(sizes)))
    x = draw(tensors(dtype, tuple(sizes[name] for name in order), names=order, values=HALVES))
    shapes_of: dict[str, tuple[int, ...]] = {"input": (features, gates * units), "recurrent": (units, gates * units)}
    shapes_of |= {name: (gates * units,) for name in biases if draw(st.booleans())}
    parameters = {name: draw(tensors(dtype, shape, names=(None,) * len(shape), values=HALVES))
                  for name, shape in shapes_of.items()}  # fmt: skip
    options: dict[str, Any] = {"reverse": draw(st.booleans())}
    lead, names = tuple(batch.values()), tuple(batch)
    inside = numpy.ones((*lead, time), bool)
    if draw(st.booleans()):
        options["lengths"] = integers(draw, lead, 0, time + 1, names=names)
        inside &= numpy.arange(time) < wide(options["lengths"]).astype(int)[..., None]
    if draw(st.booleans()):
        options["mask"] = draw(
            tensors(bool_, (*lead, time), names=draw(st.sampled_from([(*names, "time"), (None,) * (len(lead) + 1)])))
        )
        inside &= wide(options["mask"])
    array = wide(x)
    moved = numpy.moveaxis(array, [order.index(name) for name in sizes], range(len(sizes)))
    moved[~inside] = draw(st.sampled_from([0.0, math.nan, math.inf]))
    x = tb.asarray(array, dtype=dtype, names=x.names, backend="binary")
    state = []
    if draw(st.booleans()):
        of = tensors(dtype, (*lead, units), names=(None,) * (len(lead) + 1), values=HALVES)
        state = [kind(*(draw(of) for _ in kind._fields))]
    places = (order.index("time"), order.index("feature"))
    if draw(st.booleans()):
        options["time"], options["axis"] = "time", "feature"
    elif places != (x.ndim - 2, x.ndim - 1) or draw(st.booleans()):
        options["time"], options["axis"] = (draw(st.sampled_from([at, at - x.ndim])) for at in places)
    return Invocation("", (x, parameters, *state), options)


def steps_of(call: Invocation) -> tuple[Any, Any, list[int]]:
    """The input as (batch..., time, features), whether each step counts, and where its axes came from."""
    x, options = call.arguments[0], call.options
    places = [x.names.index(at) if isinstance(at, str) else at % x.ndim
              for at in (options.get("time", -2), options.get("axis", -1))]  # fmt: skip
    array = numpy.moveaxis(wide(x), places, (-2, -1))
    inside = numpy.ones(array.shape[:-1], bool)
    if "lengths" in options:
        inside &= numpy.arange(array.shape[-2]) < wide(options["lengths"]).astype(int)[..., None]
    return array, inside & wide(options["mask"]) if "mask" in options else inside, places


def scanned(call: Invocation, step: Any, parts: int) -> Any:
    """The outputs and the last state of a layer, each example by itself."""
    array, inside, places = steps_of(call)
    parameters = {name: wide(weight) for name, weight in call.arguments[1].items()}
    units = parameters["recurrent"].shape[0]
    lead, time = array.shape[:-2], array.shape[-2]
    outputs, last = numpy.zeros((*lead, time, units)), numpy.zeros((parts, *lead, units))
    if len(call.arguments) > 2:
        last = numpy.array([wide(part) for part in call.arguments[2]])
    for at in numpy.ndindex(*lead):
        state = [part[at] for part in last]
        for place in reversed(range(time)) if call.options.get("reverse") else range(time):
            if inside[at][place]:
                state = step(parameters, array[at][place], state)
                outputs[at][place] = state[0]
        for part, value in zip(last, state, strict=True):
            part[at] = value
    return [numpy.moveaxis(outputs, (-2, -1), places), *last]


sigmoid = scipy.special.expit


def lstm_step(parameters: dict[str, Any], x: Any, state: list[Any]) -> list[Any]:
    gates = x @ parameters["input"] + state[0] @ parameters["recurrent"] + parameters.get("bias", 0.0)
    enter, forget, cell, leave = numpy.split(gates, 4)
    memory = sigmoid(forget) * state[1] + sigmoid(enter) * numpy.tanh(cell)
    return [sigmoid(leave) * numpy.tanh(memory), memory]


# Each step is rounded to the dtype.
@reference("nn.lstm", by="brute force", raw=True, dtypes=FLOATING, narrow=2,
           draw=lambda draw, dtype: recurrent_call(draw, dtype, 4, ("bias",), tb.nn.LSTMState))  # fmt: skip
def lstm(call: Invocation) -> Any:
    return scanned(call, lstm_step, 2)


BIASES = ("bias", "recurrent_bias")


def gru_step(parameters: dict[str, Any], x: Any, state: list[Any]) -> list[Any]:
    given = numpy.split(x @ parameters["input"] + parameters.get("bias", 0.0), 3)
    kept = numpy.split(state[0] @ parameters["recurrent"] + parameters.get("recurrent_bias", 0.0), 3)
    reset, update = sigmoid(given[0] + kept[0]), sigmoid(given[1] + kept[1])
    fresh = numpy.tanh(given[2] + reset * kept[2])
    return [(1 - update) * fresh + update * state[0]]


@reference("nn.gru", by="brute force", raw=True, dtypes=FLOATING, narrow=2,
           draw=lambda draw, dtype: recurrent_call(draw, dtype, 3, BIASES, tb.nn.GRUState))  # fmt: skip
def gru(call: Invocation) -> Any:
    return scanned(call, gru_step, 1)


# Connectionist temporal classification


def ctc_call(draw: Draw, dtype: DType) -> Invocation:
    """Up to four frames of up to three classes, so that all paths can be listed; anything beyond the lengths."""
    batch = draw(st.sampled_from([{}, {"batch": 2}, {}, {"batch": 3}, {"batch": 0}]))
    time, classes, positions = draw(st.sampled_from([3, 4, 2, 1, 0])), draw(st.integers(1, 3)), draw(st.integers(0, 3))
    sizes = {**batch, "time": time, "class": classes}
    order = draw(st.permutations(list(sizes)))
    values = st.integers(-6, 6).map(lambda number: number / 2) if dtype.is_floating else st.integers(0, 3)
    logits = draw(tensors(dtype, tuple(sizes[name] for name in order), names=order, values=values))
    blank = draw(st.integers(-classes, classes - 1))
    spoken = [place for place in range(classes) if place != blank % classes]
    lead, names = tuple(batch.values()), tuple(batch)
    kinds = [kind for kind in INTEGER if kind.name != "uint64"]
    labels = draw(tensors(draw(st.sampled_from(kinds)), (*lead, positions if spoken else 0), names=(*names, None),
                          values=st.sampled_from(spoken or [0])))  # fmt: skip
    options: dict[str, Any] = {"blank": blank, "repeats": draw(st.booleans())}
    if draw(st.booleans()):
        options["label_lengths"] = integers(draw, lead, 0, labels.shape[-1], names=names)
    if draw(st.booleans()):
        options["logit_lengths"] = integers(draw, lead, 0, time, names=names)
        if dtype.is_floating:
            array = wide(logits)
            moved = numpy.moveaxis(array, [order.index(name) for name in sizes], range(len(sizes)))
            beyond = numpy.arange(time) >= wide(options["logit_lengths"]).astype(int)[..., None]
            moved[numpy.broadcast_to(beyond, moved.shape[:-1])] = draw(st.sampled_from([math.nan, math.inf, 0.0]))
            logits = tb.asarray(array, dtype=dtype, names=logits.names, backend="binary")
    options["time"], options["axis"] = draw(st.sampled_from(
        [("time", "class"), (order.index("time"), order.index("class") - len(order))]))  # fmt: skip
    return Invocation("", (logits, labels), options)


def spelling(path: Any, blank: int, repeats: bool) -> list[int]:
    """The labels that a path of classes spells."""
    return [int(one) for place, one in enumerate(path)
            if one != blank and (not repeats or place == 0 or path[place - 1] != one)]  # fmt: skip


def paths_of(call: Invocation, normalised: bool) -> Any:
    """For each example its index, its frames' log-probabilities, and the paths that spell its labels, with theirs."""
    logits, labels = call.arguments
    options = call.options
    places = [
        logits.names.index(at) if isinstance(at, str) else at % logits.ndim for at in (options["time"], options["axis"])
    ]
    array = numpy.moveaxis(wide(logits).astype(float), places, (-2, -1))
    lead = array.shape[:-2]
    time, classes = array.shape[-2:]
    targets = wide(labels)
    blank = options["blank"] % classes
    frames, counts = (
        numpy.broadcast_to(wide(options[name]), lead) if name in options else numpy.full(lead, size)
        for name, size in (("logit_lengths", time), ("label_lengths", targets.shape[-1]))
    )
    for at in numpy.ndindex(*lead):
        rows = array[at][: int(frames[at])]
        if not normalised:
            rows = rows - scipy.special.logsumexp(rows, axis=-1, keepdims=True) if rows.size else rows
        wanted = [int(label) for label in targets[at][: int(counts[at])]]
        found = [(path, float(sum(row[one] for row, one in zip(rows, path, strict=True))))
                 for path in product(range(classes), repeat=len(rows))
                 if spelling(path, blank, options["repeats"]) == wanted]  # fmt: skip
        yield at, found


def ctc_loss_call(draw: Draw, dtype: DType) -> Invocation:
    call = ctc_call(draw, dtype)
    more = {"normalised": draw(st.booleans()), "alignments": draw(st.sampled_from(["all", "best"]))}
    return call._replace(options={**call.options, **more})


@reference("nn.ctc_loss", by="brute force", draw=ctc_loss_call, raw=True, dtypes=[*FLOATING, tb.int32])
def ctc_loss(call: Invocation) -> Any:
    logits, labels = call.arguments
    out = numpy.zeros(labels.shape[:-1])
    best = call.options["alignments"] == "best"
    for at, found in paths_of(call, call.options["normalised"]):
        scores = [score for _, score in found]
        out[at] = math.inf if not found else -max(scores) if best else -scipy.special.logsumexp(scores)
    return named(out, ("batch",) if "batch" in logits.names else ())


@law("nn.ctc_alignment", by="brute force")
def ctc_alignment(draw: Draw, run: Any, backend: Backend) -> None:
    call = ctc_call(draw, draw(st.sampled_from(FLOATING)))._replace(name=run.name)
    logits = call.arguments[0]
    moved = call.on(backend)
    got = run(*moved.arguments, **moved.options)
    time, classes = (logits.names.index(name) for name in ("time", "class"))
    assert got.shape == (*call.arguments[1].shape[:-1], logits.shape[time]), f"{call!r}: got {got.template}"
    assert got.dtype is tb.int64
    assert got.names[-1] == "time"
    blank = call.options["blank"] % logits.shape[classes]
    for at, found in paths_of(call, False):
        path = tuple(wide(got)[at].tolist())
        scores = dict(found)
        length = len(found[0][0]) if found else 0
        assert all(one == blank for one in path[length:]), f"{call!r}: got {got!r}"
        if found:
            best = max(scores.values())
            assert path[:length] in scores, f"{call!r}: expected one of {found}, got {got!r}"
            assert scores[path[:length]] >= best - 1e-3 * max(1.0, abs(best)), f"{call!r}: got {path}, of {found}"


def best_path_call(draw: Draw, dtype: DType) -> Invocation:
    call = ctc_call(draw, dtype)
    options = {name: value for name, value in call.options.items() if name in ("blank", "time", "axis")}
    if "logit_lengths" in call.options:
        options["lengths"] = call.options["logit_lengths"]
    return Invocation("", call.arguments[:1], {**options, "name": draw(st.sampled_from([None, "label"]))})


@reference("nn.ctc_best_path", by="brute force", draw=best_path_call, raw=True, dtypes=[*FLOATING, tb.int32])
def ctc_best_path(call: Invocation) -> Any:
    (logits,), options = call.arguments, call.options
    places = [
        logits.names.index(at) if isinstance(at, str) else at % logits.ndim for at in (options["time"], options["axis"])
    ]
    array = numpy.moveaxis(wide(logits), places, (-2, -1))
    lead = array.shape[:-2]
    time, classes = array.shape[-2:]
    blank = options["blank"] % classes
    counts = numpy.broadcast_to(wide(options["lengths"]), lead) if "lengths" in options else numpy.full(lead, time)
    labels, lengths = numpy.full((*lead, time), blank), numpy.zeros(lead, int)
    for at in numpy.ndindex(*lead):
        found = spelling(array[at][: int(counts[at])].argmax(axis=-1), blank, True)
        labels[at][: len(found)] = found
        lengths[at] = len(found)
    batch = ("batch",) if "batch" in logits.names else ()
    return [named(labels, (*batch, options["name"])), named(lengths, batch)]


# Edit distances


def edit_call(draw: Draw, dtype: DType) -> Invocation:
    """Sequences of two or three symbols, whose batch axes broadcast."""
    batch = draw(shapes(most=2, largest=2))
    names = tuple(f"axis{at}" for at in range(len(batch)))
    few = st.integers(0, 2)

    def sequence(kind: DType) -> Any:
        start = draw(st.integers(0, len(batch)))
        shape = tuple(draw(st.sampled_from([size, size, 1])) for size in batch[start:])
        return draw(tensors(kind, (*shape, draw(st.integers(0, 4))), names=(*names[start:], None), values=few))

    x, y = sequence(dtype), sequence(draw(st.sampled_from([dtype, dtype, tb.int64, tb.uint8])))
    lead = numpy.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    options = {}
    for name, size in (("hypothesis_lengths", x.shape[-1]), ("reference_lengths", y.shape[-1])):
        if draw(st.booleans()):
            shape = draw(st.sampled_from([lead, ()]))
            options[name] = integers(draw, shape, -1, size + 1, names=(None,) * len(shape))
    return Invocation("", (x, y), options)


@reference("nn.edit_distance", by="brute force", draw=edit_call, raw=True, dtypes=INTEGER)
def edit_distance(call: Invocation) -> Any:
    x, y = (wide(each) for each in call.arguments)
    lead = numpy.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    out = numpy.zeros(lead, int)
    lengths = [numpy.broadcast_to(wide(call.options[name]) if name in call.options else each.shape[-1], lead)
               for name, each in (("hypothesis_lengths", x), ("reference_lengths", y))]  # fmt: skip
    x, y = (numpy.broadcast_to(each, (*lead, each.shape[-1])) for each in (x, y))
    for at in numpy.ndindex(*lead):
        one, two = (each[at][: min(max(int(length[at]), 0), each.shape[-1])].tolist()
                    for each, length in zip((x, y), lengths, strict=True))  # fmt: skip
        row = list(range(len(two) + 1))
        for number, symbol in enumerate(one, 1):
            after = [number]
            for place, other in enumerate(two, 1):
                after.append(min(row[place] + 1, after[-1] + 1, row[place - 1] + (symbol != other)))
            row = after
        out[at] = row[-1]
    return out
