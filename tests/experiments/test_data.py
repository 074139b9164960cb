"""Generated readings have the shape that windows meet; original files are read."""

import numpy as np
import pytest

from windrow.errors import InvalidArgument
from windrow.experiments.data import debs_2012, debs_2014


def test_machines_report_about_100_times_a_second_with_gaps_and_bursts():
    readings = debs_2012.generated(200_000)
    steps = np.diff(readings.times)
    assert (steps > 0).all()
    assert np.median(steps) == pytest.approx(debs_2012.PERIOD, rel=0.01)
    assert steps.max() > 10**9
    assert steps.min() < debs_2012.PERIOD / 4
    assert all((energy >= 1).all() for energy in readings.energy)
    assert set(readings.state) == set(debs_2012.BITS)
    again = debs_2012.generated(200_000)
    assert (again.times == readings.times).all()
    assert (again.energy[2] == readings.energy[2]).all()


def test_plugs_are_skewed_a_little():
    table = debs_2014.generated(50_000)
    counts = np.bincount(table["plug"].to_numpy())
    assert len(counts) == debs_2014.PLUGS
    assert 1.1 < counts.max() / counts.min() < 3
    assert (np.diff(table["t"].to_numpy()) >= 0).all()


def test_the_original_of_2012_is_read_in_the_order_of_time(tmp_path):
    rows = [("10.00", 7), ("10.02", 8), ("10.01", 9), ("10.03", 10)]
    path = tmp_path / "debs.txt"
    others = ["0"] * 7 + ["1"] * 6 + ["0"] * 40
    path.write_text(
        "".join(
            "\t".join([f"2012-02-22T16:46:{second}00000+00:00", str(row), str(energy), "2", "3",
                       *others]) + "\n"
            for row, (second, energy) in enumerate(rows)
        )
    )  # fmt: skip
    readings = debs_2012.loaded(path, 100)
    assert readings.energy[0].tolist() == [7, 8, 10]
    assert np.diff(readings.times).tolist() == [20_000_000, 10_000_000]
    assert readings.state["bm05"].all()
    assert len(debs_2012.loaded(path, 2).times) == 2


def test_the_original_of_2014_is_read_without_its_work(tmp_path):
    path = tmp_path / "debs.csv"
    path.write_text("1,100,5.5,1,3,2,1\n2,100,9,0,3,2,1\n3,101,6.5,1,4,2,1\n")
    table = debs_2014.loaded(path, 10)
    assert table.to_pydict() == {
        "plug": [1_002_003, 1_002_004],
        "t": [100, 101],
        "power": [5.5, 6.5],
    }


@pytest.mark.parametrize("loaded", [debs_2012.loaded, debs_2014.loaded])
def test_other_files_are_refused(loaded, tmp_path):
    path = tmp_path / "other.txt"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InvalidArgument, match="is not the challenge's file"):
        loaded(path, 10)
