"""Heat around an obstacle: find a matrix by tracing, solve on three backends, differentiate by the obstacle's position.

A plate is heated evenly and cooled at its edges, and a disc in it conducts heat badly: -div(k grad u) = 1. The example
does a dry run, and solves on BinaryBackend (a small plate), NumPy and JAX (if installed). Then it moves the disc down
the gradient, to where a probe stays coolest. Run `python examples/poisson.py [--size 48] [--plot heat.png]`; without
matplotlib, it draws the plate with letters.
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

import numpy

import tensorbackend as tb

RADIUS, EDGE = 0.18, 0.04  # of the disc, on a plate of width 1
PROBE = (0.4, 0.4)
START = (0.55, 0.6)


class Heat(NamedTuple):
    """The temperature of a plate, and how the solver got it."""

    temperature: tb.Tensor  # f64[y: n][x: n]
    iterations: tb.Tensor
    converged: tb.Tensor


def bump(place: tb.Tensor, size: int, radius: float) -> tb.Tensor:
    """f64[y: n][x: n] from f64[2]: 1 in a disc and 0 elsewhere, with a smooth edge, so that it has a gradient."""
    middles = (tb.arange(size, dtype="f64", like=place) + 0.5) / size
    y, x = middles[:, None] - place[0], middles[None, :] - place[1]
    return tb.sigmoid((radius - tb.sqrt(y * y + x * x + 1e-12)) / EDGE).rename("y", "x")


def sides(x: tb.Tensor, axis: str) -> tuple[tb.Tensor, tb.Tensor]:
    """Return all entries along an axis except the last, and all except the first."""
    return (x[:-1], x[1:]) if axis == "y" else (x[:, :-1], x[:, 1:])


def lost(k: tb.Tensor, u: tb.Tensor) -> tb.Tensor:
    """-div(k grad u) by five points; linear in u, which is 0 outside the plate."""
    divergence = tb.zeros_like(u)
    for axis in ("y", "x"):
        low, high = sides(tb.pad(u, {axis: (1, 1)}), axis)
        before, after = sides(tb.pad(k, {axis: (1, 1)}, mode={axis: "edge"}), axis)
        flux = (before + after) / 2 * (high - low)
        low, high = sides(flux, axis)
        divergence = divergence - (high - low)
    return divergence * k.shape[0] ** 2


def solved(place: tb.Tensor, size: int, backend: tb.Backend | str) -> Heat:
    """Solve for the temperature with the disc at a position."""
    k = 1 - 0.95 * bump(place, size, RADIUS)
    matrix = tb.sparse.from_function(lambda u: lost(k, u), f"f64[y={size}, x={size}]", backend=backend)
    heating = tb.ones(size * size, dtype="f64", backend=backend)
    solution = tb.solvers.solve(matrix, heating, "cg", rtol=1e-10, preconditioner="jacobi")
    return Heat(tb.reshape(solution.x, (size, size), names=("y", "x")), solution.iterations, solution.converged)


def at_probe(place: tb.Tensor, size: int, backend: tb.Backend | str) -> tb.Tensor:
    """Return the mean temperature around the probe."""
    weight = bump(tb.asarray(PROBE, dtype="f64", backend=backend), size, 0.05)
    return tb.sum(solved(place, size, backend).temperature * weight) / tb.sum(weight)


def as_text(temperature: tb.Tensor, width: int = 40) -> str:
    """Draw a plate with letters."""
    values = numpy.asarray(temperature)
    step = -(-len(values) // width)
    scaled = values[:: 2 * step, ::step] / values.max()
    return "\n".join("".join(" .:-=+*#%@"[min(int(height * 10), 9)] for height in row) for row in scaled)


def plot(temperature: tb.Tensor, place: tb.Tensor, file: str | None) -> None:
    """Draw a picture in a file if matplotlib is installed, else print letters."""
    if file is None or importlib.util.find_spec("matplotlib") is None:
        print(as_text(temperature))
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    axes.imshow(numpy.asarray(temperature), extent=(0, 1, 1, 0))
    y, x = place.tolist()
    axes.add_patch(pyplot.Circle((x, y), RADIUS, fill=False))
    axes.plot(PROBE[1], PROBE[0], "r+")
    figure.savefig(file)
    print(f"wrote {file}")


def run(size: int, steps: int, backends: Sequence[str], file: str | None = None) -> list[float]:
    """Run all steps of the module's docstring; return the temperature at the probe after each step of the disc."""
    place = tb.asarray(START, dtype="f64")
    dry = tb.dry_run(lambda place: solved(place, size, "numpy").temperature, place)
    print(f"dry run: {dry.peak.memory / 1e6:.1f} MB at most, {dry.flops / 1e6:.1f} MFLOP without the loop's iterations")

    small = solved(tb.asarray(START, dtype="f64", backend="binary"), 6, "binary")
    assert tb.all_close(small.temperature.backend_copy("numpy"), solved(place, 6, "numpy").temperature)
    print(f"binary: 6 x 6, {int(small.iterations)} iterations, as on NumPy")

    plates = {}
    for backend in backends:
        begin = perf_counter()
        heat = solved(tb.asarray(START, dtype="f64", backend=backend), size, backend)
        assert heat.converged.item()
        plates[backend] = numpy.asarray(heat.temperature)
        seconds = perf_counter() - begin
        print(f"{backend}: {size} x {size}, {int(heat.iterations)} iterations, {seconds:.2f} s with its compilation")
    assert all(numpy.allclose(plate, plates[backends[0]], rtol=1e-7) for plate in plates.values())

    both = tb.value_and_grad(lambda place: at_probe(place, size, "numpy"))
    value, slope = both(place)
    nearby = [at_probe(place + shift, size, "numpy") for shift in numpy.array([[1e-4, 0], [-1e-4, 0]])]
    difference = (nearby[0] - nearby[1]).item() / 2e-4
    assert abs(difference - slope[0].item()) < 1e-4 * abs(difference)
    rounded = [round(component, 6) for component in slope.tolist()]
    print(f"by the place of the disc: {rounded}, by differences {difference:.6f}")

    descend = tb.optimize.sgd(8.0)
    state, temperatures = descend.init(place), [float(value)]
    for _ in range(steps):
        updates, state = descend.update(slope, state, place)
        place = tb.optimize.apply_updates(place, updates)
        value, slope = both(place)
        temperatures.append(float(value))
    at = [round(coordinate, 3) for coordinate in place.tolist()]
    print("at the probe:", *(f"{temperature:.5f}" for temperature in temperatures), "at", at)
    plot(solved(place, size, "numpy").temperature, place, file)
    return temperatures


def main() -> None:
    """Reads the options, and runs the example."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=48, help="cells along an edge of the plate")
    parser.add_argument("--steps", type=int, default=5, help="steps of the disc")
    parser.add_argument("--plot", metavar="FILE", help="draws a picture by matplotlib")
    options = parser.parse_args()
    jax = ["jax"] * (importlib.util.find_spec("jax") is not None)
    run(options.size, options.steps, ["numpy", *jax], options.plot)


if __name__ == "__main__":
    main()
