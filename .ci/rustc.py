#!/usr/bin/env python3
"""Stands between cargo and rustc (RUSTC_WORKSPACE_WRAPPER) and measures each compilation of this project's packages.

Adds a line to the file that RUSTC_COSTS names, and fails where rustc or its linker took more memory than `LARGEST`.
"""
import os
import resource
import subprocess
import sys

LARGEST = 2.5  # GB, of one rustc


def main() -> int:
    code = subprocess.call(sys.argv[1:], close_fds=False)  # rustc shares cargo's jobs through open files
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    gigabytes = used.ru_maxrss * 1024 / 1e9
    arguments = sys.argv[1:]
    if "--emit" not in " ".join(arguments):
        return code  # a question about the compiler
    name = arguments[arguments.index("--crate-name") + 1] + (" (test)" if "--test" in arguments else "")
    if log := os.environ.get("RUSTC_COSTS"):
        with open(log, "a") as costs:
            costs.write(f"{used.ru_utime + used.ru_stime:7.1f} s of processor time, {gigabytes:.2f} GB: {name}\n")
    if gigabytes > LARGEST:
        print(f"error: compiling {name} took {gigabytes:.2f} GB, more than {LARGEST}", file=sys.stderr)
        return code or 1
    return code


sys.exit(main())
