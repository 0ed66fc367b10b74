"""The source of warm calls: that it is code, and that it tells apart what a call depends on."""

from __future__ import annotations

import ast

import pytest

import tensorbackend as tb
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.dispatch.source import source_of, takes_numbers

NAMES = ["add", "concatenate", "einsum", "exp", "reshape", "softmax", "sum", "where", "zeros"]


def functions_of(source: str) -> dict[str, ast.FunctionDef]:
    """The functions that a source defines, by name."""
    return {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("direct", [False, True])
def test_a_source_defines_a_call_and_its_keys_with_the_parameters_of_the_op(name: str, direct: bool) -> None:
    spec = OPS[name]
    functions = functions_of(source_of(spec, direct=direct))
    assert list(functions) == ["op", "key_of"] if direct else ["op", "key_of", "kind_of"]
    for function in functions.values():
        arguments = function.args
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        names = [parameter.arg for parameter in parameters] + ([arguments.vararg.arg] if arguments.vararg else [])
        assert sorted(names) == sorted(parameter.name for parameter in spec.parameters)


def test_a_reflected_op_takes_its_operands_in_the_other_order_and_keys_them_in_the_usual_one() -> None:
    functions = functions_of(source_of(OPS["subtract"], nested=True, sole=True, reflected=True))
    order = [parameter.name for parameter in OPS["subtract"].parameters]
    assert [parameter.arg for parameter in functions["op"].args.posonlyargs] == order[::-1]
    assert [parameter.arg for parameter in functions["key_of"].args.posonlyargs] == order


def test_numbers_stand_for_some_of_several_operands() -> None:
    operands = {name: [x for x in OPS[name].parameters if x.role != "option"] for name in NAMES}
    assert [name for name in NAMES if takes_numbers(operands[name])] == ["add", "where"]


def test_a_call_by_kind_needs_its_operands_on_one_backend() -> None:
    x = tb.ones((2, 3))
    for size in range(3, 8):
        y = tb.ones((size, 3), backend="binary")
        assert (tb.ones((size, 3)) + y).backend is x.backend
        assert tb.concatenate([y, x]).shape == (size + 2, 3)
