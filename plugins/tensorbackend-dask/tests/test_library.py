"""Tests that the plugin uses only public modules, imports quickly, and runs no function on empty arrays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import tensorbackend as tb
from tensorbackend.testing import private_imports

import tensorbackend_dask


def test_imports_only_what_is_public() -> None:
    folders = [Path(tensorbackend_dask.__file__).parent, Path(__file__).parent]
    assert not private_imports(folders)


def test_importing_it_imports_no_array_library() -> None:
    code = "import sys, tensorbackend_dask; print({'dask.array', 'distributed', 'numpy'} & set(sys.modules))"
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert completed.stdout == "set()\n"


def test_nothing_is_inferred_by_running_functions_on_empty_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    import dask.array.blockwise
    import dask.array.utils

    def forbidden(*arguments: object, **options: object) -> None:
        raise AssertionError("a function was run to see what it gives")

    monkeypatch.setattr(dask.array.utils, "compute_meta", forbidden)
    x = tb.iota((6, 4), names=("a", "b"), backend=tensorbackend_dask.DaskBackend(chunks={"a": 2, "b": 1}))
    y = tb.concatenate([tb.exp(x.T).T, tb.cumulative_sum(x, axis="a") / 2, tb.sort(x, axis="b")], axis="a")
    assert tb.sum(tb.reshape(y[1:, ::-1], (-1,))).dtype is tb.float32
