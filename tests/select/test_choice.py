"""The backend of operands that are on several."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import pytest

import tensorbackend as tb
from tensorbackend.errors import BackendError

X = tb.tensor([1.0, 2.0, 4.0], backend="jax")
NUMBER = tb.tensor(2.0)

CALLS: dict[str, Callable[[tb.Tensor], tb.Tensor]] = {
    "an operator": lambda x: x * NUMBER,
    "reflected": lambda x: NUMBER - x,
    "what an op returns": lambda x: x * tb.log(2.0),
    "three operands": lambda x: tb.where(x > 1, x, NUMBER),
    "a bound": lambda x: tb.clip(x, None, NUMBER),
    "an index": lambda x: x[tb.tensor(1)],
    "a composite": lambda x: tb.hypot(x, NUMBER),
    "jit": lambda x: tb.jit(tb.multiply)(x, NUMBER),
    "grad": lambda x: tb.grad(lambda x: tb.sum(x * NUMBER))(x),
    "grad of the number": lambda x: tb.grad(lambda number: tb.sum(x * number))(NUMBER),
    "scan": lambda x: tb.scan(lambda carry, each: (carry + each, carry), NUMBER, x)[1],
    "a number next to it": lambda x: tb.sum(x) + NUMBER,
    "a number in front": lambda x: NUMBER / tb.sum(x),
}


@pytest.mark.parametrize("name", CALLS)
def test_numbers_follow_the_tensors_next_to_them(name: str) -> None:
    with tb.default_backend("jax"):
        number, expected = NUMBER, CALLS[name](X.backend_copy("numpy"))
    assert number.backend.name == "numpy"
    for _ in range(2):
        found = CALLS[name](X)
        assert found.backend.name == "jax"
        assert found.tolist() == expected.tolist()


def test_other_tensors_stay() -> None:
    for pair in ((X, tb.ones(3)), (tb.ones(1), X)):
        with pytest.raises(BackendError, match="expected tensors on one backend"):
            tb.add(*pair)
    with tb.default_backend("binary"), pytest.raises(BackendError, match="expected tensors on one backend"):
        tb.sum(X) + NUMBER  # neither is on the default backend


def test_what_jax_traces_stays() -> None:
    assert jax.jit(lambda x: (tb.asarray(x) * NUMBER).data)(jnp.ones(())).item() == 2.0
    with pytest.raises(BackendError, match="expected tensors on one backend"):
        jax.jit(lambda x: (tb.asarray(x) * tb.ones(3)).data)(jnp.ones(()))
