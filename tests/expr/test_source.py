"""Functions made from source text behave like functions of a module."""

from __future__ import annotations

import datetime

import tensorbackend as tb
from tensorbackend.expr.evaluate import program
from tensorbackend.expr.source import function_of


def test_a_function_in_c_may_import_a_module() -> None:
    source = "def call(parse): return parse('2024', '%Y')"
    call = function_of(source, "<test>", "call", {})
    assert call(datetime.datetime.strptime).year == 2024  # strptime imports the module that parses


def test_ops_and_programs_have_the_built_in_names() -> None:
    x = tb.ones(2)
    assert (x + x).tolist() == tb.add(x, x).tolist()
    kernel = program(tb.trace(lambda x: x + x)(x.template), tb.get_backend("numpy")).kernel
    for function in (tb.add, kernel):
        assert "__builtins__" in function.__globals__
