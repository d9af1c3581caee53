//! Table of the keys of GROMACS' mdp files (manual, "Molecular dynamics parameters"), with defaults and treatment.

use crate::import::settings::{Key, absent, carried, no_use, part};

/// All keys of the manual, including keys that newer versions of GROMACS have removed.
pub(super) const KEYS: &[&[Key]] = &[RUN, OUTPUT, FORCES, COUPLING, MODULES, REMOVED];

const RUN: &[Key] = &[
    carried("include define", ""),
    carried("integrator", "md"),
    absent("tinit", "0", "md counts the time from 0"),
    carried("dt", "0.001"),
    carried("nsteps", "0"),
    absent("init-step", "0", "md counts steps from 0"),
    no_use("simulation-part", "md counts the parts of a run itself"),
    carried("mts", "no"),
    carried("mts-levels", "2"),
    carried("mts-level2-forces", "longrange-nonbonded"),
    carried("mts-level2-factor", "2"),
    carried("mass-repartition-factor", "1"),
    carried("comm-mode", "Linear"),
    carried("nstcomm", "100"),
    carried("comm-grps", ""),
    carried("bd-fric", "0"),
    carried("ld-seed", "-1"),
    carried("emtol", "10"),
    carried("emstep", "0.01"),
    no_use("niter fcstep", "a parameter of shell particles, which md does not have"),
    no_use("nstcgsteep nbfgscorr", MINIMISER),
    no_use("rtpi", "a parameter of test-particle insertion"),
];

const MINIMISER: &str = "a parameter of GROMACS minimisers; md uses steepest descent to remove clashes, then L-BFGS";

const OUTPUT: &[Key] = &[
    carried("nstxout nstvout nstfout", "0"),
    no_use("nstlog", "energies are in energies.csv, their averages in the log"),
    no_use("nstcalcenergy", "energies are computed when they are written"),
    carried("nstenergy", "1000"),
    carried("nstxout-compressed", "0"),
    carried("compressed-x-precision", "1000"),
    carried("compressed-x-grps", ""),
    absent("energygrps", "", "md writes only the energies of the whole system"),
];

const FORCES: &[Key] = &[
    absent("cutoff-scheme", "Verlet", "md has Verlet lists of atoms and no charge groups"),
    no_use("nstlist", "md chooses the lifetime of lists from the tolerance, as mdrun does"),
    carried("pbc", "xyz"),
    absent(
        "periodic-molecules",
        "no",
        "md makes molecules whole, and refuses molecules that are bonded to their own images",
    ),
    carried("verlet-buffer-tolerance", "0.005"),
    carried("verlet-buffer-pressure-tolerance", "0.5"),
    carried("rlist", "1"),
    carried("coulombtype", "Cut-off"),
    carried("coulomb-modifier", "Potential-shift"),
    no_use("rcoulomb-switch", "GROMACS does not switch Coulomb interactions with Verlet lists"),
    carried("rcoulomb", "1"),
    absent(
        "epsilon-r",
        "1",
        "md uses a relative permittivity of 1: divide the charges of the topology by the square root of epsilon-r",
    ),
    carried("epsilon-rf", "0"),
    carried("vdwtype", "Cut-off"),
    carried("vdw-modifier", "Potential-shift"),
    carried("rvdw-switch", "0"),
    carried("rvdw", "1"),
    carried("DispCorr", "no"),
    no_use("table-extension", "md has no tabulated potentials"),
    absent("energygrp-table", "", "md has no tabulated potentials"),
    carried("fourierspacing", "0.12"),
    carried("fourier-nx fourier-ny fourier-nz", "0"),
    carried("pme-order", "4"),
    carried("ewald-rtol", "1e-5"),
    carried("ewald-rtol-lj", "1e-3"),
    carried("lj-pme-comb-rule", "geometric"),
    absent("ewald-geometry", "3d", "md has Ewald sums only for three periodic dimensions"),
    absent("epsilon-surface", "0", "md uses a conducting boundary at infinity"),
    carried("constraints", "none"),
    no_use(
        "constraint-algorithm",
        "md chooses the algorithm: SETTLE, SHAKE, and a sparse solver for coupled constraints",
    ),
    carried("continuation", "no"),
    no_use("Shake-SOR shake-tol lincs-order lincs-iter lincs-warnangle", SOLVERS),
    absent("morse", "no", "md uses the bond potentials of the topology"),
    absent("implicit-solvent", "no", "md has no implicit solvent"),
];

const SOLVERS: &str = "md uses the relative tolerance forces.constraint_tolerance (default: 1e-6)";

const COUPLING: &[Key] = &[
    carried("tcoupl", "no"),
    carried("nsttcouple", "-1"),
    carried("tc-grps tau-t ref-t", ""),
    no_use("nh-chain-length", "Nosé-Hoover chains of md have three thermostats"),
    no_use("print-nose-hoover-chain-variables", "a parameter of Nosé-Hoover chains"),
    no_use("ensemble-temperature-setting ensemble-temperature", "md uses the temperature of the thermostat"),
    carried("pcoupl", "no"),
    carried("pcoupltype", "isotropic"),
    carried("nstpcouple", "-1"),
    carried("tau-p", "5"),
    carried("compressibility ref-p", ""),
    carried("refcoord-scaling", "no"),
    carried("gen-vel", "no"),
    carried("gen-temp", "300"),
    carried("gen-seed", "-1"),
    carried("annealing", "no"),
    part("annealing-npoints annealing-time annealing-temp", "annealing"),
];

const MODULES: &[Key] = &[
    absent("energygrp-excl", "", "md computes all pairs except the exclusions of the topology"),
    absent("nwall", "0", "md has no walls"),
    part("wall-*", "nwall"),
    carried("pull", "no"),
    carried("pull-ncoords", "1"),
    carried("pull-nstxout pull-nstfout", "50"),
    no_use(
        "pull-ngroups pull-group* pull-print-* pull-xout-average pull-fout-average pull-constr-tol pull-cylinder-r \
         pull-pbc-ref-prev-step-com",
        PULLED,
    ),
    part("pull-*", "pull"),
    absent("awh", "no", "md has no accelerated weight histogram method (AWH)"),
    part("awh-* awh1-* awh2-* awh3-*", "awh"),
    absent("rotation", "no", "md has no enforced rotation"),
    part("rot-*", "rotation"),
    absent("IMD-group", "", "md has no interactive molecular dynamics"),
    absent("disre", "no", "distance restraints of the topology are ignored: set restraints in the stage"),
    part("disre-* nstdisreout", "disre"),
    absent("orire", "no", "md has no orientation restraints"),
    part("orire-* nstorireout", "orire"),
    absent("free-energy", "no", "md has no free-energy perturbation: it uses the system of state A"),
    part(
        "couple-* init-lambda* init-wl-histogram-counts delta-lambda nstdhdl fep-lambdas mass-lambdas coul-lambdas \
         vdw-lambdas bonded-lambdas restraint-lambdas temperature-lambdas calc-lambda-neighbors sc-* \
         separate-dhdl-file dhdl-* dh_hist_* nstexpanded lmc-* nst-transition-matrix wl-* \
         symmetrized-transition-matrix mininum-var-min weight-* mc-temperature",
        "free-energy",
    ),
    absent("acc-grps", "", "md has no acceleration groups"),
    part("accelerate", "acc-grps"),
    carried("freezegrps freezedim", ""),
    absent("cos-acceleration", "0", "md has no cosine acceleration"),
    absent("deform", "0", "md does not deform the cell"),
    part("deform-init-flow", "deform"),
    absent("simulated-tempering", "no", "md has no simulated tempering"),
    part("simulated-tempering-scaling sim-temp-*", "simulated-tempering"),
    absent("swapcoords", "no", "md has no ion/water position swapping"),
    part(
        "swap-* split-group* massw-split* solvent-group coupl-steps iontype* iontypes bulk-offset* threshold \
         cyl0-* cyl1-*",
        "swapcoords",
    ),
    no_use("user1-grps user2-grps userint* userreal*", "a parameter for user-supplied code"),
    absent("electric-field-x electric-field-y electric-field-z", "0", "md has no electric field"),
    absent("density-guided-simulation-active", "false", "md has no density-guided simulation"),
    part("density-guided-simulation-*", "density-guided-simulation-active"),
    absent("qmmm-cp2k-active", "false", "md has no QM/MM"),
    part("qmmm-cp2k-*", "qmmm-cp2k-active"),
    absent("colvars-active", "false", "md does not read Colvars files: set restraints in the stage"),
    part("colvars-*", "colvars-active"),
    absent("nnpot-active", "false", "md has no neural-network potentials"),
    part("nnpot-*", "nnpot-active"),
    absent("fmm-backend", "inactive", "md has no fast multipole method"),
    part("fmm-*", "fmm-backend"),
    absent("QMMM", "no", "md has no QM/MM"),
    part("QMMM*", "QMMM"),
];

const PULLED: &str =
    "restraints of md define groups, values and reference atoms; md makes molecules whole and uses minimum images";
/// Keys that `grompp` accepts and ignores.
const REMOVED: &[Key] = &[
    no_use("title cpp warnings domain-decomposition andersen-seed dihre* nstdihreout", GONE),
    no_use("nstcheckpoint", "output.checkpoint sets the wall-clock time between checkpoints"),
    no_use(
        "optimize-fft ns-type rlistlong nstcalclr adress* gb-* nstgbradii rgbradii sa-* QMmethod QMbasis QMcharge \
         QMmult SH CASorbitals CASelectrons SAon SAoff SAsteps MMChargeScaleFactor bOPT bTS OpenMM-platform",
        GONE,
    ),
    absent("E-x E-y E-z E-xt E-yt E-zt", "", "md has no electric field"),
];

const GONE: &str = "GROMACS ignores it";

/// Renamed keys: old name, and current name in the table of keys.
pub(super) const RENAMED: [(&str, &str); 9] = [
    ("nstxtcout", "nstxout-compressed"),
    ("xtc-grps", "compressed-x-grps"),
    ("xtc-precision", "compressed-x-precision"),
    ("unconstrained-start", "continuation"),
    ("verlet-buffer-drift", "verlet-buffer-tolerance"),
    ("foreign-lambda", "fep-lambdas"),
    ("nstdgdl", "nstdhdl"),
    ("dgdl-derivatives", "dhdl-derivatives"),
    ("vdw-type", "vdwtype"),
];
