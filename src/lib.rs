//! `md`: molecular dynamics of biomolecular systems. The program reads topology and coordinates of AMBER, GROMACS,
//! CHARMM or OpenMM and a TOML input file, and writes a trajectory.
//!
//! This page describes the architecture: the modules, where to start reading, the invariants, and what is absent on
//! purpose. The README explains how to use the program; `md help` lists the keys of the input file.
//!
//! # Layers
//!
//! A lower layer never imports a higher layer. The test `tests/tidy` reads the `use` lines and fails if a layer breaks
//! this rule. The table below lists the layers from the lowest to the highest. The modules up to [`context`] are the
//! package `md-engine` in `src/engine`, except `fft` (package `md-fft` in `src/fft`) and `xtc` (package `md-xtc` in
//! `src/xtc`). The modules from `structure` to `pipeline` are the package `md-build` in `src/build`. All other modules
//! are in the package `md`.
//!
//! | modules | purpose |
//! |---|---|
//! | `arrays` [`units`] [`error`] [`memory`] [`team`] [`ranks`] | arrays for code that must be inlined, units and constants, errors (the variant of [`error::Error`] is the exit code), large pages, a thread team with low start latency, processes that compute together |
//! | [`vec3`] [`cell`] [`neighbours`] [`rng`] [`superpose`] `fft` `xtc` | vectors, periodic cells, neighbour search, random numbers as a function of (seed, purpose, step, index), optimal superposition, plans of Fourier transforms of a line, packed frames of XTC |
//! | [`simd`] | vectors of 16 lanes of `f32`, with one source for every instruction set |
//! | [`term`] | formulas of single interactions, each once in Rust (and once in `kernels/term.cuh`), generic over the number type |
//! | [`system`] [`image`] | the simulated system: the frozen [`system::System`] and the changing [`system::State`], and the [`system::Description`] that readers of topologies return; periodic images of molecules and of references |
//! | [`select`] [`format`](mod@format) | selection of atoms by words; readers and writers, one file per format, recognised by content |
//! | [`pair`] [`compute`] [`pme`] [`constraint`] [`restraint`] [`virtual_sites`] [`ensemble`] | pair lists; FFT and products of matrices; Ewald sums; constraints; restraints; virtual sites; thermostats, barostats and replica exchange |
//! | [`prepare`](mod@prepare) | one call that makes a system and its initial state from a description, which is read from files or built by a program ([`system::System::builder`]) |
//! | [`backend`] | computation of forces and steps: a reference in `f64`, the fast CPU path, and CUDA |
//! | [`context`] | a system on a device, whose forces always come from valid pair lists |
//! | `structure` `ion_charges` `geometry` | chains, residues, atoms and bonds without a force field; charges of ions; frames, angles and torsions |
//! | `entry` `forcefield` `hydrogens` `solvent` | entries of the Protein Data Bank; force fields in OpenMM's format, whose templates give a structure its terms; hydrogens and protonation; cell, water and ions |
//! | `complete` | missing heavy atoms and caps of chains |
//! | `pipeline` | `md build`: the steps from an entry to a system with cell, water and ions, in order |
//! | [`observe`] | files that a run writes: trajectories, energies, log, checkpoint, summary |
//! | [`run`] | the plan as plain data, the order of a step, stages, checkpoints; its folders have an order of their own (`plan` `control` `minimize` `dynamics` `engine` `check` `checkpoint` `output` `session` `replicas`) |
//! | [`config`] | reader of the input file: from text to a checked [`run::Plan`], or to a list of all problems |
//! | [`analysis`] | quantities computed from the frames of a trajectory |
//! | [`report`] | HTML report of a run: verdicts, pictures, methods |
//! | [`import`](mod@import) | translation of inputs of GROMACS and AMBER |
//! | [`convert`](mod@convert) | conversion of trajectories, structures and topologies between formats |
//! | [`bench`](mod@bench) | benchmarks: speed, time per phase of a step, and the roofline of the machine |
//! | [`cli`] | one file per subcommand; the only module that prints, reads the environment and ends the process |
//!
//! # Where to start
//!
//! [`run::Simulation::step`] is the only code that defines the order of a step: pair lists if they are due, forces,
//! reporters, leapfrog with constraints, barostat, thermostat. A Monte Carlo volume move comes before the forces.
//! [`run::run`] executes the stages of a plan. [`run::load`] reads the files of a plan, and [`prepare::prepare`] makes
//! a system from their contents.
//!
//! [`run::run_replicas`] runs several plans in parallel. Each replica of an ensemble is a run of its own, with its own
//! threads and folder. [`run::ReplicaPlacement`] decides on which threads or GPU a replica runs. If there are several
//! ranks ([`ranks::Ranks`]), rank 0 assigns the replicas and receives their messages. Only rank 0 writes the ensemble's
//! files and prints messages; every rank ends with the same exit code. Ranks may be divided into groups that compute a
//! replica together ([`ranks::Ranks::split`]). In replica exchange ([`ensemble::exchange`])
//! each replica stays on its rank, waits for the other replicas at the [`run::Barrier`] of the rank, and sends its
//! energies to rank 0. Only `run::replicas::record` combines the energies of all replicas. A replica keeps its atoms
//! and files when it receives the temperature, pressure or Hamiltonian of a neighbouring state. The outcome of every
//! exchange attempt is written to disk before any replica continues.
//!
//! A program that uses the library begins with [`system::System::builder`], [`run::Engine::minimize`] and
//! [`run::Engine::simulation`]; `examples/argon.rs` uses these three functions.
//!
//! A reader interested in the physics begins with [`term`], then the table of bonded terms in `system/bonded.rs`,
//! then [`backend::Reference`], which consists of plain loops over pairs and bonded terms. A reader interested in
//! speed begins with [`pair`], then [`backend::Cpu`]. The keys of the input file are in [`config::keys`], whose table
//! defines the parser, the messages, `md help` and the effective configuration.
//!
//! # A step
//!
//! Every step computes forces. Energies or the virial are computed only in steps in which a reporter or the barostat
//! needs them ([`backend::Workload`]). The trait [`backend::Backend`] has few, large operations: upload and download
//! the state, build and prune lists, compute forces, integrate, scale the box, try a Monte Carlo volume move, rescale
//! or refresh velocities. Every operation may return an error. Only [`run::Engine::context`] chooses a backend. A step
//! calls about ten operations through a trait object, at negligible cost.
//!
//! [`backend::Host`] keeps the state in host memory in topology order and integrates with any [`backend::ForceField`].
//! `Host` computes the positions of [`virtual_sites`] whenever atoms move, and distributes the forces on the sites to
//! their atoms. A device that keeps its own state implements `Backend` itself, as `backend::cuda` does. Domain
//! decomposition over several ranks also implements `Backend`: [`backend::Domains`] on rank 0 tells the other ranks
//! which operation to execute next; [`backend::Serving`] on the other ranks executes this operation. Each rank has a
//! `Host` for the atoms of its domain. Code above the backend does not depend on domains. Atoms move to another rank
//! only when pair lists are built. At the same time, the cell is divided anew so that the ranks have equal work. The
//! division depends only on the cell and the positions of all atoms. Each force evaluation sends the positions of halo
//! atoms to the ranks that need them, and sends the forces on these atoms back. Every rank has the system as a
//! [`system::CompactSystem`], which stores equal molecules once, and takes the terms of its atoms from there. Only rank
//! 0 has the whole system. In double precision, every rank has the whole system and computes the pairs of some atoms
//! ([`backend::SharedReference`]). Operations that return a sum add the contributions of all ranks. A handle of
//! [`ranks::Ranks`] has a [`ranks::Purpose`], and each rank counts the messages and bytes that it sends for each
//! purpose.
//!
//! A [`context::Context`] is a system on a device. The context tracks the age of the pair lists (in steps, or as the
//! largest displacement of an atom), and renews expired lists before the next force evaluation. Dynamics, minimisation
//! and single-point calculations get their forces from a context; [`context::Context::add_external_force`] adds a force
//! that the calling program computes.
//!
//! Leapfrog computes v(t+½dt) = v(t−½dt) + a(t)·dt and x(t+dt) = x(t) + v(t+½dt)·dt; then constraints are applied. The
//! kinetic energy K at time t is the mean of the kinetic energies at t−½dt and t+½dt. The pressure is P = (2K + tr
//! W)/3V, where the virial W = Σ r⊗F includes constraint forces. State, files and checkpoints store the velocities
//! v(t−½dt) together with the time t. The conserved quantity is the total energy minus the work of the thermostat, of
//! the barostat, and of restraints whose centers move ([`restraint`]). A part of the work of thermostat and barostat
//! depends on the forces of the next step; this part is added to the work in the next step.
//!
//! Barostats act at the time t of the forces. A barostat scales the cell, and the positions and velocities of the
//! centers of mass of constrained groups. A barostat uses the pressure of the centers of mass, not the atomic pressure.
//! Scaling is isotropic, semi-isotropic or anisotropic ([`ensemble::barostat`]). A Monte Carlo barostat instead makes
//! volume moves at the beginning of some steps, which scale the centers of molecules ([`ensemble::volume_trial`]). A
//! thermostat scales the velocities of a half step, and computes the scaling factor from the kinetic energy of the same
//! half step ([`ensemble::thermostat`]). Langevin dynamics is implemented like a thermostat: velocities are refreshed
//! after leapfrog has updated the positions. The result is the same as with a refreshment in the middle of the position
//! update ([`ensemble::refreshment`]). Leapfrog with this refreshment is the middle scheme of Langevin dynamics.
//! Reciprocal-space forces may act as an impulse every few steps ([`ensemble::multiple_time_steps`]).
//!
//! # Numerics
//!
//! The reference ([`backend::Reference`], `precision = "double"`) uses `f64` throughout. The forces of all other
//! backends are tested against the forces of the reference. The reference itself is tested against OpenMM's
//! double-precision platform.
//!
//! The fast path ([`backend::Cpu`], `precision = "mixed"`) computes interactions in `f32`. The fast path uses the
//! following techniques:
//!
//! - **The state is `f64`.** Positions and velocities are never rounded to `f32`, and leapfrog and constraints compute
//!   in `f64`. Differences of positions are computed before rounding: bonded terms compute the differences in `f64`,
//!   and pair kernels use block-relative offsets.
//! - **Block-relative offsets.** Atoms are sorted into blocks of eight. A kernel reads the `f32` offset of an atom from
//!   the center of its block. The centers of blocks are multiples of a length that `f32` represents exactly. The
//!   rounding error therefore grows with the size of a block, not with the size of the cell.
//! - **Cluster pairs.** A list entry has an i-cluster of four atoms, shifted by a lattice vector, and the j-blocks of
//!   eight atoms with which the i-cluster interacts. The 4 × 8 pairs of an i-cluster and a j-block are computed in two
//!   steps, with sixteen SIMD lanes each. A bit mask is used only for blocks with a special pair: an excluded pair, a
//!   pair too close for the tables, or a pair whose Lennard-Jones parameters do not follow the combination rule. No
//!   minimum image is computed inside the loop. Pruning sorts the j-blocks into three groups: blocks that interact with
//!   only the first two i-atoms, with only the last two i-atoms, or with i-atoms of both halves of the i-cluster. If
//!   the Coulomb cutoff differs from the Lennard-Jones cutoff, blocks that have only Lennard-Jones interactions form an
//!   additional group.
//! - **Software pipelining.** The pair loop computes the distances of the next block together with the forces of the
//!   present block. Each computation is a long chain of dependent instructions. The processor can execute both chains
//!   at the same time only if the loop interleaves their instructions. If a vector needs two registers (AVX2), up to 32
//!   blocks are processed in short loops: one loop computes the distances for both vectors of i-atoms, and further
//!   loops for each vector compute Coulomb forces, Lennard-Jones forces and sums.
//! - **Tables in registers.** The Coulomb force with erfc(αr) is a piecewise quartic in r² over 32 bins. The
//!   coefficients of the quartics fit into registers. The exponent and two bits of the mantissa of r² give the bin;
//!   [`pair::PowerTable`] also states the error of the table. Kernels for instruction sets with fewer registers
//!   compute the force as 1/r³ minus the square of a polynomial, with the same accuracy ([`pair::RootPolynomial`]), and
//!   so do GPUs. Lennard-Jones forces are computed from 1/r². Lennard-Jones parameters come from the combination rule
//!   of the force field if there is one, and otherwise from a type table. A row of the type table holds up to 64 types
//!   and is read by register permutations. Blocks with type pairs to which the combination rule does not apply (NBFIX)
//!   are masked, and only these blocks read the type table. The number of atom types decides whether kernels use the
//!   combination rule or the type table. Energies are computed by the same arithmetic from additional tables, so that
//!   computing energies does not change forces.
//! - **Thread buffers.** Work is partitioned into as many chunks as there are threads, or with `reproducible = true`
//!   into a fixed number of chunks. Each chunk adds forces to its own buffer and records the blocks of atoms whose
//!   forces it has changed. The buffers are then summed in the order of the chunks. With AVX-512, a buffer has a place
//!   for each of the sixteen lanes, and the thread adds the two halves once, after its last pair: adding them for each
//!   block would take a tenth of the operations of the pair loop. Energies and the virial are summed in `f64`. The
//!   virial is computed from the summed forces and the forces on lattice shifts, at no cost in the kernel.
//! - **Excluded pairs.** The contribution of excluded pairs to the PME mesh is subtracted inside the pair kernel at
//!   short distance, and in `f64` outside the kernel at larger distance.
//! - **Locality.** Columns of blocks are ordered by tiles (rectangles of neighbouring columns). Leapfrog and
//!   constraints process one section of consecutive atoms at a time, while its data are in a cache. Large arrays use
//!   large pages ([`memory`]).
//! - **Threads.** A step has a dozen parallel regions of 20 to 3000 µs. Between two regions, the threads spin
//!   ([`team`]). Tasks that occur at most once per list lifetime are executed by Rayon.
//! - **PME.** Each chunk of work spreads charges on a padded grid of its own, and the grids are summed in a fixed
//!   order. The FFT transforms sixteen lines at a time ([`compute::LineFft`]), and combines two real planes into one
//!   complex plane. The forward transform, the product with the influence function and the backward transform need
//!   three passes over memory in all. Spline order, grid and α follow from the requested force error
//!   ([`pme::ErrorModel`]), which the tests compare with a plain Ewald sum.
//! - **Pair lists.** The outer list is built at a fixed interval of steps and pruned to the inner list at a shorter
//!   interval. The list buffer is computed from a drift tolerance and a bound on the pressure error
//!   ([`pair::BufferEstimate`]). The estimate of the buffer uses the density of the volume that the atoms fill, and the
//!   highest temperature of all stages and of the initial state. List lifetimes follow from a cost model and are the
//!   same in every run. Pruning uses positions predicted for the middle of the inner list's lifetime, so that the
//!   errors in the first and the second half of the lifetime cancel. The errors of the outer list do not cancel, so
//!   that only a small part of the tolerance is used for the outer list. If the input sets `list.buffer`, a list
//!   instead expires when an atom has moved too far.
//! - **Tuning.** With `tuning = "measure"`, timings choose the fastest list schedule. Timings also choose the fastest
//!   combination of Coulomb cutoff, grid and spline order among combinations with the same force error
//!   ([`pme::Splitting`]). The timings are measured once, before the first dynamics stage, by force evaluations that do
//!   not change the state. The choice is stored in the checkpoint and reported by [`observe::tuning`].
//!
//! # CUDA
//!
//! The folder `kernels/` holds the device code, with one file for each CPU module that has a counterpart on the device;
//! `backend::cuda` holds the host code. Declarations that are generated from Rust code, such as structures with
//! assertions of size and offset, are inserted before the kernel sources. The kernels are compiled at start-up for the
//! present GPU. The compiled kernels are cached in the user's cache folder, under a hash of all inputs of the
//! compilation. CUDA libraries are loaded on first use, so that the program starts without them.
//!
//! - The `f64` state stays on the device, where atoms are sorted into blocks of 32, one for each warp. A list entry
//!   consists of a single j-atom, its lattice image, and a mask of the i-atoms of a block that interact with the
//!   j-atom. A block and 32 list entries form a tile of 32 × 32 pairs, in which the forces on the j-atoms rotate
//!   through the warp.
//! - Forces, energies and the charge grid are sums of integers, which do not depend on the order of threads or blocks.
//!   A contribution that exceeds the range of the integers is not added. Instead, the contribution sets a flag, which
//!   stops the integration of the state. Kernel sources request every fused multiply-add explicitly, and compilers must
//!   not fuse other operations. Otherwise kernels with and without energies would round differently.
//! - Three kernels transform PME grids of up to 128 points along an edge, multiply the transforms by the influence
//!   function, and transform the products back. Larger grids are transformed by cuFFT through [`compute`].
//!   [`compute::Core`] is the common interface of CPU code, cuFFT and the matrix products of cuBLAS. Without cuFFT,
//!   larger grids are transformed on the CPU, and the log reports the use of the CPU.
//! - The masks of list entries leave out excluded pairs. The correction for excluded pairs is computed together with
//!   the bonded terms. Constraint arithmetic is `f64`: each rigid water or SHAKE cluster has a thread, and each set of
//!   coupled constraints has a thread block that uses conjugate gradients.
//! - Steps without output are captured as a CUDA graph and replayed. The host waits for the device only to read results
//!   and, at the end of a list's lifetime, to read the length of the next list. Thermostats and barostats need no host:
//!   their random numbers are drawn in advance ([`ensemble::rescaling::Rescaling`],
//!   [`ensemble::barostat::BoxScaling`]), and the device computes the scaling factors, sums the work and updates the
//!   cell. The host decides whether Monte Carlo volume moves are accepted.
//! - The host computes restraints of collective variables and external forces. With such restraints or forces, host and
//!   device wait for each other in every step.
//! - If lists expire by displacement, the device skips every step in which a pair might be missing. The host later
//!   detects the skipped steps and repeats them with new lists ([`backend::Backend::lists_expired`],
//!   `backend::cuda::replay`).
//! - One step per list lifetime is launched kernel by kernel and timed, because the phases inside a CUDA graph cannot
//!   be timed.
//! - Before a run relies on a GPU, forces, energies and one integration step are computed on the GPU and on the CPU,
//!   and compared ([`run::Engine::verify`]).
//! - Without a GPU, the tests run all kernels and their host code on an emulated thread block, in several orders of
//!   blocks and threads, and compare the results with the reference. Results observed on a GPU are in
//!   `validation/gpu`.
//!
//! # Trust
//!
//! In each stage, the first step that a process computes is compared with the reference (`run::reference_check`). The
//! comparison uses the forces of the run itself, with the present pair lists. Pairs that the lists may miss because of
//! their finite radii are ignored; all other pairs are compared. For systems with up to 8 million pairs, all forces and
//! energies are compared. For larger systems, the forces on a sample of some 2,000 atoms are compared, with all bonded
//! terms and the whole mesh; the sample has atoms of every Lennard-Jones type. Leapfrog and constraints, which use
//! `f64` in either precision, are not compared. If forces or energies differ, the run ends with an error.
//! [`run::warnings()`] lists the settings of a plan that a referee would criticise.
//!
//! # Output and trajectories
//!
//! All output during a run is written by implementations of [`run::Reporter`]. Before each step the run asks every
//! reporter which quantities it needs, and computes only these quantities. Trajectories and the energy table are
//! reporters, and a program may add further reporters ([`run::Job::reporters`]). For each output, a checkpoint stores
//! the name, the number of records, and a checksum of the records ([`observe::extent::Mark`]). A continued run
//! truncates every file to the number of records in the checkpoint.
//!
//! A trajectory format is a module with a row in [`observe::trajectory::FORMATS`], the only code that names the module.
//! The format provides a [`observe::trajectory::FrameSink`] for writing and a [`observe::trajectory::FrameSource`] for
//! reading. H5MD can hold all quantities and is the default. In all other formats a file is a sequence of frames. These
//! formats share the code for appending, damage detection and repair.
//!
//! An analysis reads frames once, in batches, and passes each frame to any number of [`analysis::Observable`]s, which
//! process the frame on all threads. A row of [`analysis::observables::OBSERVABLES`] makes an observable available as a
//! word of the command line of `md analyze`. The results of all observables are written in the same formats
//! ([`analysis::write()`]).
//!
//! The HTML report of a run ([`report::write()`]) is written during or after the run, and uses only the files in the
//! output folder. The command line writes the report; no code of the module `run` depends on the report.
//!
//! Topologies are written from the [`system::Description`] that every reader returns, in the formats of
//! [`format::known::WRITABLE_TOPOLOGIES`]. If a format cannot express a description exactly or in an equivalent form,
//! the description is refused.
//!
//! # Speed
//!
//! Every phase of a step is timed ([`backend::Phases`]); on a GPU only a sample of steps is timed. The operations and
//! bytes of a phase are computed by a formula from counts of list slots, grid points, atoms and terms, and from the
//! spline order ([`backend::StepCounts`]). `md bench` compares the time, the operations and the bytes of each phase
//! with the roofline ([`bench::Roofline`]), that is, with the arithmetic rate and the memory bandwidths of the machine.
//! Arithmetic rate and memory bandwidths are measured with [`simd`] on a CPU, and computed from the clock rates on a
//! GPU. `summary.json` of every run contains the times and counts of its phases. `md bench` times [`run::measure()`],
//! which calls [`run::Simulation::step`] without output or checkpoints. The benchmarks in `benches/` time kernels one
//! by one.
//!
//! # Determinism
//!
//! The same input, number of threads and instruction set give the same bits on the same machine, run after run:
//!
//! - work is divided into fixed chunks, whose results are summed in the order of the chunks, never in the order in
//!   which threads finish;
//! - timings do not influence computed values, unless `tuning` is `"measure"`. Different runs may then choose different
//!   settings, and each run keeps its settings;
//! - output settings, reporters and checkpoints do not change the state. A checkpoint holds all data on which results
//!   depend, bit for bit, including the positions at the last pair search and at the last pruning. A run of 10 steps
//!   that is continued for 10 more steps therefore gives the same result as a run of 20 steps;
//! - random numbers are a function of (seed, purpose, step, index), so that no state of a generator is stored.
//!
//! The fast path divides its work into as many chunks as there are threads, so that rounding errors depend on the
//! number of threads. Results of the reference and of [`backend::Host`] do not depend on the number of threads. A few
//! fast reciprocals differ in the last bits between instruction sets.
//!
//! # Invariants
//!
//! - All data that cross a module boundary above `backend` are in topology order, in internal units: nm, ps, amu,
//!   kJ/mol, e, K, rad. Only a backend has copies of data in spatially sorted order.
//! - `System` is immutable and holds only data; `State` holds no derived quantities. Only `State` holds the cell.
//! - No input causes a panic: sizes are checked before allocation, readers are fuzzed, and an [`error::Problem`] names
//!   the file, the line, what was expected and how to correct it. HDF5 files of unknown origin are read in a child
//!   process, because a forged file can crash the HDF5 library.
//! - Checkpoint, status and summary files are replaced atomically. Trajectories, tables and the log remain readable up
//!   to the last flush if the process is killed at any moment. The previous checkpoint is always kept ([`observe`]).
//! - Every file can be identified as part of its run: all files of a run have the same run identity, and the checkpoint
//!   has the number and a checksum of the records of each file ([`observe::extent::Extent`]). A run continues only with
//!   its own files, with the same system ([`run::Fingerprint`]), and in a directory that it has locked
//!   ([`observe::lock`]). The summary, which is written after all other files are closed, records that a run has
//!   finished.
//! - All work of a run is done inside one thread pool, which the run owns. Parallel runs share only immutable data,
//!   and an error or a panic of one run does not affect the others.
//!
//! # Absent on purpose
//!
//! The program has no trait object for a single pair or bond, and does not choose an interaction or a kernel by a
//! string at run time. The engine is not generic over the number type; instead, it has a fast path in `f32` and a
//! reference in `f64`. There are no unit types in hot code, no global mutable state, and no printing in the library.
//! There is no trait with small operations ("add", "multiply") for all devices, because the operations of a backend are
//! whole phases of a step. No file has more than 500 lines, and no function has more than 70 lines unless a comment at
//! its head gives the reason.
//!
//! # Limits
//!
//! The only integrator is leapfrog. A GPU does not support every method; [`backend::Feature`] lists the methods. If a
//! GPU lacks a method that a run needs, the run is refused at the start, or uses the CPU.

pub use md_engine::{
    backend, cell, compute, constraint, context, ensemble, error, format, image, memory, neighbours, pair, pme,
    prepare, ranks, restraint, rng, select, simd, superpose, system, team, term, units, vec3, virtual_sites,
};

pub mod analysis;
pub mod bench;
pub mod cli;
pub mod config;
pub mod convert;
pub mod import;
pub mod observe;
pub mod report;
pub mod run;

#[cfg(test)]
#[path = "engine/testing.rs"]
#[allow(dead_code, reason = "the tests of the engine use more of this module")]
mod testing;

/// Source revision of the build; empty if unknown.
pub const COMMIT: &str = env!("MD_REVISION");

/// Version of this program, with the source revision if known: `0.2.0 (1a2b3c4)`.
pub const VERSION: &str = env!("MD_VERSION");
