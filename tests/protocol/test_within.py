"""Kernels that run in a context."""

from __future__ import annotations

from contextvars import Context
from functools import wraps

import pytest

from tensorbackend.protocol.within import elsewhere, is_entered, runs_within, within


def test_a_kernel_tells_its_function_and_a_wrapper_does_not() -> None:
    context = Context()

    def kernel(x: int) -> int:
        return context.run(abs, x)

    assert within(kernel) == (kernel, None)
    assert runs_within(kernel, abs, context.run) is kernel
    function, run = within(kernel)
    assert function is abs
    assert run is not None
    assert run(function, -3) == 3

    @wraps(kernel)
    def watching(x: int) -> int:
        return kernel(x) + 1

    assert within(watching) == (watching, None)  # though it has the attributes of the kernel


def test_an_entered_context_is_told_from_an_error_inside() -> None:
    context = Context()

    def fails() -> None:
        raise RuntimeError("cannot enter context: so says a function inside")

    def enters() -> bool:
        try:
            context.run(abs, -1)
        except RuntimeError as error:
            return is_entered(error)
        return False

    assert context.run(enters)
    assert not is_entered(ValueError("cannot enter context"))
    with pytest.raises(RuntimeError) as caught:
        context.run(fails)
    assert not is_entered(caught.value)
    assert context.run(lambda: elsewhere(context.run, abs, -2)) == 2
