#!/usr/bin/env python3
"""Compares commands that print "X ns/day": alternate.py ROUNDS 'COMMAND' 'COMMAND'...

Runs them in turn, so that a change of the machine's load meets all of them, and reports the median, the range and the
median ratio to the first command within a round.
"""

import re
import statistics
import subprocess
import sys


def speed(command):
    """The last number before "ns/day" in the output."""
    done = subprocess.run(command, shell=True, text=True, capture_output=True)
    found = re.findall(r"([\d.]+)\s*ns/day", done.stdout + done.stderr)
    if done.returncode or not found:
        sys.exit(f"{command}: exit {done.returncode}, no 'X ns/day':\n{done.stdout}{done.stderr}")
    return float(found[-1])


def main(rounds, *commands):
    """Prints one line per command."""
    table = []
    for turn in range(int(rounds)):
        table.append([speed(command) for command in commands])
        print(f"round {turn + 1}:", *(f"{value:8.2f}" for value in table[-1]), flush=True)
    for i, command in enumerate(commands):
        values = [row[i] for row in table]
        ratio = statistics.median(row[i] / row[0] for row in table)
        print(f"{statistics.median(values):8.2f} ns/day ({min(values):.2f}–{max(values):.2f}), ×{ratio:.2f}: {command}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
