"""The search that tries layouts and ranks them."""

from __future__ import annotations

from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError

MESH = tb.Mesh({"data": 4, "model": 2})


def loss(w: tb.Tensor, x: tb.Tensor) -> tb.Tensor:
    return tb.mean(tb.square(tb.dot(x, w, contract=(["feature"], ["feature"]))))


W, X = "f32[feature=512, unit=512]", "f32[batch=65536, feature=512]"


def search(**options: Any) -> Any:
    return tb.search_layouts(loss, W, X, **{"mesh": MESH, "names": ["batch", "unit"], "gradient": True, **options})


def test_each_name_is_tried_on_each_axis_and_on_none() -> None:
    layouts = search()
    assert {tuple(cost.layout.rules) for cost in layouts.ranked} == {
        (("batch", batch), ("unit", unit))
        for batch in ((), ("data",), ("model",))
        for unit in ((), ("data",), ("model",))
    }
    times = [cost.time.total for cost in layouts.ranked]
    assert times == sorted(times)
    assert layouts.best.rules() == "batch on data, unit on model"
    single = tb.dry_run(loss, W, X, gradient=True, mesh=MESH, layout=dict(layouts.best.layout.rules)).on_mesh
    assert single is not None
    assert (single.peak, single.time) == (layouts.best.peak, layouts.best.time)


def test_those_that_fit_come_first() -> None:
    peaks = sorted(cost.peak for cost in search().ranked)
    layouts = search(fits=peaks[3])
    assert [cost.peak <= peaks[3] for cost in layouts.ranked] == [True] * 4 + [False] * 5
    assert layouts.fits
    assert not search(fits="1kB").fits
    assert search().limit == 80 * 10**9
    assert search(machine="h200").limit == 141 * 10**9


def test_each_layout_is_told_as_it_is_tried() -> None:
    told: list[Any] = []
    layouts = search(each_tried=told.append)
    assert len(told) == 9
    assert set(map(id, told)) == set(map(id, layouts.ranked))


def test_the_text_and_the_json_are_in_that_order() -> None:
    layouts = search()
    assert layouts.text(3).splitlines()[1].split("  ")[0] == "1"
    assert layouts.text(3).splitlines()[-1] == "and 6 more"
    assert layouts.to_json()[0]["layout"] == {"batch": ["data"], "unit": ["model"]}
    assert repr(layouts) == layouts.text()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"names": ["batch", "nowhere"]}, "names that axes of tensors have.*the names are batch, feature, unit"),
        ({"names": []}, "one or more names of axes, each once"),
        ({"names": "batch"}, "search_layouts: expected a list or tuple, each a string"),
        ({"names": ["batch", "batch"]}, "each once"),
        ({"names": [f"n{i}" for i in range(9)]}, "at most 4096 layouts, got layouts=19683"),
        ({"fits": "much"}, "a size such as 141GB"),
        ({"machine": "abacus"}, "a machine among"),
    ],
)
def test_mistakes(options: Any, match: str) -> None:
    with pytest.raises(ArgumentError, match=match):
        search(**options)
