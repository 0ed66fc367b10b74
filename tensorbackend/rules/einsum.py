"""Einstein's notation: what subscripts say, and in which order to contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from ..errors import ArgumentError, ShapeError, expected
from ..template import Template

X = TypeVar("X")
Operand: TypeAlias = tuple[X, str]
"""A tensor with one letter for each axis."""


class Expression(NamedTuple):
    """Subscripts that fit their operands."""

    terms: tuple[str, ...]
    output: str
    path: tuple[tuple[int, ...], ...]
    """Which terms to contract, step by step: they are taken out and their product is put last."""


def parsed(subscripts: str, operands: Sequence[Template]) -> Expression:
    """The subscripts of operands; `ArgumentError` where they do not fit, `ShapeError` for a letter of two sizes."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = tuple(inputs.split(","))
    letters = "".join(terms) + output
    if not operands or (not letters.isalpha() and letters):
        remedy = "such as 'bnk,bkm->bnm'"
        raise ArgumentError(expected("letters, commas and -> as subscripts of operands", remedy, subscripts=subscripts))
    if len(terms) != len(operands):
        raise ArgumentError(expected(f"{len(operands)} terms, one for each operand", subscripts=subscripts))
    sizes: dict[str, int] = {}
    for term, operand in zip(terms, operands, strict=True):
        if len(term) != operand.ndim:
            raise ArgumentError(expected(f"{operand.ndim} letters for {operand!r}", term=term))
        for letter, size in zip(term, operand.shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                raise ShapeError(expected(f"one size for the letter {letter!r}", sizes=(sizes[letter], size)))
    if not arrow:
        output = "".join(sorted(letter for letter in sizes if "".join(terms).count(letter) == 1))
    if len(set(output)) != len(output) or any(letter not in sizes for letter in output):
        raise ArgumentError(expected("each letter of the result once, and in some term", output=output))
    return Expression(terms, output, _path(terms, output, sizes))


def _path(terms: tuple[str, ...], output: str, sizes: dict[str, int]) -> tuple[tuple[int, ...], ...]:
    if len(terms) <= 2:
        return (tuple(range(len(terms))),)
    from opt_einsum import contract_path  # only long products need it

    expression = f"{','.join(terms)}->{output}"
    shapes = [tuple(sizes[letter] for letter in term) for term in terms]
    path, _ = contract_path(expression, *shapes, shapes=True, optimize="auto")
    steps: list[tuple[int, ...]] = []
    count = len(terms)
    for step in path:
        # A step of more than two terms is done two by two.
        rest = sorted(step)
        while len(rest) > 2:
            pair = (rest[0], rest[1])
            steps.append(pair)
            count -= 1
            rest = [place - 2 for place in rest[2:]] + [count - 1]
        steps.append(tuple(rest))
        count -= len(rest) - 1
    return tuple(steps)
