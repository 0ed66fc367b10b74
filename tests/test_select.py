"""The registry, plugins and default backends."""

import importlib.metadata
import threading

import pytest

import tensorbackend as tb
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.errors import ArgumentError, BackendError
from tensorbackend.select import ENTRY_POINT_GROUP


def test_a_backend_by_instance_class_and_name() -> None:
    assert tb.get_backend("binary") is tb.get_backend(BinaryBackend) is BinaryBackend() is BinaryBackend()
    with pytest.raises(ArgumentError, match=r"no options for the backend 'binary', got options=\{'device': 1\}"):
        BinaryBackend(device=1)


def test_an_unknown_backend_names_those_there_are() -> None:
    with pytest.raises(BackendError, match=r"got name='nonesuch'; choose one of .*numpy, template"):
        tb.get_backend("nonesuch")


def test_a_plugin_that_fails_breaks_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = importlib.metadata.EntryPoint("broken", "no_such_module:Backend", ENTRY_POINT_GROUP)
    no_backend = importlib.metadata.EntryPoint("odd", "math:pi", ENTRY_POINT_GROUP)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [broken, no_backend])
    assert {"binary", "broken", "odd"} <= set(tb.backends())
    with pytest.raises(BackendError, match=r"plugin 'broken' to import, got error=.*no_such_module"):
        tb.get_backend("broken")
    with pytest.raises(BackendError, match="to name a subclass of Backend"):
        tb.get_backend("odd")
    assert tb.get_backend("binary").name == "binary"


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
