"""Einstein notation: parses subscripts, and chooses the order in which to contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from ..errors import ArgumentError, NamesError, ShapeError, expected
from ..template import Names, Template, check_meeting

X = TypeVar("X")
Operand: TypeAlias = tuple[X, str]
"""A tensor with one letter for each axis."""


class Expression(NamedTuple):
    """Subscripts that match their operands, with one letter for each axis."""

    terms: tuple[str, ...]
    output: str
    path: tuple[tuple[int, ...], ...]
    """The terms to contract, step by step: they are taken out and their product is put last."""
    names: tuple[Names, ...]
    """The names of each operand's axes, including names from the subscripts."""
    squeezed: tuple[tuple[int, ...], ...]
    """The axes of size 1 of each operand that `...` broadcasts; the terms leave them out."""


def parse_subscripts(subscripts: str, operands: Sequence[Template]) -> Expression:
    """Parse the subscripts for operands.

    Raises `ArgumentError` if they do not match the operands, `ShapeError` for a letter of two sizes, and `NamesError`
    for a letter with axes of two names in different operands.
    """
    inputs, arrow, result = subscripts.partition("->")
    parts = [*inputs.split(","), result]
    words = _are_words([part.split() for part in parts], operands)
    *labels, output = (part.split() if words else _letters(part) for part in parts)
    used = [label for term in (*labels, output) for label in term if label != "..."]
    if not operands or not all(label.isidentifier() if words else label.isalpha() for label in used):
        expectation = (
            "subscripts of letters, or of names separated by spaces, with commas between operands and an optional ->"
        )
        raise ArgumentError(expected(expectation, "such as 'bnk,bkm->bnm'", subscripts=subscripts))
    if len(labels) != len(operands):
        raise ArgumentError(expected(f"{len(operands)} terms, one for each operand", subscripts=subscripts))
    spread = [
        _spread(term, operand, text, "name" if words else "letter")
        for term, operand, text in zip(labels, operands, map(str.strip, parts), strict=False)
    ]
    sizes, squeezed = _sizes(spread, operands)
    if words:
        operands = [_name_operand(term, operand) for term, operand in zip(spread, operands, strict=True)]
    _check_names(spread, operands)
    rest = sorted({label for term in spread for label in term if label[0] == "."}, key=len, reverse=True)
    if not arrow:
        once = [label for label in sizes if label[0] != "." and sum(term.count(label) for term in spread) == 1]
        output = [*rest, *sorted(once)]
    elif "..." in output:
        place = output.index("...")
        output = [*output[:place], *rest, *output[place + 1 :]]
    elif rest:
        raise ArgumentError(expected("... in the result, because a term has it", output=result.strip()))
    if len(set(output)) != len(output) or any(label not in sizes for label in output):
        twice = len(set(output)) < len(output)
        remedy = "write another letter for the second, or rename() the axis of one operand" if twice else ""
        raise ArgumentError(expected("each letter of the result once, and in some term", remedy, output=result.strip()))
    letter = {label: chr((97 if place < 26 else 192) + place) for place, label in enumerate(sizes)}
    terms = tuple(
        "".join(letter[label] for axis, label in enumerate(term) if axis not in dropped)
        for term, dropped in zip(spread, squeezed, strict=True)
    )
    final = "".join(letter[label] for label in output)
    path = _path(terms, final, {letter[label]: size for label, size in sizes.items()})
    return Expression(terms, final, path, tuple(operand.names for operand in operands), squeezed)


def _are_words(parts: Sequence[Sequence[str]], operands: Sequence[Template]) -> bool:
    """Whether subscripts are words: the terms and the result, each split at spaces, as `_letters` are not.

    A word longer than a letter must be next to another one, or each term must match its operand as one word, which
    then has more letters than the operand has axes.
    """
    *terms, result = parts
    if any(len(part) > 1 and any(map(_is_long, part)) for part in parts):
        return True
    given = {word for term in terms for word in term}
    return (
        any(map(_is_long, given))
        and len(terms) == len(operands)
        and all("..." in term or len(term) == x.ndim for term, x in zip(terms, operands, strict=True))
        and given.issuperset(result)
    )


def _is_long(word: str) -> bool:
    return len(word) > 1 and "..." not in word


def _letters(term: str) -> list[str]:
    """The letters of a term, with `...` as one of them."""
    before, dots, after = term.replace(" ", "").partition("...")
    return [*before, *([dots] if dots else []), *after]


def _spread(term: list[str], operand: Template, text: str, label: str) -> list[str]:
    """A label for each axis of an operand; the axes of `...` are counted from the last one: `"..."`, `".."`, `"."`."""
    many = operand.ndim - len(term) + 1
    fitting = f"{operand.ndim} {label}{'' if operand.ndim == 1 else 's'}"
    remedy = "separate names of axes by spaces" if label == "letter" and len(term) > operand.ndim else ""
    if "..." not in term:
        if many != 1:
            raise ArgumentError(expected(f"{fitting} for {operand!r}", remedy, term=text))
        return term
    if many < 0:
        raise ArgumentError(expected(f"at most {fitting} and one ... for {operand!r}", remedy, term=text))
    place = term.index("...")
    return [*term[:place], *("." * distance for distance in range(many, 0, -1)), *term[place + 1 :]]


def _sizes(
    terms: Sequence[list[str]], operands: Sequence[Template]
) -> tuple[dict[str, int], tuple[tuple[int, ...], ...]]:
    """The size of each label, and the axes of each operand that broadcast: of size 1, unlike another operand's."""
    sizes: dict[str, int] = {}
    for term, operand in zip(terms, operands, strict=True):
        for label, size in zip(term, operand.shape, strict=True):
            known = sizes.setdefault(label, size)
            if label[0] == "." and known == 1:
                sizes[label] = size
            elif known != size and not (label[0] == "." and size == 1):
                expectation = "sizes that broadcast in ..." if label[0] == "." else f"one size for the letter {label!r}"
                raise ShapeError(expected(expectation, sizes=(known, size)))
    squeezed = tuple(
        tuple(axis for axis, label in enumerate(term) if label[0] == "." and operand.shape[axis] != sizes[label])
        for term, operand in zip(terms, operands, strict=True)
    )
    return sizes, squeezed


def _name_operand(term: list[str], operand: Template) -> Template:
    """An operand whose axes have the names of a term; `NamesError` if an axis has another name."""
    term_names = tuple(None if label[0] == "." else label for label in term)
    first = {label: axis for axis, label in reversed(list(enumerate(term_names)))}
    if any(None not in pair and pair[0] != pair[1] for pair in zip(term_names, operand.names, strict=True)):
        remedy = f"operand.rename({', '.join(map(repr, term_names))}) has them"
        expectation = "axes that have the names of their term, or none"
        raise NamesError(expected(expectation, remedy, term=tuple(term), operand=operand))
    # A name that occurs twice, for a diagonal, can only be given to one axis.
    return operand.replace(
        names=tuple(
            label if label is not None and first[label] == axis else None if label in term_names else name
            for axis, (label, name) in enumerate(zip(term_names, operand.names, strict=True))
        )
    )


def _check_names(terms: Sequence[list[str]], operands: Sequence[Template]) -> None:
    """Raises `NamesError` if one label is used for axes of two names in different operands."""
    known: dict[str, tuple[str, int]] = {}
    for place, (term, operand) in enumerate(zip(terms, operands, strict=True)):
        for label, name in reversed(list(zip(term, operand.names, strict=True))):
            if name is not None:
                other, holder = known.setdefault(label, (name, place))
                if other != name and holder != place:  # a place, as two operands may have one template
                    check_meeting((other,), (name,), operands[holder], operand)


def _path(terms: tuple[str, ...], output: str, sizes: dict[str, int]) -> tuple[tuple[int, ...], ...]:
    if len(terms) <= 2:
        return (tuple(range(len(terms))),)
    from opt_einsum import contract_path  # only long products need it

    expression = f"{','.join(terms)}->{output}"
    shapes = [tuple(sizes[letter] for letter in term) for term in terms]
    path, _ = contract_path(expression, *shapes, shapes=True, optimize="auto")
    steps: list[tuple[int, ...]] = []
    left = len(terms)
    for step in path:
        # A step of more than two terms becomes steps of two terms.
        rest = sorted(step)
        while len(rest) > 2:
            pair = (rest[0], rest[1])
            steps.append(pair)
            left -= 1
            rest = [place - 2 for place in rest[2:]] + [left - 1]
        steps.append(tuple(rest))
        left -= len(rest) - 1
    return tuple(steps)
