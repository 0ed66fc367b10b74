"""Attributes of operators: each is read, or may be left aside for a reason."""

from __future__ import annotations

import ast
from pathlib import Path

from onnx import defs

import tensorbackend_onnx.operators as operators
from tensorbackend_onnx.operators.registry import OPERATORS

BY_BODY = "ONNX's own function body computes an Attention for which it is not the default, or whose result is used"

LEFT_ASIDE = {
    **dict.fromkeys(
        ("left_window_size", "qk_matmul_output_mode", "right_window_size", "softcap", "softmax_precision"), BY_BODY
    ),
    "accuracy_level": "a hint for speed",
    "broadcast": "shapes that broadcast do so without it",
    "consumed_inputs": "a hint about memory",
    "dtype": "an empty sequence has no elements",
    "hidden_size": "the weights say it",
    "is_test": "models are run, not trained",
    "kernel_shape": "the kernel says it",
    "mask_filter_value": "what is masked has no weight at all",
    "mask_index_type": "of an output of onnxruntime's that nothing reads",
    "output_sequence": "all outputs are there, whatever is read",
    "scale": "onnxruntime itself leaves that of RotaryEmbedding aside",
    "sparse_value": "a constant without a value is refused, as are those of strings",
    "sorted": "sorted numbers are in a valid order",
    "stash_type": "the precision is that of docs/semantics.md",
    "total_length": "the cache says it",
    "value_string": "refused",
    "value_strings": "refused",
    "type": "an empty optional has no element",
}


def unread() -> dict[str, set[str]]:
    """The parameters of operators that their bodies do not name, and the attributes in `given` that nobody reads, with
    the operators that have them."""
    found: dict[str, set[str]] = {}
    trees = [ast.parse(path.read_text()) for path in sorted(Path(next(iter(operators.__path__))).glob("*.py"))]
    functions = {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)}
    for function in filter(_is_operator, functions.values()):
        named = {name for line in function.body for name in _names(line)}
        for parameter in (*function.args.args, *function.args.kwonlyargs):
            if parameter.arg not in named:
                found.setdefault(parameter.arg, set()).add(function.name)
    for row in (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Lambda)):
        for parameter in row.args.kwonlyargs:
            if parameter.arg not in _names(row.body):
                found.setdefault(parameter.arg, set()).add(ast.unparse(row))
    for (domain, name), versions in OPERATORS.items():
        own, read = set[str](), set[str]()
        for version in versions:
            if version.others is not None:
                own |= {*version.others} or _of_schemas(domain, name)
                read |= version.attributes | _read(functions, version.function.__name__)
        for attribute in own - read:
            found.setdefault(attribute, set()).add(name)
    return found


def _of_schemas(domain: str, name: str) -> set[str]:
    """The attributes of all versions of an operator."""
    schemas = (
        schema for schema in defs.get_all_schemas_with_history() if (schema.domain, schema.name) == (domain, name)
    )
    return {attribute for schema in schemas for attribute in schema.attributes}


def _read(functions: dict[str, ast.FunctionDef], name: str) -> set[str]:
    """The attributes of `given` that a function reads, and those that it calls with it."""
    code = functions[name]
    called = (node for node in ast.walk(code) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    passed = {
        ast.unparse(node.func)
        for node in called
        if "given" in map(ast.unparse, [*node.args, *(k.value for k in node.keywords)])
    }
    own = _attributes_of("given", code) | {parameter.arg for parameter in code.args.args}  # once they were attributes
    return own.union(*(_read(functions, other) for other in passed & functions.keys()))


def _names(code: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(code) if isinstance(node, ast.Name)}


def _is_operator(function: ast.FunctionDef) -> bool:
    return any("operator(" in ast.unparse(d) for d in function.decorator_list)


def _attributes_of(name: str, code: ast.AST) -> set[str]:
    """The attributes of an object that some code reads."""
    found = (node for node in ast.walk(code) if isinstance(node, ast.Attribute))
    return {node.attr for node in found if ast.unparse(node.value) == name}


def test_no_attribute_is_left_aside_without_a_reason() -> None:
    assert {name: functions for name, functions in unread().items() if name not in LEFT_ASIDE} == {}


def test_each_reason_is_needed() -> None:
    assert LEFT_ASIDE.keys() - unread().keys() == set()
