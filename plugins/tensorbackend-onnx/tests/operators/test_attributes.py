"""Attributes of operators: each is read, or may be left aside for a reason."""

from __future__ import annotations

import ast
from pathlib import Path

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
    records = _records(trees)
    read: dict[str, set[str]] = {name: _attributes_of("self", record) for name, record in records.items()}
    for function in (node for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)):
        named = {name for line in function.body for name in _names(line)}
        for parameter in (*function.args.args, *function.args.kwonlyargs):
            if parameter.arg not in named and _is_operator(function):
                found.setdefault(parameter.arg, set()).add(function.name)
            elif isinstance(parameter.annotation, ast.Name) and parameter.annotation.id in records:
                read[parameter.annotation.id] |= _attributes_of(parameter.arg, function)
    for row in (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Lambda)):
        for parameter in row.args.kwonlyargs:
            if parameter.arg not in _names(row.body):
                found.setdefault(parameter.arg, set()).add(ast.unparse(row))
    for name, record in reversed(records.items()):  # those that are made of others come after them
        for base in record.bases:
            read.get(ast.unparse(base), set()).update(read[name])
        for line in record.body:
            if isinstance(line, ast.AnnAssign) and (field := ast.unparse(line.target)) not in read[name]:
                found.setdefault(field, set()).add(name)
    return found


def _records(trees: list[ast.Module]) -> dict[str, ast.ClassDef]:
    """The records of attributes, and the records that are made of these."""
    records: dict[str, ast.ClassDef] = {}
    for node in (node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)):
        if any(base == "Attributes" or base in records for base in map(ast.unparse, node.bases)):
            records[node.name] = node
    return records


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
