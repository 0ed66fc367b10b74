"""Layer, group, RMS and batch normalisation."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, NamesError, ShapeError

BACKENDS = ["binary", "numpy", "jax"]
X = tb.random.normal(tb.random.key(0), (3, 4, 6), names=("batch", "time", "feature")) * 3 + 1
SCALE = tb.random.normal(tb.random.key(1), (6,), names=("feature",))
OFFSET = tb.random.normal(tb.random.key(2), (6,), names=("feature",))


@pytest.mark.parametrize("backend", BACKENDS)
def test_layer_norm(backend: str, whole: Callable[..., Any]) -> None:
    a = np.asarray(X)
    unit = (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5)

    @whole
    def results(x: tb.Tensor, scale: tb.Tensor, offset: tb.Tensor) -> tuple[tb.Tensor, ...]:
        norm = partial(tb.nn.layer_norm, axis="feature")
        turned = norm(tb.permute_dims(x, ("feature", "batch", "time")), scale, offset)
        return norm(x, scale, offset), turned.align_as(x), tb.nn.standardise(x, axis=("time", "feature"))

    normalised, again, standardised = results(*(tensor.backend_copy(backend) for tensor in (X, SCALE, OFFSET)))
    assert normalised.names == X.names
    assert np.allclose(normalised, unit * np.asarray(SCALE) + np.asarray(OFFSET), atol=1e-5)
    assert np.allclose(again, normalised, atol=1e-6)
    assert np.allclose(standardised, jax.nn.standardize(a, axis=(1, 2)), atol=1e-5)


def test_layer_norm_over_several_axes_takes_its_scale_by_name() -> None:
    scale = tb.random.normal(tb.random.key(1), (6, 4), names=("feature", "time"))
    normalised = tb.nn.layer_norm(X, scale, axis=("time", "feature"))
    assert tb.all_close(normalised, tb.nn.standardise(X, axis=("time", "feature")) * scale.align_as(X), atol=1e-6)


def test_gradients_of_layer_norm_are_those_of_its_parts() -> None:
    def by_hand(x: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return centred / jax.numpy.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)

    weight = np.asarray(tb.random.normal(tb.random.key(3), X.shape))
    reference = jax.jit(jax.grad(lambda x: (by_hand(x) * weight).sum()))(np.asarray(X))
    gradient = tb.grad(lambda x: tb.sum(tb.nn.layer_norm(x) * tb.asarray(weight)))(X)
    assert np.allclose(gradient, reference, atol=1e-5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_rms_and_group_norm(backend: str, whole: Callable[..., Any]) -> None:
    a = np.asarray(X)

    @whole
    def results(x: tb.Tensor, scale: tb.Tensor) -> tuple[tb.Tensor, ...]:
        norm = partial(tb.nn.group_norm, groups=2)
        turned = norm(tb.permute_dims(x, (2, 0, 1)), scale, axis="feature", batch="batch")
        return tb.nn.rms_norm(x, scale), norm(x, scale), turned

    rms, grouped, first = results(X.backend_copy(backend), SCALE.backend_copy(backend))
    reference = a / np.sqrt((a**2).mean(-1, keepdims=True) + 1e-6) * np.asarray(SCALE)
    assert np.allclose(rms, reference, atol=1e-5)
    groups = a.reshape(3, 4, 2, 3)
    apart = groups - groups.mean((1, 3), keepdims=True)
    unit = (apart / np.sqrt((apart**2).mean((1, 3), keepdims=True) + 1e-5)).reshape(a.shape)
    assert np.allclose(grouped, unit * np.asarray(SCALE), atol=1e-5)
    assert np.allclose(np.asarray(first).transpose(1, 2, 0), unit * np.asarray(SCALE), atol=1e-5)


def test_narrow_floats_do_not_overflow() -> None:
    x = tb.asarray([300.0, -300.0, 60000.0], dtype="f16")
    for norm in (tb.nn.layer_norm, tb.nn.rms_norm):
        assert tb.all_close(tb.astype(norm(x), "f32"), norm(tb.astype(x, "f32")), atol=2e-3)


def start() -> tb.nn.Statistics:
    return tb.nn.Statistics(tb.zeros(6, names=("feature",)), tb.ones(6, names=("feature",)))


@pytest.mark.parametrize("backend", BACKENDS)
def test_batch_norm_trains_and_is_used(backend: str, whole: Callable[..., Any]) -> None:
    x, a = X.backend_copy(backend), np.asarray(X).reshape(-1, 6)
    statistics = tb.nn.Statistics(*(statistic.backend_copy(backend) for statistic in start()))
    train = whole(partial(tb.nn.batch_norm, training=True, momentum=0.25))
    normalised, after = train(x, statistics=statistics)
    assert np.allclose(np.asarray(normalised).reshape(-1, 6), (a - a.mean(0)) / np.sqrt(a.var(0) + 1e-5), atol=1e-5)
    assert np.allclose(after.mean, 0.25 * a.mean(0), atol=1e-5)
    assert np.allclose(after.variance, 0.75 + 0.25 * a.var(0, ddof=1), atol=1e-4)
    assert after.mean.names == ("feature",)
    used, same = tb.nn.batch_norm(x, statistics=after, training=False, axis="feature")
    reference = (a - np.asarray(after.mean)) / np.sqrt(np.asarray(after.variance) + 1e-5)
    assert np.allclose(np.asarray(used).reshape(-1, 6), reference, atol=1e-5)
    known = np.asarray(after.variance).copy()
    for statistic in after:
        tb.backend_deallocate(statistic)
    assert np.array_equal(same.variance, known)
    assert same.variance.names == ("feature",)


def test_batch_norm_by_a_mask_sees_nothing_beyond_it() -> None:
    mask = (tb.iota(4) < tb.asarray([4, 1, 2])[:, None])[:, :, None]
    spoilt = tb.where(mask, X, float("nan"))
    inside = np.asarray(X)[np.asarray(mask)[..., 0]]
    normalised, after = tb.nn.batch_norm(spoilt, SCALE, statistics=start(), training=True, mask=mask, momentum=1.0)
    assert np.allclose(after.mean, inside.mean(0), atol=1e-5)
    assert np.allclose(after.variance, inside.var(0, ddof=1), rtol=1e-4)
    clean = tb.nn.batch_norm(X, SCALE, statistics=start(), training=True, mask=mask).result
    assert tb.all_close(tb.where(mask, normalised, 0), tb.where(mask, clean, 0))

    def loss(x: tb.Tensor) -> tb.Tensor:
        result = tb.nn.batch_norm(x, SCALE, statistics=start(), training=True, mask=mask).result
        return tb.sum(tb.where(mask, result, 0) ** 3)

    gradient = tb.grad(loss)(spoilt)
    assert not bool(tb.any(tb.isnan(gradient)))
    assert tb.sum(tb.abs(tb.where(mask, 0, gradient))).item() == 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_features_without_elements_keep_their_statistics(backend: str, whole: Callable[..., Any]) -> None:
    begun = tb.backend_copy(tb.nn.Statistics(SCALE, OFFSET), backend)
    train = whole(partial(tb.nn.batch_norm, training=True, axis="feature"))
    result, after = train(X.backend_copy(backend)[:0], statistics=begun)
    assert result.shape == (0, 4, 6)
    assert [part.tolist() for part in after] == [part.tolist() for part in begun]
    mask = tb.asarray([True, False, True, True, False, True], names=("feature",), backend=backend)
    _, after = train(X.backend_copy(backend), statistics=begun, mask=mask)
    for old, new in zip(begun, after, strict=True):
        assert (np.asarray(old.tolist()) == np.asarray(new.tolist())).tolist() == [
            False,
            True,
            False,
            False,
            True,
            False,
        ]


def test_batch_norm_is_compiled_with_its_statistics_as_a_tree() -> None:
    step = tb.jit(lambda x, s: tb.nn.batch_norm(x, statistics=s, training=True))
    normalised, after = step(X, start())
    eager = tb.nn.batch_norm(X, statistics=start(), training=True)
    assert tb.all_close(normalised, eager.result, atol=1e-6)
    assert tb.all_close(after.mean, eager.statistics.mean)


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: tb.nn.layer_norm(X, tb.ones(5)), ShapeError, r"layer_norm: expected a scale of shape \(6,\)"),
    (
        lambda: tb.nn.layer_norm(X, tb.ones(6, names=("unit",))),
        NamesError,
        "layer_norm: expected the same name or None",
    ),
    (
        lambda: tb.nn.group_norm(X, groups=4),
        ArgumentError,
        "group_norm: expected a number of groups that divides the 6",
    ),
    (lambda: tb.nn.group_norm(X, groups=2, batch=-1), ShapeError, "group_norm: expected an axis of features that"),
    (
        lambda: tb.nn.batch_norm(X, statistics=start(), training=True, mask=tb.zeros((2, 1, 1), dtype="bool")),
        ShapeError,
        "batch_norm: expected sizes that are equal or 1",
    ),
    (
        lambda: tb.nn.batch_norm(X, statistics=tb.nn.Statistics(tb.ones(5), tb.ones(6)), training=False),
        ShapeError,
        "batch_norm: expected a running mean of shape",
    ),
]


@pytest.mark.parametrize(("wrong", "error", "text"), WRONG)
def test_what_does_not_fit(wrong: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        wrong()


@pytest.mark.parametrize("backend", ["binary", "numpy"])
def test_narrower_statistics_lose_no_digits(backend: str) -> None:
    x = tb.asarray([[0.25], [-3.75]], dtype="float64", backend=backend)
    kept = tb.nn.Statistics(*(tb.asarray([number], dtype="float32", backend=backend) for number in (1.25, 1.5)))
    result, same = tb.nn.batch_norm(x, statistics=kept, training=False, epsilon=0.001)
    wanted = (np.array([[0.25], [-3.75]]) - 1.25) / np.sqrt(1.501)
    assert np.allclose(result, wanted, rtol=1e-15, atol=0)
    assert same.mean.dtype is tb.float32


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("dtype", "size"), [("f16", 65504.0), ("f16", 2.0**-20), ("bf16", 1e18), ("f32", 1e18)])
def test_results_over_the_range_that_is_documented(backend: str, dtype: str, size: float) -> None:
    limits = tb.finfo(dtype)
    x = tb.asarray(np.array([[-1.0, 1.0, 0.75, -0.5]]) * size, dtype=dtype, backend=backend)
    a = np.asarray(x.astype("f64"))
    centred, deviation = a - a.mean(), a.std()
    for got, wanted in (
        (tb.nn.standardise(x), centred / np.sqrt(deviation**2 + 1e-5)),
        (tb.nn.layer_norm(x), centred / np.sqrt(deviation**2 + 1e-5)),
        (tb.nn.group_norm(x, groups=1), centred / np.sqrt(deviation**2 + 1e-5)),
        (tb.nn.rms_norm(x), a / np.sqrt(np.mean(a**2) + 1e-6)),
        (tb.std(x), deviation),
    ):
        allowed = 8 * limits.eps * np.max(abs(wanted)) + limits.smallest_normal * limits.eps
        assert np.max(abs(np.asarray(got.astype("f64")) - wanted)) <= allowed


@pytest.mark.parametrize("axis", [(2, 0), (0, 2), ("feature", "batch")])
def test_the_order_in_which_axes_are_given_does_not_matter(axis: tuple[int | str, int | str]) -> None:
    x, draw = np.asarray(X).astype("f8"), np.random.default_rng(0)
    scale = draw.normal(size=(6, 3))
    expected = x / np.sqrt((x * x).mean((0, 2), keepdims=True) + 1e-6) * scale.T[:, None, :]
    named = tb.asarray(scale, names=("feature", "batch"))
    places = tuple(X.names.index(each) if isinstance(each, str) else each for each in axis)
    unnamed = X.rename(*(None,) * 3)
    assert np.allclose(tb.nn.rms_norm(X, named, axis=axis), expected, atol=1e-5)
    assert np.allclose(tb.nn.rms_norm(unnamed, scale.T, axis=places), expected, atol=1e-5)
    assert np.allclose(
        tb.nn.layer_norm(unnamed, scale.T, axis=places), tb.nn.layer_norm(X, named, axis=axis), atol=1e-5
    )
