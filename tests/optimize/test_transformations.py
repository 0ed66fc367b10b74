"""Transformations of gradients, against optax, and schedules."""

from __future__ import annotations

import inspect
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend import optimize
from tensorbackend.errors import ArgumentError
from tensorbackend.expr.trees import flatten
from tensorbackend.testing import profile

STEPS: dict[str, Any] = {
    "sgd": lambda o: o.sgd(0.1),
    "momentum": lambda o: o.sgd(0.1, momentum=0.9),
    "nesterov": lambda o: o.sgd(0.1, momentum=0.9, nesterov=True),
    "adam": lambda o: o.adam(0.1),
    "clipped": lambda o: o.chain(o.clip_by_global_norm(0.5), o.adam(0.1)),
}


def loss(x: Any) -> Any:
    return tb.sum(x["a"] ** 2) + tb.sum((x["b"][0] - 1.0) ** 2) / 2


@pytest.mark.parametrize("name", [*STEPS, "adamw", "schedule"])
@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
def test_steps_lead_to_the_minimum(backend: str, name: str) -> None:
    if name == "adamw":
        steps = optimize.adamw(0.1, decay=1e-4)
    elif name == "schedule":
        steps = optimize.adam(optimize.warmup(optimize.cosine_decay(0.2, 150), 10))
    else:
        steps = STEPS[name](optimize)
    x = {"a": tb.asarray([0.7, -0.4], names=("n",), backend=backend), "b": (tb.asarray(0.2, backend=backend),)}
    state = steps.init(x)

    @tb.jit
    def step(x: Any, state: Any) -> Any:
        updates, state = steps.update(tb.grad(loss)(x), state, x)
        return optimize.apply_updates(x, updates), state

    # Compiled, and as the body of a compiled loop.
    x, state = step(x, state)
    x, state = tb.jit(lambda x, state: tb.fori_loop(0, 180, lambda i, carry: step(*carry), (x, state)))(x, state)
    assert float(loss(x)) < 1e-2
    assert (x["a"].names, x["a"].dtype, x["a"].backend.name) == (("n",), tb.float32, backend)


@pytest.mark.parametrize("backend", ["binary", "jax"])
def test_they_run_call_by_call_where_the_tensors_are(backend: str) -> None:
    x = {"a": tb.asarray([3.0], backend=backend), "b": tb.asarray([[4.0]], backend=backend)}
    assert optimize.global_norm(x).item() == 5.0
    assert optimize.global_norm([x["a"], 4.0]).backend.name == backend
    assert optimize.global_norm(()).item() == 0.0
    steps = optimize.chain(optimize.clip_by_global_norm(1.0), optimize.sgd(0.5, momentum=0.9))
    updates, _ = steps.update(x, steps.init(x), x)
    numpy.testing.assert_allclose(numpy.asarray(updates["b"]), [[-0.4]], rtol=1e-6)
    assert optimize.apply_updates(x, {"a": 1.0, "b": 2})["a"].tolist() == [4.0]


@pytest.mark.parametrize("name", STEPS)
def test_they_are_the_steps_of_optax(name: str) -> None:
    import optax

    ours, theirs = STEPS[name](optimize), STEPS[name](optax)
    x = tb.asarray([0.7, -0.4], backend="jax")
    state, other = ours.init(x), theirs.init(x.data)
    for scale in (1.0, -2.0, 0.5):
        updates, state = ours.update(x * scale, state, x)
        expected_updates, other = theirs.update(x.data * scale, other, x.data)
        # optax computes 1 - 0.999**n in float32, which leaves four digits.
        numpy.testing.assert_allclose(numpy.asarray(updates), numpy.asarray(expected_updates), rtol=3e-5)


# Gradients whose squares a narrow dtype does not hold, or whose size its epsilon does not reach.
HARD = {
    "f16": [[1e-4, 3e-4], [0.0, 1.0], [300.0, 1.0], [6e4, 6e-8]],
    "bf16": [[0.5, -0.5], [0.0, 1.0], [1e-30, 1e18]],
    "f32": [[1e-30, 1e18], [0.0, 1e-30], [1e-4, 3e-4], [1e-40, 1.0]],
    "f64": [[1e-30, 1e30], [0.0, 1e150]],
}


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
@pytest.mark.parametrize("dtype", HARD)
def test_the_first_step_of_adam_is_the_sign(dtype: str, backend: str) -> None:
    for values in HARD[dtype]:
        g = tb.asarray(values, dtype=dtype, backend=backend)
        exact = numpy.asarray(g.astype("f64"))
        wanted = -1e-3 * exact / (numpy.abs(exact) + 1e-8)
        if backend == "jax":  # XLA may flush subnormals
            wanted[numpy.abs(exact) < 2e-38] = 0
        for steps in (optimize.adam(1e-3), optimize.adamw(1e-3, decay=0.0)):
            update, _ = steps.update(g, steps.init(g), g)
            assert update.template is g.template
            numpy.testing.assert_allclose(
                numpy.asarray(update.astype("f64")),
                wanted,
                rtol=tb.finfo(g.dtype).eps * 2,
                atol=6e-8 if dtype == "f16" else 1e-37,
            )


def test_bfloat16_learns_as_float32_does() -> None:
    x = {"w": tb.asarray([1.0, -2.0], dtype="bf16")}
    steps = optimize.adam(1e-2)
    state = steps.init(x)
    for _ in range(3):
        updates, state = steps.update({"w": tb.asarray([0.5, -0.5], dtype="bf16")}, state, x)
        x = optimize.apply_updates(x, updates)
    assert x["w"].tolist() == [0.96484375, -1.9765625]  # as optax 0.2.8 and PyTorch 2.13


@pytest.mark.parametrize(
    ("steps", "second"),
    [(optimize.adam(0.5), -0.5), (optimize.sgd(0.5, momentum=0.9), -1.0), (optimize.sgd(0.5), -1.0)],
)
def test_nan_stays_where_it_is(steps: Any, second: float) -> None:
    g = tb.asarray([float("nan"), 2.0])
    update = steps.update(g, steps.init(g), g)[0]
    assert (tb.isnan(update).tolist(), update[1].item()) == ([True, False], pytest.approx(second))


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
@pytest.mark.parametrize(
    ("dtype", "values", "norm"),
    [
        ("f16", [400.0, 691.0], 798.4241),
        ("f16", [6e4, 6e4], 84852.81),
        ("f16", [3e-5, 4e-5], 4.9984457e-05),
        ("f32", [1e20, 0.0], 1e20),
        ("f32", [3e-30, 4e-30], 5e-30),
        ("f64", [3e200, 4e200], 5e200),
        ("bf16", [0.0, 0.0], 0.0),
        ("c64", [3e20, 4e20j], 5e20),
    ],
)
def test_norms_neither_overflow_nor_underflow(dtype: str, values: list[Any], norm: float, backend: str) -> None:
    g = tb.asarray(values, dtype=dtype, backend=backend)
    result = optimize.global_norm([g, g[:0]])
    assert result.item() == pytest.approx(norm, rel=1e-4)
    assert result.dtype is (tb.float64 if dtype == "f64" else tb.float32)
    most = norm / 2 or 1.0
    (clipped,), _ = optimize.clip_by_global_norm(most).update([g], ())
    exact = numpy.asarray(g.astype("c128"))
    numpy.testing.assert_allclose(
        numpy.asarray(clipped.astype("c128")), exact / 2, rtol=2e-3, atol=6e-8 if dtype == "f16" else 0
    )
    assert optimize.clip_by_global_norm(2 * norm or 1.0).update([g], ())[0][0].tolist() == g.tolist()


def test_the_greatest_numbers_are_clipped_together() -> None:
    g = tb.asarray([3e38, -3e38])
    numpy.testing.assert_allclose(
        optimize.clip_by_global_norm(1.0).update(g, ())[0], [0.5**0.5, -(0.5**0.5)], rtol=1e-6
    )
    assert not any(
        x == x for x in optimize.clip_by_global_norm(1.0).update(tb.asarray([float("nan"), 1.0]), ())[0].tolist()
    )


def test_an_update_is_rounded_once() -> None:
    g = tb.asarray([6e4], dtype="f16")
    small = tb.asarray(6e-4, dtype="f16").item()
    assert optimize.scale(1e-8).update(g, ())[0].tolist() == [small]
    by_rate = optimize.scale_by_rate(lambda steps: tb.asarray(1e-8))
    assert by_rate.update(g, by_rate.init(g))[0].tolist() == [-small]
    x, one = tb.asarray([1.0078125], dtype="bf16"), tb.asarray([1.0], dtype="bf16")
    exact = 1.0 + 0.0038 * 1.0078125
    wanted = tb.asarray([exact], dtype="f64").astype("bf16").tolist()
    assert optimize.add_decayed_weights(0.0038).update(one, (), x)[0].tolist() == wanted


WIDE = {"f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64", "c64": "c64", "c128": "c128"}


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("name", ["adamw", "sgd"])
def test_states_keep_their_templates_and_are_at_least_float32(name: str, dtype: str) -> None:
    rate = optimize.warmup(optimize.cosine_decay(0.1, 10), 3)
    steps = optimize.adamw(rate) if name == "adamw" else optimize.sgd(rate, momentum=0.9, nesterov=True)
    x = {"x": tb.ones((2,), dtype=dtype, names=("n",))}
    state: Any = steps.init(x)
    sums = state[0].first if name == "adamw" else state[0].momentum
    assert sums["x"].dtype.alias == WIDE[dtype]

    def step(i: Any, carry: Any) -> Any:
        x, state = carry
        updates, state = steps.update(x, state, x)
        return optimize.apply_updates(x, updates), state

    last = tb.fori_loop(0, 3, step, (x, state))
    assert [leaf.template for leaf in flatten(last)[0]] == [leaf.template for leaf in flatten((x, state))[0]]
    assert bool(tb.all(tb.abs(last[0]["x"]) < 1))


def test_a_complex_parameter_descends_along_conjugates() -> None:
    x, steps = tb.asarray([3 + 4j]), optimize.adam(0.1)
    state = steps.init(x)
    for _ in range(200):
        gradient = tb.conj(tb.grad(lambda x: tb.sum(tb.abs(x - (1 - 1j)) ** 2))(x))
        updates, state = steps.update(gradient, state, x)
        x = optimize.apply_updates(x, updates)
    assert abs(x.item() - (1 - 1j)) < 0.05


def test_the_count_of_steps_does_not_wrap() -> None:
    last = tb.asarray(2**31 - 1, dtype="s32")
    g = tb.ones(1)
    rate = optimize.scale_by_rate(lambda steps: tb.astype(steps, "f32"))
    assert rate.update(g, rate.init(g)._replace(steps=last))[1].steps.item() == 2**31 - 1
    adam = optimize.scale_by_adam()
    update, state = adam.update(g, adam.init(g)._replace(steps=last))
    assert (state.steps.item(), numpy.isfinite(update.item())) == (2**31 - 1, True)


@pytest.mark.parametrize("dtype", ["u8", "s8", "s16", "u16", "s32", "u32", "s64", "u64", "f16", "f32", "f64"])
def test_schedules_take_counts_of_any_dtype(dtype: str) -> None:
    late = optimize.warmup(optimize.cosine_decay(0.5, 100), 300)
    for count in (0, 5, 100):
        at = tb.asarray(count, dtype=dtype)
        assert late(at).item() == pytest.approx(0.5 * count / 300, rel=1e-5)
        assert optimize.exponential_decay(0.5, 10, 0.25)(at).item() == pytest.approx(
            0.5 * 0.25 ** (count / 10), rel=1e-5
        )
        falling = 0.25 * (1 + numpy.cos(numpy.pi * count / 200))
        assert optimize.cosine_decay(0.5, 200)(at).item() == pytest.approx(falling, rel=1e-5)
    with tb.precision(16):
        assert optimize.cosine_decay(0.5, 200_000)(tb.asarray(100_000)).item() == pytest.approx(0.25, rel=1e-4)


def test_moments_by_hand() -> None:
    g, x = tb.asarray([3.0, 4.0], dtype="f64"), tb.asarray([1.0, 2.0], dtype="f64")
    adam = optimize.scale_by_adam(b1=0.5, b2=0.75, epsilon=0.0)
    state = adam.init(x)
    _, state = adam.update(g, state)
    update, state = adam.update(2 * g, state)
    mean, square = 0.25 * 3 + 0.5 * 6, 0.1875 * 9 + 0.25 * 36
    assert (state.first[0].item(), state.second[0].item()) == pytest.approx((mean, square))
    assert update[0].item() == pytest.approx(mean / 0.75 / (square / 0.4375) ** 0.5)
    assert state.steps.item() == 2
    assert optimize.clip_by_global_norm(5.0).update(g, ())[0].tolist() == [3.0, 4.0]
    assert optimize.clip_by_global_norm(1.0).update(g * 0, ())[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: optimize.adam(0.1, b1=1.0), "expected b1 from 0 to below 1, got b1=1.0"),
        (lambda: optimize.clip_by_global_norm(0.0), "expected a norm above 0, got most=0.0"),
        (lambda: optimize.cosine_decay(0.1, 0), "expected at least 1 step, got steps=0"),
    ],
)
def test_mistakes(make: Any, text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        make()


def _made(name: str) -> Any:
    """A transformation that a function of `optimize` makes from a rate or from nothing; None if it makes none."""
    for arguments in ((0.1,), ()):
        try:
            made = getattr(optimize, name)(*arguments)
        except TypeError:  # it takes other arguments
            continue
        if isinstance(made, optimize.GradientTransformation):
            return made
    return None


MADE = {
    name: made
    for name in sorted(vars(optimize))
    if name[0].islower() and callable(getattr(optimize, name)) and (made := _made(name)) is not None
}


@pytest.mark.parametrize("name", MADE)
def test_numbers_and_arrays_are_parameters(name: str) -> None:
    def steps(x: Any) -> list[float]:
        state = MADE[name].init(x)
        for _ in range(3):
            updates, state = MADE[name].update(tb.grad(lambda x: x["a"] ** 2 + x["b"] * x["a"])(x), state, x)
            x = optimize.apply_updates(x, updates)
        return [float(x["a"]), float(x["b"])]

    expected = steps({"a": tb.asarray(3.0), "b": tb.asarray(-1.0)})
    for kind in (float, numpy.float32, lambda x: numpy.array(x, "f4")):
        numpy.testing.assert_allclose(steps({"a": kind(3.0), "b": kind(-1.0)}), expected, rtol=1e-6)


def test_most_transformations_are_tried_with_numbers() -> None:
    assert {"sgd", "adam", "adamw", "adafactor", "lion", "rmsprop", "scale_by_adam", "trace"} <= MADE.keys()


# What needs more than defaults: an argument for each parameter without one.
SHAPES = st.lists(st.integers(1, 4), max_size=3).map(tuple)
DTYPES = st.sampled_from(["f32", "bf16", "f64", "c64"])
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "accumulate": (optimize.adam(1e-3), 2),
    "chain": (optimize.clip_by_global_norm(1.0), optimize.adamw(1e-3)),
    "scale_loss": (optimize.sgd(0.1, momentum=0.9),),
}
TRANSFORMATIONS = [
    name
    for name, function in vars(optimize).items()
    if inspect.isfunction(function)
    and str(inspect.signature(function).return_annotation).endswith("GradientTransformation")
]


def test_each_transformation_is_drawn() -> None:
    assert len(TRANSFORMATIONS) >= 15, TRANSFORMATIONS


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_a_state_is_made_of_templates(name: str) -> None:
    """The first state of templates has the templates of the first state of tensors, whatever the parameters are."""
    make = getattr(optimize, name)
    required = [x for x in inspect.signature(make).parameters.values() if x.default is x.empty]
    transformation = make(*ARGUMENTS.get(name, (0.5,) * len(required)))

    @profile(10)
    @given(st.dictionaries(st.sampled_from("abc"), st.tuples(SHAPES, DTYPES), min_size=1))
    def check(drawn: dict[str, tuple[tuple[int, ...], str]]) -> None:
        tensors: Any = {key: tb.zeros(shape, dtype=dtype) for key, (shape, dtype) in drawn.items()}
        wanted = tb.tree_map(lambda x: x.template, transformation.init(tensors))
        objects = {key: x.template for key, x in tensors.items()}
        texts = {key: f"{dtype}[{', '.join(map(str, shape))}]" for key, (shape, dtype) in drawn.items()}
        for parameters in (objects, texts):
            assert transformation.init(parameters) == wanted

    check()
