"""Opens result files of `md analyze` with xarray and pandas: check_results.py FOLDER.

For each NAME.h5 in the folder: xarray opens it with both engines, every dimension has a name, and the tables
NAME.csv and NAME.DIMENSION.csv have the same numbers. Ends with a traceback at the first difference.
"""

import re
import sys
from pathlib import Path

import numpy as np
import pandas
import xarray


def check_table(path, results):
    """Returns the number of columns, each compared with the dataset of which it is a part."""
    table = pandas.read_csv(path)
    names = sorted(results.variables, key=len, reverse=True)
    seen = 0
    for column in table.columns:
        name = next((name for name in names if column == name or column.startswith(name + "_")), None)
        if name is None:
            # a dimension without coordinates: the column of the table holds its indices
            assert column in results.sizes, column
            np.testing.assert_array_equal(table[column], np.arange(len(table)))
            continue
        values = results[name].values
        if values.ndim == 2:
            # the columns of a two-dimensional array are adjacent, in the order of its second dimension
            group = [other for other in table.columns if re.match(rf"{name}_", other)]
            assert len(group) % values.shape[1] == 0, (column, group)
            values = values[:, group.index(column) % values.shape[1]]
        column = table[column].to_numpy()
        # the table has the shortest decimal form of numbers in single precision, which equals them only after rounding
        np.testing.assert_array_equal(column.astype(values.dtype), values)
        seen += 1
    return seen


def main(folder):
    for path in sorted(folder.glob("*.h5")):
        engines = [xarray.open_dataset(path, engine=engine).load() for engine in ("h5netcdf", "netcdf4")]
        for results in engines:
            assert results.sizes["time"] == len(results["time"]), path
            assert "time" in results.coords and results["step"].dims == ("time",), results
            assert results["time"].attrs["units"] == "ps"
            assert not any("phony" in name for name in results.sizes), results.sizes
            # readers must not give a dimension without coordinates a coordinate that is zero everywhere
            assert all(results.indexes[name].is_unique for name in results.sizes if name in results.indexes), results
            results.close()
        xarray.testing.assert_identical(*(results.drop_attrs() for results in engines))
        tables = [path.with_suffix(".csv"), *folder.glob(f"{path.stem}.*.csv")]
        columns = sum(check_table(table, engines[0]) for table in tables if table.exists())
        assert columns > 0 and tables[0].exists(), path
        print(f"{path.name}: {dict(engines[0].sizes)}, {columns} columns: same")


main(Path(sys.argv[1]))
