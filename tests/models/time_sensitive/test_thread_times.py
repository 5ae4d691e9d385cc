"""Times and durations in every form that people have them in, and time kernels by hand."""

from dataclasses import fields
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from thread_cases import KERNELS

from sparsemix import DataError, Dataset, ParameterError, TimeKernel
from sparsemix.models.time_sensitive import building
from sparsemix.models.time_sensitive.reading import Table
from sparsemix.models.time_sensitive.time_kernels import KINDS, rate_of, seconds_of
from sparsemix.models.time_sensitive.times import times_of

ISO = ["2024-05-31T12:00:00Z", "2024-05-31T14:00:01+02:00", "2024-06-01"]
SECONDS = np.array([1717156800.0, 1717156801.0, 1717200000.0])
EAST = timezone(timedelta(hours=2))
DATETIMES = [
    datetime(2024, 5, 31, 12, tzinfo=UTC),
    datetime(2024, 5, 31, 14, 0, 1, tzinfo=EAST),
    datetime(2024, 6, 1, tzinfo=UTC),
]
NAIVE = np.array(["2024-05-31T12:00:00", "2024-05-31T12:00:01", "2024-06-01T00:00:00"], "M8[s]")
FORMS = {
    "ISO texts": ISO, "numbers": SECONDS, "list of numbers": SECONDS.tolist(), "whole": SECONDS.astype(int),
    "texts of numbers": [str(int(each)) for each in SECONDS], "datetimes with zones": DATETIMES, "datetime64": NAIVE,
    "nanoseconds": NAIVE.astype("M8[ns]"), "pandas": pd.Series(NAIVE),
    "pandas with a zone": pd.Series(pd.to_datetime(NAIVE).tz_localize("UTC").tz_convert("Asia/Tokyo")),
    "pandas texts": pd.Series(ISO), "polars": pl.Series(NAIVE.astype("M8[us]")), "Arrow": pa.array(ISO),
    "objects": np.array(ISO, dtype=object), "texts": np.array(ISO), "masked": np.ma.array(SECONDS, mask=False),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_times_means_the_same(form):
    assert_allclose(times_of(None, FORMS[form], 3, "fit", needed=True), SECONDS, rtol=0, atol=1e-5)


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m"])
def test_every_unit_of_datetimes_is_known(unit):
    days = np.array(["1970-01-01", "2026-01-01"], f"M8[{unit}]")
    expected = days.astype("M8[s]").astype(np.float64)
    assert_array_equal(times_of(None, days, 2, "fit", needed=True), expected)


@pytest.mark.parametrize("masked", [
    np.ma.array(SECONDS, mask=[0, 1, 0]), np.ma.array(SECONDS.astype(int), mask=[0, 1, 0]),
    np.ma.array(NAIVE, mask=[0, 1, 0]),
])  # fmt: skip
def test_masked_times_are_missing(masked):
    with pytest.raises(DataError, match=r"'times' of fit must not be missing, but that of row 1 is\."):
        times_of(None, masked, 3, "fit", needed=True)


@pytest.mark.parametrize("endless", [np.inf, -np.inf, 9e307, -1.1e50])
def test_endless_times_are_refused(endless):
    with pytest.raises(
        DataError, match=r"'times' of fit must be within 1e\+50 seconds of 1970, but that of row 1 is "
    ):
        times_of(None, np.array([0.0, endless, 1.0]), 3, "fit", needed=True)


def test_times_of_a_dataset_are_taken_unless_others_are_given():
    data = Dataset.from_matrix(np.eye(3), times=SECONDS)
    assert_array_equal(times_of(data, None, 3, "fit", needed=True), SECONDS)
    assert_array_equal(times_of(data, [1, 2, 3], 3, "fit", needed=True), [1, 2, 3])


@pytest.mark.parametrize("wrong", [
    None, "2024-05-31", 3, [1, 2], [1, 2, 3, 4], [1, 2, np.nan], [1, 2, np.inf], [1, None, 3], ["x", "y", "z"],
    np.zeros((3, 1)), ["2024-05-31", "", "2024-06-01"], [timedelta(1)] * 3, np.array(["NaT"] * 3, "M8[s]"), {},
    [1, "x", 2], [[1, 2, 3]], "202", b"202", {1, 2, 3}, {1: 0, 2: 0, 3: 0}, [b"2024-05-31"] * 3,
    np.array([b"1", b"2", b"3"]), [True, False, True], np.ones(3, bool), pd.Series([True, None, True]),
    pl.Series([True] * 3), pa.array([b"1"] * 3).dictionary_encode(),
])  # fmt: skip
def test_what_is_no_time_is_refused(wrong):
    with pytest.raises(DataError, match="times"):
        times_of(np.eye(3), wrong, 3, "fit", needed=True)


def test_rows_without_times_stand_in_their_order_where_that_is_allowed():
    assert_array_equal(times_of(np.eye(3), None, 3, "fit", needed=False), [0.0, 1.0, 2.0])


@pytest.mark.parametrize(("duration", "seconds"), [
    ("90s", 90), ("1.5h", 5400), ("3d", 259200), ("2w", 1209600), (" 15 m ", 900), (7, 7), (0.5, 0.5), (".5m", 30),
    (timedelta(days=1), 86400), (np.float32(2), 2), (np.int64(3), 3),
])  # fmt: skip
def test_durations(duration, seconds):
    assert seconds_of("half_life", "fit", duration) == seconds


@pytest.mark.parametrize("wrong", [
    None, "", "3", "3 days", "-1d", "d", "0s", 0, -1, np.nan, np.inf, True, [3], timedelta(0), timedelta(-1), 10**400,
    "9" * 400 + "d", 1e-300, 1e300, "9" * 60 + "s",
])  # fmt: skip
def test_what_is_no_duration_is_refused(wrong):
    with pytest.raises(
        ParameterError, match=r"'half_life' of fit must be a duration from 1e-50 to 1e\+50 seconds, as a "
    ):
        seconds_of("half_life", "fit", wrong)


@pytest.mark.parametrize("text", ["5", " 2.5 ", ".5"])
def test_durations_without_a_unit_are_told_the_units(text):
    of = text.strip()
    with pytest.raises(ParameterError, match=f"Say which unit: {of}s, {of}h or {of}d"):
        seconds_of("half_life", "fit", text)


@pytest.mark.parametrize("text", ["0", "9" * 60])
def test_no_unit_mends_what_is_out_of_bounds(text):
    with pytest.raises(ParameterError) as found:
        seconds_of("half_life", "fit", text)
    assert "Say which unit" not in str(found.value)


def test_rows_are_named_by_their_ids():
    data = Dataset.from_matrix(np.eye(3), times=[0.0, np.nan, 2.0], row_ids=["a", "b", "c"])
    with pytest.raises(DataError, match=r"that of row 1 \(b\) is"):
        times_of(data, None, 3, "fit", needed=True)
    big = Dataset.from_matrix(np.array([[1, 0], [2, 9e9]]), row_ids=["a", "b"], feature_names=["x", "y"])
    with pytest.raises(DataError, match=r"there is 9000000000 in row 1 \(b\), column y\."):
        Table(big, "multinomial", None, "fit")
    with pytest.raises(DataError, match=r"there is 0\.5 in row 1, column 0\."):
        Table(np.array([[1.0, 0.0], [0.5, 1.0]]), "multinomial", None, "fit")


def test_one_of_rate_and_half_life():
    assert_allclose(rate_of(None, "1h", "fit"), np.log(2) / 3600)
    assert rate_of(0.25, None, "fit") == 0.25
    for both in ((None, None), (1.0, "1h")):
        with pytest.raises(ParameterError, match="Give one"):
            rate_of(*both, "fit")
    for wrong in (0, -1, np.nan, np.inf, "x", True, 1e60):
        with pytest.raises(ParameterError, match="decay_rate"):
            rate_of(wrong, None, "fit")


def test_every_kind_of_kernel_is_among_the_cases():
    assert {kernel.kind for kernel in KERNELS.values()} | {"each_cluster"} == set(KINDS)


@pytest.mark.parametrize(("kernel", "ages", "weights"), [
    (TimeKernel.step(), [0, 1, 1e12], [1, 1, 1]),
    (TimeKernel.exponential(half_life="1h"), [0, 3600, 7200], [1, 0.5, 0.25]),
    (TimeKernel.exponential(1.0), [1e12], [0]),
    (TimeKernel.window("1m"), [0, 60, 61], [1, 1, 0]),
    (TimeKernel.periodic("1d", 0.5), [0, 86400, 43200, 21600], [1, 1, np.exp(-8), np.exp(-4)]),
    (TimeKernel.periodic("1d", 0.5, half_life="2d", support="3d"), [172800, 345600], [0.5, 0]),
    (TimeKernel.power_law("1h", 2.0), [0, 3600, 10800], [1, 0.25, 0.0625]),
    (TimeKernel.of_function(lambda age: age / 10, support=5), [0, 2, 5, 6], [1, 0.2, 0.5, 0]),
])  # fmt: skip
def test_weights_by_hand(kernel, ages, weights):
    assert_allclose(kernel.weights(ages), weights, rtol=1e-12, atol=1e-15)
    assert kernel.weights(np.array(ages).reshape(-1, 1)).shape == (len(ages), 1)


@pytest.mark.parametrize("kernel", ["step", "exponential", "window", "function"])
@pytest.mark.parametrize("ages", [-1, [1.0, -1e-9], np.nan, "soon", ["3d"], None, [1, [2, 3]], True, 1j])
def test_what_is_no_age_is_refused(kernel, ages):
    with pytest.raises(
        ParameterError, match="'ages' of TimeKernel must be numbers of seconds >= 0, but it is"
    ):
        KERNELS[kernel].weights(ages)


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_by_their_parts_are_those_of_the_methods(kernel):
    made = KERNELS[kernel]
    assert TimeKernel(**{each.name: getattr(made, each.name) for each in fields(made)}) == made


@pytest.mark.parametrize("function", [
    lambda age: age * 2, lambda age: -age, lambda age: age[:0], lambda age: age * np.nan, lambda _: "x", lambda _: 1.0,
])  # fmt: skip
def test_functions_that_are_no_kernels(function):
    with pytest.raises(ParameterError, match="'function' of TimeKernel must be"):
        TimeKernel.of_function(function, support=5).weights([1.0, 2.0])


@pytest.mark.parametrize("make", [
    lambda: TimeKernel.window("x"), lambda: TimeKernel.periodic(0), lambda: TimeKernel.periodic("1d", 0.0),
    lambda: TimeKernel.periodic("1d", support="x"), lambda: TimeKernel.power_law("1d", 0),
    lambda: TimeKernel.power_law(None),
    lambda: TimeKernel.of_function(3, support="1d"), lambda: TimeKernel.of_function(abs, support=None),
    TimeKernel.exponential, lambda: TimeKernel.exponential(1.0, half_life="1d"),
    lambda: TimeKernel("soon"), lambda: TimeKernel(3), lambda: TimeKernel("exponential"),
    lambda: TimeKernel("exponential", rate=np.nan), lambda: TimeKernel("exponential", rate="x"),
    lambda: TimeKernel("step", rate=2.0), lambda: TimeKernel("step", rates=np.zeros(2)), lambda: TimeKernel("window"),
    lambda: TimeKernel("periodic", period=2.0), lambda: TimeKernel("power_law", rate=1.0),
    lambda: TimeKernel("function", support=3.0), lambda: TimeKernel("function", function=abs),
    lambda: TimeKernel("each_cluster"),
    lambda: TimeKernel("each_cluster", rate=1.0, rates=(1.0, 2.0), shares=(0.5, 0.4)),
    lambda: TimeKernel("each_cluster", rate=1.0, rates=(2.0, 1.0), shares=(0.5, 0.5)),
    lambda: TimeKernel("each_cluster", rate=1.0, rates=(1.0, np.nan), shares=(0.5, 0.5)),
    lambda: TimeKernel("each_cluster", rate=1.0, rates=(1.0, 2.0), shares=[0.5, 0.5]),
])  # fmt: skip
def test_bad_kernels_are_named(make):
    with pytest.raises(ParameterError, match="of TimeKernel must "):
        make()


def test_a_function_for_too_many_pairs_is_refused_before_they_are_allocated(monkeypatch):
    monkeypatch.setattr(building, "MOST_PAIRS", 10)
    with pytest.raises(ParameterError, match="'support' of TimeKernel must be so short"):
        building.timing_of(KERNELS["function"], np.arange(100.0), 1.0)
