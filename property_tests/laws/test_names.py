"""Names and the order of axes of what all backends share, by a model: arrays with a list of names and no rules of ours.

Rules compute the same templates for every backend, so no backend shows that a rule is wrong. Here NumPy's `einsum`
computes products from letters that the model assigns, and a scan over positions says which axes a reshape leaves alone.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.errors import NamesError
from tensorbackend.testing import profile

WORDS = ["a", "b", "c", "d", "e"]
SIZES = dict(zip(WORDS, [2, 3, 2, 1, 2], strict=True))
"""Some words have one size, so that a mix-up of axes shows in the elements alone."""


class Named:
    """An array with a name or None for each axis."""

    def __init__(self, array: Any, names: list[Any]) -> None:
        self.array, self.names = array, names

    @property
    def tensor(self) -> tb.Tensor:
        return tb.asarray(self.array, names=self.names)

    @property
    def template(self) -> tb.Tensor:
        return tb.template(self.array.shape, str(self.array.dtype), self.names)


def named(data: st.DataObject, names: list[str]) -> Named:
    random = numpy.random.default_rng(data.draw(st.integers(0, 999)))
    return Named(random.integers(-9, 9, [SIZES[name] for name in names]), [*names])


def check(found: tb.Tensor, expected: Named) -> None:
    assert found.names == tuple(expected.names)
    assert found.shape == expected.array.shape
    if found.backend.name != "template":
        numpy.testing.assert_array_equal(numpy.asarray(found), expected.array)


def product(x: Named, y: Named, pairs: list[tuple[int, int]], batch: list[tuple[int, int]]) -> Named:
    """Return the product over pairs of axes: the batch's axes, then what is free in x, then in y."""
    left = [chr(97 + at) for at in range(len(x.names))]
    right = [chr(110 + at) for at in range(len(y.names))]
    for at, to in [*pairs, *batch]:
        right[to] = left[at]
    contracted = {left[at] for at, _ in pairs}
    first = [left[at] for at, _ in batch]
    free_x = [at for at, letter in enumerate(left) if letter not in {*first} | contracted]
    free_y = [at for at, letter in enumerate(right) if letter not in {*first} | contracted]
    out = [*first, *(left[at] for at in free_x), *(right[at] for at in free_y)]
    array = numpy.einsum(f"{''.join(left)},{''.join(right)}->{''.join(out)}", x.array, y.array)
    names = [x.names[at] or y.names[to] for at, to in batch]
    return Named(array, [*names, *(x.names[at] for at in free_x), *(y.names[at] for at in free_y)])


def unique(names: list[str | None]) -> bool:
    known = [name for name in names if name]
    return len({*known}) == len(known)


def operands(data: st.DataObject) -> tuple[Named, Named]:
    some: Any = st.permutations(WORDS).flatmap(lambda words: st.integers(2, 4).map(lambda count: [*words[:count]]))
    return named(data, data.draw(some)), named(data, data.draw(some))


@profile(150)
@given(st.data())
def test_a_product_by_names_pairs_axes_of_one_name(data: st.DataObject) -> None:
    x, y = operands(data)
    common = [name for name in x.names if name in y.names]
    contract = [name for name in common if data.draw(st.booleans())]
    batch = [name for name in common if name not in contract]
    pairs, kept = ([(x.names.index(n), y.names.index(n)) for n in names] for names in (contract, batch))
    expected = product(x, y, pairs, kept)
    for one, other in ((x.tensor, y.tensor), (x.template, y.template)):
        check(tb.dot(one, other, contract=set(contract)), expected)
        if len(contract) == 1:
            check(tb.dot(one, other, contract=contract[0]), expected)
        if batch:
            check(tb.dot(one, other, contract=set(contract), batch=set(batch)), expected)


@profile(150)
@given(st.data())
def test_a_product_by_lists_pairs_axes_in_their_order(data: st.DataObject) -> None:
    x, y = operands(data)
    pairs: list[tuple[int, int]] = []
    free_y = [*range(len(y.names))]
    positions: st.SearchStrategy[list[int]] = st.permutations([*range(len(x.names))])
    order = data.draw(positions)
    for at in order:
        fits = [to for to in free_y if y.array.shape[to] == x.array.shape[at]]
        paired: bool = data.draw(st.booleans())
        if fits and paired:
            to = data.draw(st.sampled_from(fits))
            pairs.append((at, to))
            free_y.remove(to)
    count = data.draw(st.integers(0, len(pairs)))
    contract, batch = pairs[:count], pairs[count:]
    # Paired batch axes have one name, or one of them has none.
    y.names = [None if any(to == at for _, to in batch) else name for at, name in enumerate(y.names)]
    expected = product(x, y, contract, batch)

    def spelt(pairs: list[tuple[int, int]]) -> Any:
        """Return axes of each operand, by name where there is one and a coin says so."""
        sides: Any = []
        for side, operand in ((0, x), (1, y)):
            axes = [pair[side] for pair in pairs]
            sides.append([operand.names[at] if operand.names[at] and data.draw(st.booleans()) else at for at in axes])
        return tuple(sides)

    options = {"contract": spelt(contract), "batch": spelt(batch)}
    for one, other in ((x.tensor, y.tensor), (x.template, y.template)):
        if unique(expected.names):
            check(tb.dot(one, other, **options), expected)
        else:
            with pytest.raises(NamesError):
                tb.dot(one, other, **options)


@profile(150)
@given(st.data())
def test_words_of_einsum_are_axes(data: st.DataObject) -> None:
    x, y = operands(data)
    order: dict[Any, str] = dict(zip(WORDS, "vwxyz", strict=True))
    seen = [*dict.fromkeys([*x.names, *y.names])]
    out = [*data.draw(st.permutations([name for name in seen if data.draw(st.booleans())]))]
    long: dict[Any, str] = {name: f"{name}{name}" for name in WORDS}
    terms = [" ".join(long[name] for name in names) for names in (x.names, y.names, out)]
    letters = ["".join(order[name] for name in names) for names in (x.names, y.names, out)]
    array = numpy.einsum(f"{letters[0]},{letters[1]}->{letters[2]}", x.array, y.array)
    for one, other in ((x.tensor, y.tensor), (x.template, y.template)):
        check(tb.einsum(f"{letters[0]},{letters[1]}->{letters[2]}", one, other), Named(array, [*out]))
        words = [operand.rename(*(long[name] for name in operand.names)) for operand in (one, other)]
        found = tb.einsum(f"{terms[0]}, {terms[1]} -> {terms[2]}", *words)
        check(found, Named(array, [long[name] for name in out]))


def untouched(shape: tuple[int, ...], names: list[str | None], target: tuple[int, ...]) -> list[str | None]:
    """Return the names that axes of other sizes than 1 keep: those with as many elements before and after them."""
    result: list[str | None] = [None] * len(target)
    for (at, size), (to, other) in itertools.product(enumerate(shape), enumerate(target)):
        same = size == other != 1 and math.prod(shape[:at]) == math.prod(target[:to])
        if same and math.prod(shape[at + 1 :]) == math.prod(target[to + 1 :]):
            result[to] = names[at]
    return result


def places_of_ones(shape: tuple[int, ...]) -> dict[int, list[int]]:
    """Return the axes of size 1 by the number of elements before them."""
    found: dict[int, list[int]] = {}
    for at, size in enumerate(shape):
        if size == 1:
            found.setdefault(math.prod(shape[:at]), []).append(at)
    return found


@profile(300)
@given(st.data())
def test_a_reshape_keeps_the_names_of_axes_that_it_leaves_alone(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.sampled_from([1, 1, 2, 2, 3, 4]), min_size=1, max_size=4))
    names: list[str | None] = [*data.draw(st.permutations(WORDS))[: len(sizes)]]
    names = [name if data.draw(st.integers(0, 3)) else None for name in names]
    parts: list[int] = []
    for size in sizes:  # split some axes, merge some, add some of size 1
        parts += [2, 2] if size == 4 and data.draw(st.booleans()) else [size]
        parts += [1] * data.draw(st.sampled_from([0, 0, 0, 1]))
    while len(parts) > 1 and data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(parts) - 2))
        parts[at : at + 2] = [parts[at] * parts[at + 1]]
    shape, target = tuple(sizes), tuple(parts)
    expected = untouched(shape, names, target)
    ones, others = places_of_ones(shape), places_of_ones(target)
    for place, axes in ones.items():
        if len(others.get(place, [])) == len(axes):
            for at, to in zip(axes, others[place], strict=True):
                expected[to] = names[at]
    x = Named(numpy.arange(math.prod(shape)).reshape(shape), names)
    for one in (x.tensor, x.template):
        check(tb.reshape(one, target), Named(x.array.reshape(target), expected))


@profile(100)
@given(st.data())
def test_moves_reductions_and_joins_keep_names_with_their_axes(data: st.DataObject) -> None:
    x, _ = operands(data)
    rank = len(x.names)
    order = data.draw(st.permutations(range(rank)))
    some = [at for at in range(rank) if data.draw(st.booleans())]
    rest = [at for at in range(rank) if at not in some]
    where = data.draw(st.integers(0, rank))
    source, to = data.draw(st.integers(0, rank - 1)), data.draw(st.integers(0, rank - 1))
    moved = numpy.moveaxis(numpy.arange(rank), 0, 0).tolist()
    moved.insert(to, moved.pop(source))
    for one in (x.tensor, x.template):
        check(tb.permute_dims(one, order), Named(x.array.transpose(order), [x.names[at] for at in order]))
        by_name = [x.names[at] for at in order]
        check(tb.permute_dims(one, by_name), Named(x.array.transpose(order), by_name))
        check(tb.sum(one, axis=some), Named(x.array.sum(tuple(some)), [x.names[at] for at in rest]))
        check(tb.sum(one, axis=some, keepdims=True), Named(x.array.sum(tuple(some), keepdims=True), x.names))
        wide = [*x.names[:where], None, *x.names[where:]]
        check(tb.expand_dims(one, axis=where), Named(numpy.expand_dims(x.array, where), wide))
        check(tb.stack([one, one], axis=where), Named(numpy.stack([x.array] * 2, where), wide))
        check(tb.moveaxis(one, source, to), Named(x.array.transpose(moved), [x.names[at] for at in moved]))
        check(tb.concatenate([one, one], axis=source), Named(numpy.concatenate([x.array] * 2, source), x.names))
        check(tb.argmax(one, axis=source), Named(x.array.argmax(source), [*x.names[:source], *x.names[source + 1 :]]))
