#!/usr/bin/env python3
"""Does a kernel call something inside a loop? Reads the machine code of a build with readable names:

    RUSTFLAGS=-Csymbol-mangling-version=v0 cargo build --release && .ci/kernels.py target/release/md

A kernel is one `run_avx512` or `run_avx2` of `simd::Entries`; everything that it needs must have been merged into it. A
function that was not is compiled without the instruction set of the kernel, and its call costs more than its work.
Whether the compiler merges a function that is not `#[inline(always)]` depends on how it cuts the crate into units.
"""
import collections
import re
import subprocess
import sys

# What a kernel may call: failures, memory, and what is rare or a library function of several hundred cycles.
ALLOWED = [
    r"^core::(panicking|slice::index|option|result|str)",  # failed assertions
    r"_fail|unwrap_failed",
    r"mem(cpy|move|set|cmp)(@|$)",
    r"^<?alloc::|^__rust_|RawVec",  # lists that grow: they keep their memory, so that this is rare
    r">::(copy_within|spec_fill|resize|compare)(::<|$)",
    r"^(libm|exp|expf|sin|cos|acos|atan2|pow|erfc?|log|round|floor|ceil|trunc|fmod)[f]?(@|$)|libm::",
    r"std::time::|clock_gettime",  # time spent in constraints
    # pieces of work of their own, large or rare
    # kernels of their own, called once for a section
    r"simd::Level>::is_available|std_detect::detect::cache::detect_and_initialize",  # before such a kernel is called
    r"constraint::plan::(ConstraintPlan>::(apply|finish_drift)|SectionKernel|DriftKernel)",
    r"backend::refresh::(Refresh>::apply|RefreshKernel)",
    r"constraint::shake::worst",  # where a constraint has failed
    r"constraint::coupled::Coupled>::(shake|finish_drift)",  # iterates over a whole molecule
    r"term::cmap::CmapTable>::patch",
    r"pme::potential::(shape|tail)",  # exponentials and error functions
    r"pme::influence::reciprocal_rows",  # once for a line of the mesh
    r"pair::search::Search>::reach",  # once for a cluster
    r"cell::PeriodicCell>::minimum_image_of_far",  # atoms of a term that are farther apart than half of the cell
    r"ensemble::refreshment::Renewal>::acts_on",  # draws a random number
    r"something_went_wrong",  # a failed assertion of bytemuck
]
FUNCTION = re.compile(r"^([0-9a-f]+) <(.*)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$")


def functions(binary):
    """Name and instructions (address, mnemonic, operands) of each function."""
    name, rows = None, []
    for line in lines("objdump", "--disassemble", "--demangle", "--no-show-raw-insn", binary):
        if head := FUNCTION.match(line):
            if rows:
                yield name, rows
            name, rows = head[2], []
        elif row := INSTRUCTION.match(line):
            rows.append((int(row[1], 16), row[2], row[3]))
    if rows:
        yield name, rows


def lines(*command):
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield from process.stdout


def pointers(binary):
    """What functions of other units and libraries are called through: address of the pointer, and the name behind it."""
    names = {int(line.split()[0], 16): line.split(maxsplit=2)[2].strip()
             for line in lines("nm", "--demangle", "--defined-only", binary) if len(line.split()) > 2}
    found = {}
    for line in lines("objdump", "--dynamic-reloc", binary):
        fields = line.split()
        if len(fields) == 3 and fields[1] == "R_X86_64_RELATIVE":
            target = int(fields[2].split("+")[1], 16)
            found[int(fields[0], 16)] = names.get(target, fields[2])
        elif len(fields) == 3 and fields[1] in ("R_X86_64_GLOB_DAT", "R_X86_64_JUMP_SLOT"):
            found[int(fields[0], 16)] = fields[2]
    return found


def calls_in_loops(rows, pointers):
    """Targets of calls between the target and the source of a jump back."""
    start, jumps, registers = rows[0][0], [], collections.defaultdict(set)
    for address, operation, operands in rows:
        if operation.startswith("j") and (found := re.match(r"[0-9a-f]+ ", operands)):
            if start <= int(found[0], 16) <= address:
                jumps.append((int(found[0], 16), address))
        elif operation == "mov" and (found := re.search(r"\(%rip\),(%\w+)\s+# ([0-9a-f]+)", operands)):
            if int(found[2], 16) in pointers:
                registers[found[1]].add(pointers[int(found[2], 16)])
    for address, operation, operands in rows:
        if operation != "call" or not any(target <= address <= source for target, source in jumps):
            continue
        if found := re.search(r"# ([0-9a-f]+) <", operands):
            yield pointers.get(int(found[1], 16), operands)
        elif operands.startswith("*%"):
            yield from registers[operands[1:]] or [operands]
        else:
            yield re.sub(r"^[0-9a-f]+ <(.*)>$", r"\1", operands)


def main() -> int:
    known = pointers(sys.argv[1])
    kernels, faults = collections.Counter(), collections.defaultdict(collections.Counter)
    for name, rows in functions(sys.argv[1]):
        if not (found := re.match(r"<(.*) as .*simd::Entries>::run_(avx512|avx2)$", name)):
            continue
        kernels[found[2]] += 1
        for target in calls_in_loops(rows, known):
            if not any(re.search(pattern, target) for pattern in ALLOWED):
                faults[f"{found[1]} on {found[2]}"][target] += 1
    for kernel, targets in sorted(faults.items()):
        print(f"{kernel} calls in a loop:")
        for target, count in targets.items():
            print(f"    {count} times {target}")
    print(f"{sum(kernels.values())} kernels, {len(faults)} with calls in loops")
    if not (kernels["avx512"] and kernels["avx2"]):
        print("no kernels found: was this built with -Csymbol-mangling-version=v0?")
        return 1
    return 1 if faults else 0


sys.exit(main())
