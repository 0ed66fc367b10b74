"""Cases of methods: calls with their expected values, and what the calls of several methods share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import returnn.frontend as rf
from making import LENGTHS, B, I, Making, W, X
from returnn.tensor import Dim, single_step_dim


class Case(NamedTuple):
    """A call with tensors of a backend; its expected value, by default that of RETURNN's PyTorch backend.

    A value is needed where PyTorch's backend has no such function, or draws random numbers.
    """

    call: Callable[[Making], Any]
    expected: Any = None


def raw(name: str, *operands: Any) -> Case:
    """A call of a method, with arrays converted to raw tensors."""
    return Case(lambda m: getattr(m.backend, name)(*(m.raw(x) if isinstance(x, np.ndarray) else x for x in operands)))


def for_each(call: Callable[..., Any], *values: Any) -> list[Case]:
    """One case for each of several values."""

    def of(value: Any) -> Case:
        return Case(lambda m: call(m, value))

    return [of(value) for value in values]


def of_x(name: str, **options: Any) -> Case:
    """A call of a method with the tensor `m.x()`."""
    return Case(lambda m: getattr(m.backend, name)(m.x(), **options))


P = np.abs(X) + 0.5
FLOATS = np.array([[1.5, np.inf, -np.inf], [np.nan, 0.0, -2.0]], np.float32)


def assigned(change: Callable[[Making, Any], Any]) -> Case:
    """A parameter after a change."""

    def call(m: Making) -> Any:
        parameter = m.parameter()
        change(m, parameter)
        return parameter

    return Case(call)


def initialised(m: Making, value: Any) -> Any:
    parameter = m.parameter()
    m.backend.set_parameter_initial_value(parameter, value)
    return parameter


def replaced(m: Making, op: str) -> Any:
    parameter = m.parameter()
    m.backend.parameter_assign(parameter, m(W.T, m.other, m.feature), op=op)
    return parameter


def written(**options: Any) -> Case:
    """A parameter after `parameter_assign_key` changed one row."""
    return assigned(lambda m, p: m.backend.parameter_assign_key(p, 1, m(W[0], m.other), axis=m.feature, **options))


def scattered(mode: str, fill: float) -> Case:
    """A call of `scatter` that writes the entries of three steps at four places."""

    def call(m: Making) -> Any:
        steps, units = Dim(3, name="three"), Dim(4, name="four")
        index = m(I, m.batch, steps, sparse=m.feature)
        options: dict[str, Any] = {"indices": index, "indices_dim": steps, "mode": mode, "fill_value": fill}
        return m.backend.scatter(m(X, m.batch, steps, units), out_dim=m.feature, **options)

    return Case(call)


def gathered(index: Callable[[Making], Any], axis: str, **options: Any) -> Case:
    return Case(lambda m: m.backend.gather(m.x(), indices=index(m), axis=getattr(m, axis), **options))


def convolved(padding: Any, stride: int = 1, dilation: int = 1, groups: int = 1) -> Case:
    def call(m: Making) -> Any:
        steps, window = Dim(3, name="three"), Dim(3, name="window")
        kernel = m(
            np.sin(np.arange(5 * 4 * 3, dtype=np.float32)).reshape(5, 4, 3)[: 4 if groups > 1 else 5, : 4 // groups],
            *((m.feature, m.feature // groups) if groups > 1 else (m.other, m.feature)),
            window,
        )
        out, dims = m.backend.conv(
            m(X, m.batch, steps, m.feature),
            in_dim=m.feature,
            out_dim=m.feature if groups > 1 else m.other,
            in_spatial_dims=[steps],
            filter=kernel,
            filter_size=[window],
            padding=padding,
            strides=stride,
            dilation_rate=dilation,
            groups=groups,
            bias=m(np.arange(4 if groups > 1 else 5, dtype=np.float32), m.feature if groups > 1 else m.other),
        )
        return out, len(dims)

    return Case(call)


def pooled(mode: str, padding: Any, stride: int) -> Case:
    def call(m: Making) -> Any:
        steps = Dim(3, name="three")
        source = m(X, m.batch, steps, m.feature)
        return m.backend.pool(
            source, mode=mode, pool_size=[2], padding=padding, strides=[stride], in_spatial_dims=[steps]
        )[0]

    return Case(call)


def recurrent(m: Making) -> Any:
    units = Dim(3, name="units")
    state = {
        name: m(np.full((2, 3), value, np.float32), m.batch, units)
        for name, value in (("state_h", 0.1), ("state_c", 0.2))
    }
    parameters = {
        "ff_weight": m(np.sin(np.arange(48, dtype=np.float32)).reshape(12, 4), 4 * units, m.feature),
        "rec_weight": m(np.cos(np.arange(36, dtype=np.float32)).reshape(12, 3), 4 * units, units),
        "bias": m(np.arange(12, dtype=np.float32) / 12, 4 * units),
    }
    return units, state | parameters


def lstm(m: Making) -> Any:
    units, options = recurrent(m)
    out, state = m.backend.lstm(m.x(), spatial_dim=m.time, in_dim=m.feature, out_dim=units, **options)
    return out, *state


def lstm_step(m: Making) -> Any:
    units, options = recurrent(m)
    source = m(X[:, 0], m.batch, m.feature)
    out, state = m.backend.lstm(source, spatial_dim=single_step_dim, in_dim=m.feature, out_dim=units, **options)
    return out, *state


def spectra(length: int, fft: int, **options: Any) -> Case:
    def call(m: Making) -> Any:
        samples = Dim(20, name="samples")
        signal = np.sin(np.arange(40, dtype=np.float32) ** 1.3).reshape(2, 20)
        size = length if options.get("window_use_frame_length", True) else fft
        frames, frequencies = Dim((20 - size) // 3 + 1, name="frames"), Dim(fft // 2 + 1, name="frequencies")
        return m.backend.stft(
            m(signal, m.batch, samples),
            in_spatial_dim=samples,
            frame_step=3,
            frame_length=length,
            fft_length=fft,
            out_spatial_dim=frames,
            out_dim=frequencies,
            **options,
        )

    return Case(call)


def sequences(m: Making, name: str, **options: Any) -> Any:
    """Call a method with logits and targets of sequences."""
    classes, labels = Dim(4, name="classes"), Dim(3, name="labels")
    positions = Dim(m(np.array([2, 1], np.int32), m.batch), name="positions")
    logits = m(X, m.batch, m.time, classes, feature=classes)
    targets = m(np.array([[1, 2], [0, 0]], np.int32), m.batch, positions, sparse=labels)
    return getattr(m.backend, name)(
        logits=logits,
        targets=targets,
        input_spatial_dim=m.time,
        targets_spatial_dim=positions,
        blank_index=3,
        **options,
    )


def chances(label_loop: bool) -> list[dict[tuple[int, ...], float]]:
    """The probability of each path that spells the targets of `sequences`, for each example."""
    probabilities = []
    for logits, labels, frames in zip(X, ([1, 2], [0]), LENGTHS, strict=True):
        shares = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
        probabilities.append(
            {
                path: math.prod(shares[t, c] for t, c in enumerate(path))
                for path in itertools.product(range(4), repeat=int(frames))
                if [c for c in ([k for k, _ in itertools.groupby(path)] if label_loop else path) if c != 3] == labels
            }
        )
    return probabilities


def paths(label_loop: bool, best: bool) -> Any:
    """The expected losses of `sequences`, over all paths or the best one."""
    return np.array(
        [-math.log((max if best else sum)(probabilities.values())) for probabilities in chances(label_loop)], np.float32
    )


def ways(label_loop: bool) -> Any:
    """The expected best path of each example of `sequences`, with 0 beyond its frames."""
    best_paths = [max(probabilities, key=lambda path: probabilities[path]) for probabilities in chances(label_loop)]
    return np.array([[*way, *[0] * (3 - len(way))] for way in best_paths], np.int32)


def packed_ctc(m: Making) -> Any:
    return m.backend.ctc_loss_packed_raw(
        logits=m.raw(np.concatenate([X[0], X[1, :2]])),
        seq_starts=m.raw(np.array([0, 3], np.int32)),
        logits_seq_lens=m.raw(LENGTHS),
        max_seq_len=3,
        targets=m.raw(np.array([[1, 2], [0, 0]], np.int32)),
        targets_seq_lens=m.raw(np.array([2, 1], np.int32)),
        label_loop=True,
        logits_normalize=True,
        blank_index=3,
        edges_bound=None,
    )


def distance(m: Making) -> Any:
    a_dim = Dim(m(np.array([3, 2], np.int32), m.batch), name="a")
    b_dim = Dim(m(np.array([2, 2], np.int32), m.batch), name="b")
    a = m(np.array([[1, 2, 3], [4, 5, 9]], np.int32), m.batch, a_dim)
    b = m(np.array([[2, 3], [4, 6]], np.int32), m.batch, b_dim)
    return m.backend.edit_distance(a, a_dim, b, b_dim)


def normalised(m: Making, trains: bool) -> Any:
    rf.init_train_step_run_ctx(train_flag=trains, step=0, epoch=1)
    held = [rf.Parameter([m.feature], dtype="float32", auxiliary=True) for _ in range(2)]
    for parameter, value in zip(held, (0.25, 2.0), strict=True):
        parameter.initial = value
    steps = Dim(3, name="three")
    result = m.backend.batch_norm(
        m(X, m.batch, steps, m.feature),
        in_dim=m.feature,
        running_mean=held[0],
        running_variance=held[1],
        gamma=m(np.arange(4, dtype=np.float32), m.feature),
        beta=m(np.ones(4, np.float32), m.feature),
        epsilon=1e-3,
        momentum=0.1,
        affine=True,
        use_mask=False,
    )
    return result, *held


def slope(function: Callable[[Making, Any], Any]) -> Case:
    """The gradient of the sum of squares of the result of a function."""

    def call(m: Making) -> Any:
        x = m(X[0], Dim(3, name="three"), m.feature)
        m.backend.set_requires_gradient(x)
        y = function(m, x)
        return m.backend.gradient(rf.reduce_sum(y * y, axis=y.dims), x)

    return Case(call)


def stopped(m: Making, x: Any) -> Any:
    with m.backend.stop_gradient_scope():
        weight = x * 2.0
    return x * weight


def checkpointed(m: Making, x: Any) -> Any:
    with m.backend.gradient_checkpoint_scope():
        y = rf.sin(x)
    return y * x


def drawn(
    distribution: str, check: Callable[[np.ndarray[Any, Any]], Any], dtype: str = "float32", **options: Any
) -> Case:
    """A call of `random` whose numbers are tested by `check`."""

    def call(m: Making) -> Any:
        m.backend.set_random_seed(3)
        dims = [Dim(400, name="many")]
        x = m.backend.random(dims=dims, dtype=dtype, distribution=distribution, static=False, **options)
        assert x.dtype == dtype
        return bool(check(np.asarray(m.backend.raw_to_numpy(x.raw_tensor), np.float64)))

    return Case(call, True)


def chosen(m: Making) -> Any:
    shares = np.array([[0.0, 0.0, 1.0, 0.0], [0.5, 0.5, 0.0, 0.0]], np.float32)
    many = Dim(50, name="many")
    x = m.backend.random_choice_with_replacement([many, m.batch], probs=m(shares, m.batch, m.feature), axis=m.feature)
    indices = m.backend.raw_to_numpy(x.raw_tensor)
    return indices.shape == (50, 2) and set(indices[:, 0]) == {2} and set(indices[:, 1]) == {0, 1}


def again(m: Making) -> Any:
    """Whether restoring a random state repeats the numbers."""
    m.backend.set_random_seed(5)
    state = m.backend.get_random_state()
    options: dict[str, Any] = {"dims": [m.feature], "dtype": "float32", "distribution": "normal", "static": False}
    first = m.backend.raw_to_numpy(m.backend.random(**options).raw_tensor)
    other = m.backend.raw_to_numpy(m.backend.random(**options).raw_tensor)
    m.backend.set_random_state(state)
    second = m.backend.raw_to_numpy(m.backend.random(**options).raw_tensor)
    return bool((first == second).all() and (first != other).any())


def replayed(m: Making) -> Any:
    """Whether replaying a journal gives the numbers that PyTorch drew."""
    from returnn.torch.frontend import TorchBackend

    torch = Making(None)
    options: dict[str, Any] = {"dtype": "float32", "distribution": "normal", "static": False}
    with TorchBackend.random_journal_record() as journal:
        theirs = TorchBackend.random(dims=[torch.feature], **options)
    with m.backend.random_journal_replay(journal):
        ours = m.backend.random(dims=[m.feature], **options)
    return bool((np.asarray(ours.raw_tensor) == theirs.raw_tensor.numpy()).all())


def asserted(m: Making) -> Any:
    m.backend.assert_(m(np.array(True)), "held")  # noqa: PT009
    try:
        m.backend.assert_(m(np.array(False)), "not held")  # noqa: PT009
    except AssertionError as error:
        return str(error) == "not held"
    return False


def padded(mode: str = "constant", value: Any = None, low: int = 1, high: int = 2, axis: str = "feature") -> Case:
    def call(m: Making) -> Any:
        dim = getattr(m, axis)
        out = low + dim + high
        return m.backend.pad(
            m.x(), axes=[dim], padding=[(low, high)], out_dims=[out], handle_dynamic_dims=True, mode=mode, value=value
        )

    return Case(call)


def reduced(mode: str, *axes: str, array: Any = X) -> Case:
    def call(m: Making) -> Any:
        x = m(array, m.batch, m.time, m.feature) if array.ndim == 3 else m(array, m.batch, m.time)
        dims = [getattr(m, axis) for axis in axes]
        return m.backend.reduce(x, mode=mode, axis=dims if len(dims) > 1 else dims[0])

    return Case(call)


def put_back(m: Making, backup: Any) -> Any:
    """Call `masked_scatter` for the rows of `W`."""
    steps = Dim(3, name="three")
    mask = m(B, m.batch, steps)
    other = None if backup is None else m(backup, m.batch, steps, m.other)
    return m.backend.masked_scatter(m(W, m.feature, m.other), other, mask=mask, dims=[m.batch, steps], in_dim=m.feature)


def stretched(m: Making, removed: int) -> Any:
    """Call `transposed_conv`."""
    steps, window = Dim(3, name="three"), Dim(2, name="window")
    kernel = m(np.sin(np.arange(40, dtype=np.float32)).reshape(4, 5, 2), m.feature, m.other, window)
    return m.backend.transposed_conv(
        m(X, m.batch, steps, m.feature),
        in_dim=m.feature,
        out_dim=m.other,
        in_spatial_dims=[steps],
        out_spatial_dims=[Dim(6 - removed, name="longer")],
        filter=kernel,
        filter_size=[window],
        padding="valid",
        remove_padding=removed,
        strides=[2],
        bias=m(np.arange(5, dtype=np.float32), m.other),
    )[0]
