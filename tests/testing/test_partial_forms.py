"""Callbacks that plan kernels can also be called in the plain form, with tensors."""

from __future__ import annotations

import pytest

import tensorbackend as tb
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.protocol import Payload
from tensorbackend.protocol.planned import is_planned
from tensorbackend.testing import Invocation, judge
from tensorbackend.testing.failures import Disagreement
from tensorbackend.testing.partial import plainly, plans


@pytest.mark.parametrize(
    ("backend", "name", "both_forms"),
    [
        ("numpy", "add", True),
        ("numpy", "softmax", True),  # a composite that the backend overrides
        ("numpy", "log_softmax", False),
        ("numpy", "concat", False),  # a function around an op
        ("binary", "argmax", False),
    ],
)
def test_an_op_is_called_in_both_forms_where_its_own_callback_is_planned(
    backend: str, name: str, both_forms: bool
) -> None:
    assert plans(tb.get_backend(backend), name) == both_forms


def test_the_plain_forms_give_what_kernels_give() -> None:
    numpy = tb.get_backend("numpy")
    plain = plainly(numpy)
    assert is_planned(numpy.add)
    assert not is_planned(plain.add)
    assert not is_planned(plain.softmax)  # type: ignore[attr-defined] # an override
    x = tb.tensor([1.0, 2.0], backend="numpy")
    twin = tb.Tensor(x.template, plain, x.data)
    assert tb.softmax(twin).tolist() == tb.softmax(x).tolist()
    assert (twin + twin).tolist() == (x + x).tolist()


@pytest.mark.parametrize("name", ["negative", "softmax"])
def test_a_backend_whose_plain_form_alone_is_wrong_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Own(NumpyBackend):
        name = "own"

    def wrong(self: Own, out: tb.Template, x: tb.Tensor, /, **options: object) -> Payload:
        return x.data * 0

    call = Invocation(name, (tb.tensor([1.0, 2.0], backend="binary"),), {})
    judge(call, Own())
    monkeypatch.setattr(type(plainly(Own())), {"negative": "negate"}.get(name, name), wrong)
    call = Invocation(name, (tb.tensor([1.0, 2.0, 3.0], backend="binary"),), {})  # no plan exists for this shape yet
    with pytest.raises(AssertionError, match=name):
        judge(call, Own())


def test_a_plain_form_that_breaks_its_contract_is_said_to(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wide(NumpyBackend):
        name = "wide"

    def widened(self: Wide, out: tb.Template, x: tb.Tensor, /, **options: object) -> Payload:
        return -x.data.astype("f8")

    monkeypatch.setattr(type(plainly(Wide())), "negate", widened)
    call = Invocation("negative", (tb.tensor([[1.0, 2.0]], backend="binary"),), {})
    with pytest.raises(Disagreement) as caught:
        judge(call, Wide())
    assert caught.value.kind == "payload"
