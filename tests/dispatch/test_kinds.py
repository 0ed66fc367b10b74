"""Plans by kind: which calls they serve, and that these calls are as those of exact plans."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.caching.memos import POLICY
from tensorbackend.dispatch import kinds, watching
from tensorbackend.dispatch.path import FullPath
from tensorbackend.errors import ShapeError, TensorBackendError
from tensorbackend.protocol import Kernel, planned
from tensorbackend.template import Template
from tensorbackend.tensor import Tensor

from ..threads import call_in_threads


def path_of(name: str) -> FullPath:
    """The full path of an op."""
    (path,) = (place for place in watching._places if isinstance(place, FullPath) and place.spec.name == name)
    return path


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    watching.forget()
    yield
    watching.forget()


def row(size: int, **options: Any) -> Tensor:
    return tb.asarray(np.arange(size, dtype=np.float32), **options)


def plans(name: str) -> list[kinds.KindPlan]:
    return [plan for plans in path_of(name).kinds.values() for plan in plans]


CALLS: dict[str, Callable[[int], tuple[Any, Any]]] = {
    "exp": lambda n: (tb.exp(row(n)), np.exp(np.arange(n, dtype=np.float32))),
    "add": lambda n: (row(n) + row(n), 2 * np.arange(n, dtype=np.float32)),
    "multiply": lambda n: (2.5 * row(n), np.float32(2.5) * np.arange(n, dtype=np.float32)),
    "where": lambda n: (tb.where(row(n) > 2, row(n), 7.0), np.where(np.arange(n) > 2, np.arange(n), 7)),
    "sum": lambda n: (tb.sum(row(n), axis=0), np.arange(n, dtype=np.float32).sum()),
    "reshape": lambda n: (tb.reshape(row(n), (1, n, 1)), np.arange(n).reshape(1, n, 1)),
    "zeros": lambda n: (tb.zeros((n, 2)), np.zeros((n, 2))),
    "concatenate": lambda n: (tb.concatenate([row(n), row(3)]), np.r_[np.arange(n), np.arange(3)]),
    "logsumexp": lambda n: (tb.logsumexp(row(n)), np.log(np.exp(np.arange(n, dtype=np.float64)).sum())),
    "stack": lambda n: (tb.stack([row(n), row(n)]), np.stack([np.arange(n)] * 2)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_third_shape_is_planned_for_all(name: str) -> None:
    for size in (4, 5, 6):
        CALLS[name](size)
    (plan,) = plans(name)
    before = sum(plan.met.values())
    for size in (7, 8, 9, 30):
        result, wanted = CALLS[name](size)
        np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-6)
        assert result.shape == wanted.shape
    assert sum(plan.met.values()) == before + 4
    assert len(plans(name)) == 1


def test_a_size_with_another_answer_gets_a_plan_of_its_own() -> None:
    for size in (4, 5, 6, 7):
        row(3) + row(3)
        assert (tb.ones((size, 1)) + tb.ones(size)).shape == (size, size)
    assert (tb.ones((1, 1)) + tb.ones(5)).shape == (1, 5)
    assert (tb.ones((0, 1)) + tb.ones(5)).shape == (0, 5)
    with pytest.raises(ShapeError, match=r"add: expected sizes that are equal or 1 along matching axes"):
        tb.ones((3, 4)) + tb.ones(5)


def test_errors_come_before_data_is_touched_and_in_the_same_words() -> None:
    for size in (4, 5, 6, 7):
        tb.matmul(tb.ones((2, size)), tb.ones((size, 3)))
    with pytest.raises(ShapeError) as known:
        tb.matmul(tb.ones((2, 8)), tb.ones((9, 3)))
    watching.forget()
    with pytest.raises(ShapeError) as exact:
        tb.matmul(tb.ones((2, 8)), tb.ones((9, 3)))
    assert str(known.value) == str(exact.value)


def test_names_precision_numbers_and_options_are_of_other_kinds() -> None:
    for size in (4, 5, 6, 7):
        assert (row(size) * 2).dtype is tb.float32
        assert tb.sum(tb.ones((size, 2)), axis=0).shape == (2,)
    assert (row(8, names=("n",)) * 2).names == ("n",)
    assert (row(8) * True).tolist() == row(8).tolist()
    assert tb.sum(tb.ones((8, 2)), axis=1).shape == (8,)
    assert tb.sum(tb.ones((8, 2)), axis=0, keepdims=True).shape == (1, 2)
    for size in (4, 5, 6, 7):
        assert tb.exp(tb.ones(size, dtype="s32")).dtype is tb.float32
    with tb.precision(64):
        assert tb.exp(tb.ones(9, dtype="s32")).dtype is tb.float64
    with tb.precision(64, cast=True):
        assert (row(9) * 2).dtype is tb.float64


@pytest.mark.parametrize("name", CALLS)
def test_a_shape_that_is_met_often_is_ready(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for size in (4, 5, 6, 7):
        CALLS[name](size)
    path, (plan,) = path_of(name), plans(name)
    monkeypatch.setattr(path, "decide", None)  # no exact plan is made
    ready = len(path.calls)
    for times in range(1, POLICY.calls_before_exact + 3):
        result, wanted = CALLS[name](50)
        np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-6)
        if times == POLICY.calls_before_exact + 1:
            assert len(path.calls) == ready + 1
            monkeypatch.setattr(plan, "record", None)


def test_a_call_that_is_ready_by_kind_knows_its_subject() -> None:
    for size in (4, 5, 6, 7, *[50] * (POLICY.calls_before_exact + 1)):
        tb.reshape(row(size), (1, size, 1))
    out = Template((1, 50, 1), "f32")
    (ready,) = [known[-1] for known in path_of("reshape").calls.entries.values() if known[0] is out]
    subject = ready.subject
    assert subject is not None
    assert (subject.name, subject.out, subject.inputs) == ("reshape", out, (row(50).template,))


def test_what_is_counted_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "POLICY", POLICY._replace(shapes_counted=10))
    for size in range(3, 60):
        tb.exp(row(size))
    (plan,) = plans("exp")
    assert len(plan.met) <= 10


def test_no_plan_holds_data() -> None:
    references = []
    for size in range(3, 9):
        x = row(size)
        references.append(weakref.ref(x.data))
        tb.exp(x)
        del x
    gc.collect()
    assert all(reference() is None for reference in references)


class Sized(NumpyBackend):
    """Its planner bakes a size in, in a place where it is not looked for."""

    name = "numpy"

    class Kept:
        def __init__(self, size: int) -> None:
            self.size = size

    @planned
    def negate(self, out: Template, x: Template, /) -> Kernel:
        """Uses the size only when it runs."""
        kept = self.Kept(out.shape[0])
        return lambda values: -values if values.size == kept.size else 1 / 0


def test_a_kernel_that_keeps_a_size_elsewhere_is_planned_for_each_shape() -> None:
    backend = Sized()
    for size in range(3, 12):
        assert tb.negative(row(size, backend=backend)).tolist() == (-np.arange(size)).tolist()
    given_up = [plan for plan in plans("negative") if plan.backend is backend]
    assert [plan.kernel for plan in given_up] == [None]


class Lazy(NumpyBackend):
    """Its planner returns a result of the example's shape, whatever it is given."""

    name = "numpy"

    @planned
    def negate(self, out: Template, x: Template, /) -> Kernel:
        """Wrong for every other shape: the size is read as a number that is not a size any more."""
        length = next(size for size in range(100) if size == out.shape[0])
        return lambda values: -values[:length]


def test_a_size_that_is_found_out_is_a_guard() -> None:
    backend = Lazy()
    for size in range(3, 20):
        assert tb.negative(row(size, backend=backend)).tolist() == (-np.arange(size)).tolist()


def test_templates_are_planned_by_kind_too() -> None:
    for size in (4, 5, 6, 7, 8):
        out = tb.softmax(tb.template((size, 3), "f32") @ tb.template((3, 5), "f32"), axis=1)
        assert out.template is Template((size, 5), "f32")
    (plan,) = plans("softmax")
    assert plan.backend.template_only


@pytest.mark.parametrize("name", sorted({"exp", "add", "multiply", "where", "sum", "reshape", "zeros", "stack"}))
def test_results_are_compared_with_their_templates_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "CHECKED", False)
    for size in (4, 5, 6, 7):
        CALLS[name](size)
    assert [plan.proven for plan in plans(name)] == [True]


def test_templates_are_never_compared_with_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "CHECKED", False)
    trials: list[Any] = []
    monkeypatch.setattr(kinds.KindPlan, "trial", lambda *arguments: trials.append(arguments))
    for size in (4, 5, 6, 7, 8, 9):
        x = tb.template((size, 3), "f32")
        assert tb.softmax(tb.tanh(x + 1) @ tb.template((3, 5), "f32"), axis=1).shape == (size, 5)
    assert [plan.proven for name in ("add", "tanh", "matmul", "softmax") for plan in plans(name)] == [True] * 4
    assert not trials


def test_threads_share_plans() -> None:
    for size in (4, 5, 6):
        tb.exp(row(size))

    def run(start: int) -> None:
        for size in range(start, start + 300):
            assert tb.exp(row(size)).shape == (size,)

    call_in_threads(run, 7, 100, 200, 300)


def test_a_profile_sees_new_shapes() -> None:
    for size in (4, 5, 6, 7):
        tb.exp(row(size))
    with tb.profile() as report:
        for size in (8, 9, 10, 11):
            tb.exp(row(size))
    assert sum(span.name == "exp" for span in report.spans) == 4
    assert tb.exp(row(12)).shape == (12,)


def test_numbers_alone_follow_the_default_backend() -> None:
    """Numbers have no backend of their own, so that no plan may keep the one that was the default."""
    for _ in range(POLICY.shapes_before_symbolic + POLICY.calls_before_exact + 2):
        assert tb.add(1, 2).backend.name == "numpy"
        assert tb.where(True, 1, 2).backend.name == "numpy"
    with tb.default_backend("binary"):
        assert tb.add(1, 2).backend.name == "binary"
        assert tb.where(True, 1, 2).backend.name == "binary"


def test_a_result_of_the_default_precision_is_planned_by_kind_too() -> None:
    for size in range(3, 12):
        assert tb.exp(tb.zeros(size, dtype="s32")).tolist() == [1.0] * size
    (plan,) = plans("exp")
    assert len(plan.met) == 12 - 3 - POLICY.shapes_before_symbolic - 1


TAKING_SIZES: dict[str, Callable[[Any], Any]] = {
    "ones": lambda size: tb.ones((2, size)),
    "full": lambda size: tb.full((size, 2), 1.0),
    "iota": lambda size: tb.iota((2, size)),
    "reshape": lambda size: tb.reshape(tb.ones(12), (2, size)),
    "broadcast_to": lambda size: tb.broadcast_to(tb.ones(1), (2, size)),
    "expand": lambda size: tb.random.uniform(tb.random.key(0), (2, size)),
    "eye": lambda size: tb.eye(2, size),
    "linspace": lambda size: tb.linspace(0, 1, size),
    "roll": lambda size: tb.roll(tb.ones(5), size),
    "repeat": lambda size: tb.repeat(tb.ones(5), size),
    "tile": lambda size: tb.tile(tb.ones(5), (2, size)),
    "pad": lambda size: tb.pad(tb.ones(5), (1, size)),
    "slice": lambda size: tb.ones(5)[:size],
    "top_k": lambda size: tb.top_k(tb.ones(9), size),
}


@pytest.mark.parametrize("name", TAKING_SIZES)
def test_an_error_of_a_wrong_size_is_the_same_after_many_sizes(name: str) -> None:
    call = TAKING_SIZES[name]

    def texts() -> list[str]:
        errors = []
        for wrong in ("t", 2.5, None, (1,), object, -7, True):
            try:
                call(wrong)
            except Exception as error:
                errors.append(f"{type(error).__name__}: {error}")
            else:
                errors.append("")
        return errors

    tb.clear_caches()
    expected = texts()
    for size in range(1, 9):
        for _ in range(6):
            with suppress(TensorBackendError):  # the size does not fit
                call(size)
    assert texts() == expected
