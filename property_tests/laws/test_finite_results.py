"""Inside `debug_nans` every public function with finite results raises nothing, whatever it computes on the way."""

from __future__ import annotations

import os
from typing import Any

import numpy
import pytest
from hypothesis import given

import tensorbackend as tb
from tensorbackend.errors import NonFiniteError
from tensorbackend.expr.trees import flatten
from tensorbackend.testing import profile

from ..oracles import ORACLES
from ..oracles.table import Recorder

pytestmark = pytest.mark.usefixtures("few_ready_calls")

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy").split(",")

NOT_JUDGED = {
    "debug_nans": "is the function itself",
    "random.seed": "a second call is another draw",
}


class Watched(Recorder):
    """A public function that runs inside `debug_nans`, where an error of finite results is a fault."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        with tb.debug_nans():
            try:
                return self.function(*arguments, **options)
            except NonFiniteError as error:
                told = error
        result = self.function(*arguments, **options)
        leaves = [leaf for leaf in flatten(result)[0] if isinstance(leaf, tb.Tensor) and leaf.dtype.is_inexact]
        if all(bool(tb.all(tb.isfinite(leaf))) for leaf in leaves):
            raise AssertionError(f"{self.name}: results are finite, but debug_nans raises: {told}") from told
        return result


@pytest.mark.parametrize("name", sorted(set(ORACLES) - set(NOT_JUDGED)))
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_finite_result_is_no_error(backend: str, name: str) -> None:
    oracle = ORACLES[name]
    run = Watched(name, tb.get_backend(backend))

    @profile(1)
    @given(oracle.strategy)
    def raises_nothing(drawn: object) -> None:
        with tb.default_backend(run.backend), numpy.errstate(all="ignore"):
            oracle.check(drawn, run)

    raises_nothing()
