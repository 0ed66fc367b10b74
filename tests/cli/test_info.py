"""The command line: `tensorbackend info`, its exit statuses, and backends that fail."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
import types
from pathlib import Path
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.backends.libraries import import_library
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.cli import main
from tensorbackend.declarations.op_specs import CALLBACKS, list_implementations, overridable
from tensorbackend.errors import BackendError
from tensorbackend.select import registry


def info(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    """Run `tensorbackend info --json`; return its exit status and its backends by name."""
    status = main(["info", "--json", *arguments])
    document = json.loads(capsys.readouterr().out)
    return status, {backend["name"]: backend for backend in document["backends"]}


def test_every_backend_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    status, backends = info(capsys)
    assert status == 0
    assert set(tb.backends()) == set(backends)
    assert backends["numpy"]["ready"]
    assert backends["numpy"]["versions"] == {"numpy": sys.modules["numpy"].__version__}
    assert backends["numpy"]["devices"] == ["cpu"]


def test_backends_of_distributions_that_are_not_installed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = importlib.metadata.EntryPoint("torch", "tensorbackend_torch:TorchBackend", registry.ENTRY_POINT_GROUP)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [torch])
    assert main(["info"]) == 0
    assert "not installed: dask (tensorbackend-dask), mlx (tensorbackend-mlx)" in capsys.readouterr().out
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [])
    assert main(["info", "numpy", "--json"]) == 0
    missing = json.loads(capsys.readouterr().out)["not_installed"]
    assert {"name": "torch", "distribution": "tensorbackend-torch"} in missing
    for name, remedy in {"torch": "", "pytorch": " and name it 'torch'"}.items():
        with pytest.raises(BackendError, match=f"; install the distribution tensorbackend-torch{remedy}, or choose"):
            tb.set_default_backend(name)


def test_each_plugin_of_the_project_that_declares_a_backend_is_known() -> None:
    declared = {}
    for path in Path(__file__).parents[2].glob("plugins/*/pyproject.toml"):
        project = tomllib.loads(path.read_text())["project"]
        for name in project.get("entry-points", {}).get(registry.ENTRY_POINT_GROUP, ()):
            declared[name] = project["name"]
    assert declared == registry.DISTRIBUTIONS


def test_counts_are_those_of_the_class() -> None:
    class Few(tb.Backend):
        name = "few"

        def add(self, out: Any, x1: Any, x2: Any, /) -> Any: ...
        def softmax(self, out: Any, x: Any, /, *, axis: int) -> Any: ...
        def helper(self) -> None: ...

    assert list_implementations(Few) == (["add"], ["softmax"])
    primitives = {name for name, callback in CALLBACKS.items() if not callback.optional}
    assert set(list_implementations(NumpyBackend)[0]) == primitives
    assert set(list_implementations(NumpyBackend)[1]) < set(overridable())


def test_a_plugin_that_fails_is_shown_with_its_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Moody(tb.Backend):
        name = "moody"

        def setup(self) -> None:
            raise OSError("no driver")

    module = types.ModuleType("moody_module")
    module.Moody = Moody  # type: ignore[attr-defined] # a module made here
    monkeypatch.setitem(sys.modules, "moody_module", module)
    monkeypatch.setattr(registry, "_classes", dict(registry._classes))
    entries = [
        importlib.metadata.EntryPoint("broken", "no_such_module:Backend", registry.ENTRY_POINT_GROUP),
        importlib.metadata.EntryPoint("moody", "moody_module:Moody", registry.ENTRY_POINT_GROUP),
    ]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: entries)
    status, backends = info(capsys)
    assert status == 0
    assert "no_such_module" in backends["broken"]["error"]
    assert (backends["broken"]["ready"], backends["broken"]["origin"], backends["broken"]["callbacks"]) == (
        False,
        "plugin",
        None,
    )
    assert not backends["moody"]["ready"]
    assert "the backend 'moody' to start, got error='OSError: no driver'" in backends["moody"]["error"]
    assert backends["moody"]["callbacks"] == 0  # its class was loaded, and defines no callback
    assert backends["numpy"]["ready"]
    assert main(["info"]) == 0
    shown = capsys.readouterr().out
    assert "got error='OSError: no driver'" in shown


def test_a_backend_asked_for_by_name_decides_the_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert info(capsys, "binary")[0] == 0
    status, backends = info(capsys, "binary", "nonesuch")
    assert status == 1
    assert set(backends) == {"binary", "nonesuch"}
    assert backends["nonesuch"]["error"].startswith("expected the name of a backend, got name='nonesuch'")
    with pytest.raises(SystemExit) as exit:
        main(["info", "--nonesuch"])
    assert exit.value.code == 2


def test_a_plain_table_where_rich_is_not_installed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert main(["info", "binary", "numpy"]) == 0
    header, binary, numpy = capsys.readouterr().out.splitlines()
    assert header.split() == ["backend", "from", "versions", "devices", "state", "callbacks", "composites"]
    assert header.index("state") == binary.index("ready") == numpy.index("ready")


def test_what_is_missing_says_how_to_get_it() -> None:
    text = (
        "expected an importable no_such_library for the backend 'odd', got error=\"ModuleNotFoundError: No module "
        "named 'no_such_library'\"; in a checkout of tensorbackend: pip install '.[a]' or pip install '.[b]'"
    )
    with pytest.raises(BackendError) as error:
        import_library("no_such_library", "odd", "a", "b")
    assert str(error.value) == text


def test_an_extra_that_installs_nothing_is_no_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    install = "in a checkout of tensorbackend: pip install '.[jax]'"
    for version, remedy in (((3, 14), install), ((3, 15), "a Python older than 3.15, for")):
        monkeypatch.setattr(sys, "version_info", version)
        with pytest.raises(BackendError, match=re.escape(f"; {remedy}")):
            import_library("no_such_library", "jax", "jax")


def test_as_a_module() -> None:
    completed = subprocess.run(
        [sys.executable, "-m", "tensorbackend", "info", "numpy"], capture_output=True, text=True, check=True
    )
    assert "ready" in completed.stdout


def test_a_reader_that_has_had_enough_is_not_a_mistake() -> None:
    command = [sys.executable, "-m", "tensorbackend", "info", "numpy", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1
