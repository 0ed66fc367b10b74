"""Tests of what is remembered, and how it is shown and forgotten."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.caching import memos
from tensorbackend.solvers import solve


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> memos.BoundedMemo[Any]:
    """A memo of at most three entries, which is not entered among those of the library."""
    monkeypatch.setattr(memos, "_sources", {})
    return memos.BoundedMemo("things", 3)


def test_a_full_memo_drops_its_oldest_entry(kept: memos.BoundedMemo[Any]) -> None:
    for number in range(5):
        assert kept.keep(number, str(number)) == str(number)
        assert len(kept) <= 3
    assert dict(kept) == {2: "2", 3: "3", 4: "4"}


def test_an_entry_of_another_thread_stays(kept: memos.BoundedMemo[Any]) -> None:
    first, second = object(), object()
    assert kept.keep("key", first) is first
    assert kept.keep("key", second) is first


def test_a_memo_is_shown_and_cleared_under_its_name(kept: memos.BoundedMemo[Any]) -> None:
    kept.keep("key", 1)
    assert list(map(str, tb.caches())) == ["things: 1 of 3"]
    tb.clear_caches()
    assert tb.caches() == (tb.Cache("things", 0, 3),)


def test_the_library_works_after_it_forgot_everything() -> None:
    x = tb.asarray(np.asarray([0.5, 2.0]), backend="numpy")
    compiled = tb.jit(lambda x: tb.softmax(x) * 2)
    expected = 2 * np.exp(np.asarray(x)) / np.exp(np.asarray(x)).sum()
    for _ in range(3):
        np.testing.assert_allclose(compiled(x), expected)
        np.testing.assert_allclose(tb.softmax(x) * 2, expected)
        np.testing.assert_allclose(tb.grad(lambda x: tb.sum(x * x))(x), [1.0, 4.0])
        shown = {cache.name: cache for cache in tb.caches()}
        for name in ("calls that are ready", "kernels of backends", "compilations of jit", "programs of gradients"):
            assert 0 < shown[name].entries <= (shown[name].limit or 0)
        tb.clear_caches()
        assert {cache.name for cache in tb.caches() if cache.entries} <= {"templates in use"}


def test_sparse_matrices_solvers_and_the_reference_show_what_they_remember() -> None:
    tb.clear_caches()
    dense = np.asarray([[4.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 2.0]])
    matrix = tb.sparse.from_dense(tb.asarray(dense, backend="jax"))
    right = tb.asarray(np.asarray([1.0, 2.0, 3.0]), backend="jax")
    np.testing.assert_allclose(matrix @ right, dense @ [1.0, 2.0, 3.0], rtol=1e-6)
    solved = solve(matrix, right, "cg")
    np.testing.assert_allclose(solved.x, np.linalg.solve(dense, [1.0, 2.0, 3.0]), rtol=1e-4)
    tb.fft.fft(tb.astype(tb.asarray([1, 2, 3], backend="binary"), "complex64"))
    shown = {cache.name: cache.entries for cache in tb.caches()}
    for name in (
        "templates of sparse matrices",
        "templates of sparse products",
        "structures of sparse matrices",
        "kernels of BinaryBackend",
        "roots of unity of BinaryBackend",
    ):
        assert shown[name] > 0, name
    tb.clear_caches()
    assert {cache.name for cache in tb.caches() if cache.entries} <= {"templates in use"}
    np.testing.assert_allclose(solve(matrix, right, "cg").x, solved.x)
