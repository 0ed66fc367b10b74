"""The stub that editors read says what the functions of the namespace say."""

import ast

from tensorbackend.numpy.functions import PUBLIC
from tensorbackend.numpy.stub import FILE, text


def test_the_stub_is_that_of_the_functions() -> None:
    assert FILE.read_text() == text(), "run python -m tensorbackend.numpy.stub"


def test_the_stub_declares_each_function() -> None:
    tree = ast.parse(FILE.read_text())
    declared = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    declared |= {
        node.target.id for node in tree.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    assert {name for name in PUBLIC if "." not in name and name not in ("view", "sliding_window_view")} <= declared
