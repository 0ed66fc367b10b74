"""The search for what to compute again, on functions whose costs are made up."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.costs import candidates
from tensorbackend.costs.candidates import Candidate, Cost, Recomputation, Search, choose_recomputation
from tensorbackend.expr.recomputation import Selection, select_calls
from tensorbackend.testing import profile

small = st.integers(0, 9)


def chain(sizes: tuple[int, ...]) -> Any:
    layer = tb.checkpoint(lambda x, w: tb.tanh(tb.exp(x @ w)) @ w.mT)

    def loss(weights: Any, x: Any) -> Any:
        for w in weights:
            x = layer(x, w)
        return tb.sum(x * x)

    templates = [tb.Template((8, size), "f32") for size in sizes]
    return lambda: tb.dry_run(loss, templates, "f32[64, 8]", gradient=True).shown_program()


def all_costs(sizes: tuple[int, ...]) -> dict[frozenset[int], Any]:
    search = Search(chain(sizes))
    return {
        chosen: search.cost(chosen)
        for flags in product([False, True], repeat=len(sizes))
        for chosen in [frozenset(number for number, flag in enumerate(flags) if flag)]
    }


@pytest.mark.parametrize("few", [0, candidates.EXHAUSTIVE_CALLS], ids=["search", "every choice"])
@pytest.mark.parametrize("sizes", [(8,), (64, 8, 16), (8, 64, 8, 64)])
def test_every_limit_that_some_choice_meets_is_met_at_little_cost(
    sizes: tuple[int, ...], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "EXHAUSTIVE_CALLS", few)
    costs = all_costs(sizes)
    plain = costs[frozenset()].flops
    for limit in sorted({cost.nbytes for cost in costs.values()}):
        found = choose_recomputation(chain(sizes), limit)
        assert found.fits, limit
        assert costs[found.chosen] == found.after
        best = min(cost.flops for cost in costs.values() if cost.nbytes <= limit)
        assert found.after.flops - plain <= (1 if few else 1.15) * (best - plain)
    lowest = min(cost.nbytes for cost in costs.values())
    below = choose_recomputation(chain(sizes), lowest - 1)
    assert not below.fits
    assert below.after.nbytes == lowest


def test_a_higher_limit_never_costs_more() -> None:
    """On layers where the shortest start that fits, less what it does not need, costs more for a higher limit."""
    dense = tb.checkpoint(lambda x, first, second: x + tb.tanh(tb.exp(tb.sin(x @ first)) @ second))
    rectified = tb.checkpoint(lambda x, first, second: tb.maximum(x @ first, 0.0) @ second)

    def loss(weights: Any, x: Any) -> Any:
        for layer, pair in zip([dense, rectified, dense, dense] + [rectified] * 3, weights, strict=True):
            x = layer(x, *pair)
        return tb.sum(x * x)

    weights = [(f"f32[32, {size}]", f"f32[{size}, 32]") for size in (512, 128, 32, 8, 512, 8, 128)]

    def run() -> Any:
        return tb.dry_run(loss, weights, "f32[256, 32]", gradient=True).shown_program()

    before, lowest = choose_recomputation(run, 0)[3:5]
    limits = [lowest.nbytes + (before.nbytes - lowest.nbytes) * step // 10 for step in range(6, 11)]
    found = [choose_recomputation(run, limit).after.flops for limit in limits]
    assert found == sorted(found, reverse=True)


def test_what_does_not_fit_is_not_computed_again_for_nothing() -> None:
    part = tb.checkpoint(lambda x: tb.sum(tb.outer(x, x), axis=1))  # to compute it again takes more than it saves

    def loss(x: Any) -> Any:
        for _ in range(12):
            x = part(x)
        return tb.sum(x * x)

    found = choose_recomputation(lambda: tb.dry_run(loss, "f32[64]", gradient=True).shown_program(), 0)
    assert found.chosen == frozenset()
    assert found.after == found.before


class MadeUp(Search):
    """A search whose choices have costs that are made up."""

    def __init__(self, costs: dict[frozenset[int], Cost]) -> None:
        self._known = costs


@profile(200)
@given(st.data())
def test_no_answers_of_dry_runs_make_a_higher_limit_cost_more(data: st.DataObject) -> None:
    """Even if FLOPs and bytes have nothing to do with the number of calls, nor with their estimates."""
    calls = [Candidate(number, *data.draw(st.tuples(small, small))) for number in range(4)]
    choices = [frozenset(chosen) for count in range(5) for chosen in combinations(range(4), count)]
    search = MadeUp({chosen: Cost(*data.draw(st.tuples(small, small))) for chosen in choices})
    order = [*data.draw(st.lists(st.sampled_from(choices))), choices[-1]]
    most, found = search.cost(choices[-1]).nbytes, []
    for limit in range(most, 10):
        chosen = search.cost(candidates.descend(search, order, calls, limit))
        assert chosen.nbytes <= limit
        found.append(chosen.flops)
    assert found == sorted(found, reverse=True)


def test_a_choice_is_shown_with_ranges_of_calls() -> None:
    names = ("layer",) * 4 + ("head",)
    before, after = Cost(2000, 100), Cost(900, 150)
    shown = str(Recomputation(1000, names, frozenset({0, 1, 3, 4}), before, after))
    assert shown == (
        "fits into 1 kB with 4 of 5 calls computed again: layer 0 to 1, layer 3, head 4\n"
        "peak 2 kB before, 900 B after, 50.0 % more FLOPs"
    )


def test_candidates_have_the_bytes_and_the_operations_of_their_calls() -> None:
    names, found = Search(chain((8, 64))).candidates()
    assert len(names) == 2
    first, second = found
    assert isinstance(first, Candidate)
    assert first.nbytes == 4 * 64 * (3 * 8 + 8) + 4 * 8 * 8  # x @ w, exp, tanh; the result; w.mT
    assert first.flops == 2 * 2 * 64 * 8 * 8 + 2 * 64 * 8
    assert second.nbytes > first.nbytes


def test_a_selection_ends_with_its_block() -> None:
    run = chain((8, 8))
    everything = run().peak.memory
    with select_calls(Selection([0])) as selection:
        chosen = run().flops
        assert [call.body is None for call in selection.calls] == [False, True]
    assert run().peak.memory == everything
    assert run().flops > chosen
