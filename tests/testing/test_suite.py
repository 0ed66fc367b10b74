"""The conformance suite, run from a plugin's test file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import tensorbackend as tb

PLUGIN = """
import tensorbackend as tb
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.testing import NOT_COMPARED, Divergence, Invocation
from tensorbackend.testing.suite import ConformanceSuite


class Wrong(BinaryBackend):
    name = "wrong_in_suite"
    dispatch_priority = 1
    dtypes = frozenset(BinaryBackend.dtypes - {tb.int8})
    sin = tb.Backend.sin

    def exp(self, out, x, /):
        return BinaryBackend.add(self, out, x, x)

    def isfinite(self, out, x, /):
        return BinaryBackend.is_finite(self, out, x)

    def divergences(self):
        call = Invocation("add", (tb.tensor([1.0], backend="binary"), 1), {})
        return [Divergence("none", call, NOT_COMPARED, ops=("add",))]


class TestNumpy(ConformanceSuite):
    backend = "numpy"
    ops = ("add", "sort", "qr")
    dtypes = (tb.float32, tb.int8)
    examples = 10


class TestWrong(ConformanceSuite):
    backend = Wrong
    ops = ("add", "exp", "sin")
    dtypes = (tb.float32, tb.int8)
    examples = 10


class Few(BinaryBackend):
    name = "few_in_suite"
    dispatch_priority = 1
    dtypes = frozenset([tb.bool, tb.int64, tb.float32])


class TestFew(ConformanceSuite):
    backend = Few
    ops = ("add", "conv", "dot", "take", "where")
    examples = 60
"""


def test_a_plugin_runs_it(tmp_path: Path) -> None:
    (tmp_path / "test_plugin.py").write_text(PLUGIN)
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "-v", "-rs", "--tb=short"]  # long tracebacks take a second
    command = [sys.executable, "-m", "pytest", *options, "test_plugin.py"]
    paths = os.pathsep.join([str(Path(tb.__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": paths}
    )
    states = dict(re.findall(r"::(Test\w+::\w+(?:\[\w+\])?) (PASSED|FAILED|SKIPPED)", done.stdout))
    assert {state for name, state in states.items() if name.startswith("TestNumpy")} == {"PASSED"}
    assert sum(name.startswith("TestNumpy") for name in states) == 3 + 3 + 3 + 2 + 2
    wrong = {name.removeprefix("TestWrong::"): state for name, state in states.items() if name.startswith("TestWrong")}
    assert wrong == {
        "test_agrees_with_the_reference[add]": "PASSED",
        "test_agrees_with_the_reference[exp]": "FAILED",
        "test_agrees_with_the_reference[sin]": "SKIPPED",
        "test_refuses_mistakes[add]": "PASSED",
        "test_refuses_mistakes[exp]": "PASSED",
        "test_refuses_mistakes[sin]": "PASSED",
        "test_a_call_after_others_of_its_kind_is_as_planned_alone[add]": "PASSED",
        "test_a_call_after_others_of_its_kind_is_as_planned_alone[exp]": "PASSED",
        "test_a_call_after_others_of_its_kind_is_as_planned_alone[sin]": "PASSED",
        "test_keeps_data[float32]": "PASSED",
        "test_keeps_data[int8]": "SKIPPED",
        "test_each_divergence_is_needed": "FAILED",
        "test_no_method_has_the_public_name_of_an_op": "FAILED",
    }
    assert {state for name, state in states.items() if name.startswith("TestFew")} == {"PASSED", "SKIPPED"}
    assert "defines isfinite, which nothing calls: define is_finite" in done.stdout
    assert "remove the row 'none'" in done.stdout
    assert "expected a backend that has sin" in done.stdout
    assert re.search(r"with tb.default_backend\(.*import_module\('\w+'\).\w+\):", done.stdout)
