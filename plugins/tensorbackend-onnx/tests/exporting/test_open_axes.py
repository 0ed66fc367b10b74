"""Models with open axes: at every size what the function computes, or an error, never another number."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy
import onnxruntime
import pytest
import tensorbackend as tb
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import check_model
from tensorbackend import nn
from tensorbackend.errors import ArgumentError, TensorBackendError, UnsupportedOp
from tensorbackend.testing import profile

from tensorbackend_onnx import export, load

rng = numpy.random.default_rng(0)
SIZES = range(1, 41)
DRAWS = int(os.environ.get("TENSORBACKEND_ONNX_PROGRAMS", "25"))
"""The number of programs that are drawn."""

KERNEL = rng.standard_normal((3, 3, 3)).astype("f")

Step = Callable[[Any], Any]

STEPS: dict[str, Step] = {
    "same conv, stride 2": lambda x: tb.conv(x, KERNEL, padding="same", strides=2),
    "same conv, stride 3, dilated": lambda x: tb.conv(x, KERNEL, padding="same", strides=3, kernel_dilation=2),
    "valid conv": lambda x: tb.conv(x, KERNEL),
    "transposed conv": lambda x: tb.conv(x, KERNEL, input_dilation=2, padding=[(2, 2)]),
    "same max_pool": lambda x: nn.max_pool(x, {2: 2}, padding="same"),
    "same mean_pool": lambda x: nn.mean_pool(x, {2: 3}, strides={2: 2}, padding="same"),
    "valid max_pool": lambda x: nn.max_pool(x, {2: 2}),
    "window_sum": lambda x: tb.window_sum(x, {2: 3}, padding={2: (1, 1)}),
    "convolve": lambda x: tb.convolve(x[0, 0], tb.asarray([1.0, 2.0, 0.5, 1.0]), mode="same") + tb.zeros((2, 3, 1)),
    "var": lambda x: x - tb.var(x, axis=2, keepdims=True),
    "std": lambda x: x / (1 + tb.std(x)),
    "median": lambda x: x - tb.median(x, axis=2, keepdims=True),
    "rfft": lambda x: tb.abs(tb.fft.rfft(x, axis=2)),
    "ifft": lambda x: tb.real(tb.fft.ifft(tb.fft.fft(x, axis=2) * 0.5, axis=2)),
    "gradient of a mean": tb.grad(lambda x: tb.mean(tb.tanh(x) * x)),
    "gradient of a variance": tb.grad(lambda x: tb.sum(tb.var(x, axis=2))),
    "gradient of a pool": tb.grad(lambda x: tb.sum(nn.mean_pool(x, {2: 2}, padding="same") ** 2)),
    "softmax": lambda x: nn.softmax(x, axis=2),
    "layer norm": lambda x: nn.standardise(x, axis=2),
    "running sum": lambda x: tb.cumulative_sum(x, axis=2),
    "sort": lambda x: tb.sort(x, axis=2),
    "flip": lambda x: tb.flip(x, axis=2),
    "roll": lambda x: tb.roll(x, 2, axis=2),
    "every other": lambda x: x[:, :, ::2],
    "all but the first": lambda x: x[:, :, 1:],
    "the first three": lambda x: x[:, :, :3],
    "half": lambda x: x[:, :, : (x.shape[2] + 1) // 2],
    "positions": lambda x: x + tb.arange(x.shape[2]),
    "spaced": lambda x: x * tb.linspace(0.0, 1.0, x.shape[2]),
    "by the size": lambda x: x / x.shape[2],
    "of the mask": lambda x: tb.where(tb.eye(x.shape[2])[0] > 0, x, 0.0),
    "attention": lambda x: nn.attention(x.mT, x.mT, x.mT, causal=True).mT,
    "pairs": lambda x: tb.concat([x, x[:, :, :1]], axis=2),
    "folded": lambda x: tb.reshape(tb.reshape(x, (2, -1)), (2, 3, -1)),
    "gathered": lambda x: tb.take(x, tb.argsort(x[0, 0]), axis=2),
    "scan": lambda x: tb.moveaxis(tb.scan(lambda c, row: (c + row, c * row), tb.zeros((2, 3)), tb.moveaxis(x, 2, 0))[1],
                                  0, 2),
    "padded": lambda x: tb.pad(x, {2: (1, 2)}),
    "reflected": lambda x: tb.pad(x, {2: (2, 2)}, mode="reflect"),
    "a threshold of the user's": lambda x: x * 2 if x.shape[2] > 19 else x,
    "a parity of the user's": lambda x: x * 2 if x.shape[2] % 2 else x,
    "a divisor of the user's": lambda x: x[:, :, : max(x.shape[2] // 8, 1)],
    "a number of the user's": lambda x: x * sum(range(x.shape[2])),
    "one size of the user's": lambda x: x * 2 if x.shape[2] == 13 else x,
    "resize": lambda x: tb.resize(x, {2: 2 * x.shape[2]}),
}  # fmt: skip
"""Functions from f32[2][3][n] to f32[2][3][m]."""


def judged(function: Step, refused: Any = None) -> str:
    """Check a function at all sizes; returns "refused" or "exported"."""
    try:
        proto = export(function, "f32[2, 3, time=6]", open=("time",))
    except UnsupportedOp as error:
        return "refused" if ".py:" in str(error) else "refused without a line"
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options)
    stated = {entry.key: entry.value for entry in proto.metadata_props}
    least = int(stated.get("size of time", "at least 1").split()[-1])
    for size in SIZES:
        x = numpy.random.default_rng(size).standard_normal((2, 3, size)).astype("f")
        try:
            expected = numpy.asarray(function(tb.asarray(x)))
        except TensorBackendError:
            assert size < least, (size, stated)
        if size < least:
            with pytest.raises(Exception, match="ONNXRuntimeError"):
                session.run(None, {"x": x})
            continue
        if expected.size:
            (found,) = session.run(None, {"x": x})
            assert found.shape == expected.shape, (size, found.shape, expected.shape)
            numpy.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-4, err_msg=f"at size {size}")
    return "exported"


REFUSED = {
    "a threshold of the user's", "a parity of the user's", "a divisor of the user's", "a number of the user's",
    "one size of the user's", "resize", "convolve", "reflected",
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_each_step_is_exported_or_refused(name: str) -> None:
    assert judged(STEPS[name]) == ("refused" if name in REFUSED else "exported")


@settings(profile(DRAWS))
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=2, max_size=4))
def test_a_program_computes_at_every_size_what_the_function_does(names: list[str]) -> None:
    def program(x: Any) -> Any:
        for name in names:
            x = STEPS[name](x)
        return x

    assert judged(program) in ("exported", "refused")  # and so not without a line


@pytest.mark.parametrize("name", ["same max_pool", "same conv, stride 2"])
def test_sizes_after_many_strided_windows(name: str) -> None:
    """The expression of the last size holds that of the first one hundreds of times."""

    def program(x: Any) -> Any:
        for _ in range(5):
            x = STEPS[name](x)
        return x

    assert judged(program) == "exported"


def test_two_axes_may_be_open_and_depend_on_one_another() -> None:
    def function(x: Any, y: Any) -> Any:
        x, y = tb.rename(x, None, None), tb.rename(y, None, None)
        return x @ y.mT, nn.softmax(x @ y.mT, axis=0), tb.reshape(x, (-1,))[: x.shape[0]], tb.var(y, axis=0)

    proto = export(function, "f32[a=3, 4]", "f32[b=5, 4]", open=("a", "b"))
    for first, second in ((1, 1), (2, 2), (4, 9), (9, 4), (1, 3), (40, 1)):
        arrays = [rng.standard_normal((first, 4)).astype("f"), rng.standard_normal((second, 4)).astype("f")]
        check_model(proto, function, arrays, [("a", None), ("b", None)])
    with pytest.raises(UnsupportedOp, match="where a != b"):
        export(lambda x, y: x * 2 if x.shape[0] == y.shape[0] else x, "f32[a=3]", "f32[b=5]", open=("a", "b"))


def test_a_range_of_sizes_is_stated_and_checked_when_the_model_runs() -> None:
    # Vectors to convolve that are short are multiplied in another order.
    for name, size, least in (("convolve", 200, 129), ("reflected", 6, 3)):
        words = r"\(4 \* time\) <= 512" if name == "convolve" else r"open={'time': \(3, None\)}"
        with pytest.raises(UnsupportedOp, match=words):
            export(STEPS[name], f"f32[2, 3, time={size}]", open=("time",))
        proto = export(STEPS[name], f"f32[2, 3, time={size}]", open={"time": (least, None)})
        assert [(e.key, e.value) for e in proto.metadata_props] == [("size of time", f"at least {least}")]
        for size in (least, least + 14):
            check_model(proto, STEPS[name], [rng.standard_normal((2, 3, size)).astype("f")])
        with pytest.raises(Exception, match="out of"):
            onnxruntime.InferenceSession(proto.SerializeToString()).run(None, {"x": numpy.ones((2, 3, least - 1), "f")})
        with pytest.raises(TensorBackendError):
            load(proto)(tb.ones((2, 3, least - 1)))

    def short(x: Any) -> Any:
        return x * 2 if x.shape[0] > 19 else x

    proto = export(short, "f32[time=6]", open={"time": (2, 19)})
    check_model(proto, short, [rng.standard_normal(19).astype("f")])
    assert proto.metadata_props[0].value == "from 2 to 19"
    with pytest.raises(TensorBackendError):
        load(proto)(tb.ones(20))
    for wrong in ({"time": 3}, {"time": (0, 3)}, {"time": (5, 3)}, "time"):
        with pytest.raises(ArgumentError, match="open"):
            export(short, "f32[time=6]", open=wrong)  # type: ignore[arg-type] # what is wrong


def test_what_the_function_refuses_the_model_refuses() -> None:
    proto = export(lambda x: tb.reshape(x[:4], (4,)) * 2, "f32[time=6]", open=("time",))
    assert proto.metadata_props[0].value == "at least 4"
    with pytest.raises(TensorBackendError):
        load(proto)(tb.ones(3))
