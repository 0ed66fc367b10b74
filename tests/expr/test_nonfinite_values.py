"""What is found in results that are not finite, and the errors that payloads carry while a call runs."""

from __future__ import annotations

import numpy as np

import tensorbackend as tb
from tensorbackend.errors import NonFiniteError
from tensorbackend.expr import nonfinite_values
from tensorbackend.expr.nonfinite_values import Search, Trail, tensors_of, unfinite


def test_what_is_looked_for() -> None:
    values = {"fine": 1.0, "inf": np.inf, "nan": np.nan}
    tensors = {name: tb.asarray([value, 2.0]) for name, value in values.items()}

    def names(*, infinities: bool) -> list[tuple[str, bool]]:
        found = list(unfinite(tensors.values(), Search(infinities, operands=False)))
        return [(next(name for name, x in tensors.items() if x is each.x), each.is_nan) for each in found]

    assert names(infinities=True) == [("inf", False), ("nan", True)]
    assert names(infinities=False) == [("nan", True)]


def test_only_floating_and_complex_results_are_looked_at() -> None:
    x, i = tb.asarray([1.0]), tb.asarray([1])
    template, payload = (x.template, (i.template, None, x.template)), (x.data, (i.data, None, x.data))
    assert [found.data is x.data for found in tensors_of(template, payload, x.backend)] == [True, True]


def test_errors_end_with_the_outermost_call() -> None:
    trail, payload, error = Trail(), object(), NonFiniteError("one")
    with trail.inside(library=False):
        with trail.inside(library=True):
            trail.carry(payload, error)
            assert trail.library == 1
        assert trail.error_of(payload) is error
        assert trail.error_of(object()) is None
    assert trail.error_of(payload) is None


def test_few_payloads_are_kept() -> None:
    trail = Trail()
    payloads = [object() for _ in range(nonfinite_values._MOST_CARRIED + 1)]
    for payload in payloads:
        trail.carry(payload, NonFiniteError("one"))
    assert len(trail.carried) == nonfinite_values._MOST_CARRIED
    assert trail.error_of(payloads[0]) is None
    assert trail.error_of(payloads[-1]) is not None
