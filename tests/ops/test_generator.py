"""Generators that hold a key: draws, state, and use as a tree."""

import pickle
from pathlib import Path

import pytest

import tensorbackend as tb
from tensorbackend.errors import OperandError, TemplateDataError


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
    with pytest.raises(TemplateDataError):
        tb.random.generator(tb.template((), "s64"))  # type: ignore[arg-type] # likewise, without data
