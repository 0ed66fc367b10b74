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
    "ratio": "models are run, not trained",
    "scale": "onnxruntime itself leaves that of RotaryEmbedding aside",
    "sorted": "sorted numbers are in a valid order",
    "stash_type": "the precision is that of docs/semantics.md",
    "total_length": "the cache says it",
    "type": "an empty optional has no element",
}


def unread() -> dict[str, set[str]]:
    """The parameters of operators that their bodies do not name, with the functions that have them."""
    found: dict[str, set[str]] = {}
    for path in sorted(Path(next(iter(operators.__path__))).glob("*.py")):
        for function in ast.parse(path.read_text()).body:
            if isinstance(function, ast.FunctionDef) and any(
                "operator(" in ast.unparse(d) for d in function.decorator_list
            ):
                named = {node.id for line in function.body for node in ast.walk(line) if isinstance(node, ast.Name)}
                for parameter in (*function.args.args, *function.args.kwonlyargs):
                    if parameter.arg not in named:
                        found.setdefault(parameter.arg, set()).add(function.name)
    return found


def test_no_attribute_is_left_aside_without_a_reason() -> None:
    assert {name: functions for name, functions in unread().items() if name not in LEFT_ASIDE} == {}


def test_each_reason_is_needed() -> None:
    assert LEFT_ASIDE.keys() - unread().keys() == set()
