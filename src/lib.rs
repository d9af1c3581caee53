//! `md`: molecular dynamics of biomolecular systems. It reads topology and coordinates of AMBER, GROMACS, CHARMM or
//! OpenMM and one TOML file, and writes a trajectory.
//!
//! This page is the architecture: the modules, where to start reading, the invariants, and what is absent on purpose.
//! The README explains how to use the program; `md help` lists the keys of the input file.
//!
//! # Layers
//!
//! A lower layer never imports a higher one; `tests/tidy` reads the `use` lines and fails otherwise. The modules
//! up to [`context`] are the package `md-engine` in `src/engine`, all others are in this package. From the bottom up:
//!
//! | modules | purpose |
//! |---|---|
//! | `arrays` [`units`] [`error`] [`memory`] [`team`] [`ranks`] | arrays in code that must inline, units and constants, errors (the variant of [`error::Error`] is the exit code), large pages, a thread team with low start latency, processes that compute together |
//! | [`vec3`] [`cell`] [`rng`] [`superpose`] | vectors, periodic cells, random numbers as a function of (seed, purpose, step, index), optimal superposition |
//! | [`simd`] | one source for every instruction set: 16 lanes of `f32` |
//! | [`term`] | the physics of one interaction, each formula once in Rust (and once in `kernels/term.cuh`), generic over the number type |
//! | [`system`] [`image`] | the simulated system: the frozen [`system::System`] and the changing [`system::State`], and the [`system::Description`] that readers of topologies return; periodic images of molecules and of references |
//! | [`select`] [`format`](mod@format) | selection of atoms by words; readers and writers, one file per format, recognised by content |
//! | [`pair`] [`compute`] [`pme`] [`constraint`] [`restraint`] [`virtual_sites`] [`ensemble`] | pair lists; FFT and products of matrices; Ewald mathematics; constraints; restraints; virtual sites; couplings |
//! | [`prepare`](mod@prepare) | from a description, read or made in code ([`system::System::builder`]), to a system and its initial state, in one call |
//! | [`backend`] | computation of forces and steps: a reference in `f64`, the fast CPU path, and CUDA |
//! | [`context`] | a system on a device: forces from valid pair lists |
//! | [`observe`] | everything a run writes |
//! | [`run`] | the plan as plain data, the order of a step, stages, checkpoints; its folders are rooms with an order of their own (`plan` `control` `minimize` `dynamics` `engine` `check` `checkpoint` `output` `session` `replicas`) |
//! | [`config`] | the input file: text in, checked [`run::Plan`] out, all problems at once |
//! | [`analysis`] | quantities computed from the frames of a trajectory |
//! | [`import`](mod@import) | translated inputs of GROMACS and AMBER |
//! | [`convert`](mod@convert) | trajectories, structures and topologies from one format to another |
//! | [`bench`](mod@bench) | speed, time per phase of a step, and the roofline of the machine |
//! | [`cli`] | one file per subcommand; the only module that prints, reads the environment and ends the process |
//!
//! # Where to start
//!
//! [`run::Simulation::step`] is the only place that defines the order of a step: pair lists if they are due, forces,
//! reporters, leapfrog with constraints, barostat, thermostat. A Monte Carlo volume move, if there is one, comes
//! before the forces. [`run::run`] takes a plan through its stages. [`run::load`] reads the files of a plan, and
//! [`prepare::prepare`] makes a system of them.
//!
//! [`run::run_replicas`] runs several plans in parallel. Each replica of an ensemble is a run of its own, with its
//! own threads and folder, and [`run::ReplicaPlacement`] alone assigns replicas to slots. Over [`ranks::Ranks`] rank
//! 0 assigns the replicas, receives their messages, and alone writes the ensemble's files and speaks to the user;
//! every rank ends with the same exit code. In replica exchange ([`ensemble::exchange`]) replicas keep their rank,
//! wait for each other in its [`run::Barrier`], and send their energies to rank 0. All energies are combined in one
//! place, `run::replicas::record`. A replica keeps its atoms and files and receives the temperature, pressure or
//! Hamiltonian of its neighbour. Every outcome is written before any replica continues.
//!
//! A program that uses the library begins with [`system::System::builder`], [`run::Engine::minimize`] and
//! [`run::Engine::simulation`]; `examples/argon.rs` shows all three.
//!
//! A reader interested in the physics begins with [`term`], then the table of bonded terms in `system/bonded.rs`,
//! then [`backend::Reference`], which is plain loops over both. A reader interested in speed begins with [`pair`],
//! then [`backend::Cpu`]. The keys of the input file are in [`config::keys`]: one table defines the parser, the
//! messages, `md help` and the effective configuration.
//!
//! # A step
//!
//! The quantities that a step computes in addition to forces are decided once, as data ([`backend::Workload`]:
//! energies, virial), from the needs of the reporters and the barostat. [`backend::Backend`] is a trait of coarse
//! primitives, each of which may fail: state in and out, build and prune lists, forces, integrate, scale the box, try
//! a Monte Carlo volume move, rescale or refresh velocities. [`run::Engine::context`] is the one place that chooses a
//! backend. A step calls some ten primitives through a trait object, at negligible cost.
//!
//! [`backend::Host`] keeps the state in host memory in topology order and integrates with any
//! [`backend::ForceField`]. It places [`virtual_sites`] whenever positions change, and spreads their forces. A device
//! that keeps its own state implements `Backend` itself, as `backend::cuda` does. Domain decomposition over several
//! ranks also implements it: [`backend::Domains`] on rank 0 tells the other ranks, in [`backend::Serving`], which
//! primitive to execute next. Each rank has a `Host` around the atoms of its domain. Code above the backend does not
//! know of domains. Atoms change their rank when lists are built. Each force evaluation sends positions of halo atoms
//! and returns their forces, and each primitive that returns a sum reduces it over the ranks.
//!
//! A [`context::Context`] is a system on a device. It knows the age of the pair lists and renews them before the
//! force evaluation that needs them, by steps or by displacement. Dynamics, minimisation and single points get their
//! forces from it; [`context::Context::add_external_force`] adds forces from code.
//!
//! Leapfrog: v(t+½) = v(t−½) + a·dt, x(t+dt) = x(t) + v(t+½)·dt, then the constraints. The kinetic energy at t is the
//! mean of both half steps; P = (2K + tr W)/3V with the virial W = Σ r⊗F, constraint forces included. Velocities in
//! state, files and checkpoints belong to the half step before the time they are stored with. The conserved quantity
//! is the total energy minus the work of thermostat, barostat, and restraints whose centers move ([`restraint`]). A
//! part of the work of couplings depends on the forces of the next step and is added there.
//!
//! Barostats scale the cell and the centers of mass of constrained groups, both positions and velocities, at the time
//! of the forces. They use the pressure of these centers, and scale isotropically or not ([`ensemble::barostat`]).
//! Alternatively a step begins with a Monte Carlo volume move of the centers of molecules
//! ([`ensemble::volume_trial`]). The factor of a thermostat follows from the kinetic energy of the half step whose
//! velocities it scales ([`ensemble::thermostat`]). Langevin dynamics is a coupling, too: it refreshes velocities in
//! the middle of the position update that leapfrog has just made ([`ensemble::refreshment`]); together they form the
//! middle scheme. The forces of reciprocal space may act every few steps, as an impulse
//! ([`ensemble::multiple_time_steps`]).
//!
//! # Numerics
//!
//! The reference ([`backend::Reference`], `precision = "double"`) is `f64` throughout. Its forces are the definition
//! that everything else is tested against. The reference itself is tested against OpenMM's double-precision platform.
//!
//! The fast path ([`backend::Cpu`], `precision = "mixed"`) computes interactions in `f32`. Its accuracy and speed
//! come from the following techniques:
//!
//! - **The state is `f64`.** Positions, velocities, constraints and the leapfrog are never rounded. Differences are
//!   computed before rounding: bonded displacements in `f64`, pair kernels from offsets.
//! - **Block-relative offsets.** Atoms are sorted into blocks of eight. A kernel reads the `f32` offset from the
//!   center of the block, and centers are multiples of a quantum that `f32` holds exactly. The rounding error
//!   therefore grows with the size of a block, not with that of the cell.
//! - **Cluster pairs.** A list entry is an i-cluster of four atoms, shifted by a lattice vector, and the j-blocks of
//!   eight that it interacts with: 4 × 8 pairs in two steps of sixteen lanes. A bit mask is used only where a pair is
//!   excluded, too close for the tables or an exception of the combination rule. No minimum image is computed inside
//!   the loop. Pruning sorts blocks by the rows they interact with: the first two i-atoms, all four, the last two,
//!   or, where the cutoffs differ, only Lennard-Jones interactions.
//! - **Software pipelining.** The pair loop computes the distances of the next block together with the forces of this
//!   one, because each of the two dependency chains is longer than what the processor holds in flight. Where a vector
//!   takes two registers (AVX2), the loop processes sixteen blocks at a time in four short loops instead: distances,
//!   the polynomial, forces, sums.
//! - **Tables in registers.** The Coulomb force with erfc(αr) is a piecewise quartic in r² over 32 bins. Its
//!   coefficients fit into registers, and the bin follows from the exponent and two bits of the mantissa of r²
//!   ([`pair::RadialTable`], which states its error). Instruction sets with fewer registers evaluate the force from
//!   1/r and a polynomial of the same accuracy ([`pair::Polynomial`]). Lennard-Jones comes from 1/r², by a
//!   combination rule if the force field has one, otherwise from a type table: rows of up to 64 types, which register
//!   permutations read. Blocks with type pairs that a rule does not give (NBFIX) are masked, and only they read the
//!   table. The numbers of types decide between the two. Energies use the same arithmetic with further tables, so
//!   requesting energies does not change forces.
//! - **Thread buffers.** Work is partitioned into as many parts as threads, or with `reproducible = true` into a
//!   fixed number. Each part adds forces into its own blocks and marks the blocks it touched; the blocks are then
//!   summed in the order of the parts. Energies and the virial are summed in `f64`. The virial follows from the
//!   summed forces and the forces on lattice shifts, at no cost in the kernel.
//! - **Excluded pairs** of PME are corrected inside the kernel at short distance, and in `f64` outside it beyond.
//! - **Locality.** Columns of blocks are ordered in tiles. A section of consecutive atoms goes through leapfrog and
//!   constraints while it is in a cache. Large arrays use large pages ([`memory`]).
//! - **Threads.** A step has a dozen parallel regions of 20 to 3000 µs. Threads that spin between the regions execute
//!   them ([`team`]); rayon executes work that occurs once per list or less often.
//! - **PME.** Each part spreads charges on a padded grid of its own, and the grids are summed in a fixed order. The
//!   FFT transforms sixteen lines at a time ([`compute::LineFft`]), two real planes as one complex plane, and
//!   multiplies by the influence function between forward and backward transform, in three passes over memory. Order,
//!   grid and α follow from the requested force error ([`pme::ErrorModel`]), which the tests compare with a plain
//!   Ewald sum.
//! - **Pair lists.** The outer list is built every fixed number of steps and pruned to the inner list in between. The
//!   buffer follows from a drift tolerance and a bound on the pressure error ([`pair::BufferEstimate`]), at the
//!   density of the occupied volume and the highest temperature of stages and start. Lifetimes follow from a cost
//!   model, so that they are the same in every run. Pruning uses positions predicted for the middle of the inner
//!   list's lifetime, so that the errors of its two halves cancel. The errors of the outer list do not cancel, and it
//!   gets a small part of the tolerance. With `list.buffer` lists expire by displacement instead.
//! - **Tuning.** With `tuning = "measure"` timings choose between list schedules and between Coulomb cutoffs, grids
//!   and orders of the same force error ([`pme::Splitting`]). This happens once, before the first dynamics stage, by
//!   force evaluations that do not change the state. The choice is part of the checkpoint, and [`observe::tuning`]
//!   reports it.
//!
//! # CUDA
//!
//! `kernels/` holds the device code, one file per CPU module it mirrors; `backend::cuda` holds the host code. The
//! sources are appended to declarations that are generated from Rust (including structures with assertions of size
//! and offset). They are compiled at start-up for the present GPU, and cached in the user's cache folder under a hash
//! of everything that decides the result. Libraries are loaded on first use, so that the program does not need them
//! to start.
//!
//! - The `f64` state stays on the device; atoms are sorted there into blocks of 32, one warp each. A list entry is a
//!   single j-atom, in a lattice image, with a mask of the i-atoms of the block it interacts with. 32 entries and a
//!   block are a tile of 32 × 32 pairs, in which the forces on the j-atoms rotate through the warp.
//! - Forces, energies and the charge grid are sums of integers: they do not depend on the order of threads or blocks.
//!   A contribution beyond the range is not added but flagged, and the state is no longer advanced. Compilers may
//!   contract a product and a sum only where kernels say so: otherwise kernels with and without energies would round
//!   differently.
//! - Meshes of up to 128 points along an edge are transformed and solved by three kernels. Larger ones are
//!   transformed by cuFFT through [`compute`], which offers cuFFT and the matrix products of cuBLAS behind the
//!   interface of the CPU ([`compute::Core`]). Without cuFFT such a grid is transformed on the CPU, and the log says
//!   so.
//! - Excluded pairs are left out by masks and corrected together with the bonded terms. Constraint arithmetic is
//!   `f64`: a thread for each rigid water or SHAKE cluster, a thread block with conjugate gradients for each set of
//!   coupled constraints.
//! - Steps without output are captured as a CUDA graph and replayed. The host waits only where it reads, and at the
//!   end of a list's lifetime for the length of the next list. Couplings need no host: their random numbers are drawn
//!   in advance ([`ensemble::rescaling::Rescaling`], [`ensemble::barostat::BoxScaling`]), and the device computes the
//!   factors, sums the work and updates the cell.
//! - If lists expire by displacement, the device skips every step in which a pair might be missing. The host learns
//!   later which steps were skipped, and replays them with new lists ([`backend::Backend::lists_expired`],
//!   `backend::cuda::replay`).
//! - One step per list lifetime is launched kernel by kernel and timed; a replayed graph cannot be timed inside.
//! - Before a run relies on a GPU, its forces, energies and one integration step are compared with the CPU's
//!   ([`run::Engine::verify`]).
//! - Without a GPU, the tests run all kernels and the host code around them on an emulated thread block, against the
//!   reference, in several orders of blocks and threads. Results observed on a GPU are in `validation/gpu`.
//!
//! # Trust
//!
//! The first step that a process makes in a stage is compared with the reference (`run::reference_check`): the forces
//! of the run itself, with its pair lists as they are at that moment. Pairs that the lists may miss by their radii
//! are ignored; all others count. Up to 8 million pairs everything is compared, energies included. Beyond that,
//! forces on some 2,000 atoms, of every Lennard-Jones type, are compared, with all bonded terms and the whole mesh.
//! Leapfrog and constraints, which are `f64` in either precision, are not compared. A run that differs ends.
//! [`run::warnings()`] lists what a referee would object to in a plan.
//!
//! # Output and trajectories
//!
//! Everything that writes output during a run is a [`run::Reporter`]. Before each step the run asks every reporter
//! which quantities it needs, and computes only these. Trajectories and the energy table are reporters, and a program
//! may add others ([`run::Job::reporters`]). A checkpoint stores each output by its name, with the number of its
//! records and their checksum ([`observe::extent::Mark`]). A continued run cuts every file back to the records in the
//! checkpoint.
//!
//! A trajectory format is a module and a row of [`observe::trajectory::FORMATS`], the only place that names it. It
//! provides a [`observe::trajectory::FrameSink`] for writing and a [`observe::trajectory::FrameSource`] for reading.
//! H5MD holds everything and is the default. All other formats, whose frames follow each other as bytes, share
//! appending, damage detection and repair.
//!
//! Frames pass once, one at a time, through any number of [`analysis::Observable`]s. A row of
//! [`analysis::OBSERVABLES`] makes one a subcommand of `md analyze`. All results are written in the same way
//! ([`analysis::write()`]).
//!
//! Topologies are written from the [`system::Description`] that every reader returns, in the formats of
//! [`format::known::WRITABLE_TOPOLOGIES`]: exactly, or in an equivalent form of the format, or not at all.
//!
//! # Speed
//!
//! Every phase of a step is timed ([`backend::Phases`]; on a GPU, of a sample of steps). Its operations and bytes
//! follow by formula from counts ([`backend::StepCounts`]): list slots, grid, spline order, atoms, terms. `md bench`
//! compares both with the roofline ([`bench::Roofline`]): the arithmetic rate and the bandwidths that it measures
//! through [`simd`], or that follow from the clock rates of a GPU. `summary.json` of every run holds the counts.
//! [`run::measure()`] is what `md bench` times: [`run::Simulation::step`] and nothing around it. `benches/` times
//! kernels one by one.
//!
//! # Determinism
//!
//! The same input, number of threads and instruction set give the same bits on the same machine, run after run:
//!
//! - work is divided into fixed parts and summed in their order, never in the order in which threads finish;
//! - no timing influences a computed value, unless `tuning = "measure"` asks for it: then runs may choose
//!   differently, and each keeps its choice;
//! - output settings, reporters and checkpoints only read. A checkpoint holds everything that results depend on bit
//!   for bit, including the positions of the last list search and pruning, so that 10 + 10 steps are 20 steps;
//! - random numbers are a function of (seed, purpose, step, index): there is no generator to store.
//!
//! The fast path divides its work by the number of threads, so another number rounds differently (the reference and
//! [`backend::Host`] do not), and a few fast reciprocals differ in the last bits between instruction sets.
//!
//! # Invariants
//!
//! - All data that cross a module boundary above `backend` are in topology order, in internal units: nm, ps, amu,
//!   kJ/mol, e, K, rad. Spatially sorted copies belong to the backend.
//! - `System` is frozen and computes nothing; `State` holds nothing derived. Only `State` holds the cell.
//! - Input never panics: sizes are checked before allocation, readers are fuzzed, and an [`error::Problem`] names
//!   file, line, what was expected and how to correct it. Commands that read foreign files by HDF5 do so in a child
//!   process, since a forged file can end that library.
//! - Files that are replaced are replaced atomically; files that grow are readable up to the last flush after a kill
//!   at any moment; a checkpoint is never the only one ([`observe`]).
//! - Every file of a run can be identified as its own: all files have the same run identity, and the checkpoint has
//!   the number and a checksum of their records ([`observe::extent::Extent`]). A run continues only with those files,
//!   the same system ([`run::Fingerprint`]) and the directory it has locked ([`observe::lock`]). The run has finished
//!   when the summary, which is written after all other files are closed, says so.
//! - Everything in a run happens inside one thread pool, which the run owns. Parallel runs share only immutable data,
//!   and an error or a panic of one run does not affect the others.
//!
//! # Absent on purpose
//!
//! No trait object per pair or bond. No interaction or kernel chosen by a string at run time. No number type as a
//! parameter of the whole engine: a fast path and a reference instead. No unit types in hot code. No global mutable
//! state. No printing in the library. No trait of operations ("add", "multiply") over devices: phases are coarse. No
//! file over 500 lines and no function over 70 without a reason at its head.
//!
//! # Not here yet
//!
//! LJ-PME on a GPU; a second integrator; a report command. The layers above name where they will go; there are no
//! stubs for them.

pub use md_engine::{
    backend, cell, compute, constraint, context, ensemble, error, format, image, memory, pair, pme, prepare, ranks,
    restraint, rng, select, simd, superpose, system, team, term, units, vec3, virtual_sites,
};

pub mod analysis;
pub mod bench;
pub mod cli;
pub mod config;
pub mod convert;
pub mod import;
pub mod observe;
pub mod run;

#[cfg(test)]
#[path = "engine/testing.rs"]
#[allow(dead_code, reason = "the engine's own tests use more of it")]
mod testing;

/// Source revision of the build; empty if unknown.
pub const COMMIT: &str = env!("MD_REVISION");

/// Version of this program, with the source revision if known: `0.1.0 (1a2b3c4)`.
pub const VERSION: &str = env!("MD_VERSION");
