"""Collective operations on the devices of a mesh, inside a function of `shard_map`: sums, gathers, exchanges.

Each is one node, which names the mesh axes. Each device has its own operand and result; the result of a sum or a
gather is the same on all devices along these mesh axes. A node of the kind "vary" does nothing; it says that each
device continues with its own copy of a value (see `varying`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeAlias

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import int64
from ..errors import ArgumentError, ShapeError, expected
from ..ops.elementwise.binary import divide
from ..rules.axes import normalize_axis
from ..template import Template
from ..tensor import Tensor
from .control import call
from .expr_backend import ExprBackend
from .mesh_variation import current_mesh

MeshAxes: TypeAlias = str | Sequence[str]
"""The name of a mesh axis, or of several."""


def _axes(mesh_axes: MeshAxes) -> tuple[tuple[str, ...], int]:
    """The names of mesh axes, and the number of devices along them.

    Raises `ArgumentError` for axes that the mesh does not have, and outside a function of `shard_map`.
    """
    mesh, axes = current_mesh(), (mesh_axes,) if isinstance(mesh_axes, str) else tuple(mesh_axes)
    if mesh is None:
        raise ArgumentError(expected("a call inside a function of shard_map()", mesh_axes=mesh_axes))
    if not axes or len(set(axes)) < len(axes) or not set(axes) <= set(mesh.names):
        remedy = f"the axes of the mesh are {', '.join(mesh.names)}"
        raise ArgumentError(expected("one or more mesh axes, each once", remedy, mesh_axes=mesh_axes))
    return axes, prod(mesh.sizes[axis] for axis in axes)


def collective(kind: str, x: Tensor, out: Template, axes: tuple[str, ...], axis: int = 0, other: int = 0) -> Tensor:
    """Runs or records a collective operation on one tensor; returns its result."""
    return call("collective", x.backend, (out,), ((x,),), {"kind": kind, "axes": axes, "axis": axis, "other": other})[0]


@check_arguments
def psum(x: Tensor, mesh_axes: MeshAxes) -> Tensor:
    """Sum all devices' tensors along mesh axes; each of these devices gets the result.

    >>> tb.psum(tb.ones(2), "data")
    Traceback (most recent call last):
    tensorbackend.errors.ArgumentError: psum: expected a call inside a function of shard_map(), got mesh_axes='data'
    """
    return collective("sum", x, x.template, _axes(mesh_axes)[0])


@check_arguments
def pmean(x: Tensor, mesh_axes: MeshAxes) -> Tensor:
    """Average all devices' tensors along mesh axes; each of these devices gets the result.

    Returns
    -------
    Tensor
        A tensor like x, floating or complex.

    Examples
    --------
    >>> mesh = tb.Mesh({"data": 1})  # of one device
    >>> x = tb.asarray([1.0, 2.0], backend=tb.JaxBackend(mesh=mesh))
    >>> tb.shard_map(lambda part: tb.pmean(part, "data"), mesh=mesh, layout={})(x).tolist()
    [1.0, 2.0]
    """
    axes, count = _axes(mesh_axes)
    return divide(collective("sum", x, x.template, axes), count)


@check_arguments
def pmax(x: Tensor, mesh_axes: MeshAxes) -> Tensor:
    """Compute the elementwise maximum of all devices' tensors along mesh axes. It has no gradient.

    >>> mesh = tb.Mesh({"data": 1})  # of one device
    >>> x = tb.asarray([1.0, 2.0], backend=tb.JaxBackend(mesh=mesh))
    >>> tb.shard_map(lambda part: tb.pmax(part, "data"), mesh=mesh, layout={})(x).tolist()
    [1.0, 2.0]
    """
    return collective("max", x, x.template, _axes(mesh_axes)[0])


@check_arguments
def pmin(x: Tensor, mesh_axes: MeshAxes) -> Tensor:
    """Compute the elementwise minimum of all devices' tensors along mesh axes. It has no gradient.

    >>> mesh = tb.Mesh({"data": 1})  # of one device
    >>> x = tb.asarray([1.0, 2.0], backend=tb.JaxBackend(mesh=mesh))
    >>> tb.shard_map(lambda part: tb.pmin(part, "data"), mesh=mesh, layout={})(x).tolist()
    [1.0, 2.0]
    """
    return collective("min", x, x.template, _axes(mesh_axes)[0])


@check_arguments
def all_gather(x: Tensor, mesh_axes: MeshAxes, *, axis: Axis = 0) -> Tensor:
    """Concatenate all devices' tensors along mesh axes; each of these devices gets the result.

    Parameters
    ----------
    axis : int or str
        The axis to concatenate along. It keeps its name. Rename it if the layout has a rule for that name, as the axis
        is no longer divided.

    Returns
    -------
    Tensor
        A tensor like x. Its size along the axis is multiplied by the number of devices along the mesh axes.

    Raises
    ------
    AxisError
        For an axis that x does not have.

    Examples
    --------
    >>> mesh = tb.Mesh({"data": 1})  # of one device
    >>> x = tb.asarray([1.0, 2.0], backend=tb.JaxBackend(mesh=mesh))
    >>> tb.shard_map(lambda part: tb.all_gather(part, "data"), mesh=mesh, layout={})(x).tolist()
    [1.0, 2.0]
    """
    axes, count = _axes(mesh_axes)
    place = normalize_axis(x.template, axis)
    return collective("gather", x, _resize(x.template, place, x.shape[place] * count), axes, place)


@check_arguments
def psum_scatter(x: Tensor, mesh_axes: MeshAxes, *, axis: Axis = 0) -> Tensor:
    """Sum all devices' tensors along mesh axes; each device gets a part of the sum along an axis.

    Parameters
    ----------
    axis : int or str
        The axis that is divided.

    Returns
    -------
    Tensor
        A tensor like x, shorter along the axis.

    Raises
    ------
    AxisError
        For an axis that x does not have.
    ShapeError
        If the number of devices does not divide the axis.

    Examples
    --------
    >>> mesh = tb.Mesh({"data": 1})  # of one device
    >>> x = tb.asarray([1.0, 2.0], backend=tb.JaxBackend(mesh=mesh))
    >>> tb.shard_map(lambda part: tb.psum_scatter(part, "data"), mesh=mesh, layout={})(x).tolist()
    [1.0, 2.0]
    """
    axes, count = _axes(mesh_axes)
    place = normalize_axis(x.template, axis)
    return collective("scatter", x, _resize(x.template, place, _part(x.template, place, count)), axes, place)


@check_arguments
def all_to_all(x: Tensor, mesh_axes: MeshAxes, *, split_axis: Axis, concat_axis: Axis) -> Tensor:
    """Exchange parts: each device splits its tensor along one axis and concatenates the received parts along another.

    Parameters
    ----------
    split_axis : int or str
        The axis that is divided.
    concat_axis : int or str
        The axis along which a device concatenates the parts that it receives.

    Returns
    -------
    Tensor
        A tensor with the same number of elements as x.

    Raises
    ------
    AxisError
        For an axis that x does not have.
    ShapeError
        If the number of devices does not divide the axis.

    Examples
    --------
    >>> mesh = tb.Mesh({"data": 1})  # of one device
    >>> x = tb.asarray([1.0, 2.0], backend=tb.JaxBackend(mesh=mesh))
    >>> exchanged = tb.shard_map(
    ...     lambda part: tb.all_to_all(part, "data", split_axis=0, concat_axis=0), mesh=mesh, layout={}
    ... )
    >>> exchanged(x).tolist()
    [1.0, 2.0]
    """
    axes, count = _axes(mesh_axes)
    split, joined = normalize_axis(x.template, split_axis), normalize_axis(x.template, concat_axis)
    out = _resize(x.template, split, _part(x.template, split, count))
    return collective("exchange", x, _resize(out, joined, out.shape[joined] * count), axes, split, joined)


@check_arguments
def axis_index(mesh_axes: MeshAxes) -> Tensor:
    """Return the index of this device along mesh axes, from 0 up.

    Parameters
    ----------
    mesh_axes : str or sequence of str
        The mesh axes. With several, the position along the last one changes fastest.

    Returns
    -------
    Tensor
        An int64 without axes.

    Examples
    --------
    >>> mesh = tb.Mesh({"data": 1})  # of one device
    >>> x = tb.asarray([1.0, 2.0], backend=tb.JaxBackend(mesh=mesh))
    >>> tb.shard_map(lambda part: part + tb.axis_index("data"), mesh=mesh, layout={})(x).tolist()
    [1.0, 2.0]
    """
    axes, _ = _axes(mesh_axes)
    options = {"kind": "index", "axes": axes, "axis": 0, "other": 0}
    return call("collective", ExprBackend(), (Template((), int64),), ((),), options)[0]


def _resize(template: Template, place: int, size: int) -> Template:
    return template.replace(shape=(*template.shape[:place], size, *template.shape[place + 1 :]))


def _part(template: Template, place: int, count: int) -> int:
    """The size of a device's part of an axis; `ShapeError` if `count` devices do not divide it."""
    if template.shape[place] % count:
        raise ShapeError(
            expected(f"an axis whose size is a multiple of {count}, the number of devices", axis=place, x=template)
        )
    return template.shape[place] // count
