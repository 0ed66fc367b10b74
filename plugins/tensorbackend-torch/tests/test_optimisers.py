"""Our optimisers compared with those of PyTorch, over many steps in each dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import tensorbackend as tb
import torch
from tensorbackend import optimize

STEPS = 50
DTYPES = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "c64": torch.complex64,
}
CASES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "sgd": (lambda: optimize.sgd(0.05), lambda x: torch.optim.SGD(x, 0.05)),
    "momentum": (lambda: optimize.sgd(0.05, momentum=0.9), lambda x: torch.optim.SGD(x, 0.05, momentum=0.9)),
    "nesterov": (
        lambda: optimize.sgd(0.05, momentum=0.9, nesterov=True),
        lambda x: torch.optim.SGD(x, 0.05, momentum=0.9, nesterov=True),
    ),
    "adam": (lambda: optimize.adam(0.01), lambda x: torch.optim.Adam(x, 0.01)),
    "adamw": (lambda: optimize.adamw(0.01, decay=0.1), lambda x: torch.optim.AdamW(x, 0.01, weight_decay=0.1)),
}


# Adam of PyTorch takes the real and the imaginary part of a complex number for two parameters.
ASKED = [(case, dtype) for case in CASES for dtype in DTYPES if dtype != "c64" or not case.startswith("adam")]


@pytest.mark.parametrize(("case", "dtype"), ASKED)
def test_parameters_move_as_those_of_pytorch(case: str, dtype: str) -> None:
    ours, theirs = CASES[case][0](), CASES[case][1]
    draw = numpy.random.default_rng(0)
    values = draw.normal(size=(STEPS + 1, 4)) + (1j * draw.normal(size=(STEPS + 1, 4)) if dtype == "c64" else 0)
    # PyTorch has its moments in the dtype of the parameters, so narrow ones are compared with its float32.
    wide = DTYPES[dtype] if dtype in ("f32", "f64", "c64") else torch.float32
    parameter = torch.nn.Parameter(torch.tensor(values[0], dtype=DTYPES[dtype]).to(wide))
    optimiser = theirs([parameter])
    x = tb.asarray(values[0], dtype=dtype, backend="torch")
    step, state = tb.jit(ours.update), ours.init(x)
    total = tb.astype(x, "f64" if dtype == "f64" else "c64" if dtype == "c64" else "f32")
    for gradient in values[1:]:
        parameter.grad = torch.tensor(gradient, dtype=DTYPES[dtype]).to(wide)
        optimiser.step()
        # The parameters are summed up in float32, so that only the updates are narrow.
        update, state = step(tb.asarray(gradient, dtype=dtype, backend="torch"), state, total)
        total = total + update
    assert (x.backend.name, update.dtype.alias) == ("torch", dtype)
    tolerance = STEPS * tb.finfo(update.dtype).eps * 0.02 + 1e-5
    numpy.testing.assert_allclose(numpy.asarray(total), parameter.detach().numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_hard_gradients_give_a_step_of_the_rate(dtype: str) -> None:
    g = tb.asarray([1e-4, 300.0, -1.0, 0.0], dtype=dtype, backend="torch")
    steps = optimize.adam(1e-3)
    update, _ = steps.update(g, steps.init(g))
    numpy.testing.assert_allclose(numpy.asarray(update.astype("f32")), [-1e-3, -1e-3, 1e-3, 0.0], rtol=1e-2)
