"""Attributes of operators: each is read, or may be left aside for a reason."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TypeGuard

import tensorbackend_onnx.operators as operators

LEFT_ASIDE = {
    "accuracy_level": "a hint for speed",
    "broadcast": "shapes that broadcast do so without it",
    "dtype": "an empty sequence has no elements",
    "hidden_size": "the weights say it",
    "is_test": "models are run, not trained",
    "kernel_shape": "the kernel says it",
    "mask_filter_value": "what is masked has no weight at all",
    "mask_index_type": "of an output of onnxruntime's that nothing reads",
    "node": "only the operator's other inputs matter",
    "output_sequence": "all outputs are there, whatever is read",
    "ratio": "models are run, not trained",
    "scale": "onnxruntime itself leaves that of RotaryEmbedding aside",
    "sorted": "sorted numbers are in a valid order",
    "stash_type": "the precision is that of docs/semantics.md",
    "total_length": "the cache says it",
    "type": "an empty optional has no element",
}


def unread() -> dict[str, set[str]]:
    """The parameters of operators that their bodies do not name, and the fields of their records that nobody reads,
    with the functions or records that have them."""
    found: dict[str, set[str]] = {}
    trees = [ast.parse(path.read_text()) for path in sorted(Path(next(iter(operators.__path__))).glob("*.py"))]
    records = {record.name: record for tree in trees for record in tree.body if _is_record(record)}
    read: dict[str, set[str]] = {name: _attributes_of("self", record) for name, record in records.items()}
    for function in (function for tree in trees for function in tree.body if _is_operator(function)):
        named = {node.id for line in function.body for node in ast.walk(line) if isinstance(node, ast.Name)}
        for parameter in (*function.args.args, *function.args.kwonlyargs):
            if parameter.arg not in named:
                found.setdefault(parameter.arg, set()).add(function.name)
            elif isinstance(parameter.annotation, ast.Name) and parameter.annotation.id in records:
                read[parameter.annotation.id] |= _attributes_of(parameter.arg, function)
    for name, record in records.items():
        for line in record.body:
            if isinstance(line, ast.AnnAssign) and (field := ast.unparse(line.target)) not in read[name]:
                found.setdefault(field, set()).add(name)
    return found


def _is_record(node: ast.stmt) -> TypeGuard[ast.ClassDef]:
    return isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "Attributes" for base in node.bases)


def _is_operator(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef) and any("operator(" in ast.unparse(d) for d in node.decorator_list)


def _attributes_of(name: str, code: ast.AST) -> set[str]:
    """The attributes of an object that some code reads."""
    found = (node for node in ast.walk(code) if isinstance(node, ast.Attribute))
    return {node.attr for node in found if ast.unparse(node.value) == name}


def test_no_attribute_is_left_aside_without_a_reason() -> None:
    assert {name: functions for name, functions in unread().items() if name not in LEFT_ASIDE} == {}


def test_each_reason_is_needed() -> None:
    assert LEFT_ASIDE.keys() - unread().keys() == set()
