#!/usr/bin/env python3
"""Results of `md analyze` in one table, their correlation, and a plot of each, with xarray.

    md analyze rg rmsd rmsf out/trajectory.h5md
    results_xarray.py rg.h5 rmsd.h5 rmsf.h5 --plot results.png

Series over time are combined into one data set by their times. Other results are described one by one.
"""

import argparse

import matplotlib.pyplot as plt
import xarray


def combine(datasets):
    """All series over time of the data sets, at the times that they have in common."""
    series = [data[[name for name, values in data.items() if values.dims == ("time",)]] for data in datasets]
    return xarray.merge(series, join="inner", compat="equals")


def label(values):
    """Name of a variable with its unit."""
    return f"{values.name} ({values.attrs['units']})" if "units" in values.attrs else values.name


def plot(variables, path):
    """Writes a picture with one panel per variable of one dimension."""
    size = (6, 2.2 * len(variables))
    figure, panels = plt.subplots(len(variables), figsize=size, squeeze=False, layout="constrained")
    for axes, values in zip(panels[:, 0], variables):
        coordinate = values[values.dims[0]]
        axes.plot(coordinate, values, marker="." if values.sizes[values.dims[0]] < 50 else None)
        axes.set(xlabel=label(coordinate), ylabel=label(values))
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="result files NAME.h5 of md analyze")
    parser.add_argument("--plot", default="results.png", help="file of the picture (default: results.png)")
    arguments = parser.parse_args()
    datasets = [xarray.load_dataset(path) for path in arguments.results]
    series = combine(datasets)
    table = series.reset_coords(drop=True).to_dataframe()
    table.columns = [label(values) for values in series.values()]
    print(f"{len(table)} frames\n{table.describe().loc[['mean', 'std', 'min', 'max']].to_string()}")
    print(f"\ncorrelation\n{table.corr().to_string()}")
    others = [values for data in datasets for values in data.values() if "time" not in values.dims]
    others = [values for values in others if values.ndim == 1 and "units" in values.attrs]
    for values in others:
        place = values[values.dims[0]].values[values.values.argmax()]
        print(f"\n{label(values)}: mean {values.mean():.6g}, largest {values.max():.6g} at {values.dims[0]} {place:g}")
    plot([*series.values(), *others], arguments.plot)


if __name__ == "__main__":
    plt.switch_backend("agg")  # draws into files, also without a display
    main()
