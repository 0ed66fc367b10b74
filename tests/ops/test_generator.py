"""Generators that hold a key: draws, state, and use as a tree."""

import pickle
from pathlib import Path
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, OperandError


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_the_same_seed_draws_the_same(backend: str) -> None:
    ours, reference = tb.random.generator(5, backend=backend), tb.random.generator(5)
    for function in (tb.random.uniform, tb.random.bits, tb.random.gumbel):
        drawn = ours.draw(function, (3,))
        assert drawn.backend.name == backend
        assert tb.all_close(drawn.backend_copy("numpy"), reference.draw(function, (3,)))
    assert ours.draw(tb.nn.glorot_uniform, (2, 3), names=("a", "b")).names == ("a", "b")


def test_no_key_is_drawn_with_twice() -> None:
    random = tb.random.generator(0)
    keys = [tuple(random.next_key().tolist()) for _ in range(50)]
    assert len({*keys, tuple(random.key.tolist())}) == 51


def test_its_state_is_saved_and_restored(tmp_path: Path) -> None:
    random = tb.random.generator(1)
    random.draw(tb.random.uniform)
    tb.save(tmp_path / "state.npz", {"key": random.key})
    copied = pickle.loads(pickle.dumps(random))
    expected_numbers = random.draw(tb.random.normal, (4,)).tolist()
    restored = tb.random.Generator(tb.load(tmp_path / "state.npz")["key"])
    assert restored.draw(tb.random.normal, (4,)).tolist() == expected_numbers
    assert copied.draw(tb.random.normal, (4,)).tolist() == expected_numbers


def test_it_is_a_tree() -> None:
    @tb.jit
    def step(random: tb.random.Generator) -> tuple[tb.Tensor, tb.random.Generator]:
        return random.draw(tb.random.uniform, (2,)), random

    random = tb.random.generator(3)
    first, after = step(random)
    second, _ = step(after)
    assert first.tolist() == random.draw(tb.random.uniform, (2,)).tolist()
    assert second.tolist() == random.draw(tb.random.uniform, (2,)).tolist()
    assert tb.backend_copy(random, "binary").key.backend.name == "binary"


def test_a_seed_is_an_int() -> None:
    with pytest.raises(OperandError, match="generator: expected an integer seed"):
        tb.random.generator("seed")  # type: ignore[arg-type] # wrong on purpose
    assert tb.random.generator(tb.asarray(3)).key.tolist() == [0, 3]  # type: ignore[arg-type] # an int to Python
    key = tb.random.generator(tb.template((), "s64")).key  # type: ignore[arg-type] # likewise, without data
    assert key.template == tb.random.key(3).template


def test_a_generator_from_outside_is_refused_where_it_would_repeat_its_numbers() -> None:
    random = tb.random.generator(2)
    compiled = tb.jit(lambda x: x + random.draw(tb.random.uniform, (2,)))
    with pytest.raises(ArgumentError, match="no generator from outside in a function that is traced once"):
        compiled(tb.zeros(2))
    with pytest.raises(ArgumentError, match="no generator from outside"):
        tb.jit(tb.grad(lambda x: tb.sum(x * random.draw(tb.random.uniform, (2,)))))(tb.zeros(2))
    with pytest.raises(ArgumentError, match="no generator from outside"):
        tb.fori_loop(0, 3, lambda i, total: total + random.draw(tb.random.uniform), tb.zeros(()))
    with pytest.raises(ArgumentError, match="no generator from outside"):
        tb.vmap(lambda x: x + random.draw(tb.random.uniform))(tb.zeros(2))


def test_a_generator_may_be_used_where_its_function_runs_anew_or_makes_it() -> None:
    random = tb.random.generator(2)
    gradient = tb.grad(lambda x: tb.sum(x * random.draw(tb.random.uniform, (2,))))
    assert gradient(tb.zeros(2)).tolist() != gradient(tb.zeros(2)).tolist()
    inside = tb.jit(lambda x: x + tb.random.generator(4).draw(tb.random.uniform, (2,)))
    assert inside(tb.zeros(2)).tolist() == tb.random.generator(4).draw(tb.random.uniform, (2,)).tolist()

    def iteration(i: tb.Tensor, state: tuple[tb.Tensor, tb.random.Generator]) -> tuple[tb.Tensor, tb.random.Generator]:
        total, generator = state
        return total + generator.draw(tb.random.uniform), generator

    total, after = tb.fori_loop(0, 3, iteration, (tb.zeros(()), random))
    assert float(total) == pytest.approx(sum(float(random.draw(tb.random.uniform)) for _ in range(3)))
    assert after.key.tolist() == random.key.tolist()


def test_a_draw_that_fails_leaves_the_generator_as_it_was() -> None:
    random, twin = tb.random.generator(0), tb.random.generator(0)

    def interrupted(key: Any) -> tb.Tensor:
        raise KeyboardInterrupt

    with pytest.raises(ArgumentError):
        random.draw(tb.random.uniform, (2,), minval=2.0, maxval=1.0)
    with pytest.raises(KeyboardInterrupt):
        random.draw(interrupted)
    assert random.draw(tb.random.bits).item() == twin.draw(tb.random.bits).item()


def test_a_draw_that_fails_takes_back_no_key_that_was_drawn_meanwhile() -> None:
    random = tb.random.generator(0)
    drawn = []

    def draws_and_fails(key: Any) -> None:
        drawn.append(random.next_key().tolist())
        raise ArgumentError("later")

    with pytest.raises(ArgumentError):
        random.draw(draws_and_fails)
    assert random.next_key().tolist() not in drawn
