"""Runs one example notebook of PhiFlow on one backend, at few steps.

`python notebook.py <notebook> <backend> <file> <steps> <bits>`.

The backend is `numpy`, `jax` or `torch` for PhiML's own, `ours:numpy` or `ours:jax` for ours, `ours:numpy:eager` for
ours without compilation. The numbers of all tensors that the notebook leaves in its variables are saved in the file.

So that runs can be compared, all backends compute in the same precision and draw the same random numbers, by NumPy.
Calls of `iterate` and loops take few steps; of a solve whose steps are recorded the first and the last are saved. Plots
are left out, and so are magics and shell commands.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

STEPS = 3
"""The most steps of a call of `iterate` or of a loop over a range, and those saved of the beginning of a solve."""

TOLERANCE = 1e-10
"""The default tolerance of solves in 64 bits: a direct solve does not reach PhiML's, which is 1e-12."""

LIBRARIES = {f"phi.{library}.flow" for library in ("jax", "torch", "tf")}
"""Modules that import `phi.flow` and choose a backend; the run has chosen its own."""

LOOPS = {"range", "trange"}
PLOTS = {"plot", "show"}


class Few(ast.NodeTransformer):
    """Cuts loops to few steps, leaves out plots, and chooses no backend."""

    def __init__(self, steps: int | None) -> None:
        self.steps = steps

    def visit_For(self, node: ast.For) -> ast.AST:
        """A loop over a range takes `steps` steps at most."""
        self.generic_visit(node)
        match node.iter:
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=int(count))]) if name in LOOPS:
                if self.steps is not None:
                    node.iter.args = [ast.Constant(min(count, self.steps))]
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """A statement that plots is replaced by `pass`, with all that is computed for the plot alone."""
        match node.value:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in PLOTS:
                return ast.copy_location(ast.Pass(), node)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        """`phi.jax.flow` and its like become `phi.flow`; a progress bar is not imported."""
        if node.module in LIBRARIES:
            node.module = "phi.flow"
        return ast.copy_location(ast.Pass(), node) if (node.module or "").startswith("tqdm") else node


def cells(notebook: Path, steps: int | None) -> Iterator[Any]:
    """The code of each cell, compiled."""
    for number, cell in enumerate(json.loads(notebook.read_text())["cells"]):
        if cell["cell_type"] != "code":
            continue
        source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
        lines = ("" if line.lstrip().startswith(("%", "!")) else line for line in source.splitlines())
        tree = Few(steps).visit(ast.parse("\n".join(lines)))
        yield compile(ast.fix_missing_locations(tree), f"{notebook.name}, cell {number}", "exec")


def chosen(name: str) -> Any:
    """The backend of a name."""
    kind, _, rest = name.partition(":")
    if kind == "ours":
        import tensorbackend_phiml

        base, _, eager = rest.partition(":")
        return tensorbackend_phiml.backend(base, jit=not eager)
    from phiml.backend._backend import get_backend

    return get_backend(name)


DRAWS = ("random_uniform", "random_normal", "random_permutations", "random_subsets")


def draw_by_numpy(backend: Any) -> None:
    """Lets a backend draw its random numbers as PhiML's NumPy does."""
    from phiml.backend import NUMPY

    def drawn(name: str) -> Callable[..., Any]:
        draw = getattr(NUMPY, name)
        return lambda *args, **kwargs: backend.as_tensor(draw(*args, **kwargs))

    NUMPY.seed(0)
    if backend is not NUMPY:
        for name in DRAWS:
            setattr(backend, name, drawn(name))


def cut(steps: int | None) -> None:
    """Lets PhiML's `iterate` take few steps, without substeps."""
    import phiml.math

    original = phiml.math.iterate

    def iterate(f: Any, iterations: Any, *args: Any, substeps: int = 1, range: Any = None, **kwargs: Any) -> Any:
        if steps is None:
            return original(f, iterations, *args, substeps=substeps, **kwargs)
        if isinstance(iterations, int):
            return original(f, min(iterations, steps), *args, **kwargs)
        return original(f, iterations.with_size(min(iterations.size, steps)), *args, **kwargs)

    phiml.iterate = phiml.math.iterate = iterate


def loosen() -> None:
    """Lets PhiML's solves in 64 bits have another default tolerance."""
    from phiml.math import _optimize, get_precision, wrap

    default = _optimize._default_tolerance
    _optimize._default_tolerance = lambda: wrap(TOLERANCE) if get_precision() == 64 else default()


def networks() -> dict[str, Any]:
    """The names of networks and optimisers that `phi.torch.flow` exports; networks begin with weights by NumPy."""
    from phiml import nn

    def dense_net(inputs: int, outputs: int, layers: Sequence[int], **options: Any) -> Any:
        return with_drawn_weights(nn.mlp(inputs, outputs, layers, **options))

    names = ("adam", "sgd", "update_weights", "get_parameters", "parameter_count", "save_state", "load_state")
    return {name: getattr(nn, name) for name in names} | {"dense_net": dense_net}


def with_drawn_weights(net: Any) -> Any:
    """A dense network of PhiML's own with the weights that one of ours draws; one of ours as it is."""
    from phiml.backend import NUMPY

    def drawn(inputs: int, outputs: int) -> Any:
        return NUMPY.random_uniform((inputs, outputs), -(inputs**-0.5), inputs**-0.5, None)

    if hasattr(net, "named_parameters"):  # on PyTorch, where weights are (outputs, inputs)
        import torch

        with torch.no_grad():
            for parameter in net.parameters():
                if parameter.ndim == 2:
                    parameter.copy_(torch.from_numpy(drawn(*reversed(parameter.shape)).T.copy()))
    elif isinstance(net.parameters, list):  # on JAX, where activations have no parameters
        import jax.numpy as jnp

        pairs = [pair and (jnp.asarray(drawn(*pair[0].shape)), jnp.zeros(pair[1].shape)) for pair in net.parameters]
        net.parameters = pairs
    return net


def numbers(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    """The numbers of all tensors of a value: of a tensor, a field, a geometry, or a list or dict of these."""
    from phiml.math._tree import all_attributes, disassemble_tree

    def attributes(node: Any) -> list[str]:
        return sorted(all_attributes(node))

    for tensor in disassemble_tree(value, cache=False, attr_type=attributes)[1]:
        yield from arrays_of(tensor)


def arrays_of(tensor: Any) -> Iterator[np.ndarray[Any, Any]]:
    """A tensor as an array, with axes in the order of their names; several if it is sparse or not uniform."""
    from phiml.backend import choose_backend
    from phiml.math import is_sparse, unstack
    from phiml.math._tensors import disassemble_tensors

    if is_sparse(tensor):
        for native in disassemble_tensors([tensor], expand=True)[0]:
            yield np.asarray(choose_backend(native).numpy(native))
    elif tensor.shape.is_non_uniform:
        for part in unstack(tensor, tensor._stack_dim):
            yield from arrays_of(part)
    elif tensor.dtype.kind in (bool, int, float, complex):
        names = sorted(tensor.shape.names)
        yield ends(np.asarray(tensor.numpy(names)), names)


def ends(array: np.ndarray[Any, Any], names: Sequence[str]) -> np.ndarray[Any, Any]:
    """Of the recorded steps of a solve the first and the last, as rounding decides how many it takes."""
    if "trajectory" not in names or array.shape[names.index("trajectory")] <= STEPS:
        return array
    return np.take(array, [*range(STEPS), -1], axis=names.index("trajectory"))


def run(notebook: Path, backend: str, steps: int | None, bits: int) -> dict[str, np.ndarray[Any, Any]]:
    """Runs the cells of a notebook in one namespace and returns the numbers of the variables that they set."""
    import phiml.math
    from phiml.backend import set_global_default_backend
    from phiml.backend._backend import init_backend

    if backend in ("jax", "torch"):
        init_backend(backend)
    instance = chosen(backend)
    set_global_default_backend(instance)
    phiml.math.set_global_precision(bits)
    draw_by_numpy(instance)
    cut(steps)
    loosen()
    variables: dict[str, Any] = {"__name__": "__main__", "trange": range} | networks()
    given: set[str] = set()
    for code in cells(notebook, steps):
        exec(code, variables)
        given = given or set(variables)  # the first cell imports
        set_global_default_backend(instance)
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for name in sorted(variables.keys() - given):
        if not (callable(variables[name]) or name.startswith("_")):
            found = numbers(variables[name])
            arrays |= {f"{name}:{place}": array for place, array in enumerate(found)}
    if not arrays:
        raise ValueError(f"expected tensors in the variables, got {', '.join(sorted(variables.keys() - given))}")
    return arrays


def main(arguments: Sequence[str]) -> None:
    """Runs a notebook and saves its numbers, or the error of the cell that fails."""
    notebook, backend, file, steps, bits = arguments
    place, written = Path(notebook).resolve(), Path(file).resolve()
    warnings.simplefilter("ignore")
    os.chdir(place.parent)
    arrays: dict[str, Any] = run(place, backend, None if steps == "all" else int(steps), int(bits))
    np.savez(written, **arrays)


if __name__ == "__main__":
    main(sys.argv[1:])
