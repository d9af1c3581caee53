#!/bin/sh
# Speed of GROMACS: gromacs.sh SYSTEM.top SYSTEM.gro [THREADS [STEPS]]; prints "X ns/day".
# The first half of the run, in which GROMACS balances PME against the cutoff, is not counted.
set -eu
top=$(realpath "$1") gro=$(realpath "$2") threads=${3:-2} steps=${4:-5000}
here=$(cd "$(dirname "$0")" && pwd)
folder=$here/out/gromacs-$(basename "$top" .top)
mkdir -p "$folder"
cd "$folder"
sed "s/@STEPS@/$steps/" "$here/speed.mdp" >speed.mdp
# one warning is allowed: the net charge of dhfr
gmx -quiet grompp -f speed.mdp -p "$top" -c "$gro" -o speed.tpr -maxwarn 1 >grompp.log 2>&1 || { cat grompp.log >&2; exit 1; }
gmx -quiet mdrun -s speed.tpr -deffnm speed -ntmpi 1 -ntomp "$threads" -resethway -noconfout >mdrun.log 2>&1 ||
    { cat mdrun.log >&2; exit 1; }
awk '$1 == "Performance:" { print $2, "ns/day" }' speed.log
