"""CSV tables read back as what was written."""

import csv
import io

import pandas
import pytest

from assay.records.tables import csv_text

CELLS = ["a\rb", "a\nb", "a\r\nb", "\r", "ends\r\n", 'a"b', "a,b", " a ", "a\u2028b", "a\x0bb", "é"]


@pytest.mark.parametrize("cell", CELLS)
def test_any_text_reads_back_as_one_cell(cell):
    text = csv_text(["x", "y"], [[cell, 1], ["z", 2]])
    assert list(csv.reader(io.StringIO(text, newline=""))) == [["x", "y"], [cell, "1"], ["z", "2"]]
    assert list(pandas.read_csv(io.BytesIO(text.encode()), dtype={"x": str}).x) == [cell, "z"]


def test_lines_end_with_line_feeds_alone():
    assert csv_text(["x", "y"], [["a", None], [True, 0.1]]) == "x,y\na,\ntrue,0.1\n"
