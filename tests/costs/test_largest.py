"""The largest size that fits, next to a search one by one."""

from __future__ import annotations

import pytest

import tensorbackend as tb
from tensorbackend.costs.largest import search
from tensorbackend.errors import ArgumentError, ShapeError


def loss(w: tb.Tensor, x: tb.Tensor) -> tb.Tensor:
    return tb.mean((x @ w) ** 2)


@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.parametrize("optimised", [False, True])
def test_one_more_does_not_fit(gradient: bool, optimised: bool) -> None:
    found = tb.largest_size(loss, "f32[8, 3]", "f32[?, 8]", fits="9kB", gradient=gradient, optimised=optimised)
    for size, fits in ((found, True), (found + 1, False)):
        report = tb.dry_run(loss, "f32[8, 3]", f"f32[{size}, 8]", gradient=gradient)
        assert report.fits("9kB", optimised=optimised) is fits


def test_a_size_may_stand_in_several_places_and_in_containers() -> None:
    def distance(pair: dict[str, tb.Tensor], *, scale: float) -> tb.Tensor:
        return tb.sum((pair["x"] - pair["y"]) ** 2) * scale

    found = tb.largest_size(distance, {"x": "f32[n=?]", "y": "f32[n=?]"}, fits=4000, scale=2.0, gradient=True)
    assert 100 < found < 500
    assert tb.largest_size(distance, {"x": "f32[n=?]", "y": "f32[n=?]"}, fits=3, scale=2.0) == 0


def test_a_program_that_needs_some_samples() -> None:
    def frames(x: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.reshape(x, (x.shape[0] // 8, 8)) ** 2)

    tried: list[str] = []
    assert search(lambda size: tb.dry_run(frames, f"f32[{size}]").fits(2000), tried.append)[1] == 8
    assert tried[:4] == ["size 1 does not run", "size 2 does not run", "size 4 does not run", "size 8 fits"]
    found = tb.largest_size(frames, "f32[?]", fits=2000)
    assert found % 8 == 0
    assert not tb.dry_run(frames, f"f32[{found + 8}]").fits(2000)


def test_errors() -> None:
    with pytest.raises(
        ArgumentError, match=r"^largest_size: expected a size of \? in a template, got templates=\('f32"
    ):
        tb.largest_size(tb.sum, "f32[3]", fits="1GB")
    with pytest.raises(ShapeError, match=r"^matmul: "):  # the error of a program that runs for no size
        tb.largest_size(lambda x: x @ tb.ones((3, 3)), "f32[?, 2]", fits="1GB")

    def odd(x: tb.Tensor) -> tb.Tensor:
        return x if x.size <= 700 else tb.ones((2, 2)) @ tb.ones((3, 3))

    with pytest.raises(ShapeError) as caught:
        tb.largest_size(odd, "f32[?]", fits="1GB")
    assert caught.value.__notes__[-1] == "the open size was 1024"
