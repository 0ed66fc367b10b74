"""Collective operations on the devices of a mesh, inside a function of `shard_map`: sums, gathers, exchanges.

Each is one node, by the names of mesh axes. A device's operand is its own; so is its result, which for sums and gathers
is the same on all devices along these axes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import prod
from typing import TypeAlias

from ..dtypes import int64
from ..entry import entry
from ..errors import ArgumentError, ShapeError, expected
from ..mesh import Mesh
from ..ops.elementwise.binary import divide
from ..rules.axes import normalize_axis
from ..template import Template
from ..tensor import Axis, Tensor
from .control import call
from .record import ExprBackend

MeshAxes: TypeAlias = str | Sequence[str]
"""The name of a mesh axis, or of several."""

_mesh: ContextVar[Mesh | None] = ContextVar("tensorbackend_mesh", default=None)


@contextmanager
def on_mesh(mesh: Mesh) -> Iterator[None]:
    """Marks this thread as tracing a function of the parts on a mesh, inside the block."""
    before = _mesh.get()
    _mesh.set(mesh)
    try:
        yield
    finally:
        _mesh.set(before)


def _axes(mesh_axes: MeshAxes) -> tuple[tuple[str, ...], int]:
    """The names of mesh axes, and the number of devices along them; `ArgumentError` outside a mesh that has them."""
    mesh, axes = _mesh.get(), (mesh_axes,) if isinstance(mesh_axes, str) else tuple(mesh_axes)
    if mesh is None:
        raise ArgumentError(expected("a call inside a function of shard_map()", mesh_axes=mesh_axes))
    if not axes or len(set(axes)) < len(axes) or not set(axes) <= set(mesh.names):
        remedy = f"the axes of the mesh are {', '.join(mesh.names)}"
        raise ArgumentError(expected("one or more mesh axes, each once", remedy, mesh_axes=mesh_axes))
    return axes, prod(mesh.sizes[axis] for axis in axes)


def collective(kind: str, x: Tensor, out: Template, axes: tuple[str, ...], axis: int = 0, other: int = 0) -> Tensor:
    """A collective of one tensor."""
    return call("collective", x.backend, (out,), ((x,),), {"kind": kind, "axes": axes, "axis": axis, "other": other})[0]


@entry
def psum(x: Tensor, mesh_axes: MeshAxes) -> Tensor:
    """The sum of all devices' tensors along mesh axes, on each of them.

    Raises
    ------
    ArgumentError
        For an axis that the mesh does not have, and outside a function of `shard_map`.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.psum(tb.ones(2), "data")
    Traceback (most recent call last):
    tensorbackend.errors.ArgumentError: psum: expected a call inside a function of shard_map(), got mesh_axes='data'
    """
    return collective("sum", x, x.template, _axes(mesh_axes)[0])


@entry
def pmean(x: Tensor, mesh_axes: MeshAxes) -> Tensor:
    """The mean of all devices' tensors along mesh axes, on each of them.

    Returns
    -------
    Tensor
        A tensor like x, floating or complex.

    Raises
    ------
    ArgumentError
        For an axis that the mesh does not have, and outside a function of `shard_map`.

    Examples
    --------
    On a mesh of one device:

    >>> import tensorbackend as tb
    >>> mesh = tb.Mesh({"data": 1})
    >>> x = tb.asarray([1.0, 2.0], backend=tb.JaxBackend(mesh=mesh))
    >>> tb.shard_map(lambda part: tb.pmean(part, "data"), mesh=mesh, layout={})(x).tolist()
    [1.0, 2.0]
    """
    axes, count = _axes(mesh_axes)
    return divide(collective("sum", x, x.template, axes), count)


@entry
def pmax(x: Tensor, mesh_axes: MeshAxes) -> Tensor:
    """The greatest of all devices' elements at each place, along mesh axes; it has no gradient.

    Raises
    ------
    ArgumentError
        For an axis that the mesh does not have, and outside a function of `shard_map`.

    Examples
    --------
    On a mesh of one device:

    >>> import tensorbackend as tb
    >>> mesh = tb.Mesh({"data": 1})
    >>> x = tb.asarray([1.0, 2.0], backend=tb.JaxBackend(mesh=mesh))
    >>> tb.shard_map(lambda part: tb.pmax(part, "data"), mesh=mesh, layout={})(x).tolist()
    [1.0, 2.0]
    """
    return collective("max", x, x.template, _axes(mesh_axes)[0])


@entry
def pmin(x: Tensor, mesh_axes: MeshAxes) -> Tensor:
    """The least of all devices' elements at each place, along mesh axes; it has no gradient.

    Raises
    ------
    ArgumentError
        For an axis that the mesh does not have, and outside a function of `shard_map`.

    Examples
    --------
    On a mesh of one device:

    >>> import tensorbackend as tb
    >>> mesh = tb.Mesh({"data": 1})
    >>> x = tb.asarray([1.0, 2.0], backend=tb.JaxBackend(mesh=mesh))
    >>> tb.shard_map(lambda part: tb.pmin(part, "data"), mesh=mesh, layout={})(x).tolist()
    [1.0, 2.0]
    """
    return collective("min", x, x.template, _axes(mesh_axes)[0])


@entry
def all_gather(x: Tensor, mesh_axes: MeshAxes, *, axis: Axis = 0) -> Tensor:
    """All devices' tensors along mesh axes, one after the other along an axis, on each of them.

    Parameters
    ----------
    x : Tensor
        Each device's own, inside a function of `shard_map`.
    mesh_axes : str or sequence of str
        The mesh axes.
    axis : int or str
        The axis that gets longer. It keeps its name: rename it if the layout has a rule for that, as it is whole now.

    Returns
    -------
    Tensor
        A tensor like x, as many times as long along the axis as there are devices along the mesh axes.

    Raises
    ------
    ArgumentError
        For an axis that the mesh does not have, and outside a function of `shard_map`.
    AxisError
        For an axis that x does not have.

    Examples
    --------
    On a mesh of one device:

    >>> import tensorbackend as tb
    >>> mesh = tb.Mesh({"data": 1})
    >>> x = tb.asarray([1.0, 2.0], backend=tb.JaxBackend(mesh=mesh))
    >>> tb.shard_map(lambda part: tb.all_gather(part, "data"), mesh=mesh, layout={})(x).tolist()
    [1.0, 2.0]
    """
    axes, count = _axes(mesh_axes)
    place = normalize_axis(x.template, axis)
    return collective("gather", x, _resized(x.template, place, x.shape[place] * count), axes, place)


@entry
def psum_scatter(x: Tensor, mesh_axes: MeshAxes, *, axis: Axis = 0) -> Tensor:
    """The sum of all devices' tensors along mesh axes, of which each gets a part along an axis.

    Parameters
    ----------
    x : Tensor
        Each device's own, inside a function of `shard_map`.
    mesh_axes : str or sequence of str
        The mesh axes.
    axis : int or str
        The axis that is divided.

    Returns
    -------
    Tensor
        A tensor like x, shorter along the axis.

    Raises
    ------
    ArgumentError
        For an axis that the mesh does not have, and outside a function of `shard_map`.
    AxisError
        For an axis that x does not have.
    ShapeError
        Where the number of devices does not divide the axis.

    Examples
    --------
    On a mesh of one device:

    >>> import tensorbackend as tb
    >>> mesh = tb.Mesh({"data": 1})
    >>> x = tb.asarray([1.0, 2.0], backend=tb.JaxBackend(mesh=mesh))
    >>> tb.shard_map(lambda part: tb.psum_scatter(part, "data"), mesh=mesh, layout={})(x).tolist()
    [1.0, 2.0]
    """
    axes, count = _axes(mesh_axes)
    place = normalize_axis(x.template, axis)
    return collective("scatter", x, _resized(x.template, place, _part(x.template, place, count)), axes, place)


@entry
def all_to_all(x: Tensor, mesh_axes: MeshAxes, *, split_axis: Axis, concat_axis: Axis) -> Tensor:
    """Each device's tensor in parts along one axis, one for each device, put together along another.

    Parameters
    ----------
    x : Tensor
        Each device's own, inside a function of `shard_map`.
    mesh_axes : str or sequence of str
        The mesh axes.
    split_axis : int or str
        The axis that is divided.
    concat_axis : int or str
        The axis along which a device puts together what it gets.

    Returns
    -------
    Tensor
        A tensor of as many elements.

    Raises
    ------
    ArgumentError
        For an axis that the mesh does not have, and outside a function of `shard_map`.
    AxisError
        For an axis that x does not have.
    ShapeError
        Where the number of devices does not divide the axis.

    Examples
    --------
    On a mesh of one device:

    >>> import tensorbackend as tb
    >>> mesh = tb.Mesh({"data": 1})
    >>> x = tb.asarray([1.0, 2.0], backend=tb.JaxBackend(mesh=mesh))
    >>> exchanged = tb.shard_map(
    ...     lambda part: tb.all_to_all(part, "data", split_axis=0, concat_axis=0), mesh=mesh, layout={}
    ... )
    >>> exchanged(x).tolist()
    [1.0, 2.0]
    """
    axes, count = _axes(mesh_axes)
    split, joined = normalize_axis(x.template, split_axis), normalize_axis(x.template, concat_axis)
    out = _resized(x.template, split, _part(x.template, split, count))
    return collective("exchange", x, _resized(out, joined, out.shape[joined] * count), axes, split, joined)


@entry
def axis_index(mesh_axes: MeshAxes) -> Tensor:
    """The number of this device along mesh axes, from 0 up.

    Parameters
    ----------
    mesh_axes : str or sequence of str
        The mesh axes; of several the last changes first.

    Returns
    -------
    Tensor
        An int64 without axes.

    Raises
    ------
    ArgumentError
        For an axis that the mesh does not have, and outside a function of `shard_map`.

    Examples
    --------
    On a mesh of one device:

    >>> import tensorbackend as tb
    >>> mesh = tb.Mesh({"data": 1})
    >>> x = tb.asarray([1.0, 2.0], backend=tb.JaxBackend(mesh=mesh))
    >>> tb.shard_map(lambda part: part + tb.axis_index("data"), mesh=mesh, layout={})(x).tolist()
    [1.0, 2.0]
    """
    axes, _ = _axes(mesh_axes)
    options = {"kind": "index", "axes": axes, "axis": 0, "other": 0}
    return call("collective", ExprBackend(), (Template((), int64),), ((),), options)[0]


def _resized(template: Template, place: int, size: int) -> Template:
    return template.replace(shape=(*template.shape[:place], size, *template.shape[place + 1 :]))


def _part(template: Template, place: int, count: int) -> int:
    """The size of an axis divided among devices."""
    if template.shape[place] % count:
        raise ShapeError(expected(f"an axis that {count} devices divide", axis=place, x=template))
    return template.shape[place] // count
