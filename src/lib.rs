//! `md`: molecular dynamics of biomolecular systems. Topology and coordinates of AMBER, GROMACS, CHARMM or OpenMM in, trajectory
//! out, by one TOML file.
//!
//! This page is the architecture: what the parts are, where to start reading, what always holds, and what is absent on
//! purpose. The README says how to use the program; `md help` lists the keys of the input file.
//!
//! # Layers
//!
//! Lower never imports higher; `tests/tidy.rs` reads the `use` lines and fails otherwise. The modules up to [`context`] are the
//! package `md-engine` in `src/engine`, all others this one. From the bottom up:
//!
//! | modules | question they answer |
//! |---|---|
//! | `arrays` [`units`] [`error`] [`memory`] [`team`] [`ranks`] | arrays in code that must inline, units and constants, errors (the variant of [`error::Error`] is the exit code), large pages, a thread team with low start latency, processes that compute together |
//! | [`vec3`] [`cell`] [`rng`] [`superpose`] | vectors, periodic cells, random numbers as a function of (seed, purpose, step, index), best superpositions |
//! | [`simd`] | one source for every instruction set: 16 lanes of `f32` |
//! | [`term`] | the physics of one interaction, each formula once in Rust (and once in `kernels/term.cuh`), generic over the number type |
//! | [`system`] [`image`] | what is simulated: the frozen [`system::System`] and the changing [`system::State`], and the [`system::Description`] that readers of topologies return; periodic images of molecules and of references |
//! | [`select`] [`format`](mod@format) | choosing atoms by words; readers and writers, one file per format, recognised by content |
//! | [`pair`] [`compute`] [`pme`] [`constraint`] [`restraint`] [`virtual_sites`] [`ensemble`] | pair lists; FFT and products of matrices; Ewald mathematics; constraints; restraints; virtual sites; couplings |
//! | [`prepare`](mod@prepare) | from a description, read or made in code ([`system::System::builder`]), to a system and its start, in one call |
//! | [`backend`] | how forces and steps are computed: a reference in `f64`, the fast CPU path, and CUDA |
//! | [`context`] | a system on a device: forces from lists that hold |
//! | [`observe`] | everything a run writes |
//! | [`run`] | the plan as plain data, the order of a step, stages, checkpoints |
//! | [`config`] | the input file: text in, checked [`run::Plan`] out, all problems at once |
//! | [`analysis`] | what is computed of the frames of a trajectory |
//! | [`import`](mod@import) | inputs of GROMACS and AMBER, translated |
//! | [`convert`](mod@convert) | trajectories, structures and topologies from one format to another |
//! | [`bench`](mod@bench) | how fast, where the time of a step goes, and what the machine could do |
//! | [`cli`] | one file per subcommand; alone prints, reads the environment and ends the process |
//!
//! # Where to start
//!
//! [`run::Simulation::step`] is the only place where the order of a step is written: pair lists if they are due, forces,
//! (after a trial move of the volume), reporters, leapfrog with constraints, barostat, thermostat. [`run::run`] takes a plan through its stages around it.
//! [`run::run_replicas`] does so with several plans side by side: each replica of an ensemble is a run of its own, with threads and
//! a folder of its own, and [`run::Spread`] alone decides which runs where. Over [`ranks::Ranks`] rank 0 deals them out, hears what
//! happens to them, and alone writes what is said of all and speaks to the user; every rank ends with the same exit code. Replicas
//! that swap states ([`ensemble::exchange`]) keep their rank, wait for each other in its [`run::Hub`], and send their energies to rank 0,
//! where `run::replicas::record` is the one place in which all come together: a replica keeps its atoms and files and gets the
//! temperature, pressure or Hamiltonian of its neighbour, and every outcome is written down before anyone goes on.
//! [`run::load`] reads the files of a plan, and [`prepare::prepare`] makes a system of them. A program that uses the library
//! begins with [`system::System::builder`], [`run::Engine::minimize`] and [`run::Engine::simulation`]; `examples/argon.rs`
//! shows all three.
//!
//! For the physics read [`term`], then the table of bonded terms in `system/bonded.rs`, then [`backend::Reference`], which is
//! plain loops over both; for the speed [`pair`], then [`backend::Cpu`]. For a key of the input file read [`config::keys`]: one
//! table makes the parser, the messages, `md help` and the effective configuration.
//!
//! # A step
//!
//! What a step computes in addition to forces is decided once, as data ([`backend::Workload`]: energies, virial), from what
//! the reporters and the barostat need. [`backend::Backend`] is a trait of coarse primitives, each of which may fail: state
//! in and out, build and prune lists, forces, integrate, scale the box, try another volume, rescale or refresh velocities. [`run::Engine::context`] is the
//! one place that chooses a backend. A step calls some ten primitives through a trait object, which costs nothing in
//! comparison. [`backend::Host`] keeps the state in host memory in topology order and integrates with any
//! [`backend::ForceField`]; it places [`virtual_sites`] whenever positions change, and spreads their forces. A
//! device that keeps its own state implements `Backend` itself, as `backend::cuda` does. So do several ranks that share the atoms
//! of one system: [`backend::Domains`] on rank 0 tells the others, in [`backend::Serving`], which primitive all do next, each with a
//! `Host` around the atoms at home in its domain; above it nothing knows of them. Atoms change their rank where lists are built,
//! positions of neighbours come and forces go back in each evaluation, and sums are formed where a primitive returns them.
//!
//! A [`context::Context`] is a system on a device. It knows the age of the pair lists and renews them before the force
//! evaluation that needs them, by steps or by displacement. Dynamics, minimisation and single points get their forces there;
//! [`context::Context::add_external_force`] adds forces from code.
//!
//! Leapfrog: v(t+½) = v(t−½) + a·dt, x(t+dt) = x(t) + v(t+½)·dt, then the constraints. The kinetic energy at t is the
//! mean of both half steps; P = (2K + tr W)/3V with the virial W = Σ r⊗F, constraint forces included. Velocities in
//! state, files and checkpoints belong to the half step before the time they are stored with. The conserved quantity is the
//! total energy minus the work of thermostat, barostat, and restraints whose centres move ([`restraint`]). A part of the work
//! of couplings depends on the forces of the next step and is booked there. Barostats scale the cell and the centres of mass of
//! constrained groups, positions and velocities at the time of the forces, with the pressure of these centres, alike in all
//! directions or not ([`ensemble::barostat`]); or a step begins with a trial move of the centres of molecules
//! ([`ensemble::volume_trial`]). The factor of a thermostat follows from
//! the kinetic energy of the half step whose velocities it scales ([`ensemble::thermostat`]). Langevin dynamics is a coupling,
//! too: it renews velocities in the middle of the move that leapfrog has just made ([`ensemble::refreshment`]), which together is
//! the middle scheme. The forces of reciprocal space may act every few steps, as an impulse ([`ensemble::multiple_time_steps`]).
//!
//! # Numerics
//!
//! The reference ([`backend::Reference`], `precision = "double"`) is `f64` throughout. Its forces are the definition
//! that everything else is tested against, and it is tested against OpenMM's double-precision platform.
//!
//! The fast path ([`backend::Cpu`], `precision = "mixed"`) computes interactions in `f32`. What makes that accurate:
//!
//! - **The state is `f64`.** Positions, velocities, constraints and the leapfrog are never rounded. Differences are
//!   formed before rounding: bonded displacements in `f64`, pair kernels from offsets.
//! - **Block-relative offsets.** Atoms are sorted into blocks of eight; a kernel reads the `f32` offset from the centre
//!   of the block, and centres are multiples of a quantum that `f32` holds exactly. The rounding error therefore grows with
//!   the size of a block, not with that of the cell.
//! - **Cluster pairs.** A list entry is an i-cluster of four atoms, shifted by a lattice vector, and the j-blocks of eight
//!   that it interacts with: 4 × 8 pairs in two steps of sixteen lanes. A bit mask is used only where a pair is excluded, too
//!   close for the tables or an exception of the combination rule. No minimum image is computed inside the loop. Pruning
//!   sorts blocks by the rows they interact with: the first two i-atoms, all four, the last two, or, where the cutoffs differ,
//!   only Lennard-Jones interactions.
//! - **Software pipelining.** The pair loop forms the distances of the next block together with the forces of this one:
//!   each of the two dependency chains is longer than what the processor holds in flight. Where a vector takes two registers
//!   (AVX2), the loop processes sixteen blocks at a time in four short loops instead: distances, the polynomial, forces, sums.
//! - **Tables in registers.** The Coulomb force with erfc(αr) is a piecewise quartic in r² over 32 bins. Its coefficients
//!   fit into registers, and the bin follows from the exponent and two bits of the mantissa of r² ([`pair::RadialTable`],
//!   which states its error). Instruction sets with fewer registers evaluate the force from 1/r and a polynomial of the same
//!   accuracy ([`pair::Polynomial`]). Lennard-Jones comes from 1/r², by a combination rule where the force field has one,
//!   otherwise from a type table: rows of up to 64 types, which register permutations read. Pairs of types that a rule does
//!   not give (NBFIX) make their blocks masked ones, and only these read the table. Counts of types decide between them.
//!   Energies use the same arithmetic with further tables, so requesting energies does not change forces.
//! - **Thread buffers.** Work is partitioned into as many parts as threads, or with `reproducible = true` into a fixed
//!   number. Each part adds forces into its own blocks and marks those it touched; the blocks are then summed in the order
//!   of the parts. Energies and the virial are summed in `f64`. The virial follows from the summed forces and the forces on
//!   lattice shifts, at no cost in the kernel.
//! - **Excluded pairs** of PME are corrected inside the kernel at short distance, and in `f64` outside it beyond.
//! - **Locality.** Columns of blocks are ordered in tiles. A section of consecutive atoms goes through leapfrog and
//!   constraints while it is in a cache. Large arrays use large pages ([`memory`]).
//! - **Threads.** A step has a dozen parallel regions of 20 to 3000 µs. Threads that spin between them work them off
//!   ([`team`]); rayon does what happens once per list or less often.
//! - **PME.** Each part spreads charges on a padded grid of its own, and the grids are summed in a fixed order. The FFT
//!   transforms sixteen lines at a time ([`compute::LineFft`]), two real planes as one complex plane, and multiplies by the
//!   influence function between forward and backward transform, in three passes over memory. Order, grid and α follow from
//!   the requested force error ([`pme::ErrorModel`]), which the tests compare with a plain Ewald sum.
//! - **Pair lists.** The outer list is built every fixed number of steps and pruned to the inner list in between. The
//!   buffer follows from a drift tolerance and a bound on the pressure error ([`pair::BufferEstimate`]), at the density of
//!   the occupied volume and the highest temperature of stages and start. Lifetimes follow from a cost model, so that they
//!   are the same in every run. Pruning uses positions predicted for the middle of the inner list's lifetime, so that the
//!   errors of its two halves cancel; the errors of the outer list do not cancel, and it gets a small part of the tolerance.
//!   With `list.buffer` lists expire by displacement instead.
//! - **Tuning.** With `tuning = "measure"` timings choose between list schedules and between Coulomb cutoffs, grids and
//!   orders of the same force error ([`pme::Splitting`]), once, before the first stage of dynamics, by force evaluations
//!   that do not change the state. The choice is part of the checkpoint, and [`observe::tuning`] reports it.
//!
//! # CUDA
//!
//! `kernels/` holds the device side, one file per CPU module it mirrors; `backend::cuda` the host side. The sources are
//! joined after declarations that are generated from Rust (structures with assertions of size and offset among them),
//! compiled at start-up for the present GPU, and cached in the user's cache folder under a hash of everything that decides
//! the result. Libraries are loaded on first use, so that the program does not need them to start.
//!
//! - The `f64` state stays on the device; atoms are sorted there into blocks of 32, one warp each. A list entry is a single
//!   j-atom, in a lattice image, with a mask of the i-atoms of the block it interacts with; 32 entries and a block are a tile
//!   of 32 × 32 pairs, in which the forces on the j-atoms rotate through the warp.
//! - Forces, energies and the charge grid are sums of integers: they do not depend on the order of threads or blocks.
//!   A contribution beyond the range is not added but flagged, and the state stops moving. Compilers may contract a product
//!   and a sum only where kernels say so: otherwise kernels with and without energies would round differently.
//! - Meshes of up to 128 points along an edge are transformed and solved by three kernels. The transforms of larger
//!   ones are cuFFT's, through [`compute`], which offers them and cuBLAS's products behind the interface of the CPU's
//!   ([`compute::Core`]); without cuFFT such a grid is transformed on the CPU, and the log says so.
//! - Excluded pairs are left out by masks and corrected together with the bonded terms. Constraint arithmetic is `f64`:
//!   a thread for each rigid water or SHAKE cluster, a thread block with conjugate gradients for each set of coupled
//!   constraints.
//! - Steps without output are captured as a CUDA graph and replayed. The host waits only where it reads, and at the end of
//!   a list's lifetime for the length of the next list. Couplings need no host: their random numbers are drawn in advance
//!   ([`ensemble::rescaling::Rescaling`], [`ensemble::barostat::BoxScaling`]), and the device computes the factors, sums the
//!   work and updates the cell.
//! - Where lists expire by displacement, the device skips every step in which a pair might be missing. The host learns
//!   later which steps were skipped, and replays them with new lists ([`backend::Backend::lists_expired`],
//!   `backend::cuda::replay`).
//! - One step per list lifetime is launched kernel by kernel and timed; a replayed graph cannot be timed inside.
//! - Before a run relies on a GPU, its forces, energies and one integration step are compared with the CPU's
//!   ([`run::Engine::verify`]).
//! - Where there is no GPU, the tests run all kernels and the host code around them on an emulated thread block,
//!   against the reference, in several orders of blocks and threads. What was seen on a GPU is in `validation/gpu`.
//!
//! # Trust
//!
//! The first step that a process makes in a stage is compared with the reference (`run::reference_check`): the forces of the
//! run itself, with its pair lists as they are at that moment. Pairs that the lists may miss by their radii are left out of
//! account; all others count. Up to 8 million pairs everything is compared, energies included; beyond that, forces on some
//! 2,000 atoms, of every Lennard-Jones type, with all bonded terms and the whole mesh. Leapfrog and constraints, which are
//! `f64` in either precision, are not compared. A run that differs ends. [`run::warnings()`] holds what a referee would
//! object to in a plan.
//!
//! # Output and trajectories
//!
//! Everything that writes output during a run is a [`run::Reporter`]: before each step the run asks every reporter which
//! quantities it needs, and computes only these. Trajectories and the energy table are reporters, and a program may add
//! others ([`run::Job::reporters`]). A checkpoint knows each output by its name, with the number of its records and their checksum
//! ([`observe::extent::Mark`]): a run that goes on cuts every file back to what the checkpoint has seen.
//!
//! A format of trajectories is a module and a row of [`observe::trajectory::FORMATS`]; nothing else names one. It gives a
//! [`observe::trajectory::FrameSink`] for writing and a [`observe::trajectory::FrameSource`] for reading. H5MD holds
//! everything and is the default; all others, whose frames follow each other as bytes, share appending, damage and repair.
//!
//! Frames pass once, one at a time, through any number of [`analysis::Observable`]s; a row of [`analysis::OBSERVABLES`]
//! makes one a subcommand of `md analyze`, and results are written in one way ([`analysis::write()`]).
//!
//! Topologies are written of the [`system::Description`] that every reader returns, in the formats of
//! [`format::known::WRITABLE_TOPOLOGIES`]: exactly, in other words where the format has others, or not at all.
//!
//! # Speed
//!
//! Every phase of a step is timed ([`backend::Phases`]; on a GPU, of a sample of steps), and its operations and bytes
//! follow by formula from counts ([`backend::StepCounts`]): list slots, grid, spline order, atoms, terms. `md bench` sets
//! both against the arithmetic and the bandwidths that it measures through [`simd`] ([`bench::Roofline`]), or that follow
//! from the clocks of a GPU; `summary.json` of every run holds the counts. [`run::measure()`] is what it times:
//! [`run::Simulation::step`] and nothing around it. `benches/` times kernels one by one.
//!
//! # Determinism
//!
//! The same input, number of threads and instruction set give the same bits on the same machine, run after run:
//!
//! - work is cut into fixed parts and summed in their order, never in the order in which threads finish;
//! - nothing that is timed decides anything that is computed, unless `tuning = "measure"` asks for it: then runs may
//!   choose differently, and each keeps its choice;
//! - output settings, reporters and checkpoints only read. A checkpoint holds what bits depend on, the positions of the
//!   last list search and pruning among it, so that 10 + 10 steps are 20 steps;
//! - random numbers are a function of (seed, purpose, step, index): there is no generator to store.
//!
//! The fast path cuts its work by the number of threads, so another number rounds differently (the reference and
//! [`backend::Host`] do not), and a few fast reciprocals differ in the last bits between instruction sets.
//!
//! # Invariants
//!
//! - Everything that crosses a module above `backend` is in topology order, in internal units: nm, ps, amu, kJ/mol, e,
//!   K, rad. Spatially sorted copies belong to the backend.
//! - `System` is frozen and computes nothing; `State` holds nothing derived. Only `State` holds the cell.
//! - Input never panics: sizes are checked before allocation, readers are fuzzed, and an [`error::Problem`] names file,
//!   line, what was expected and how to mend it. Commands that read files from elsewhere by HDF5 do so in a child process,
//!   since a forged file can end that library.
//! - Files that are replaced are replaced at once; files that grow are readable up to the last flush after a kill at any
//!   moment; a checkpoint is never the only one ([`observe`]).
//! - Every file of a run is known to be its own: one identity in all, and in the checkpoint the number of records and a
//!   checksum of what it has seen ([`observe::extent::Extent`]). A run goes on only with those files, the same system
//!   ([`run::Fingerprint`]) and the directory it holds ([`observe::lock`]); it has finished when the summary, which is
//!   written after all other files are closed, says so.
//! - Everything in a run happens inside one thread pool, which the run owns. Runs side by side share only what does not change,
//!   and an error or a panic of one is not one of the others.
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
//! LJ-PME on a GPU; a second integrator; a report command. The layers above name
//! where they will go; nothing here is a stub for them.

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
