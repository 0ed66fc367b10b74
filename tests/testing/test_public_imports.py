"""What a plugin imports of tensorbackend."""

from pathlib import Path

from tensorbackend.testing import private_imports

CODE = """
import math
import tensorbackend.rules.shapes, tensorbackend.testing
from tensorbackend import Tensor, _hidden, no_such_name
from tensorbackend.protocol.window import Windows
from .kernels import Function
def late():
    from tensorbackend.dispatch import path
"""


def test_each_name_that_is_not_public_is_found(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    file = tmp_path / "inner" / "plugin.py"
    file.write_text(CODE)
    found = [
        "plugin.py:3: tensorbackend.rules.shapes",
        "plugin.py:4: tensorbackend:_hidden",
        "plugin.py:4: tensorbackend:no_such_name",
        "plugin.py:8: tensorbackend.dispatch",
    ]
    assert private_imports([tmp_path]) == found
    assert private_imports([file]) == found


def test_the_public_modules_are_public(tmp_path: Path) -> None:
    file = tmp_path / "plugin.py"
    file.write_text("from tensorbackend.extending import pack\nfrom tensorbackend.errors import expected\n")
    assert private_imports([file]) == []
