"""Tables, images, plots, and libraries that store tensors or send them elsewhere."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import joblib
import matplotlib as mpl
import numpy as np
import pandas
import polars
import pytest
import safetensors.numpy
from PIL import Image

import tensorbackend as tb


@pytest.mark.client("pandas")
def test_tables(x: Any) -> None:
    """Tensors as columns and values; `asarray` of frames; an operator with a `Series` is the `Series`' own."""
    frame = pandas.DataFrame({"a": x[0], "b": x[1]})
    frame["c"] = x[0] * 2
    assert frame.sum().tolist() == [6.0, 15.0, 12.0]
    assert pandas.DataFrame(x, columns=["a", "b", "c"]).shape == (2, 3)
    assert pandas.Series(x[0]).mean() == 2
    assert tb.asarray(frame).shape == (3, 3)
    assert isinstance(x[1] * frame["a"], pandas.Series)


@pytest.mark.client("polars")
def test_columns(x: tb.Tensor) -> None:
    """Columns of `numpy.asarray(x)`, as polars knows classes by their names; `asarray` of a `Series` or a frame."""
    frame = polars.DataFrame({"a": np.asarray(x[0]), "b": np.asarray(x[1])})
    assert frame["b"].sum() == 15
    assert tb.asarray(frame["a"]).tolist() == x[0].tolist()
    assert tb.asarray(frame).tolist() == x.T.tolist()


@pytest.mark.client("pillow")
def test_pictures() -> None:
    """`asarray(image)`, and `Image.fromarray(numpy.asarray(x))`, as tensors have no `__array_interface__`."""
    pixels = tb.astype(tb.reshape(tb.arange(24), (2, 4, 3)), "uint8")
    image = Image.fromarray(np.asarray(pixels))
    assert image.size == (4, 2)
    assert tb.asarray(image).tolist() == pixels.tolist()


@pytest.mark.client("matplotlib")
def test_plots(x: Any) -> None:
    """Lines, points, bars, errors, histograms, pictures, contours; tensors as data, colours and limits."""
    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    axes.plot(x[0], x[1])
    axes.scatter(x[0], x[1], c=x[0], s=x[1])
    axes.bar(x[0], x[1], yerr=x[0])
    axes.errorbar(x[0], x[1], yerr=x[0])
    axes.fill_between(x[0], x[1])
    axes.hist(x[0])
    axes.imshow(x)
    axes.contour(x[0] * tb.ones((3, 3)))
    axes.set_xlim(x[0].min(), x[0].max())
    written = io.BytesIO()
    figure.savefig(written)
    pyplot.close(figure)
    assert written.getvalue()[:4] == b"\x89PNG"


def work(x: tb.Tensor) -> tb.Tensor:
    return tb.sum(x, axis="feature")


@pytest.mark.client("joblib")
def test_jobs(x: tb.Tensor, backend: str, tmp_path: Path) -> None:
    """`Parallel` over threads and processes, `dump` and `load`, `hash`, `Memory`."""
    for prefer in ("threads", "processes"):
        if prefer == "processes" and backend == "jax":
            continue  # JAX's threads do not survive a fork, as its documentation says
        results = joblib.Parallel(2, prefer=prefer)(joblib.delayed(work)(x) for _ in range(2))
        assert [(result.tolist(), result.names) for result in results] == [([6.0, 15.0], ("batch",))] * 2
    joblib.dump(x, tmp_path / "x")
    assert joblib.load(tmp_path / "x").template is x.template
    assert joblib.hash(x) == joblib.hash(x + 0) != joblib.hash(x + 1)
    assert joblib.Memory(tmp_path, verbose=0).cache(work)(x).tolist() == [6.0, 15.0]


@pytest.mark.client("cloudpickle")
def test_pickles(x: tb.Tensor, backend: str) -> None:
    """Tensors by every protocol of `pickle`, and functions that hold on to them by cloudpickle."""
    import cloudpickle

    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        copy = pickle.loads(pickle.dumps(x, protocol))
        assert (copy.template, copy.backend.name, copy.tolist()) == (x.template, backend, x.tolist())
    assert pickle.loads(cloudpickle.dumps(lambda: x + 1))().tolist() == (x + 1).tolist()


@pytest.mark.client("safetensors")
def test_safetensors(x: tb.Tensor, tmp_path: Path) -> None:
    """Files of the library read by `tb.load`, and ours by the library, bfloat16 too."""
    tb.save(tmp_path / "ours.safetensors", {"x": x})
    assert safetensors.numpy.load_file(tmp_path / "ours.safetensors")["x"].tolist() == x.tolist()
    safetensors.numpy.save_file({"y": np.asarray(tb.astype(x, "bf16"))}, tmp_path / "theirs.safetensors")
    loaded = tb.load(tmp_path / "theirs.safetensors")["y"]
    assert (loaded.dtype, loaded.tolist()) == (tb.bfloat16, x.tolist())
