//! `md`: molecular dynamics of biomolecular systems. The program reads topology and coordinates of AMBER, GROMACS,
//! CHARMM or OpenMM and a TOML input file, and writes a trajectory.
//!
//! This page is the architecture: the modules, where to start reading, the invariants, and what is absent on purpose.
//! The README explains how to use the program; `md help` lists the keys of the input file.
//!
//! # Layers
//!
//! A lower layer never imports a higher layer. The test `tests/tidy` reads the `use` lines and fails if a layer
//! breaks this rule. The modules up to [`context`] are the package `md-engine` in `src/engine`, except `xtc`, which is
//! the package `md-xtc` in `src/xtc`. The modules from `structure` to `pipeline` are the package `md-build` in
//! `src/build`. All other modules are in this package. The table lists the layers, from the lowest to the highest:
//!
//! | modules | purpose |
//! |---|---|
//! | `arrays` [`units`] [`error`] [`memory`] [`team`] [`ranks`] | arrays for code that must be inlined, units and constants, errors (the variant of [`error::Error`] is the exit code), large pages, a thread team with low start latency, processes that compute together |
//! | [`vec3`] [`cell`] [`rng`] [`superpose`] `xtc` | vectors, periodic cells, random numbers as a function of (seed, purpose, step, index), optimal superposition, packed frames of XTC |
//! | [`simd`] | vectors of 16 lanes of `f32`, with one source for every instruction set |
//! | [`term`] | the physics of one interaction, each formula once in Rust (and once in `kernels/term.cuh`), generic over the number type |
//! | [`system`] [`image`] | the simulated system: the frozen [`system::System`] and the changing [`system::State`], and the [`system::Description`] that readers of topologies return; periodic images of molecules and of references |
//! | [`select`] [`format`](mod@format) | selection of atoms by words; readers and writers, one file per format, recognised by content |
//! | [`pair`] [`compute`] [`pme`] [`constraint`] [`restraint`] [`virtual_sites`] [`ensemble`] | pair lists; FFT and products of matrices; Ewald mathematics; constraints; restraints; virtual sites; couplings |
//! | [`prepare`](mod@prepare) | one call that makes a system and its initial state from a description, which is read from files or built by a program ([`system::System::builder`]) |
//! | [`backend`] | computation of forces and steps: a reference in `f64`, the fast CPU path, and CUDA |
//! | [`context`] | a system on a device, whose forces always come from valid pair lists |
//! | `structure` | chains, residues, atoms and bonds without a force field |
//! | `entry` `forcefield` `hydrogens` `solvent` | entries of the Protein Data Bank; force fields in OpenMM's format, whose templates give a structure its terms; hydrogens and protonation; cell, water and ions |
//! | `pipeline` | `md build`: these steps in order, with all decisions |
//! | [`observe`] | everything a run writes |
//! | [`run`] | the plan as plain data, the order of a step, stages, checkpoints; its folders have an order of their own (`plan` `control` `minimize` `dynamics` `engine` `check` `checkpoint` `output` `session` `replicas`) |
//! | [`config`] | the input file: from text to a checked [`run::Plan`], or to a list of all problems |
//! | [`analysis`] | quantities computed from the frames of a trajectory |
//! | [`report`] | the page of a run: verdicts, pictures, methods |
//! | [`import`](mod@import) | translated inputs of GROMACS and AMBER |
//! | [`convert`](mod@convert) | trajectories, structures and topologies from one format to another |
//! | [`bench`](mod@bench) | speed, time per phase of a step, and the roofline of the machine |
//! | [`cli`] | one file per subcommand; the only module that prints, reads the environment and ends the process |
//!
//! # Where to start
//!
//! [`run::Simulation::step`] is the only place that defines the order of a step: pair lists if they are due, forces,
//! reporters, leapfrog with constraints, barostat, thermostat. If the step has a Monte Carlo volume move, the move
//! comes before the forces. [`run::run`] takes a plan through its stages. [`run::load`] reads the files of a plan,
//! and [`prepare::prepare`] makes a system from their contents.
//!
//! [`run::run_replicas`] runs several plans in parallel. Each replica of an ensemble is a run of its own, with its own
//! threads and folder, and [`run::ReplicaPlacement`] decides on which threads or GPU it runs. If there are several
//! ranks ([`ranks::Ranks`]), rank 0 assigns the replicas and receives their messages. Only rank 0 writes the
//! ensemble's files and prints messages; every rank ends with the same exit code. In replica exchange
//! ([`ensemble::exchange`]) each replica stays on its rank, waits for the other replicas at the [`run::Barrier`] of
//! the rank, and sends its energies to rank 0. Only `run::replicas::record` combines the energies of all replicas. A
//! replica keeps its atoms and files, and receives the temperature, pressure or Hamiltonian of a neighbouring state.
//! The outcome of every exchange attempt is written to disk before any replica continues.
//!
//! A program that uses the library begins with [`system::System::builder`], [`run::Engine::minimize`] and
//! [`run::Engine::simulation`]; `examples/argon.rs` shows all three.
//!
//! A reader interested in the physics begins with [`term`], then the table of bonded terms in `system/bonded.rs`,
//! then [`backend::Reference`], which consists of plain loops over pairs and bonded terms. A reader interested in
//! speed begins with [`pair`], then [`backend::Cpu`]. The keys of the input file are in [`config::keys`], whose table
//! defines the parser, the messages, `md help` and the effective configuration.
//!
//! # A step
//!
//! A step computes forces. It computes energies or the virial only if a reporter or the barostat needs them, which is
//! decided once per step ([`backend::Workload`]). The trait [`backend::Backend`] has few, large operations: upload
//! and download the state, build and prune lists, compute forces, integrate, scale the box, try a Monte Carlo volume
//! move, rescale or refresh velocities. Every operation may return an error. Only [`run::Engine::context`] chooses a
//! backend. A step calls about ten operations through a trait object, at negligible cost.
//!
//! [`backend::Host`] keeps the state in host memory in topology order and integrates with any
//! [`backend::ForceField`]. It places [`virtual_sites`] whenever positions change, and distributes the forces on the
//! sites to their atoms. A device that keeps its own state implements `Backend` itself, as `backend::cuda` does.
//! Domain decomposition over several ranks also implements `Backend`: [`backend::Domains`] on rank 0 tells the other
//! ranks which operation to execute next; [`backend::Serving`] on the other ranks executes it. Each rank has a `Host`
//! for the atoms of its domain. Code above the backend does not depend on domains. Atoms move to another rank only
//! when lists are built. Each force evaluation sends the positions of halo atoms to the ranks that need them, and
//! sends the forces on these atoms back. Operations that return a sum add the contributions of all ranks.
//!
//! A [`context::Context`] is a system on a device. It knows the age of the pair lists, in steps or as a displacement,
//! and renews expired lists before the next force evaluation. Dynamics, minimisation and single-point calculations
//! get their forces from a context; [`context::Context::add_external_force`] adds a force that a program computes.
//!
//! Leapfrog computes v(t+½dt) = v(t−½dt) + a(t)·dt and x(t+dt) = x(t) + v(t+½dt)·dt; then constraints are applied.
//! The kinetic energy K at time t is the mean of its values at t−½dt and t+½dt. The pressure is P = (2K + tr W)/3V,
//! where the virial W = Σ r⊗F includes constraint forces. Velocities that the state, files and checkpoints store with
//! time t are v(t−½dt). The conserved quantity is the total energy minus the work of the thermostat, of the barostat,
//! and of restraints whose centers move ([`restraint`]). A part of the work of couplings depends on the forces of the
//! next step and is added in that step.
//!
//! At the time t of the forces, barostats scale the cell, and the positions and velocities of the centers of mass of
//! constrained groups. A barostat uses the pressure that corresponds to the motion of these centers. Scaling is
//! isotropic, semi-isotropic or anisotropic ([`ensemble::barostat`]). With a Monte Carlo barostat, some steps begin
//! with a volume move instead, which scales the centers of molecules ([`ensemble::volume_trial`]). The factor of a
//! thermostat follows from the kinetic energy of the half step whose velocities it scales ([`ensemble::thermostat`]).
//! Langevin dynamics is also a coupling. After leapfrog has updated the positions, velocities are refreshed with the
//! same result as a refreshment in the middle of the update ([`ensemble::refreshment`]). Leapfrog and refreshment
//! together form the middle scheme. Reciprocal-space forces may act as an impulse every few steps
//! ([`ensemble::multiple_time_steps`]).
//!
//! # Numerics
//!
//! The reference ([`backend::Reference`], `precision = "double"`) uses `f64` throughout. The forces of all other
//! backends are tested against those of the reference. The reference itself is tested against OpenMM's
//! double-precision platform.
//!
//! The fast path ([`backend::Cpu`], `precision = "mixed"`) computes interactions in `f32`. Its accuracy and speed
//! come from the following techniques:
//!
//! - **The state is `f64`.** Positions, velocities, constraints and leapfrog are never rounded to `f32`. Differences
//!   of positions are computed before rounding: in bonded terms in `f64`, in pair kernels from the offsets described
//!   next.
//! - **Block-relative offsets.** Atoms are sorted into blocks of eight. A kernel reads the `f32` offset of an atom
//!   from the center of its block. Centers are multiples of a length that `f32` holds exactly. The rounding error
//!   therefore grows with the size of a block, not with that of the cell.
//! - **Cluster pairs.** A list entry has an i-cluster of four atoms, shifted by a lattice vector, and the j-blocks of
//!   eight atoms with which it interacts. The 4 × 8 pairs of an i-cluster and a j-block are computed in two steps of
//!   sixteen lanes. A bit mask is used only for blocks in which a pair is excluded, is too close for the tables, or
//!   has Lennard-Jones parameters that no combination rule gives. No minimum image is computed inside the loop.
//!   Pruning sorts j-blocks by the i-atoms with which they interact: the first two, all four, or the last two. If the
//!   cutoffs differ, blocks that have only Lennard-Jones interactions are a group of their own.
//! - **Software pipelining.** The pair loop computes the distances of the next block together with the forces of the
//!   present one. Both computations are long chains of dependent instructions, so the processor could not overlap
//!   successive blocks without this order. If a vector takes two registers (AVX2), the loop processes sixteen blocks
//!   at a time in four short loops: distances, polynomial, forces, sums.
//! - **Tables in registers.** The Coulomb force with erfc(αr) is a piecewise quartic in r² over 32 bins. Its
//!   coefficients fit into registers, and the bin follows from the exponent and two bits of the mantissa of r² (see
//!   [`pair::RadialTable`], also for the error of the table). Instruction sets with fewer registers evaluate the
//!   force from 1/r and a polynomial of the same accuracy ([`pair::Polynomial`]). Lennard-Jones forces are computed
//!   from 1/r². Their parameters come from a combination rule if the force field has one, otherwise from a type
//!   table, whose rows of up to 64 types are read by register permutations. Blocks with type pairs to which the rule
//!   does not apply (NBFIX) are masked, and only these blocks read the table. The number of types decides whether the
//!   rule or the table is used. Energies use the same arithmetic with further tables, so requesting energies does not
//!   change forces.
//! - **Thread buffers.** Work is partitioned into as many parts as there are threads, or with `reproducible = true`
//!   into a fixed number of parts. Each part adds forces to its own buffer and records the blocks of atoms whose
//!   forces it has changed. The buffers are then summed in the order of the parts. Energies and the virial are summed
//!   in `f64`. The virial follows from the summed forces and the forces on lattice shifts, at no cost in the kernel.
//! - **Excluded pairs** of PME are corrected inside the pair kernel at short distance, and in `f64` outside the
//!   kernel at larger distance.
//! - **Locality.** Columns of blocks are ordered in tiles. Leapfrog and constraints process one section of
//!   consecutive atoms at a time, while its data are in a cache. Large arrays use large pages ([`memory`]).
//! - **Threads.** A step has a dozen parallel regions of 20 to 3000 µs. These regions are executed by threads that
//!   spin between them ([`team`]). Work that occurs once per list lifetime or less often is executed by rayon.
//! - **PME.** Each part spreads charges on a padded grid of its own, and the grids are summed in a fixed order. The
//!   FFT transforms sixteen lines at a time ([`compute::LineFft`]), and two real planes as one complex plane. The
//!   forward transform, the product with the influence function and the backward transform take three passes over
//!   memory together. Order, grid and α follow from the requested force error ([`pme::ErrorModel`]), which the tests
//!   compare with a plain Ewald sum.
//! - **Pair lists.** The outer list is built at a fixed interval of steps and pruned to the inner list at a shorter
//!   interval. The buffer follows from a drift tolerance and a bound on the pressure error
//!   ([`pair::BufferEstimate`]). This estimate uses the density of the occupied volume, and the highest temperature
//!   of all stages and of the start. List lifetimes follow from a cost model and are the same in every run. Pruning
//!   uses positions predicted for the middle of the inner list's lifetime, so that the errors in the first and the
//!   second half of the lifetime cancel. The errors of the outer list do not cancel, so only a small part of the
//!   tolerance is used for the outer list. If the input sets `list.buffer`, lists expire by displacement instead.
//! - **Tuning.** With `tuning = "measure"` the fastest list schedule is chosen by timings, and the fastest
//!   combination of Coulomb cutoff, grid and spline order among those with the same force error ([`pme::Splitting`]).
//!   The timings are made once, before the first dynamics stage, by force evaluations that do not change the state.
//!   The choice is stored in the checkpoint and reported by [`observe::tuning`].
//!
//! # CUDA
//!
//! `kernels/` holds the device code, with one file for each CPU module that has a counterpart on the device;
//! `backend::cuda` holds the host code. The sources are appended to declarations that are generated from Rust
//! (including structures with assertions of size and offset). The kernels are compiled at start-up for the present
//! GPU. The result is cached in the user's cache folder, under a hash of all inputs of the compilation. CUDA
//! libraries are loaded on first use, so that the program starts without them.
//!
//! - The `f64` state stays on the device, where atoms are sorted into blocks of 32, one for each warp. A list entry
//!   consists of a single j-atom, its lattice image, and a mask of the i-atoms in a block with which the j-atom
//!   interacts. A block and 32 list entries form a tile of 32 × 32 pairs, in which the forces on the j-atoms rotate
//!   through the warp.
//! - Forces, energies and the charge grid are sums of integers, which do not depend on the order of threads or
//!   blocks. A contribution beyond the range of the integers is not added. Instead it sets a flag, which stops the
//!   integration of the state. Compilers may fuse a product and a sum only where kernels say so, because otherwise
//!   kernels with and without energies would round differently.
//! - PME grids of up to 128 points along an edge are transformed and solved by three kernels. Larger grids are
//!   transformed by cuFFT through [`compute`], which offers cuFFT and the matrix products of cuBLAS through the same
//!   interface as on the CPU ([`compute::Core`]). Without cuFFT, larger grids are transformed on the CPU, and the log
//!   reports this.
//! - Excluded pairs are left out by masks and corrected together with the bonded terms. Constraint arithmetic is
//!   `f64`: each rigid water or SHAKE cluster has a thread, and each set of coupled constraints has a thread block
//!   that uses conjugate gradients.
//! - Steps without output are captured as a CUDA graph and replayed. The host waits only when it reads results, and
//!   at the end of a list's lifetime for the length of the next list. Thermostats and barostats need no host: their
//!   random numbers are drawn in advance ([`ensemble::rescaling::Rescaling`], [`ensemble::barostat::BoxScaling`]),
//!   and the device computes the factors, sums the work and updates the cell. The host decides on Monte Carlo volume
//!   moves.
//! - The host computes restraints of collective variables and external forces, for which host and device wait for
//!   each other in every step.
//! - If lists expire by displacement, the device skips every step in which a pair might be missing. Later the host
//!   finds out which steps were skipped, and repeats these steps with new lists ([`backend::Backend::lists_expired`],
//!   `backend::cuda::replay`).
//! - One step per list lifetime is launched kernel by kernel and timed, because the phases inside a CUDA graph cannot
//!   be timed.
//! - Before a run relies on a GPU, forces, energies and one integration step on the GPU are compared with those on
//!   the CPU ([`run::Engine::verify`]).
//! - Without a GPU, the tests run all kernels and their host code on an emulated thread block, in several orders of
//!   blocks and threads, and compare the results with the reference. Results observed on a GPU are in
//!   `validation/gpu`.
//!
//! # Trust
//!
//! The first step of a process in each stage is compared with the reference (`run::reference_check`). The comparison
//! uses the forces of the run itself, with the present pair lists. Pairs that the lists may miss because of the list
//! radii are ignored; all other pairs count. For systems with up to 8 million pairs, all forces and energies are
//! compared. For larger systems, the forces on a sample of some 2,000 atoms are compared, with all bonded terms and
//! the whole mesh; the sample has atoms of every Lennard-Jones type. Leapfrog and constraints, which use `f64` in
//! either precision, are not compared. If forces or energies differ, the run ends with an error. [`run::warnings()`]
//! lists the settings of a plan that a referee would criticise.
//!
//! # Output and trajectories
//!
//! All output during a run is written by implementations of [`run::Reporter`]. Before each step the run asks every
//! reporter for the quantities that it needs, and computes only these quantities. Trajectories and the energy table
//! are reporters, and a program may add others ([`run::Job::reporters`]). For each output, a checkpoint stores the
//! name, the number of records, and a checksum of the records ([`observe::extent::Mark`]). A continued run cuts every
//! file back to this number of records.
//!
//! A trajectory format is a module and a row of [`observe::trajectory::FORMATS`], the only place that names the
//! module. The format provides a [`observe::trajectory::FrameSink`] for writing and a
//! [`observe::trajectory::FrameSource`] for reading. H5MD can hold all quantities and is the default. In all other
//! formats a file is a sequence of frames. These formats share the code for appending, damage detection and repair.
//!
//! An analysis reads frames once, in batches, and passes each frame to any number of [`analysis::Observable`]s, which
//! measure it on all threads. A row of [`analysis::observables::OBSERVABLES`] makes an observable a word of
//! `md analyze`. The results of all observables are written in the same way ([`analysis::write()`]).
//!
//! The page of a run ([`report::write()`]) is made from the files in its output folder alone, after the run or during
//! it. The command line writes it; the run below knows nothing of it.
//!
//! Topologies are written from the [`system::Description`] that every reader returns, in the formats of
//! [`format::known::WRITABLE_TOPOLOGIES`]. A description that a format cannot express, exactly or in an equivalent
//! form, is refused.
//!
//! # Speed
//!
//! Every phase of a step is timed ([`backend::Phases`]); on a GPU only a sample of steps is timed. The operations and
//! bytes of a phase are computed by a formula from counts of list slots, grid points, atoms and terms, and from the
//! spline order ([`backend::StepCounts`]). `md bench` compares time and work with the roofline ([`bench::Roofline`]),
//! that is, with the arithmetic rate and the memory bandwidths. Rate and bandwidths are measured with [`simd`] on a
//! CPU, and follow from the clock rates on a GPU. `summary.json` of every run contains these counts. `md bench` times
//! [`run::measure()`], which calls [`run::Simulation::step`] without output or checkpoints. The benchmarks in
//! `benches/` time kernels one by one.
//!
//! # Determinism
//!
//! The same input, number of threads and instruction set give the same bits on the same machine, run after run:
//!
//! - work is divided into fixed parts, whose results are summed in the order of the parts, never in the order in
//!   which threads finish;
//! - timings do not influence computed values, except with `tuning = "measure"`: then different runs may choose
//!   different settings, and each run keeps its choice;
//! - output settings, reporters and checkpoints do not change the state. A checkpoint holds all data on which results
//!   depend, bit for bit, including the positions at the last pair search and at the last pruning. A run of 10 steps
//!   that is continued for 10 more steps therefore gives the same result as a run of 20 steps;
//! - random numbers are a function of (seed, purpose, step, index): there is no generator to store.
//!
//! The fast path divides its work into as many parts as there are threads, so rounding errors depend on the number of
//! threads. Results of the reference and of [`backend::Host`] do not depend on the number of threads. A few fast
//! reciprocals differ in the last bits between instruction sets.
//!
//! # Invariants
//!
//! - All data that cross a module boundary above `backend` are in topology order, in internal units: nm, ps, amu,
//!   kJ/mol, e, K, rad. Only a backend has spatially sorted copies.
//! - `System` never changes and computes nothing; `State` holds no derived quantities. Only `State` holds the cell.
//! - No input causes a panic: sizes are checked before allocation, readers are fuzzed, and an [`error::Problem`]
//!   names file, line, what was expected and how to correct it. Commands that read HDF5 files of unknown origin do so
//!   in a child process, since a forged file can make the HDF5 library crash.
//! - Files that are replaced are replaced atomically. After a kill at any moment, files that grow are readable up to
//!   the last flush. The previous checkpoint is always kept ([`observe`]).
//! - Every file can be identified as part of its run: all files of a run have the same run identity, and the
//!   checkpoint has the number and a checksum of the records of each file ([`observe::extent::Extent`]). A run
//!   continues only with these files, with the same system ([`run::Fingerprint`]), and in a directory that it has
//!   locked ([`observe::lock`]). The summary, which is written after all other files are closed, records that a run
//!   has finished.
//! - All work of a run is done inside one thread pool, which the run owns. Parallel runs share only immutable data,
//!   and an error or a panic of one run does not affect the others.
//!
//! # Absent on purpose
//!
//! There is no trait object per pair or bond, and no interaction or kernel is chosen by a string at run time. The
//! number type is not a parameter of the whole engine, which has a fast path and a reference instead. There are no
//! unit types in hot code, no global mutable state, and no printing in the library. Devices share no trait of small
//! operations ("add", "multiply"), because the operations of a backend are whole phases of a step. No file has more
//! than 500 lines, and no function more than 70 without a reason at its head.
//!
//! # Limits
//!
//! There is one integrator, leapfrog. A GPU does not have every method: [`backend::Feature`] lists the methods, and a
//! run is refused before it starts, or falls back to the CPU, if its device lacks one of them.

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
pub mod report;
pub mod run;

#[cfg(test)]
#[path = "engine/testing.rs"]
#[allow(dead_code, reason = "the engine's own tests use more of it")]
mod testing;

/// Source revision of the build; empty if unknown.
pub const COMMIT: &str = env!("MD_REVISION");

/// Version of this program, with the source revision if known: `0.2.0 (1a2b3c4)`.
pub const VERSION: &str = env!("MD_VERSION");
