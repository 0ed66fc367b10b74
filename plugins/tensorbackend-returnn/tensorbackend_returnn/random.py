"""Random numbers. The state of RETURNN's generator is a key, which each draw splits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorbackend as tb
from returnn.frontend._random_journal import RandomJournal
from returnn.tensor import Dim, Tensor

from .base import arranged, result, sizes
from .gradients import Gradients


class Random(Gradients):
    """Functions that draw random numbers."""

    _generator: Any = None
    _journal: Any = None
    """The journal of another backend's draws, which replaces new draws while it is replayed."""

    @classmethod
    def set_random_seed(cls, seed: int) -> None:
        """Set the state of the generator."""
        Random._generator = tb.random.generator(int(seed), backend=cls._home())

    @classmethod
    def _drawing(cls) -> Any:
        if Random._generator is None:
            cls.set_random_seed(42)
        held = Random._generator
        if tb.is_concrete(held.key) and held.key.backend is not cls._home():
            held = Random._generator = tb.random.Generator(held.key.backend_copy(cls._home()))
        return held

    @classmethod
    def _next_key(cls) -> tb.Tensor:
        """Return a key for one draw, and advance the generator.

        Raises `ArgumentError` in a function that is traced once, unless it is a `functional` step: each call would draw
        the same numbers.
        """
        generator = cls._drawing()
        try:
            key: tb.Tensor = generator.next_key()
        except tb.errors.ArgumentError as error:
            raise tb.errors.ArgumentError(
                "random: expected no draws from RETURNN's generator in a function that is traced once, got "
                f"key={generator.key.template}; write the step with tensorbackend_returnn.functional"
            ) from error
        return key

    @classmethod
    @contextmanager
    def _drawing_from(cls, key: tb.Tensor) -> Iterator[tb.random.Generator]:
        """A context in which draws use a generator with this key, which may be of a trace."""
        before = Random._generator
        try:
            Random._generator = tb.random.Generator(key)
            yield Random._generator
        finally:
            Random._generator = before

    @classmethod
    def get_random_state(cls) -> dict[str, bytes]:
        """The key for the next draw, as bytes."""
        return {"key": cls._drawing().key.to_binary()}

    @classmethod
    def set_random_state(cls, state: dict[str, Any]) -> None:
        """Set the key to a tensor, or to one that `get_random_state` returned. Another backend's state is ignored."""
        if "key" in state:
            key = state["key"]
            if not isinstance(key, tb.Tensor):
                key = tb.from_binary(key, tb.Template((2,), "uint32"), backend=cls._home())
            Random._generator = tb.random.Generator(key)

    @classmethod
    @contextmanager
    def random_journal_replay(cls, journal: RandomJournal) -> Iterator[None]:
        """A context in which draws return, in order, the numbers that another backend recorded in a journal."""
        before = Random._journal
        try:
            Random._journal = journal
            yield
        finally:
            Random._journal = before

    @classmethod
    def random(
        cls,
        *,
        dims: Sequence[Dim],
        dtype: str,
        device: str | None = None,
        sparse_dim: Dim | None = None,
        feature_dim: Dim | None = None,
        distribution: str,
        mean: Any = None,
        stddev: Any = None,
        bound: Any = None,
        minval: Any = None,
        maxval: Any = None,
        seed: Any = None,
        algorithm: str | None = None,
        explicit_state: Tensor | None = None,
        auto_update_state: bool | None = None,
        static: bool | None = None,
        out: Tensor | None = None,
        like: Any = None,
    ) -> Tensor:
        """Draw numbers from a distribution, by default on the device of `like`.

        With `static`, the numbers depend on `seed` alone, and the state of the generator does not change.
        """
        device = like.device if like is not None and device is None else device
        if explicit_state is not None or auto_update_state is not None:
            # The generator has a single state, which set_random_state() sets.
            raise NotImplementedError("random: expected no state as an argument; call rf.set_random_state() first")
        if out is None:
            out = Tensor(
                f"random_{distribution}", dims=dims, dtype=dtype, sparse_dim=sparse_dim, feature_dim=feature_dim
            )
        if cls._journal is not None:
            entry = cls._journal.get_next(new_out_template=out)
            drawn = tb.asarray(entry.out.raw_tensor, backend=cls._home(device), copy=True)
            out.raw_tensor = drawn
            return out
        key = _key_of(seed, cls._home(device)) if static else cls._next_key()
        parameters = {"mean": mean, "stddev": stddev, "minval": minval, "maxval": maxval}
        numbers = {
            name: arranged(parameter, dims) if isinstance(parameter, Tensor) else parameter
            for name, parameter in parameters.items()
            if parameter is not None
        }
        drawn = cls._drawn(key, tuple(sizes(dims)), cls.as_dtype_raw(dtype), distribution, **numbers)
        moves = device and tb.is_concrete(drawn)  # numbers of a trace stay where its function runs
        out.raw_tensor = drawn.to_device(cls._home(device).device) if moves else drawn
        return out

    @classmethod
    def _drawn(
        cls, key: tb.Tensor, shape: tuple[int, ...], dtype: tb.DType, distribution: str, **parameters: Any
    ) -> tb.Tensor:
        if distribution == "uniform" and dtype.is_integer:
            if "maxval" not in parameters:
                raise ValueError("random: expected a maxval for integers")
            return tb.random.randint(key, shape, parameters.get("minval", 0), parameters["maxval"], dtype)
        if distribution == "uniform":
            low, high = parameters.get("minval", 0.0), parameters.get("maxval", 1.0)
            return tb.random.uniform(key, shape, dtype, low, high)
        mean, deviation = parameters.get("mean", 0.0), parameters.get("stddev", 1.0)
        if distribution == "normal":
            return tb.random.normal(key, shape, dtype, mean=mean, deviation=deviation)
        if distribution == "truncated_normal":
            low = (parameters.get("minval", mean - 2 * deviation) - mean) / deviation
            high = (parameters.get("maxval", mean + 2 * deviation) - mean) / deviation
            numbers: tb.Tensor = tb.random.truncated_normal(key, low, high, shape, dtype) * deviation + mean
            return numbers
        raise NotImplementedError(f"random: expected uniform, normal or truncated_normal, got {distribution!r}")

    @classmethod
    def random_choice_with_replacement(cls, dims: Sequence[Dim], *, probs: Tensor, axis: Dim) -> Tensor:
        """Draw indices of `axis` with the probabilities `probs`, which may depend on some of the dims."""
        common = [dim for dim in dims if dim in probs.dims]
        sample_dims = [dim for dim in dims if dim not in common]
        logits = tb.log(arranged(probs, [*common, axis]))
        shape = (*sizes(sample_dims), *sizes(common))
        drawn = tb.random.categorical(cls._next_key(), logits, axis=-1, shape=shape)
        indices = result("random_choice_with_replacement", [*sample_dims, *common], drawn, sparse_dim=axis)
        return result(indices.name, dims, arranged(indices, dims), sparse_dim=axis)


def _key_of(seed: Any, backend: tb.Backend) -> tb.Tensor:
    """Make a key from a seed, which is one or several numbers."""
    if seed is None:
        raise ValueError("random: expected a seed for static=True")
    if isinstance(seed, int | np.integer):
        return tb.random.key(int(seed), backend=backend)
    words = np.random.SeedSequence([int(number) for number in np.ravel(seed)]).generate_state(1, np.uint32)
    return tb.random.key(int(words[0]), backend=backend)
