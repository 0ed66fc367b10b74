"""The registry, plugins and default backends."""

import importlib.metadata
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.errors import ArgumentError, BackendError, SignatureError
from tensorbackend.select import registry
from tensorbackend.select.registry import ENTRY_POINT_GROUP


def test_a_backend_by_instance_class_and_name() -> None:
    assert tb.get_backend("binary") is tb.get_backend(BinaryBackend) is BinaryBackend() is BinaryBackend()
    with pytest.raises(ArgumentError, match=r"no options for the backend 'binary', got options=\{'device': 1\}"):
        BinaryBackend(device=1)


def test_an_unknown_backend_names_those_there_are() -> None:
    with pytest.raises(
        BackendError,
        match=r"got name='nonesuch'; install .*, register_backend\(\) a class .* choose one of .*numpy, .*template",
    ):
        tb.get_backend("nonesuch")


def test_what_is_no_backend_is_told_what_to_write() -> None:
    with pytest.raises(BackendError, match=r"got backend=array.*; tb.backend_of\(x\) is the backend of an array"):
        tb.get_backend(numpy.ones(2))  # type: ignore[arg-type]
    with pytest.raises(SignatureError, match=r"default_backend: .*; tb.get_backend\(\) is the default backend"):
        tb.default_backend()  # type: ignore[call-arg]


def test_options_that_a_class_does_not_declare_are_told_where() -> None:
    class Plain(tb.Backend):
        name = "plain"

    with pytest.raises(
        ArgumentError, match=r"got options=\{'digits': 3\}; its class method init takes and returns them"
    ):
        Plain(digits=3)


def test_a_plugin_that_fails_breaks_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = importlib.metadata.EntryPoint("broken", "no_such_module:Backend", ENTRY_POINT_GROUP)
    no_backend = importlib.metadata.EntryPoint("odd", "math:pi", ENTRY_POINT_GROUP)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [broken, no_backend])
    assert {"binary", "broken", "odd"} <= set(tb.backends())
    with pytest.raises(
        BackendError, match=r"an importable plugin for the backend 'broken', got error=.*no_such_module"
    ):
        tb.get_backend("broken")
    with pytest.raises(BackendError, match="to be a subclass of Backend"):
        tb.get_backend("odd")
    assert tb.get_backend("binary").name == "binary"


def test_a_distribution_whose_entry_points_cannot_be_read_breaks_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, text in {"broken": b"[tensorbackend.backends]\n\xff = x:Y\n", "right": RIGHT}.items():
        (tmp_path / f"{name}-1.0.dist-info").mkdir()
        (tmp_path / f"{name}-1.0.dist-info" / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        )
        (tmp_path / f"{name}-1.0.dist-info" / "entry_points.txt").write_bytes(text)
    monkeypatch.syspath_prepend(tmp_path)
    assert "right" in tb.backends()
    assert registry.origin("right") == "right 1.0"
    with pytest.raises(BackendError, match="the name of a backend"):
        tb.get_backend("unknown")
    with pytest.raises(BackendError, match="'no_such_module'"):
        tb.get_backend("right")


RIGHT = b"[tensorbackend.backends]\nright = no_such_module:Backend\n"


class Raising(BinaryBackend):
    """A plugin whose backend cannot be set up on this machine."""

    name = "raising"

    def setup(self) -> None:
        raise OSError("libdevice.so: cannot open shared object file")


def distribution(name: str, *entries: tuple[str, str]) -> list[importlib.metadata.EntryPoint]:
    """Return the entry points of a fictitious installed distribution."""

    class Installed(importlib.metadata.Distribution):
        def read_text(self, filename: str) -> str | None:
            return f"Name: {name}\nVersion: 1.0\n" if filename == "METADATA" else None

        def locate_file(self, path: object) -> Any:
            return path

    points = [importlib.metadata.EntryPoint(entry_name, value, ENTRY_POINT_GROUP) for entry_name, value in entries]
    for point in points:
        vars(point)["dist"] = Installed()
    return points


def test_what_is_wrong_with_a_plugin_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    place = "tests_of_select"
    monkeypatch.setitem(sys.modules, place, sys.modules[__name__])
    entry_points = [
        *distribution("one", ("twice", f"{place}:Raising"), ("raising", f"{place}:Raising")),
        *distribution("two", ("twice", f"{place}:BinaryBackend"), ("other", f"{place}:BinaryBackend")),
        *distribution("one", ("raising", f"{place}:Raising")),  # a second time on the path
    ]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: entry_points)
    monkeypatch.setattr(registry, "_classes", dict(registry._classes))
    with pytest.raises(
        BackendError,
        match=r"one distribution that declares the backend 'twice', got declared_by=\['one 1.0 \(.*'two 1.0 \(.*; un",
    ):
        tb.get_backend("twice")
    with pytest.raises(
        BackendError, match=r"the class of the plugin 'other' to have the name 'other', got name='binary'; rename"
    ):
        tb.get_backend("other")
    with pytest.raises(BackendError, match=r"the backend 'raising' to start, got error='OSError: libdevice.*'; check"):
        tb.get_backend("raising")
    assert (registry.origin("twice"), registry.origin("raising")) == ("one 1.0 and two 1.0", "one 1.0")


def test_a_default_is_of_its_thread() -> None:
    seen: list[str] = []
    with tb.default_backend("binary"):
        thread = threading.Thread(target=lambda: seen.append(tb.zeros(1).backend.name))
        thread.start()
        thread.join()
        assert tb.zeros(1).backend.name == "binary"
    assert seen == [tb.zeros(1).backend.name]


def test_a_name_is_taken_once() -> None:
    class Another(BinaryBackend):
        name = "numpy"

    with pytest.raises(BackendError, match="choose another name"):
        tb.register_backend(Another)


class _Other(NumpyBackend):
    """A backend other than the default one."""

    name = "other"


_VALUES = numpy.arange(12, dtype="float32").reshape(4, 3)
_SHARES = numpy.asarray([0.5, 0.5], dtype="float32")


@pytest.mark.parametrize(
    "call",
    [
        lambda x, i, key: tb.take(x, numpy.asarray([0, 1]), axis=0),
        lambda x, i, key: tb.take(_VALUES, i, axis=0),
        lambda x, i, key: tb.take_along_axis(x, numpy.asarray([[0, 1, 0]]), axis=0),
        lambda x, i, key: tb.put_slice(x, x[:1], starts=(i[0], 0)),
        lambda x, i, key: tb.put_slice(x, x[:1], starts=(numpy.asarray(1), 0)),
        lambda x, i, key: tb.put_slice(x, _VALUES[:1], starts=(i[0], 0)),
        lambda x, i, key: tb.put_slice(_VALUES, x[:1], starts=(i[0], 0)),
        lambda x, i, key: tb.slice_along_axis(x, numpy.asarray(1), 2, axis=0),
        lambda x, i, key: tb.searchsorted(x[:, 0], _SHARES),
        lambda x, i, key: tb.searchsorted(_SHARES, x[:, 0]),
        lambda x, i, key: tb.searchsorted(x[:, 0], x[:, 0], sorter=numpy.arange(4)),
        lambda x, i, key: tb.bincount(i, weights=_SHARES),
        lambda x, i, key: tb.bincount(numpy.asarray([1, 2]), weights=x[0, :2]),
        lambda x, i, key: tb.histogram(x, weights=_VALUES).counts,
        lambda x, i, key: tb.logsumexp(x, scale=_VALUES),
        lambda x, i, key: tb.covariance(x, mean=_VALUES[0]),
        lambda x, i, key: tb.random.bernoulli(key, _SHARES),
        lambda x, i, key: tb.random.normal(key, (2,), mean=_SHARES),
        lambda x, i, key: tb.random.randint(key, (2,), numpy.asarray([0, 1]), 5),
        lambda x, i, key: tb.random.multivariate_normal(key, _SHARES, numpy.eye(2, dtype="float32")),
        lambda x, i, key: tb.random.choice(key, numpy.asarray([3, 4]), (2,), p=_SHARES),
    ],
)
def test_what_is_not_a_tensor_follows_the_tensors_next_to_it(call: Callable[..., tb.Tensor]) -> None:
    other = tb.get_backend(_Other)
    x, i, key = (tensor.backend_copy(other) for tensor in (tb.asarray(_VALUES), tb.asarray([1, 0]), tb.random.key(0)))
    assert call(x, i, key).backend is other
