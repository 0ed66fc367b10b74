"""`search_layouts`: tries to divide named axes over axes of a mesh, and ranks the layouts by predicted time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final

from ...declarations.argument_errors import check_arguments_early
from ...display import plain_table
from ...errors import ArgumentError, expected
from ...mesh import Layout, Mesh
from .. import parse_bytes, show_bytes, show_seconds
from ..dry_run import pause_collection, trace_call
from .divided import OnMesh
from .machines import machine_of
from .walk import Walk, flat

MOST_LAYOUTS: Final = 4096
"""The largest number of layouts that are tried."""

RANKED: Final = ("rank", "layout", "time", "ops", "links", "network", "peak", "sent", "fits")


class LayoutSearch:
    """The layouts that were tried: those that fit come before the others, and both are sorted by predicted time."""

    def __init__(self, costs: Sequence[OnMesh], limit: int) -> None:
        self.limit = limit
        """Bytes of memory that a device has."""
        self.ranked = tuple(sorted(costs, key=lambda cost: (cost.peak > limit, cost.time.total, cost.peak)))
        """The costs of each layout for a device, the best first."""

    @property
    def best(self) -> OnMesh:
        """The costs of the best layout."""
        return self.ranked[0]

    @property
    def fits(self) -> bool:
        """Whether any layout fits."""
        return self.best.fits(self.limit)

    def table(self) -> list[tuple[str, ...]]:
        """The cells of a table with the columns `RANKED`: one row for each layout."""
        return [
            (
                str(rank),
                cost.rules(),
                show_seconds(cost.time.total),
                show_seconds(cost.time.ops),
                show_seconds(cost.time.links),
                show_seconds(cost.time.network),
                show_bytes(cost.peak),
                show_bytes(cost.sent),
                "yes" if cost.fits(self.limit) else "no",
            )
            for rank, cost in enumerate(self.ranked, 1)
        ]

    def text(self, top: int = 10) -> str:
        """The `top` best layouts as text."""
        return plain_table(RANKED, self.table(), top)

    def to_json(self) -> list[dict[str, Any]]:
        """All layouts as plain values, without their programs."""
        return [
            {
                "layout": {name: list(axes) for name, axes in cost.layout.rules},
                "time": {**cost.time._asdict(), "total": cost.time.total},
                "peak": cost.peak,
                "sent": cost.sent,
                "collectives_by_kind": dict(cost.by_kind),
                "fits": cost.fits(self.limit),
            }
            for cost in self.ranked
        ]

    def __repr__(self) -> str:
        return self.text()


@check_arguments_early
def search_layouts(
    function: Callable[..., Any],
    *templates: Any,
    mesh: Mesh,
    names: Sequence[str],
    gradient: bool = False,
    fits: int | str | None = None,
    machine: str = "h100",
    each_tried: Callable[[OnMesh], object] | None = None,
    **keywords: Any,
) -> LayoutSearch:
    """Try layouts that divide named axes over axes of a mesh, and rank them by predicted time.

    Each name is tried on each mesh axis and on none. If two names of a tensor are tried on the same mesh axis, the
    first of them in `names` gets it. Layouts that fit come first. The time is that of the model in docs/layouts.md.

    Parameters
    ----------
    function
        A function of tensors and of anything else.
    *templates
        The function's arguments, with templates for tensors, as for `dry_run`.
    mesh : Mesh
        The mesh. Its devices need not exist on this machine.
    names : sequence of str
        The names of axes to be divided.
    gradient : bool, default False
        Whether the gradient with respect to the first argument is run too.
    fits : int or str, optional
        The memory of a device, in bytes or as text such as "141GB"; by default the machine's memory.
    machine : str, default "h100"
        The machine for which times are predicted: "h100" or "h200".
    each_tried : function, optional
        Called with the cost of each layout when it is known, for a progress bar.
    **keywords
        The function's keyword arguments.

    Returns
    -------
    LayoutSearch
        The costs of each layout, the best first.

    Raises
    ------
    ArgumentError
        For names that no tensor has, for more than 4096 layouts, and for an unknown machine or a text that is not a
        size.

    Examples
    --------
    >>> def loss(w, x):
    ...     return tb.mean(tb.square(x @ w))
    >>> w, x = "f32[feature=64, unit=32]", "f32[batch=4096, feature=64]"
    >>> search = tb.search_layouts(loss, w, x, gradient=True, mesh=tb.Mesh({"data": 8}), names=["batch", "unit"])
    >>> search.best.rules(), len(search.ranked)
    ('batch on data', 4)
    """
    chosen = machine_of(machine)
    limit = chosen.memory if fits is None else parse_bytes(fits) if isinstance(fits, str) else fits
    if not names or len(set(names)) < len(names):
        raise ArgumentError(expected("one or more names of axes, each once", names=names))
    count = (len(mesh.names) + 1) ** len(names)
    if count > MOST_LAYOUTS:
        raise ArgumentError(expected(f"at most {MOST_LAYOUTS} layouts", "name fewer axes", layouts=count, names=names))
    with pause_collection():
        graph = trace_call(function, templates, keywords, gradient=gradient)
        flattened = flat(graph)
        there = {name for node in flattened.nodes for out in node.outs for name in out.names if name}
        if not set(names) <= there:
            remedy = f"the names are {', '.join(sorted(there))}" if there else "name the axes of the arguments"
            raise ArgumentError(expected("names that axes of tensors have", remedy, names=names))
        known = Walk(Layout(mesh, {}))
        tried = []
        for rules in _layouts(mesh, names):
            tried.append(OnMesh(graph, Layout(mesh, rules), chosen, flattened=flattened, known=known))
            if each_tried is not None:
                each_tried(tried[-1])
        return LayoutSearch(tried, limit)


def _layouts(mesh: Mesh, names: Sequence[str]) -> Iterator[Mapping[str, str | None]]:
    """All layouts: each name on each mesh axis or on none."""
    for axes in product((None, *mesh.names), repeat=len(names)):
        yield dict(zip(names, axes, strict=True))
