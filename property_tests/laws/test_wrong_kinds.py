"""An argument of a wrong kind is refused: each argument of valid calls of every op is spoilt, one at a time.

It becomes an object of no known kind, then a text for a number, a number for a text, a fraction for an int or an axis.
Nothing but an error of the library's own will do, on templates and on data.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tensorbackend.dtypes import ALL_DTYPES, DType
from tensorbackend.errors import TensorBackendError
from tensorbackend.testing import Invocation, calls, names, profile
from tensorbackend.testing.wrong_calls import UnknownObject

FRACTIONS = {"fill_value", "ord", "correction", "arange.0", "arange.1", "arange.2", "grid_sample.boundary",
             "interp.left", "interp.period", "interp.right", "percentile.1", "reduce.1", "unwrap.discontinuity",
             "unwrap.period", "window_reduce.1", "window_scatter_max.2", "window_scatter_min.2"}  # fmt: skip
"""Options that may be any number, also where an int was drawn."""
WORDS = {"einsum.0", "name"}
"""Options that may be any text: names of axes; in einsum, words for the axes of a tensor."""


def wrong(value: Any) -> list[Any]:
    """Return values of other kinds than that of a valid argument."""
    spoilt: list[Any] = [UnknownObject()]
    if isinstance(value, bool | DType):
        return [*spoilt, 7.5]
    if isinstance(value, int):
        return [*spoilt, value + 0.5, "no such word"]
    if isinstance(value, float):
        return [*spoilt, "no such word"]
    if isinstance(value, str):
        return [*spoilt, 7.5, "no such word"]
    return spoilt


def spoilt(call: Invocation) -> list[tuple[str, Any, Invocation]]:
    """Return a valid call with one of its arguments of a wrong kind, for each argument."""
    found = []
    for place, value in enumerate(call.arguments):
        for bad in wrong(value):
            arguments = (*call.arguments[:place], bad, *call.arguments[place + 1 :])
            found.append((str(place), bad, call._replace(arguments=arguments)))
    for name, value in call.options.items():
        for bad in wrong(value):
            found.append((name, bad, call._replace(options={**call.options, name: bad})))
    return found


def is_refused(call: Invocation) -> bool:
    """Return whether a call raises an error of the library's own; any other error is raised."""
    try:
        call.run()
    except TensorBackendError:
        return True
    return False


@pytest.mark.parametrize("name", names())
def test_each_argument_of_a_wrong_kind_is_refused(name: str) -> None:
    @profile(3)
    @given(st.one_of([calls(name, dtype) for dtype in ALL_DTYPES]))
    def refuses(call: Invocation) -> None:
        try:
            call.on("template").run()
        except TensorBackendError:
            assume(False)
        for place, bad, mistaken in spoilt(call):
            if isinstance(bad, float) and {place, f"{name}.{place}"} & FRACTIONS:
                continue
            if isinstance(bad, str) and {place, f"{name}.{place}"} & WORDS:
                continue
            for backend in ("template", "numpy"):
                taken = f"{name} takes {type(bad).__name__} {bad!r} for {place!r} on {backend}"
                assert is_refused(mistaken.on(backend)), taken

    refuses()
