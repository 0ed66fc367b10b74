"""The code generated for a call takes its arguments apart as `flatten` does, and refuses arguments of other kinds."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

import tensorbackend as tb
from tensorbackend.expr.trees import flatten
from tensorbackend.expr.warm_calls import OTHERWISE, call_of

from ..threads import call_in_threads


def name_of(value: object) -> str:
    """Return the text of a value for the name of a test. It omits addresses, which differ between processes."""
    return re.sub(r" at 0x\w+", "", repr(value))


@dataclass(frozen=True)
class Layer:
    weight: Any
    bias: Any


class Pair(NamedTuple):
    left: Any
    right: Any


class Scaled:
    def __init__(self, weight: Any, power: int) -> None:
        self.weight, self.power = weight, power

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scaled) and (self.weight, self.power) == (other.weight, other.power)

    __hash__ = None  # type: ignore[assignment] # it can be compared, but not hashed


tb.register_tree_node(Scaled, lambda x: ((x.weight,), x.power), lambda power, parts: Scaled(parts[0], power))

VALUES: list[Any] = [
    (1, 2),
    [3],
    {"b": 1, "a": {"d": [2, 3], "c": (4,)}},
    {3: 1, "b": 2},
    Layer({"x": 1}, [2, 3]),
    ((Layer(1, 2), 3), {"key": 4, "nothing": None}, [], {}),
    [[[[5]]]],
    7,
    Pair(1, {"b": 2, "a": (3, None)}),
    OrderedDict(b=1, a=2),
    (Counter(c=3), defaultdict(int, z=1, y=2)),
    [Scaled(1, 2), (Scaled((3, 4), 5),)],
]


class Entry:
    """Stands in for a compiled program: its kernel returns the payloads as they are."""

    def __init__(self) -> None:
        self.calls = 0
        self.kernel: Callable[..., Any] = lambda *payloads: payloads


def tensors(value: Any) -> Any:
    """Replace each number n by a tensor of n elements."""
    return tb.tree_map(lambda leaf: tb.ones(leaf), value)


def sizes(value: Any) -> Any:
    """Replace each tensor by its number of elements."""
    return tb.tree_map(lambda leaf: leaf.size, value)


def handed_on(*arguments: Any, **keywords: Any) -> Callable[..., Any]:
    """Return a generated call that flattens its arguments, rebuilds them and returns them."""
    leaves, tree = flatten((arguments, keywords))
    held = [leaf for leaf in leaves if isinstance(leaf, tb.Tensor)]
    out_tree = tree if len(held) == len(leaves) else flatten(tuple(held))[1]
    call = call_of(tree, leaves, out_tree, [x.template for x in held], held[0].backend)
    entry = Entry()
    return lambda *arguments, **keywords: call(entry, arguments, keywords)


@pytest.mark.parametrize("value", VALUES, ids=name_of)
def test_arguments_and_results_of_any_nesting(value: Any) -> None:
    argument = tensors(value)
    call = handed_on(argument, tb.ones(9), key=argument)
    (first, second), keywords = call(argument, tb.ones(9), key=tensors(value))
    assert sizes(first) == sizes(keywords["key"]) == value
    assert second.size == 9
    assert type(first) is type(argument)
    for leaf, original in zip(flatten(first)[0], flatten(argument)[0], strict=True):
        assert leaf.data is original.data
        assert leaf is not original
        assert (leaf.template, leaf.backend) == (original.template, original.backend)
    if isinstance(value, dict):
        assert list(first) == list(value)


@pytest.mark.parametrize(
    ("value", "other"),
    [
        ((1, 2), (1, 2, 3)),
        ((1, 2), [1, 2]),
        ((1, 2), Pair(1, 2)),
        (Pair(1, 2), (1, 2)),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1}, defaultdict(int, a=1)),
        (defaultdict(int, a=1), defaultdict(bool, a=1)),
        (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1)),
        (Layer(1, 2), (1, 2)),
        (Layer(1, None), Layer(1, 2)),
        (Layer(1, 2), Layer(1, None)),
        ([(1,)], [1]),
        ([1], [(1,)]),
        (1, 2),
        (1, []),
        (Scaled(1, 2), Scaled(1, 3)),
        (Scaled(1, 2), Scaled((1, 1), 2)),
    ],
    ids=name_of,
)
def test_other_arguments_are_refused(value: Any, other: Any) -> None:
    call = handed_on(tensors(value), tb.ones(9))
    assert call(tensors(value), tb.ones(9)) is not OTHERWISE
    assert call(tensors(other), tb.ones(9)) is OTHERWISE
    assert call(tensors(value), tb.ones(9), more=tb.ones(9)) is OTHERWISE
    assert call(tensors(value)) is OTHERWISE
    assert call() is OTHERWISE


@pytest.mark.parametrize(
    "other",
    [
        tb.zeros(2, dtype="float64"),
        tb.zeros(2, names=("n",)),
        tb.zeros(2, backend="binary"),
        tb.zeros((2, 1)),
        tb.template((2,), "f32"),
        2.0,
        None,
        "text",
    ],
    ids=name_of,
)
def test_another_tensor_is_refused(other: Any) -> None:
    call = handed_on(tb.ones(2), key=tb.ones(2))
    assert call(tb.zeros(2), key=tb.zeros(2)) is not OTHERWISE
    assert call(other, key=tb.zeros(2)) is OTHERWISE
    assert call(tb.zeros(2), key=other) is OTHERWISE
    assert call(tb.zeros(2), other=tb.zeros(2)) is OTHERWISE
    assert call(tb.zeros(2), tb.zeros(2)) is OTHERWISE


def test_another_precision_is_refused() -> None:
    call = handed_on(tb.ones(2))
    with tb.precision(64):
        assert call(tb.zeros(2, dtype="float32")) is OTHERWISE
    assert call(tb.zeros(2)) is not OTHERWISE


class Setting:
    def __init__(self, number: int) -> None:
        self.number = number

    def __hash__(self) -> int:
        return hash(self.number)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Setting) and self.number == other.number


NAN = float("nan")


@pytest.mark.parametrize(
    ("option", "same", "others"),
    [
        (1, 1, [True, 1.0, 2, None]),
        (True, True, [1, False, 1.0]),
        (10**9, 10**6 * 1000, [10**9 + 1, 1e9]),
        (0.25, float("0.25"), [0.5, 0.25 + 0j, "0.25"]),
        (0.0, 0.0, [-0.0, 0, False]),
        (NAN, NAN, [0.0]),
        ("mode", "".join(["mo", "de"]), ["other", b"mode", None]),
        (tb.exp, tb.exp, [tb.log]),
        (tb.float32, tb.float32, [tb.float64]),
    ],
    ids=name_of,
)
def test_an_option_is_the_same_by_value_and_class(option: Any, same: Any, others: list[Any]) -> None:
    call = handed_on(tb.ones(2), {"option": option})
    assert call(tb.ones(2), {"option": option}) is not OTHERWISE
    assert call(tb.ones(2), {"option": same}) is not OTHERWISE
    for other in others:
        assert call(tb.ones(2), {"option": other}) is OTHERWISE


def test_an_option_that_changes_its_hash_is_another_one() -> None:
    traced = []

    @tb.jit(static_argnames="setting")
    def scaled(x: tb.Tensor, setting: Setting) -> tb.Tensor:
        traced.append(setting.number)
        return x * setting.number

    setting = Setting(2)
    for number in (2, 2, 2, 3, 3, 3):
        setting.number = number
        assert scaled(tb.ones(1), setting).tolist() == [number]
    assert traced == [2, 3]


def test_static_arguments_are_read_as_a_whole() -> None:
    traced = []

    @tb.jit(static_argnums=1)
    def power(x: tb.Tensor, by: Any, *, mode: str = "one") -> dict[str, tb.Tensor]:
        traced.append((by, mode))
        return {mode: x ** sum(by or (1,))}

    by = (1, 2)
    calls = [(by, "one"), (by, "one"), ((1, 2), "one"), (None, "one"), (None, "two"), (by, "two"), ((1.0, 2), "two")]
    for exponents, mode in calls * 3:
        powers = power(tb.asarray([2.0]), exponents, mode=mode)
        assert {key: x.tolist() for key, x in powers.items()} == {mode: [2.0 ** sum(exponents or (1,))]}
    assert len(traced) == power.cache_info().misses == 5
    assert power.cache_info().hits == 3 * len(calls) - 5


def test_calls_with_several_nestings_in_turn() -> None:
    @tb.jit
    def total(*values: Any, **more: Any) -> Any:
        leaves, _ = flatten((values, more))
        return {"sum": sum(leaves[1:], leaves[0]), "all": leaves}

    x = tb.asarray([1.0, 2.0])
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        (({"a": x, "b": [x]},), {}),
        ((Layer(x, (x, x)),), {"scale": x}),
        (({"b": [x], "a": x},), {}),
        ((Pair(x, x),), {}),
        (({"a": x, "b": [2.0]},), {}),
        ((Layer({"a": x}, x),), {}),
    ]
    for times in (1, 1, 3):
        for values, more in calls:
            for _ in range(times):
                results = total(*values, **more)
                leaves = flatten((values, more))[0]
                assert results["sum"].tolist() == sum(leaves[1:], leaves[0]).tolist()
                assert len(results["all"]) == len(leaves)
    info = total.cache_info()
    assert (info.misses, info.hits) == (5, 5 * len(calls) - 5)  # the order of a dictionary does not matter


def test_nested_arguments_are_not_taken_for_flat_ones() -> None:
    @tb.jit
    def first(x: Any, y: Any) -> tb.Tensor:
        return x if isinstance(x, tb.Tensor) else x[0] + x[1]

    x, y = tb.asarray([1.0]), tb.asarray([2.0])
    for _ in range(4):
        assert first([x, y], ()).tolist() == [3.0]
        assert first(x, y).tolist() == [1.0]


def test_a_container_that_changes_between_calls() -> None:
    @tb.jit
    def total(values: dict[str, Any], scale: float) -> tb.Tensor:
        return sum(values.values(), tb.zeros(())) * scale

    values: dict[str, Any] = {"a": tb.asarray(1.0)}
    for _ in range(3):
        assert total(values, 2.0).item() == 2.0
    values["b"] = tb.asarray(3.0)
    assert total(values, 2.0).item() == 8.0
    values["b"] = tb.asarray(5)
    assert total(values, 2.0).item() == 12.0
    values["b"] = 7
    assert total(values, 2.0).item() == 16.0
    del values["b"]
    assert total(values, 4.0).item() == 4.0


def test_floats_that_are_traced_are_not_options() -> None:
    scaled = tb.jit(lambda x, factors: {"x": x * factors["by"]}, trace_floats=True)
    for number in (2.0, 3.0, 4.0, 4.0, 5.0):
        assert scaled(tb.ones(1), {"by": number})["x"].tolist() == [number]
    assert scaled.cache_info().misses == 1


def test_arguments_without_a_tensor_run_on_the_default_backend() -> None:
    compiled = tb.jit(lambda size, factors: {"filled": tb.ones(size) * factors["by"]})
    for name in ("numpy", "binary") * 3:
        with tb.default_backend(name):
            assert compiled(2, {"by": 3})["filled"].backend.name == name


def test_what_a_kernel_raises_passes_with_its_line() -> None:
    @tb.jit
    def taken(operands: dict[str, tb.Tensor]) -> tb.Tensor:
        return tb.take(operands["x"], operands["places"])

    arguments = {"x": tb.asarray([1.0, 2.0]), "places": tb.asarray([0, 1])}
    for _ in range(3):
        assert taken(arguments).tolist() == [1.0, 2.0]
    with pytest.raises(tb.errors.DataError, match="index") as caught:
        taken({**arguments, "places": tb.asarray([0, 7])})
    assert any("traced at" in note for note in caught.value.__notes__)
    x = tb.asarray([1.0, 2.0])
    tb.backend_deallocate(x)
    with pytest.raises(tb.errors.DeallocatedError):
        taken({**arguments, "x": x})
    assert taken(arguments).tolist() == [1.0, 2.0]


def test_threads_with_other_arguments_at_once() -> None:
    @tb.jit
    def doubled(operands: dict[str, tb.Tensor], by: int) -> dict[str, Any]:
        return {"result": [operands["x"] * by]}

    def run(size: int) -> None:
        for number in range(300):
            by = 2 + number // 100 % 2
            (product,) = doubled({"x": tb.full(size, float(size))}, by)["result"]
            assert product.tolist() == [float(size * by)] * size

    call_in_threads(run, 1, 2, 3, 3)


def test_a_dataclass_that_is_registered_later_is_read_as_it_says() -> None:
    @dataclass
    class Named:
        weight: Any
        name: Any

    @tb.jit
    def doubled(named: Any) -> Any:
        return named.weight * 2

    x = tb.asarray([3.0])
    for _ in range(3):
        assert doubled(Named(x, x)).tolist() == [6.0]
    tb.register_tree_node(Named, lambda named: ((named.weight,), named.name), lambda name, parts: Named(parts[0], name))
    assert doubled(Named(x, "other")).tolist() == [6.0]


def test_what_is_dropped_or_cleared_is_compiled_again() -> None:
    function = tb.jit(lambda operands: {"x": operands["x"] * 2}, cache_size=1)
    for size in (1, 1, 1, 2, 2, 2, 1):
        assert function({"x": tb.ones(size)})["x"].tolist() == [2.0] * size
    assert function.cache_info()[:2] == (4, 3)
    function.cache_clear()
    assert function({"x": tb.ones(1)})["x"].tolist() == [2.0]
    assert function.cache_info()[:2] == (0, 1)
