"""The callbacks found in the code of each fall-back are those that it runs: a backend records its calls."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, seed
from hypothesis import strategies as st

from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.declarations.op_specs import CALLBACKS, OPS
from tensorbackend.dispatch.fallbacks import Fallback, fallback_callback, fallbacks
from tensorbackend.dtypes import ALL_DTYPES, DType
from tensorbackend.errors import TensorBackendError
from tensorbackend.protocol import Backend, Payload
from tensorbackend.testing import Invocation, calls, profile, recording

ALL = [fallback for name in CALLBACKS for fallback in fallbacks(name)]


def watching(fallback: Fallback, run: set[str]) -> type[Backend]:
    """Return a backend with all callbacks, one of them by a fall-back; add what the fall-back runs to `run`."""
    called: set[str] = set()

    def quiet(value: Any) -> Any:
        """Return an option. The ops of a function among the options are not recorded."""
        if not callable(value) or isinstance(value, DType):
            return value

        def function(*tensors: Any) -> Any:
            before = set(called)
            result = value(*tensors)
            called.intersection_update(before)
            return result

        return function

    whole = recording(BinaryBackend(), called)

    def callback(self: Backend, out: Any, /, *inputs: Any, **options: Any) -> Payload:
        first = inputs[0] if inputs else out
        if not fallback.takes(first[0].dtype if isinstance(first, tuple) else first.dtype):
            return getattr(whole, fallback.callback)(self, out, *inputs, **options)
        called.clear()
        try:
            return fallback_callback(self, fallback)(
                out, *inputs, **{name: quiet(value) for name, value in options.items()}
            )
        finally:
            run.update(called)

    return type("Watching", (whole,), {fallback.callback: callback})


@pytest.mark.parametrize("fallback", ALL, ids=lambda fallback: f"{fallback.callback} of {fallback.accept}")
def test_a_fallback_states_what_it_runs(fallback: Fallback) -> None:
    run: set[str] = set()
    backend = watching(fallback, run)
    ops = [name for name, spec in OPS.items() if spec.callback == fallback.callback and spec.kind == "primitive"]
    dtypes = [dtype for dtype in ALL_DTYPES if fallback.takes(dtype)]
    drawn = st.one_of([calls(name, dtype) for name in ops for dtype in dtypes])

    def runs(call: Invocation) -> None:
        with suppress(TensorBackendError):  # a drawn call may be an error that only data shows
            call.on(backend()).run()

    for start in range(100):  # rare options want many
        seed(start)(profile(8)(given(drawn)(runs)))()
        if run >= fallback.needs:
            break
    assert run - {"constant"} == fallback.needs
