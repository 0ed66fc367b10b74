"""Every public function by somebody else's measure: NumPy, SciPy, JAX, brute force or a defining property."""

from __future__ import annotations

import os

import pytest
from hypothesis import given

import tensorbackend as tb
from tensorbackend.testing import profile

from ..oracles import ORACLES
from ..oracles.table import Recorder, public_functions

pytestmark = pytest.mark.usefixtures("few_ready_calls")

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy").split(",")
"""One backend is enough by default: other tests compare each with the others."""


def test_every_public_function_has_an_oracle() -> None:
    missing = sorted({*public_functions()} - {*ORACLES})
    assert missing == [], f"give {', '.join(missing)} an oracle in property_tests/oracles/"


def test_every_oracle_is_of_a_public_function() -> None:
    assert sorted({*ORACLES} - {*public_functions()}) == []


@pytest.mark.parametrize("name", sorted(ORACLES))
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_oracle_agrees(backend: str, name: str) -> None:
    oracle = ORACLES[name]
    run = Recorder(name, tb.get_backend(backend))

    @profile(25)
    @given(oracle.strategy)
    def agrees(drawn: object) -> None:
        with tb.default_backend(run.backend):
            oracle.check(drawn, run)

    agrees()
    assert run.compared, f"no drawn call of {name} is compared"
    unvaried = [option for option in run.unvaried() if option not in oracle.fixed]
    assert unvaried == [], f"{name}: the options {', '.join(unvaried)} had one value in all calls: draw others too"
