"""Groups, weighted means and regressions by xarray."""

import numpy
import xarray

from .conftest import Runner


def test_groups_are_those_of_xarray(on_both: Runner) -> None:
    values = on_both("climate", YEARS=20, STEP=15, rtol=1e-3, atol=1e-4)
    names = ("time", "latitude", "longitude")
    temperature = xarray.DataArray(
        numpy.asarray(values["temperature"], "f8"), dims=names, coords={"latitude": numpy.asarray(values["latitude"])}
    )
    months = xarray.DataArray(numpy.arange(240) % 12, dims="time", name="month")
    usual = temperature.groupby(months).mean()
    numpy.testing.assert_allclose(numpy.asarray(values["usual"]), usual.transpose("month", ...), atol=1e-4)

    anomaly = (temperature.groupby(months) - usual).transpose(*names)
    weights = numpy.cos(numpy.radians(temperature.latitude))
    of_earth = anomaly.weighted(weights).mean(("latitude", "longitude"))
    numpy.testing.assert_allclose(numpy.asarray(values["of_earth"]), of_earth, atol=1e-4)
    years = xarray.DataArray(numpy.arange(240) // 12, dims="time", name="year")
    numpy.testing.assert_allclose(numpy.asarray(values["yearly"]), of_earth.groupby(years).mean(), atol=1e-4)

    trend = anomaly.assign_coords(time=numpy.arange(240) / 120).polyfit("time", 1).polyfit_coefficients.sel(degree=1)
    numpy.testing.assert_allclose(numpy.asarray(values["trend"]), trend, atol=1e-4)
    index = xarray.DataArray(numpy.asarray(values["index"], "f8"), dims="time")
    response = xarray.cov(anomaly, index, "time", ddof=0) / index.var("time")
    numpy.testing.assert_allclose(numpy.asarray(values["response"]), response, atol=1e-4)
