"""xarray's objects in gradients, programs and batches, on any backend: `import tensorbackend.xarray`.

The import registers `xarray.Variable`, `xarray.DataArray` and `xarray.Dataset` as containers of tensors
(`register_tree_node`). So `tb.grad`, `tb.value_and_grad`, `tb.jit`, `tb.vmap`, `tb.scan`, `tb.dry_run`, `tb.tree_map`,
`tb.backend_transfer` and all other functions of nested tensors take and return them. Within such a function the data is
an array of `tensorbackend.numpy`, for which xarray's own methods are written, and so is that of results.

- **Leaves** are the numbers of variables, as tensors whose axes have the names of the dims. So `tb.vmap(f, "time")`
  maps over a dim, and what comes back has the dims of the names, `dim_0` and so on for axes without names.
- **Static** are coordinates, names, attributes, and variables of texts, dates and objects. They are compared by value:
  a compiled function is compiled again for others. A coordinate that was computed from traced data is a leaf.
- A coordinate is left out where a dim of it is gone or has another size than before.

xarray takes a tensor as such an array, too, in `xarray.DataArray(x)` and next to other arrays, as in `array.fillna(x)`.

There are no coordinates and no alignment of ours: both are xarray's.

Examples
--------
>>> import tensorbackend as tb
>>> import tensorbackend.xarray
>>> import xarray
>>> rain = xarray.DataArray([[1.0, 2.0], [0.5, 4.0]], dims=("station", "time"), coords={"time": [6, 12]})
>>> def roughness(rain):
...     return (rain.diff("time") ** 2).mean()
>>> slope = tb.jit(tb.grad(roughness))(rain)
>>> slope.dims, slope.sel(time=12).values.tolist()
(('station', 'time'), [1.0, 3.5])
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, NamedTuple

import numpy

from .declarations.argument_errors import check_arguments
from .dtypes import DType
from .errors import OperandError, expected
from .errors.remedies import install_remedy
from .expr.tree_containers import register_tree_node
from .numpy.arrays import box, fresh, ndarray
from .ops.creation.filled import asarray
from .tensor import Tensor

try:
    import xarray
    from xarray.core import duck_array_ops
except ModuleNotFoundError:
    raise ModuleNotFoundError(expected("xarray to be installed", install_remedy("xarray"))) from None


@check_arguments
def from_tensor(
    x: Tensor, /, *, coords: Any = None, name: Hashable = None, attrs: Mapping[Any, Any] | None = None
) -> xarray.DataArray:
    """Make a `DataArray` of a tensor, with the names of its axes as dims; `tb.asarray(array)` goes back.

    Parameters
    ----------
    x : Tensor
        The data. It stays on its backend, as an array of `tensorbackend.numpy`.
    coords, name, attrs
        As in `xarray.DataArray`.

    Returns
    -------
    DataArray
        The array. An axis without a name is the dim `dim_0`, `dim_1`, ... of its position.

    Raises
    ------
    OperandError
        For another object than a tensor.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> from tensorbackend.xarray import from_tensor
    >>> rain = from_tensor(tb.ones((2, 3), names=("station", "time")), coords={"time": [0, 6, 12]})
    >>> rain.sel(time=6).dims
    ('station',)
    >>> tb.asarray(rain).names
    ('station', 'time')
    """
    if not isinstance(x, Tensor):
        raise OperandError(expected("a tensor", "xarray.DataArray(x) takes other arrays", x=type(x).__name__))
    return xarray.DataArray(x, dims=_dims(x.names, ()), coords=coords, name=name, attrs=attrs)


class _Leaf(NamedTuple):
    """Where a leaf belongs."""

    name: Hashable
    dims: tuple[Hashable, ...]
    is_coordinate: bool


class _Static(NamedTuple):
    """What of an object is not data. Two are equal if xarray says that all of it is identical."""

    name: Hashable
    order: tuple[Hashable, ...]
    """The names of the variables that are not coordinates."""
    leaves: tuple[_Leaf, ...]
    attrs: Mapping[Any, Any]
    attrs_of_leaves: tuple[Mapping[Any, Any], ...]
    variables: Mapping[Hashable, xarray.Variable]
    """The variables that are not leaves."""
    coords: Mapping[Hashable, xarray.Variable]
    indexes: Mapping[Any, Any]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Static):
            return NotImplemented
        return (
            self[:3] == other[:3]
            and all(map(_same_attrs, (self.attrs, *self.attrs_of_leaves), (other.attrs, *other.attrs_of_leaves)))
            and _same_variables(self.variables, other.variables)
            and _same_variables(self.coords, other.coords)
            and {name: type(each) for name, each in self.indexes.items()}
            == {name: type(each) for name, each in other.indexes.items()}
        )

    def __ne__(self, other: object) -> bool:  # a tuple's own compares part by part
        return not self == other

    def __hash__(self) -> int:
        return hash(self[:3])

    def __repr__(self) -> str:
        data = "; ".join(
            f"{leaf.name or 'data'}: {', '.join(map(str, leaf.dims)) or 'no dims'}" for leaf in self.leaves
        )
        parts = {"name": self.name, "coordinates": ", ".join(map(str, self.coords)), "attributes": dict(self.attrs)}
        parts["attributes"] = parts["attributes"] or {
            key: value for each in self.attrs_of_leaves for key, value in each.items()
        }
        return ", ".join([f"({data})", *(f"{word} {part!r}" for word, part in parts.items() if part)])


def _same_attrs(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> bool:
    """Whether attributes are equal; arrays among them are compared by xarray."""
    try:
        if one == other:
            return True
    except ValueError:  # of an array
        pass
    return bool(xarray.Variable((), 0, one).identical(xarray.Variable((), 0, other)))


def _same_variables(one: Mapping[Any, xarray.Variable], other: Mapping[Any, xarray.Variable]) -> bool:
    return one.keys() == other.keys() and all(each.identical(other[name]) for name, each in one.items())


# Apart


def _is_ours(data: Any) -> bool:
    return isinstance(data, Tensor) or data.__class__ is ndarray  # whose class counts NumPy's as instances


class _Held:
    """An object that takes the place of a leaf, such as `None` or a text, so that a flattened tree has it again."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)


def _is_leaf(variable: xarray.Variable) -> bool:
    """Whether the data of a variable is numbers that a tensor can hold, or what a function put in their place."""
    kind = variable.dtype.kind
    held = kind == "O" and not variable.ndim and isinstance(variable.data[()], _Held)
    return kind in "biufc" or isinstance(variable.dtype, DType) or held


def _read(variable: xarray.Variable) -> Any:
    """The leaf of a variable. What a file holds is read, and blocks are computed."""
    data = variable.data
    if variable.dtype.kind == "O":
        return data[()].value
    x = asarray(variable.to_numpy() if hasattr(data, "__dask_graph__") else data)
    names = tuple([dim if isinstance(dim, str) and dim else None for dim in variable.dims])
    return x if x.names == names else x.rename(*names)


def _take_apart(
    variables: Mapping[Any, xarray.Variable], coords: Any = None, name: Hashable = None, attrs: Mapping[Any, Any] = {}
) -> tuple[list[Any], _Static]:
    """The leaves of some variables with coordinates, and the rest."""
    indexes = {} if coords is None else dict(coords.xindexes)
    beside = {} if coords is None else {key: coordinate.variable for key, coordinate in coords.items()}
    computed = {key: variable for key, variable in beside.items() if key not in indexes and _is_ours(variable.data)}
    numbers = {key: variable for key, variable in variables.items() if _is_leaf(variable)}
    parts, leaves = [], []
    for key, variable in (*numbers.items(), *computed.items()):
        parts.append(_read(variable))
        leaves.append(_Leaf(key, variable.dims, key not in numbers))
    others = {key: variable.copy() for key, variable in variables.items() if key not in numbers}
    attrs_of_leaves = tuple(dict(variable.attrs) for variable in (*numbers.values(), *computed.values()))
    kept = {key: variable for key, variable in beside.items() if key not in computed}
    return parts, _Static(
        name, tuple(variables), tuple(leaves), dict(attrs), attrs_of_leaves, others, _copies(kept, indexes), indexes
    )


def _copies(variables: Mapping[Any, xarray.Variable], indexes: Mapping[Any, Any]) -> dict[Any, xarray.Variable]:
    """Copies, as arrays and attributes may be changed in place; the data of an index cannot."""
    return {name: variable.copy(deep=name not in indexes) for name, variable in variables.items()}


# Together


def _dims(names: Sequence[str | None], before: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """The dims of an array: the names of its axes, or those of before where no axis has one."""
    if not any(names) and len(before) == len(names):
        return tuple(before)
    texts = [dim for dim in before if not isinstance(dim, str)] if len(before) == len(names) else []
    if texts:  # a dim that is not a text is no name of an axis
        return tuple(name or (dim if not isinstance(dim, str) else f"dim_{at}") for at, (name, dim) in
                     enumerate(zip(names, before, strict=True)))  # fmt: skip
    return tuple(name or f"dim_{position}" for position, name in enumerate(names))


def _variable(part: Any, leaf: _Leaf, attrs: Mapping[Any, Any]) -> xarray.Variable:
    """A variable of what a function returned for a leaf, which may be any object."""
    if isinstance(part, Tensor):
        return xarray.Variable(_dims(part.names, leaf.dims), part, attrs)
    shape = getattr(part, "shape", None)
    if isinstance(shape, tuple) and hasattr(part, "dtype") and hasattr(part, "__array__"):
        return xarray.Variable(_dims([None] * len(shape), leaf.dims), part, attrs)
    if isinstance(part, bool | int | float | complex):
        return xarray.Variable((), part, attrs)
    whole = numpy.empty((), object)
    whole[()] = _Held(part)
    return xarray.Variable((), whole, attrs)


class _Whole(NamedTuple):
    """The parts of an object, as xarray's classes take them."""

    variables: dict[Any, xarray.Variable]
    coords: xarray.Coordinates


def _put_together(static: _Static, parts: Iterable[Any], within: bool) -> _Whole:
    """Variables and coordinates with new data; `within` leaves out coordinates with dims that no variable has."""
    variables, coords = dict(static.variables), _copies(static.coords, static.indexes)
    sizes = {dim: size for each in coords.values() for dim, size in each.sizes.items()}
    lost: set[Hashable] = set()
    for leaf, part, attrs in zip(static.leaves, parts, static.attrs_of_leaves, strict=True):
        variable = _variable(part, leaf, dict(attrs))
        (coords if leaf.is_coordinate else variables)[leaf.name] = variable
        lost |= {*leaf.dims} - {*variable.dims}
        lost |= {dim for dim, size in variable.sizes.items() if size != sizes.get(dim, size)}
    if within:
        lost |= {dim for each in coords.values() for dim in each.dims} - {
            dim for each in variables.values() for dim in each.dims
        }
    coords = {name: each for name, each in coords.items() if not lost & {*each.dims}}
    indexes = {name: each for name, each in static.indexes.items() if name in coords}
    return _Whole({name: variables[name] for name in static.order}, xarray.Coordinates(coords, indexes))


def _flatten_variable(variable: xarray.Variable) -> tuple[list[Any], Hashable]:
    return _take_apart({None: variable})


def _unflatten_variable(static: Any, parts: Iterable[Any]) -> xarray.Variable:
    return _put_together(static, parts, within=True).variables[None]


def _flatten_array(array: xarray.DataArray) -> tuple[list[Any], Hashable]:
    return _take_apart({None: array.variable}, array.coords, array.name)


def _unflatten_array(static: Any, parts: Iterable[Any]) -> xarray.DataArray:
    whole = _put_together(static, parts, within=True)
    variable = whole.variables[None]
    return xarray.DataArray(variable.data, whole.coords, variable.dims, static.name, variable.attrs)


def _flatten_dataset(dataset: xarray.Dataset) -> tuple[list[Any], Hashable]:
    variables = {name: array.variable for name, array in dataset.data_vars.items()}
    return _take_apart(variables, dataset.coords, attrs=dataset.attrs)


def _unflatten_dataset(static: Any, parts: Iterable[Any]) -> xarray.Dataset:
    whole = _put_together(static, parts, within=False)
    return xarray.Dataset(whole.variables, whole.coords, static.attrs)


# Tensors as data


def _held(data: Any) -> Any:
    """What a variable holds: an array of the NumPy namespace for a tensor, whose names give way to the dims."""
    return box(fresh(data.rename(*(None,) * data.ndim))) if isinstance(data, Tensor) else data


def _take_tensors() -> None:
    """Let variables take tensors.

    xarray has no hook for it. Variables cannot hold tensors themselves, as xarray promotes NumPy's dtypes alone and
    calls functions with NumPy's parameters.
    """
    make, data = xarray.Variable.__init__, xarray.Variable.data
    namespace_of = getattr(duck_array_ops, "get_array_namespace", None)  # private: a later xarray may have another

    @wraps(make)
    def __init__(self: Any, dims: Any, data: Any, *others: Any, **options: Any) -> None:
        make(self, dims, _held(data), *others, **options)

    def set_data(self: Any, value: Any) -> None:
        data.fset(self, _held(value))

    xarray.Variable.__init__ = __init__
    xarray.Variable.data = data.setter(set_data)
    if namespace_of is not None:  # else xarray refuses tensors next to arrays, in calls such as `array.fillna(x)`
        duck_array_ops.get_array_namespace = lambda *values: namespace_of(*map(_held, values))


_take_tensors()
register_tree_node(xarray.Variable, _flatten_variable, _unflatten_variable)
register_tree_node(xarray.DataArray, _flatten_array, _unflatten_array)
register_tree_node(xarray.Dataset, _flatten_dataset, _unflatten_dataset)
