"""The conformance suite for pytest: three lines in a test file of a backend's own distribution.

    from tensorbackend.testing.suite import ConformanceSuite

    class TestMine(ConformanceSuite):
        backend = "mine"

`examples`, `ops` and `dtypes` narrow or widen it. It draws the same calls as `tensorbackend check` and checks them in
the same way, in one test for each op. Another test calls each op with one size after another. The test of an op that
the backend does not have is skipped, with the text of the backend's error.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import ClassVar
from zlib import crc32

import pytest
from hypothesis import given, seed
from hypothesis import strategies as st

from ..declarations.op_specs import unreached
from ..dtypes import ALL_DTYPES, NARROW_DTYPES, DType
from ..errors import UnsupportedOp
from ..protocol import Backend, BackendLike
from ..select import get_backend
from ..tensor import Tensor
from .calls import Invocation, calls, dtypes_to_draw, names
from .changing import changing, check_changing
from .conformance import check_row, judge
from .divergences import divergences_of
from .mistakes import check_mistake, invalid_calls
from .strategies import profile, tensors
from .transport import check_transport


class ConformanceSuite:
    """Tests that a backend agrees with the reference; derive a class `Test...` from it and name the backend."""

    backend: ClassVar[BackendLike]
    examples: ClassVar[int] = 60
    """The number of calls drawn for each op, unless the environment variable `TENSORBACKEND_EXAMPLES` says another."""
    ops: ClassVar[Sequence[str]] = ()
    """The public names of the ops, all by default."""
    dtypes: ClassVar[Sequence[DType]] = (*ALL_DTYPES, *NARROW_DTYPES)
    """The dtypes; narrow ones are drawn for ops that take them, and as often together as each of the others."""

    @pytest.fixture
    def target(self) -> Backend:
        """The backend under test."""
        return get_backend(self.backend)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Makes a separate test for each requested op or dtype."""
        if "op" in metafunc.fixturenames:
            metafunc.parametrize("op", self.ops or names())
        if "dtype" in metafunc.fixturenames:
            metafunc.parametrize("dtype", self.dtypes, ids=str)

    def test_agrees_with_the_reference(self, op: str, target: Backend) -> None:
        lacks: list[UnsupportedOp] = []
        compared = 0

        @profile(self.examples)
        @given(_calls(op, self.dtypes))
        def agrees(call: Invocation) -> None:
            nonlocal compared
            try:
                compared += not judge(call, target).refused
            except UnsupportedOp as error:
                lacks.append(error)

        agrees()
        if lacks and not compared:  # a plugin's run skips ops that the backend does not claim to have
            pytest.skip(str(lacks[0]))

    def test_refuses_mistakes(self, op: str, target: Backend) -> None:
        held = [dtype for dtype in ALL_DTYPES if dtype in target.dtypes]
        drawn = tuple([dtype for dtype in held if dtype in self.dtypes] or held)

        @profile(max(1, self.examples // 10))
        @given(invalid_calls(op, drawn))
        def refuses(call: Invocation) -> None:
            if all(x.dtype in held for x in call.tensors):
                check_mistake(call, target)

        refuses()

    def test_a_call_after_others_of_its_kind_is_as_planned_alone(self, op: str, target: Backend) -> None:
        wide = [dtype for dtype in self.dtypes if not dtype.is_narrow]

        @seed(crc32(op.encode()))  # else all ops would have the same dtypes
        @profile(max(1, self.examples // 10))
        @given(st.sampled_from(wide or self.dtypes).flatmap(lambda dtype: changing(op, dtype)))
        def agrees(drawn: list[Invocation]) -> None:
            with suppress(UnsupportedOp):  # of tensors with a dtype that the backend does not hold
                check_changing(drawn, target)

        agrees()

    def test_keeps_data(self, dtype: DType, target: Backend) -> None:
        if dtype not in target.dtypes:  # likewise
            pytest.skip(f"{target.name} does not hold {dtype}")

        @profile(self.examples)
        @given(tensors(dtype))
        def keeps(x: Tensor) -> None:
            check_transport(x, target)

        keeps()

    def test_each_divergence_is_needed(self, target: Backend) -> None:
        for row in divergences_of(target):
            check_row(row, target)

    def test_no_method_has_the_public_name_of_an_op(self, target: Backend) -> None:
        if wrong := unreached(type(target)):
            raise AssertionError("\n".join(wrong))


def _calls(op: str, dtypes: Sequence[DType]) -> st.SearchStrategy[Invocation]:
    """Calls of an op with any of some dtypes, narrow ones together as often as each of the others."""
    chosen = dtypes_to_draw(op, dtypes)
    narrow = [calls(op, dtype) for dtype in chosen if dtype.is_narrow]
    others = [calls(op, dtype) for dtype in chosen if not dtype.is_narrow]
    return st.one_of([*others, st.one_of(narrow)] if narrow else others)
