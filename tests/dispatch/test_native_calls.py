"""What the library tells a type of calls in C about its ops; a stand-in in Python takes the place of that type.

The tests of tensorbackend-native compare calls in C with calls in Python.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tensorbackend.dispatch.native_calls import INTERFACE

STAND_IN = f"""
__version__ = "1.0"
INTERFACE = {INTERFACE}
configured = []
declared = {{}}

def configure(*of_library):
    configured.append(of_library)

def Call(function, calls, recover, names, roles, defaults, positional, *flags):
    declared.setdefault(function.__name__, []).append((names, roles, len(defaults), positional, *map(bool, flags)))
    return function
"""

PROGRAM = """
import json, tensorbackend as tb, tensorbackend_native as native
(of_library,) = native.configured
assert of_library[:2] == (tb.Tensor, tb.Template), of_library
print(json.dumps(native.declared))
"""


@pytest.fixture(scope="module")
def declared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The declarations of ops, by name."""
    folder = tmp_path_factory.mktemp("native")
    (folder / "tensorbackend_native.py").write_text(STAND_IN)
    package = Path(__file__).parents[2]
    path = os.pathsep.join([str(folder), str(package), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "TENSORBACKEND_NATIVE": "1"}
    arguments = [sys.executable, "-c", PROGRAM]
    shown = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(shown.stdout)
    return found


@pytest.mark.parametrize(
    ("name", "declaration"),
    [
        # names, roles, defaults, positional; nested, precise, numbers, reflected, direct
        ("add", [[None, None], "tt", 2, 2, True, True, True, False, False]),
        ("exp", [[None], "t", 1, 1, True, True, False, False, False]),
        ("sum", [[None, "axis", "dtype", "keepdims"], "tooo", 4, 1, False, True, False, False, False]),
        ("getitem", [["x", "key"], "tk", 2, 2, True, False, False, False, True]),
    ],
)
def test_an_op_is_told_by_its_signature(name: str, declaration: list[Any], declared: dict[str, Any]) -> None:
    assert declaration in declared[name]


def test_an_operator_and_its_reflection_are_told_too(declared: dict[str, Any]) -> None:
    assert [flags[-2] for (*flags,) in declared["subtract"]].count(True) == 1
    assert len(declared["subtract"]) == 3


def test_shapes_sequences_and_optional_tensors_have_roles_of_their_own(declared: dict[str, Any]) -> None:
    roles = {name: {declaration[1] for declaration in each} for name, each in declared.items()}
    assert "tzoo" in roles["broadcast_to"]
    assert any(found.startswith("s") for found in roles["stack"])
    assert any("m" in found for each in roles.values() for found in each)


def test_ops_without_operands_or_of_any_number_of_arguments_stay_in_python(declared: dict[str, Any]) -> None:
    assert not {"zeros", "broadcast_arrays"} & {*declared}
