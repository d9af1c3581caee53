#!/usr/bin/env python3
"""Stands between cargo and rustc (RUSTC_WORKSPACE_WRAPPER) at each compilation of this project's packages.

After the compilation, Clippy checks the same sources, and rustdoc the documentation of a library. Both read the metadata
of the dependencies as they were compiled for the program. `cargo clippy` and `cargo doc` would compile all dependencies
once more. Clippy checks the libraries in `WITH_UNIT_TESTS` together with their unit tests, and not a second time without
them.

Adds a line to the file that RUSTC_COSTS names, and fails where rustc or its linker took more memory than `LARGEST`.
"""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

LARGEST = 2.5  # GB, of one rustc
WITH_UNIT_TESTS = {"md", "md_build", "md_engine"}  # libraries that are compiled a second time with their unit tests


def main() -> int:
    command = sys.argv[1:]
    if not any(word.startswith("--emit") for word in command):
        return subprocess.call(command, close_fds=False)  # a question about the compiler
    command.append("-Dwarnings")
    code = subprocess.call(command, close_fds=False)  # rustc shares cargo's jobs through open files
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    name = command[command.index("--crate-name") + 1] + (" (test)" if "--test" in command else "")
    gigabytes = used.ru_maxrss * 1024 / 1e9
    if log := os.environ.get("RUSTC_COSTS"):
        with open(log, "a") as costs:
            costs.write(f"{used.ru_utime + used.ru_stime:7.1f} s of processor time, {gigabytes:.2f} GB: {name}\n")
    if gigabytes > LARGEST:
        print(f"error: compiling {name} took {gigabytes:.2f} GB, more than {LARGEST}", file=sys.stderr)
        return code or 1
    return code or check(command)


def check(command: list[str]) -> int:
    """Runs Clippy, and rustdoc for a library, with the arguments of the compilation."""
    sysroot = subprocess.check_output([command[0], "--print", "sysroot"], text=True, close_fds=False)
    tools = pathlib.Path(sysroot.strip(), "bin")
    is_library = ("--crate-type", "lib") in zip(command, command[1:])
    crate = command[command.index("--crate-name") + 1]
    # with MPI, no unit tests are compiled, and the public documentation is the same
    with_mpi = 'feature="mpi"' in command
    is_repeated = is_library and crate in WITH_UNIT_TESTS and not with_mpi
    with tempfile.TemporaryDirectory() as folder:
        arguments = [*without_outputs(command[1:]), "--out-dir", folder]
        clippy = [tools / "clippy-driver", command[0], *arguments, "--emit=metadata"]
        rustdoc = [tools / "rustdoc", *arguments]
        code = 0 if is_repeated else subprocess.call(clippy, close_fds=False)
        return code or (subprocess.call(rustdoc, close_fds=False) if is_library and not with_mpi else 0)


def without_outputs(arguments: list[str]):
    """Yields the arguments without those that name the outputs of rustc."""
    words = iter(arguments)
    for word in words:
        if word == "--out-dir":
            next(words)
        elif not word.startswith("--emit"):
            # cargo expects one note about each output
            yield word.replace("artifacts,", "") if word.startswith("--json") else word


sys.exit(main())
