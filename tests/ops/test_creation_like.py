"""`like=`: a new tensor is placed where another tensor is."""

from collections.abc import Callable

import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, OperandError

CREATIONS: dict[str, Callable[..., tb.Tensor]] = {
    "zeros": lambda **where: tb.zeros(2, **where),
    "ones": lambda **where: tb.ones(2, **where),
    "empty": lambda **where: tb.empty(2, **where),
    "full": lambda **where: tb.full((2,), 3, **where),
    "full of a tensor": lambda **where: tb.full((2,), tb.asarray(3), **where),
    "eye": lambda **where: tb.eye(2, **where),
    "iota": lambda **where: tb.iota((2,), **where),
    "tri": lambda **where: tb.tri(2, **where),
    "arange": lambda **where: tb.arange(3, **where),
    "linspace": lambda **where: tb.linspace(0, 1, 3, **where),
    "linspace of tensors": lambda **where: tb.linspace(tb.zeros(2), tb.ones(2), 3, **where),
    "tensor": lambda **where: tb.tensor([1, 2], **where),
    "asarray": lambda **where: tb.asarray([1, 2], **where),
    "asarray of a tensor": lambda **where: tb.asarray(tb.ones(2), **where),
    "fftfreq": lambda **where: tb.fft.fftfreq(4, **where),
    "rfftfreq": lambda **where: tb.fft.rfftfreq(4, **where),
    "key": lambda **where: tb.random.key(0, **where),
}


@pytest.mark.parametrize("create", CREATIONS.values(), ids=CREATIONS)
def test_a_tensor_is_made_where_another_one_is(create: Callable[..., tb.Tensor]) -> None:
    beside = tb.ones(5, dtype="float64", names=("n",), backend="binary")
    reference = create()
    for _ in range(2):  # the second call is warm
        created = create(like=beside)
        assert created.backend is tb.get_backend("binary")
        assert created.template is reference.template
        assert created.tolist() == reference.tolist()
        assert create().backend is tb.get_backend()


@pytest.mark.parametrize("create", CREATIONS.values(), ids=CREATIONS)
def test_like_sees_through_tapes_and_traces(create: Callable[..., tb.Tensor]) -> None:
    with tb.tape() as tape:
        x = tape.watch(tb.ones(2, backend="binary"))
        assert create(like=x).backend is tb.get_backend("binary")

    def traced(x: tb.Tensor) -> tb.Tensor:
        created = create(like=x)
        assert created.backend is x.backend
        return created

    assert tb.trace(traced)("f32[2]")(tb.ones(2, backend="binary")).tolist() == create().tolist()
    assert tb.jit(traced)(tb.ones(2, backend="binary")).backend is tb.get_backend("binary")


def test_like_of_a_template_is_a_template() -> None:
    assert tb.zeros((2, 3), like=tb.template((), "f32")).backend.name == "template"


def test_like_is_a_tensor_and_stands_alone() -> None:
    x = tb.ones(2)
    with pytest.raises(ArgumentError, match="expected backend or like, not both, got backend='numpy', like="):
        tb.zeros(2, backend="numpy", like=x)
    with pytest.raises(OperandError, match="expected a tensor for like, got like=3; wrap it in asarray"):
        tb.arange(3, like=3)  # type: ignore[arg-type]


RECORDED: dict[str, Callable[[tb.Tensor, tb.Tensor], tb.Tensor]] = {
    "asarray": lambda x, held: tb.asarray(x, like=held),
    "tensor": lambda x, held: tb.tensor(x, like=held),
    "asarray of a list": lambda x, held: tb.asarray([x, 2.0], like=held),
    "full": lambda x, held: tb.full((2,), x, like=held),
    "full_like": lambda x, held: tb.full_like(held, x),
}


@pytest.mark.parametrize("make", RECORDED.values(), ids=RECORDED)
def test_what_a_trace_or_a_tape_records_stays_there_beside_a_tensor_with_data(
    make: Callable[[tb.Tensor, tb.Tensor], tb.Tensor],
) -> None:
    x, held = tb.asarray(3.0, backend="binary"), tb.asarray([1.0, 2.0], backend="binary")
    expected = make(x, held)
    assert tb.jit(lambda x: make(x, held))(x).tolist() == expected.tolist()
    assert tb.dry_run(lambda x: make(x, held), "f32").flops == 0
    slope = tb.grad(lambda x: tb.sum(make(x, held)))(x).item()
    with tb.tape() as tape:
        watched = tape.watch(x)
        total = tb.sum(make(watched, held))
    assert slope == tb.gradient(total, watched).item()
    assert slope.real > 0
