"""Medians, means of hours, lines through gaps and running means by pandas; the model by NumPy's least squares."""

import numpy
import pandas

from .conftest import Runner


def test_what_there_is_gives_what_pandas_finds(on_both: Runner) -> None:
    values = on_both("missing_values")
    seen = pandas.Series(numpy.asarray(values["seen"]))
    hour = seen.index % 24
    away = (seen - seen.groupby(hour).transform("median")).abs()
    clean = seen.where(~(away > 8 * away.median()))
    numpy.testing.assert_allclose(numpy.asarray(values["clean"]), clean)
    assert values["found"].item() == (away > 8 * away.median()).sum() > 5

    numpy.testing.assert_allclose(numpy.asarray(values["hourly"]), clean.groupby(hour).mean())
    numpy.testing.assert_allclose(numpy.asarray(values["spread"]), clean.groupby(hour).std(ddof=0))
    numpy.testing.assert_allclose(numpy.asarray(values["filled"]), clean.interpolate(limit_direction="both"))
    running = clean.rolling(25, center=True, min_periods=1).mean()
    numpy.testing.assert_allclose(numpy.asarray(values["smooth"]), running)

    day = 2 * numpy.pi * numpy.arange(len(seen)) / 24
    waves = [numpy.cos(day), numpy.sin(day), numpy.cos(2 * day), numpy.sin(2 * day)]
    parts = numpy.stack([numpy.ones(len(seen)), numpy.arange(len(seen)) / 1000, *waves], axis=1)
    known = clean.notna().to_numpy()
    weights, *_ = numpy.linalg.lstsq(parts[known], clean[known].to_numpy(), rcond=None)
    numpy.testing.assert_allclose(numpy.asarray(values["weights"]), weights, rtol=1e-5)
