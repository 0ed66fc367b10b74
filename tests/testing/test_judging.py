"""What the judge of programs says of a right and a wrong backend."""

from __future__ import annotations

import pytest

import tensorbackend as tb
from tensorbackend.protocol import Kernel, kernel_of, planned
from tensorbackend.testing import Disagreement
from tensorbackend.testing.judging import Judge, judge_program
from tensorbackend.testing.program_source import Program

X = tb.tensor([1.0, 2.0, 4.0], backend="binary")
SHIFTED = Program(
    (("x0", "tb.tensor([1.0, 2.0, 4.0])", X),), ("v0 = tb.exp(x0)", "v0[1:] = v0[:-1] + 1"), "tb.sum(v0)", ()
)


class WrongSum(tb.NumpyBackend):
    """Adds up without the first element."""

    name = "wrong_sum"

    @planned
    def sum(self, out: tb.Template, x: tb.Template, /, *, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        kernel = kernel_of(super().sum, out, x, axes=axes, keepdims=keepdims)
        return lambda data: kernel(data * (data != data.flat[0]))


def test_a_right_backend() -> None:
    assert judge_program(SHIFTED, tb.get_backend("numpy"))


def test_the_first_op_and_line_of_a_wrong_one() -> None:
    with pytest.raises(Disagreement) as caught:
        judge_program(SHIFTED, WrongSum())
    assert caught.value.kind == "value"
    assert "op by op, wrong first in sum, in `return tb.sum(v0)`" in caught.value.detail
    assert "tb.set_default_backend(backend)" in caught.value.script


def test_a_program_is_judged_once() -> None:
    judge = Judge(WrongSum())
    errors = []
    for _ in range(2):
        with pytest.raises(Disagreement) as caught:
            judge(SHIFTED)
        errors.append(caught.value)
    assert errors[0] is errors[1]


def test_a_program_that_looks_at_data_is_not_compared() -> None:
    looks = SHIFTED._replace(lines=("v0 = x0[x0 > 1]",), result="v0")
    assert not judge_program(looks, tb.get_backend("numpy"))
