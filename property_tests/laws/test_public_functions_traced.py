"""Every public function with some of its tensors traced and the others closed over, and away from the default backend.

The calls are those that the oracles draw. A function that reads an option, or makes a constant on another backend than
that of its operands, works where all tensors are traced and where the backend is the default one.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy
import pytest
from hypothesis import given

import tensorbackend as tb
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.errors import BackendError, TemplateDataError, TensorBackendError
from tensorbackend.expr.trees import flatten, unflatten
from tensorbackend.protocol import Backend
from tensorbackend.testing import profile
from tensorbackend.testing.failures import Disagreement

from ..oracles import ORACLES
from ..oracles.table import Oracle, Recorder

Elsewhere = type("Elsewhere", (NumpyBackend,), {"name": "elsewhere"})
"""NumPy under another name: like JAX, it does not mix with tensors of the default backend."""

READING = {"backend_copy", "backend_transfer", "compare", "ragged.to_list", "record_run", "save"}
"""Functions that give data to Python, a file or another backend."""

OF_DATA = {"repeat", "sparse.matmul"}
"""Functions whose results have shapes that depend on data, besides those whose errors say so."""

EFFECTS = {"backend_deallocate", "debug_print", "debug_callback", "profile_function", "tape"}
"""Functions that change what they are given, or tell what happens."""

OF_DEFAULT = {"default_backend", "scoped_backend", "set_default_backend"}
"""Functions of the default backend."""


class Traced(Recorder):
    """A function that is called once more for each of its tensors, as an argument of `jit`, and once for half of them.

    A shape that depends on data is an error in a trace; nothing else may need data.
    """

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        result = super().__call__(*arguments, **options)
        try:
            leaves, tree = flatten((arguments, options))
        except TensorBackendError:  # no tree of tensors
            return result
        places = [place for place, leaf in enumerate(leaves) if self._has_data(leaf)]
        for chosen in [[place] for place in places] + ([places[::2]] if len(places) > 2 else []):
            self._check(leaves, tree, chosen, result)
        return result

    def _has_data(self, leaf: object) -> bool:
        return isinstance(leaf, tb.Tensor) and leaf.backend is self.backend

    def _check(self, leaves: Sequence[Any], tree: Any, chosen: Sequence[int], result: Any) -> None:
        def call(*traced: tb.Tensor) -> Any:
            filled = list(leaves)
            for place, x in zip(chosen, traced, strict=True):
                filled[place] = x
            arguments, options = unflatten(tree, filled)
            return self.function(*arguments, **options)

        try:
            found = tb.jit(call)(*(leaves[place] for place in chosen))
        except TemplateDataError as error:
            if "no data to be read" not in str(error):
                return
            text = f"{self.name} of {[leaves[place] for place in chosen]} traced among {leaves}: {error}"
            raise AssertionError(text) from error
        except Exception:  # what a trace refuses for another reason
            return
        self._compare(found, result)

    def _compare(self, found: Any, result: Any) -> None:
        pairs = zip(flatten(found)[0], flatten(result)[0], strict=True)
        for x, y in pairs:
            if isinstance(y, tb.Tensor) and y.backend is self.backend:
                assert (x.shape, x.dtype) == (y.shape, y.dtype), f"{self.name}: traced {x!r}, eagerly {y!r}"
                assert x.backend is self.backend, f"{self.name}: expected {self.backend}, got {x!r}"


class Away(Recorder):
    """A function whose tensors are on another backend than the default one, and whose results must be there too."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        try:
            result = super().__call__(*arguments, **options)
        except BackendError as error:
            if "tensors on one backend" in str(error):
                raise AssertionError(f"{self.name} mixes backends: {error}") from error
            raise
        if self.name not in READING and self._any_there((arguments, options)):
            for leaf in self._tensors(result):
                assert leaf.backend.name == self.backend.name, f"{self.name}: a result on {leaf.backend}"
        return result

    def _any_there(self, value: Any) -> bool:
        return any(leaf.backend is self.backend for leaf in self._tensors(value))

    def _tensors(self, value: Any) -> list[tb.Tensor]:
        try:
            return [leaf for leaf in flatten(value)[0] if isinstance(leaf, tb.Tensor)]
        except TensorBackendError:
            return []


def check(oracle: Oracle, run: Recorder, count: int) -> None:
    @profile(count)
    @given(oracle.strategy)
    def holds(drawn: object) -> None:
        # The oracles themselves find wrong numbers.
        with numpy.errstate(all="ignore"), suppress(Disagreement):
            oracle.check(drawn, run)

    holds()


@pytest.mark.parametrize("name", sorted({*ORACLES} - READING - OF_DATA - EFFECTS - OF_DEFAULT))
def test_each_tensor_may_be_traced_alone(name: str) -> None:
    backend = tb.get_backend("numpy")
    with tb.default_backend(backend):
        check(ORACLES[name], Traced(name, backend), 1)


@pytest.mark.parametrize("name", sorted({name for name, each in ORACLES.items() if each.draws != "kit"} - OF_DEFAULT))
def test_results_are_where_the_operands_are(name: str) -> None:
    """Calls that the testing kit draws are those of `test_transforms_elsewhere.py`."""
    backend: Backend = Elsewhere()
    check(ORACLES[name], Away(name, backend), 1)
