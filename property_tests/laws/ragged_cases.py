"""Calls of the functions of `tb.ragged`, with the expected result for one example alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorbackend as tb
from tensorbackend import ragged as tr

Alone = Callable[[tb.Tensor], Any]


class Case(NamedTuple):
    """A call of a function, and the expected result for one example alone."""

    call: Callable[[tr.Ragged], Any]
    """Takes [batch][time][feature] with lengths of the time, and gives results whose first axis is the batch."""
    alone: Alone
    """The expected result for one example [time][feature] without padding."""
    empty: Any = None
    """The value of each number of the result for a length of 0, if `alone` does not define it."""
    exact: bool = True
    """Whether an example alone gives exactly the same bits."""
    nested: bool = True
    """Whether the call also takes [batch][word][time], with two axes that have lengths."""
    by_position: bool = False
    """Whether the call works on each position separately, so that it takes packed examples."""
    smooth: bool = True
    """Whether the result has a gradient."""


def reduced(function: Callable[..., Any], plain: Callable[..., Any], empty: float, **options: Any) -> Case:
    return Case(
        lambda x: function(x, axis="time", **options),
        lambda x: plain(x, axis="time", **options),
        empty=empty,
        exact=function in (tr.max, tr.min, tr.any, tr.all, tr.argmax, tr.argmin),
        smooth=function not in (tr.any, tr.all, tr.argmax, tr.argmin),
    )


def along(function: Callable[..., Any], plain: Callable[..., Any], exact: bool = True, **options: Any) -> Case:
    return Case(
        lambda x: function(x, axis="time", **options),
        lambda x: plain(x, axis="time", **options),
        exact=exact,
        smooth=function is not tr.argsort,
    )


def identity(call: Callable[[tr.Ragged], Any], **options: Any) -> Case:
    return Case(call, lambda x: x, **options)


def unless_empty(function: Callable[..., tb.Tensor]) -> Callable[..., tb.Tensor]:
    return lambda x, axis: function(x, axis=axis) if x.size else x


def taken(x: tb.Tensor, positions: Sequence[int]) -> tb.Tensor:
    return tb.take(x, tb.asarray(positions, dtype="int64"), axis="time")


def run(start: int, length: int) -> Alone:
    """The expected result of `slice_along_axis` for one example."""

    def cut(x: tb.Tensor) -> tb.Tensor:
        size = x.shape[0]
        first = min(max(start + size if start < 0 else start, 0), size)
        return taken(x, range(first, min(first + length, size)))

    return cut


def shifted(amount: int) -> Alone:
    def moved(x: tb.Tensor) -> tb.Tensor:
        size = x.shape[0]
        wide = tb.pad(x, {"time": (max(amount, 0), max(-amount, 0))}, value=7)
        return taken(wide, [position + max(-amount, 0) for position in range(size)])

    return moved


def framed(size: int, stride: int, same: bool) -> Alone:
    """The expected result of `windows` for one example."""

    def frames(x: tb.Tensor) -> tb.Tensor:
        length = x.shape[0]
        count = -(-length // stride) if same else max((length - size) // stride + 1, 0)
        low = max((count - 1) * stride + size - length, 0) // 2 if same else 0
        wide = tb.pad(x, {"time": (low, (count + 1) * stride + size)})
        places = [[start * stride + offset for offset in range(size)] for start in range(count)]
        indices = tb.reshape(tb.asarray(places, dtype="int64"), (count, size), names=("time", "window"))
        return tb.take(wide, indices, axis="time")

    return frames


def convolved(x: Any, alone: bool, **options: Any) -> Any:
    """Convolve over time: [batch][time][feature] or, alone, [time][feature]."""
    kernel = tb.asarray([[[1.0, -2.0, 0.5]] * x.shape[-1]], dtype="f32", like=getattr(x, "values", x))
    if alone:
        wide = tb.expand_dims(tb.permute_dims(x, (1, 0)), 0)
        return tb.permute_dims(tb.conv(wide, kernel, **options)[0], (1, 0))
    turned = tr.apply(lambda values: tb.permute_dims(values, (0, 2, 1)), x)
    return tr.apply(lambda values: tb.permute_dims(values, (0, 2, 1)), tr.conv(turned, kernel, **options))


def chosen(x: tb.Tensor) -> tb.Tensor:
    """Return the entries whose first feature is positive."""
    return taken(x, [place for place, value in enumerate(first_feature(x).tolist()) if value > 0])


def first_feature(x: tb.Tensor) -> tb.Tensor:
    return x[:, 0] if x.ndim > 1 else x


def doubled(x: tb.Tensor) -> tb.Tensor:
    """Return the expected result of `put_selected`, where the chosen entries are doubled."""
    mask = first_feature(x) > 0
    return tb.where(mask if x.ndim == 1 else mask[:, None], x * 2, x)


def first_positive(x: tr.Ragged) -> tr.Ragged:
    """Return a mask over batch and time: where the first feature is positive."""
    if x.names[-1] != "feature":
        return x > 0
    return tr.apply(lambda values: values[..., 0], x) > 0


def doubled_where_chosen(x: tr.Ragged) -> Any:
    mask = first_positive(x)
    return tr.put_selected(x, mask, tr.select(x, mask, axis="time", name="kept") * 2, axis="time", name="kept")


def with_their_mask(x: tr.Ragged) -> tr.Ragged:
    mask = tr.sequence_mask(x.lengths["time"], x.size_of("time"))
    return tr.with_lengths(mask, **x.lengths)


def merged(x: tr.Ragged) -> Any:
    if "word" in x.names:
        flat = tr.merge_axes(x, ["word", "time"], name="text")
        return tr.unmerge_axis(flat, "text", axes=["word", "time"], like=x)
    flat = tr.merge_axes(x, ["time", "feature"], name="text")
    return tr.unmerge_axis(flat, "text", axes=["time", "feature"], like=x)


def top(x: Any, function: Callable[..., Any]) -> Any:
    count = min(2, x.shape[x.names.index("time")])
    return tuple(function(x, count, axis="time"))


def joined(x: tr.Ragged) -> Any:
    return tr.concat([x, x * 2, tr.resize(x, x.size_of("time") + 1, axis="time", fill=math.nan)], axis="time")


def divided(x: tr.Ragged) -> Any:
    return tr.split(x, [min(1, x.size_of("time"))], axis="time")


def in_order_of(x: tr.Ragged) -> Callable[[tb.Tensor], tb.Tensor]:
    return lambda values: values.align_to(*map(str, x.names))


def scanned(x: tr.Ragged) -> Any:
    """Return total sums and running sums."""
    start = tb.zeros(tuple(size for size, name in zip(x.shape, x.names, strict=True) if name != "time"),
                     names=[name for name in x.names if name != "time"], like=x.values)  # fmt: skip
    total, running = tr.scan(lambda carry, entry: (carry + entry, carry + entry), start, x, axis="time")
    return total, tr.apply(in_order_of(x), running)


def replayed(x: tr.Ragged) -> Any:
    """Return the entries by a loop that stops at each example's length; an empty example gives one zero."""
    values, lengths = tr.resize(x, x.size_of("time") + 1, axis="time").filled(0), x.lengths["time"]
    start = {"at": tb.zeros(lengths.shape, dtype="int64", names=lengths.names, like=lengths), "iteration": 0}

    def iteration(carry: dict[str, Any]) -> tuple[Any, tb.Tensor, tb.Tensor]:
        entry = tb.slice_along_axis(values, carry["iteration"], 1, axis="time")
        after = {"at": carry["at"] + 1, "iteration": carry["iteration"] + 1}
        return after, tb.squeeze(entry, "time"), after["at"] >= lengths

    outputs = tr.unroll(iteration, start, limit=x.size_of("time") + 1).outputs
    return tr.apply(in_order_of(x), outputs)


def rewritten(x: tr.Ragged) -> tr.Ragged:
    """Push the entries into a tensor array and stack it."""
    rows = tb.unstack(x.filled(0), axis="time") if x.size_of("time") else ()
    names = [name for name in x.names if name != "time"]
    shape = [x.size_of(str(name)) for name in names]
    array = tr.tensor_array(tb.zeros(shape, names=names, like=x.values), len(rows) + 1)
    for row in rows:
        array = array.push(row)
    return tr.with_lengths(in_order_of(x)(array.stack().values), **x.lengths)


CASES: dict[str, list[Case]] = {
    "all": [reduced(tr.all, tb.all, True)],
    "any": [reduced(tr.any, tb.any, False)],
    "apply": [
        Case(lambda x: tr.apply(tb.exp, x), tb.exp, by_position=True),
        Case(lambda x: tr.apply(tb.log, x), tb.log, by_position=True),
        Case(lambda x: tr.apply(tb.sqrt, tr.apply(tb.abs, x)), lambda x: tb.sqrt(tb.abs(x)), by_position=True),
        Case(lambda x: 1 / x + x * x - 3, lambda x: 1 / x + x * x - 3, by_position=True),
        Case(lambda x: x > 0.5, lambda x: x > 0.5, by_position=True, smooth=False),
        Case(
            lambda x: tr.apply(lambda values: tb.sum(values * 2, axis=-1), x),
            lambda x: tb.sum(x * 2, axis=-1),
            exact=False,
            nested=False,
            by_position=True,
        ),
    ],
    "argmax": [reduced(tr.argmax, tb.argmax, -1)],
    "argmin": [reduced(tr.argmin, tb.argmin, -1)],
    "argsort": [along(tr.argsort, tb.argsort), along(tr.argsort, tb.argsort, descending=True)],
    "concat": [Case(joined, lambda x: tb.concat([x, x * 2, x], axis="time"))],
    "conv": [
        Case(
            lambda x, options=options: convolved(x, False, **options),  # type: ignore[misc]
            lambda x, options=options: convolved(x, True, **options),  # type: ignore[misc]
            exact=False,
            nested=False,
        )
        for options in (
            {},
            {"padding": "same"},
            {"padding": "same", "strides": 2},
            {"padding": ((2, 1),), "strides": 2, "kernel_dilation": 2},
            {"padding": ((2, 2),), "input_dilation": 2},
        )
    ],
    "cumulative_max": [along(tr.cumulative_max, tb.cumulative_max)],
    "cumulative_min": [along(tr.cumulative_min, tb.cumulative_min, reverse=True)],
    "cumulative_prod": [along(tr.cumulative_prod, tb.cumulative_prod, exact=False)],
    "cumulative_sum": [
        along(tr.cumulative_sum, tb.cumulative_sum, exact=False),
        along(tr.cumulative_sum, tb.cumulative_sum, exact=False, reverse=True),
    ],
    "flip": [along(tr.flip, tb.flip)],
    "from_list": [identity(lambda x: tr.from_list(tr.to_list(x), size=x.size_of("time") + 1), nested=False)],
    "log_softmax": [along(tr.log_softmax, unless_empty(tb.log_softmax), exact=False)],
    "logsumexp": [reduced(tr.logsumexp, tb.logsumexp, -math.inf)],
    "max": [reduced(tr.max, tb.max, -math.inf)],
    "mean": [reduced(tr.mean, tb.mean, 0.0)],
    "merge_axes": [identity(merged)],
    "min": [reduced(tr.min, tb.min, math.inf)],
    "normalize": [
        Case(
            lambda x: tr.normalize(x, axis="time", epsilon=0.5),
            lambda x: (
                (x - tb.mean(x, axis="time", keepdims=True)) / tb.sqrt(tb.var(x, axis="time", keepdims=True) + 0.5)
            ),
            exact=False,
        )
    ],
    "pack": [
        identity(lambda x: tr.unpack(tr.pack(x, axis="time"), like=x, axis="time")),
        identity(lambda x: tr.unpack(tr.pack(x, axis="time") * 1, like=x, axis="time"), by_position=False),
    ],
    "pad": [Case(lambda x: tr.pad(x, (2, 1), axis="time", value=3), lambda x: tb.pad(x, {"time": (2, 1)}, value=3))],
    "prod": [reduced(tr.prod, tb.prod, 1.0)],
    "put_selected": [Case(doubled_where_chosen, doubled)],
    "resize": [identity(lambda x: tr.resize(x, x.size_of("time") + 2, axis="time", fill=math.nan))],
    "scan": [
        Case(
            scanned,
            lambda x: (tb.sum(x, axis="time"), tb.cumulative_sum(x, axis="time")),
            exact=False,
            nested=False,
        )
    ],
    "select": [Case(lambda x: tr.select(x, first_positive(x), axis="time"), chosen)],
    "sequence_mask": [Case(with_their_mask, lambda x: tb.ones(x.shape[:1], dtype="bool"), smooth=False, nested=False)],
    "shift": [
        Case(lambda x, by=by: tr.shift(x, by, axis="time", fill=7), shifted(by))  # type: ignore[misc]
        for by in (1, -2)
    ],
    "slice_along_axis": [
        Case(lambda x, cut=cut: tr.slice_along_axis(x, *cut, axis="time"), run(*cut))  # type: ignore[misc]
        for cut in ((1, 2), (-2, 3), (0, 9))
    ],
    "softmax": [along(tr.softmax, unless_empty(tb.softmax), exact=False)],
    "sort": [along(tr.sort, tb.sort), along(tr.sort, tb.sort, descending=True)],
    "split": [Case(divided, lambda x: (run(0, 1)(x), run(1, 99)(x)))],
    "std": [reduced(tr.std, tb.std, 0.0)],
    "sum": [reduced(tr.sum, tb.sum, 0.0)],
    "take": [identity(lambda x: tr.take(x, list(range(x.shape[0])), axis="batch"))],
    "tensor_array": [identity(rewritten)],
    "to_list": [identity(lambda x: tr.from_list(tr.to_list(x)), nested=False)],
    "top_k": [Case(lambda x: top(x, tr.top_k), lambda x: top(x, tb.top_k))],
    "unmerge_axis": [identity(lambda x: merged(x * 1))],
    "unroll": [Case(replayed, lambda x: x if x.shape[0] else tb.zeros((1, *x.shape[1:])), nested=False, smooth=False)],
    "unpack": [identity(lambda x: tr.unpack(tr.pack(x, axis="time", size=99), like=x, axis="time"))],
    "var": [reduced(tr.var, tb.var, 0.0), reduced(tr.var, tb.var, 0.0, correction=1)],
    "windows": [
        Case(
            lambda x, size=size, stride=stride, same=same: tr.windows(  # type: ignore[misc]
                x, size, axis="time", stride=stride, padding="same" if same else "valid"
            ),
            framed(size, stride, same),
            nested=False,
        )
        for size, stride, same in ((2, 1, False), (3, 2, False), (3, 1, True), (3, 2, True))
    ],
    "with_lengths": [identity(lambda x: tr.with_lengths(x.values, **x.lengths))],
}

EAGER = {"from_list", "to_list"}
"""Functions that read the values of lengths, which a trace does not have."""
