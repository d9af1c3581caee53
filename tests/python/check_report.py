"""Compares the averages on the page of a run with pandas on its energy table, and with the results of md analyze.

usage: check_report.py report.html energies.csv results.csv stage
"""
import sys
from html.parser import HTMLParser

import pandas as pd


class Tables(HTMLParser):
    """Rows of the table whose caption is `wanted`."""

    def __init__(self, wanted):
        super().__init__()
        self.wanted, self.caption, self.rows, self.text = wanted, "", [], None

    def handle_starttag(self, tag, _):
        if tag == "caption":
            self.caption = None
        elif tag == "tr" and self.caption == self.wanted:
            self.rows.append([])
        elif tag in ("th", "td"):
            self.text = ""

    def handle_endtag(self, tag):
        if tag in ("th", "td"):
            if self.caption == self.wanted and self.rows:
                self.rows[-1].append(self.text)
            self.text = None
        elif tag == "table":
            self.caption = ""

    def handle_data(self, data):
        if self.caption is None:
            self.caption = data
        elif self.text is not None:
            self.text += data


page, energies, results, stage = sys.argv[1:]
tables = Tables("Averages of the production stage")
tables.feed(open(page, encoding="utf-8").read())
rows = [row for row in tables.rows[1:] if row]
assert len(rows) > 15, rows

table = pd.read_csv(energies)
table = table[table["stage"] == int(stage)]
times = table["time (ps)"]
analysed = pd.read_csv(results).set_index("column")
for name, unit, mean, error, equilibration, _ in rows:
    column = table[f"{name} ({unit})"][times >= times.iloc[0] + float(equilibration) - 1e-9]
    # means on the page have six digits, and values in the table have six decimals
    tolerance = 2e-5 * abs(column.mean()) + 1e-6
    assert abs(column.mean() - float(mean)) < tolerance, (name, column.mean(), mean)
    assert abs(analysed.loc[name, "mean"] - float(mean)) < tolerance, (name, analysed.loc[name], mean)
    found = analysed.loc[name, "error"]
    if error == "unknown":
        assert pd.isna(found), (name, found)
        continue
    assert abs(found - float(error)) < 2e-5 * abs(found) + 1e-6, (name, found, error)
