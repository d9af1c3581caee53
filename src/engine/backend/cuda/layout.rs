//! Structures and constants shared by host and kernels. The C declarations are generated from the Rust definitions
//! ([`declarations`]), with an assertion for every size and offset, so a mismatch between C and Rust is a compile
//! error.

mod couplings;
mod host_forces;
mod pairs;
mod refreshment;
mod restraints;
mod sites;
mod terms;
mod transforms;

pub(super) use couplings::*;
pub(super) use host_forces::*;
pub(super) use pairs::*;
pub(super) use refreshment::*;
pub(super) use restraints::*;
pub(super) use sites::*;
pub(super) use terms::*;
pub(super) use transforms::*;

use super::shared::{Element, Member, Pointer, shared};
use crate::ensemble::barostat::LARGEST_CHANGE;
use crate::ensemble::motion::LINEAR;
use crate::units::COULOMB;
use crate::vec3::Vec3;
use bytemuck::{Pod, Zeroable};
use std::fmt::Write;

/// Number of lanes of a warp, and number of atoms in a block of atoms.
pub(super) const WARP: u32 = 32;
/// Index that stands for no atom. A slot without an atom holds this index. While there is no fault, the fields of
/// [`Status`] for the atom of a fault also hold this index.
pub(super) const NO_ATOM: u32 = u32::MAX;
/// Number of atoms in half a block of atoms. A warp computes the pairs between the atoms of half a block and the list
/// entries of one chunk.
pub(super) const HALF: u32 = WARP / 2;
/// Number of groups of 32 list entries in a chunk of the pair list. Forces on the i-atoms are added to memory once per
/// chunk. With eight groups the additions to memory cost little, and few entries of a chunk are empty. With more groups
/// the longest warps would take too long.
pub(super) const CHUNK_GROUPS: u32 = 8;
/// Number of bits of a pair-list entry that hold the slot index of an atom. The other bits of the entry hold the index
/// of one of 125 lattice shifts.
pub(super) const SLOT_BITS: u32 = 25;
/// Number of lattice shifts by which atoms can be displaced in a pair list.
pub(super) const SHIFTS: u32 = crate::pair::SHIFTS as u32;
/// Index of the lattice shift zero.
pub(super) const CENTRAL_SHIFT: u32 = 62;
/// Number of bits that hold a PME grid index along one axis.
pub(super) const GRID_BITS: u32 = 10;
/// Number of warps per block of threads in list and pair kernels.
pub(super) const SEARCH_WARPS: u32 = 4;
/// Number of threads of the single block that computes prefix sums over the slices of the spatial sorting. The scan
/// processes one slice per thread at a time, so the block has the maximum number of threads.
pub(super) const SCAN_THREADS: u32 = 1024;
/// Minimum number of resident thread blocks of pair kernels per multiprocessor. Eight resident blocks limit each thread
/// to 64 registers, so that the 132 multiprocessors of an H100 process all pairs of a system of 24 000 atoms at the
/// same time.
const PAIR_BLOCKS: u32 = 8;

/// Number of atoms per block of threads in the kernel that spreads charges: two neighbouring blocks of the spatial
/// sorting.
pub(super) const SPREAD_ATOMS: u32 = 64;
/// Number of threads per atom in the kernel that spreads charges. The threads of an atom handle different planes of the
/// atom's grid points.
pub(super) const SPREAD_PLANES: u32 = 2;
/// Number of PME grid points that the spreading kernel keeps in shared memory (16 KiB). At a grid spacing of 0.07 nm,
/// the charges of two blocks of atoms in a liquid are spread to a box with fewer grid points.
const SPREAD_POINTS: u32 = 4096;

/// Number of fixed-point units per kJ/mol/nm in the sums of forces. Forces are summed as integer multiples of 2⁻³²
/// kJ/mol/nm, which is 10⁻¹³ of a typical force.
pub(super) const FORCE_SCALE: f64 = 4_294_967_296.0;
/// Maximum size of a force contribution (kJ/mol/nm); a larger contribution stops the run. A sum of 2¹¹ contributions
/// fits into 63 bits, and an atom has fewer than 2¹¹ neighbours.
pub(super) const FORCE_LIMIT: f32 = 1_048_576.0;
/// Number of fixed-point units per kJ/mol or amu nm/ps in the sums of energies, virials and momenta. Energies, virials
/// and momenta are summed as integer multiples of 2⁻²⁴ kJ/mol or amu nm/ps, up to 5·10¹¹.
pub(super) const SUM_SCALE: f64 = 16_777_216.0;
/// Number of fixed-point units per e in the mesh charges. Mesh charges are summed as integer multiples of 2⁻²⁶ e (10⁻⁷
/// of a typical charge), up to 32 e at a grid point.
pub(super) const GRID_SCALE: f32 = 67_108_864.0;
/// Quantum of block origins, nm. The origins of blocks are multiples of this length, so that their differences are
/// exact in `f32`.
pub(super) const ORIGIN_QUANTUM: f64 = 1.0 / 1024.0;
/// Margin (nm) by which bounding boxes of blocks are enlarged, because coordinates up to 100 nm are rounded to `f32`.
pub(super) const BOUNDS_ROUNDING: f32 = 2e-5;
/// Offset of an empty slot from the origin of its block (nm). The offset is beyond any cutoff, but the square of the
/// offset is finite in `f32`.
const NOWHERE: f32 = 1e6;
/// Maximum number of Newton iterations for a SHAKE cluster, as on the CPU.
const SHAKE_ITERATIONS: u32 = 50;
/// Maximum number of Newton iterations for a cluster of coupled constraints, as on the CPU.
const COUPLED_ITERATIONS: u32 = 100;
/// Factor by which the linear solver reduces the residuals in a Newton iteration for coupled constraints. Bonds turn by
/// about 0.03 rad in a step. The nonlinear terms of the constraints therefore leave about 10⁻³ of the residuals even
/// after an exact linear solution.
const COUPLED_REDUCTION: f64 = 1e-3;
/// Maximum number of steps of the linear solver in a Newton iteration for coupled constraints. Eight steps are enough
/// for the bonds of a protein. A hundred steps are enough for a matrix with a condition number of 700.
const COUPLED_STEPS: u32 = 100;
/// Number of threads per cluster of coupled constraints.
pub(super) const COUPLED_THREADS: u32 = 256;
/// Number of threads in kernels that process all atoms with a single block of threads.
pub(super) const ALL_ATOMS_THREADS: u32 = 512;

/// Combination rule with geometric means of c6 and c12. The Lennard-Jones parameters of an atom are √(6 c6) and √(12
/// c12).
pub(super) const RULE_GEOMETRIC: u32 = 0;
/// Lorentz–Berthelot combination rule. The Lennard-Jones parameters of an atom are σ/2 and √(48 ε).
pub(super) const RULE_LORENTZ_BERTHELOT: u32 = 1;
/// Lennard-Jones parameters from a table of pairs of types. Each atom has two parameters: the start of its row in the
/// table and its column index, stored as the bits of two floats.
pub(super) const RULE_TYPE_TABLE: u32 = 2;
/// Lennard-Jones interactions with a force switch. The kernel reads parameters from a table as in [`RULE_TYPE_TABLE`]
/// for every combination rule, so that fewer kernels are compiled.
pub(super) const RULE_FORCE_SWITCH: u32 = 3;
pub(super) const RULE_POTENTIAL_SWITCH: u32 = 4;

/// Defines constants with the consecutive values 0, 1, 2, …, and a constant with the number of these constants.
macro_rules! numbered {
    ($(#[$meta:meta])* $count:ident: $($name:ident)*) => {
        numbered!(@next 0u32, $($name)*);
        $(#[$meta])*
        pub(super) const $count: u32 = [$(stringify!($name)),*].len() as u32;
    };
    (@next $number:expr, $name:ident $($rest:ident)*) => {
        pub(super) const $name: u32 = $number;
        numbered!(@next $number + 1, $($rest)*);
    };
    (@next $number:expr,) => {};
}

/// Index of each kind of bonded terms that is not in the table of bonded terms. The lists of the table have the indices
/// from 0 to `BONDED_LISTS` − 1. The energy sum of a kind of terms has the same index as the kind.
pub(super) const KIND_CMAP: u32 = BONDED_LISTS;
pub(super) const KIND_PAIR14: u32 = BONDED_LISTS + 1;
pub(super) const KIND_EXCLUDED: u32 = BONDED_LISTS + 2;
pub(super) const KIND_POSITION: u32 = BONDED_LISTS + 3;
pub(super) const BONDED_KINDS: u32 = BONDED_LISTS + 4;
numbered! {
    /// Kinds of update groups.
    UPDATE_GROUP_KINDS: GROUP_FREE GROUP_SETTLE GROUP_SHAKE1 GROUP_SHAKE2 GROUP_SHAKE3 GROUP_SHAKE4
}
/// Reasons why the run has halted: too large a force or a failed constraint (`FAULT`), atoms that are too fast
/// (`SPEED`), too large a scaling by a barostat (`PRESSURE`), a cell that is too small (`CELL`).
pub(super) const STOPPED_BY_FAULT: u32 = 1;
pub(super) const STOPPED_BY_SPEED: u32 = 2;
pub(super) const STOPPED_BY_PRESSURE: u32 = 3;
pub(super) const STOPPED_BY_CELL: u32 = 4;
/// Indices of the sums that the device computes in addition to the energies of bonded terms. The energy sums of the
/// kinds of bonded terms have lower indices.
pub(super) const SUM_LJ: u32 = BONDED_KINDS;
pub(super) const SUM_COULOMB: u32 = SUM_LJ + 1;
pub(super) const SUM_COULOMB_14: u32 = SUM_LJ + 2;
pub(super) const SUM_RECIPROCAL: u32 = SUM_LJ + 3;
pub(super) const SUM_KINETIC_BEFORE: u32 = SUM_LJ + 4;
pub(super) const SUM_KINETIC_AFTER: u32 = SUM_LJ + 5;
/// power of the forces F at the velocities v half a step earlier, Σ v(t−½dt)·F, kJ/mol/ps
pub(super) const SUM_POWER: u32 = SUM_LJ + 6;
/// ½ Σ m v(t−½dt)·v(t+½dt), kJ/mol
pub(super) const SUM_KINETIC_CROSS: u32 = SUM_LJ + 7;
/// Kinetic energy along x, y, z, kJ/mol: the mean of the kinetic energies at t−½dt and t+½dt.
pub(super) const SUM_KINETIC_ALONG: u32 = SUM_LJ + 8;
/// Kinetic energies (kJ/mol, along x, y, z) of the centers of mass of update groups at t−½dt and t+½dt, and the cross
/// term ½ Σ M V(t−½dt) V(t+½dt) with the masses M and the velocities V of the centers.
pub(super) const SUM_CENTRE_BEFORE: u32 = SUM_KINETIC_ALONG + 3;
pub(super) const SUM_CENTRE_AFTER: u32 = SUM_CENTRE_BEFORE + 3;
pub(super) const SUM_CENTRE_CROSS: u32 = SUM_CENTRE_AFTER + 3;
/// Σ (r−R) F along x, y, z over the atoms (position r, force F) of all update groups with centers R, kJ/mol.
pub(super) const SUM_INTERNAL_VIRIAL: u32 = SUM_CENTRE_CROSS + 3;
/// Virial tensors of six components each, in the order xx xy xz yy yz zz.
pub(super) const SUM_VIRIAL: u32 = SUM_INTERNAL_VIRIAL + 3;
pub(super) const SUM_CONSTRAINT_VIRIAL: u32 = SUM_VIRIAL + 6;
/// Total momentum, three components, amu nm/ps.
pub(super) const SUM_MOMENTUM: u32 = SUM_CONSTRAINT_VIRIAL + 6;
/// Torque Σ r×F (kJ/mol) of position restraints and of the forces that the host computes. The antisymmetric part of the
/// virial is computed from this torque.
pub(super) const SUM_RESTRAINT_TORQUE: u32 = SUM_MOMENTUM + 3;
/// power of the change ΔF of the forces by a volume move, Σ v·ΔF, kJ/mol/ps
pub(super) const SUM_POWER_OF_CHANGE: u32 = SUM_RESTRAINT_TORQUE + 3;
/// Number of sums that the device computes.
pub(super) const SUMS: u32 = SUM_POWER_OF_CHANGE + 1;

shared! {
    /// The periodic cell, and quantities that a kernel derives from its lattice vectors (rows).
    Lattice {
        /// components of the lattice vector a, nm
        ax: f64,
        /// components of the lattice vector b, nm
        bx: f64,
        by: f64,
        /// components of the lattice vector c, nm
        cx: f64,
        cy: f64,
        cz: f64,
        /// 1/(distance of opposite faces) of the cell along each lattice vector, 1/nm
        inverse_width: [f64; 3],
        /// reciprocal lattice vectors: three components of a*, the last two of b*, the last of c*, 1/nm
        reciprocal: [f32; 6],
        /// C/(πV) with Coulomb constant C and volume V, kJ/mol/nm²/e²
        coulomb_over_pi_volume: f32,
        /// 1 if there is a cell, otherwise 0
        periodic: u32,
    }
}

shared! {
    /// State of the run on the device: faults, expiry of the pair lists, and work of thermostat and barostat.
    Status {
        /// lowest index of an atom with a force above [`FORCE_LIMIT`]
        overflow: u32,
        /// lowest index of a center atom and lowest index of a leaf atom among the constraints that could not be
        /// satisfied
        failed: [u32; 2],
        /// reason why the run has halted; 0 while the run continues
        stopped: u32,
        /// 1 if the pair lists may lack a pair, otherwise 0; while the value is 1, steps do nothing until new lists are
        /// built
        lists_expired: u32,
        /// number of integration steps since the last search
        steps: u32,
        /// scale factors along x, y, z of the last scaling by the barostat
        length_factors: [f64; 3],
        velocity_factors: [f64; 3],
        /// pressure from which the last scale factor was computed, kJ/mol/nm³
        pressure: f64,
        /// kinetic energy that the barostat has added, kJ/mol; 0 after the next integration step
        kinetic_change: f64,
        /// work of thermostat and barostat, and pending couplings, as in [`crate::system::Coupling`]
        thermostat_work: f64,
        barostat_work: f64,
        pending_scaling: [f64; 3],
        pending_rescaling: f64,
        /// parameters of the next velocity refreshment
        refreshment: Refreshment,
        /// work of refreshments that is not yet in `thermostat_work`, in units of 1/[`SUM_SCALE`] kJ/mol
        refreshment_work: i64,
    }
}

shared! {
    /// Lengths of the pair lists, which the search stores on the device.
    Counts {
        /// number of chunks that the search needed; a number above the capacity means that the lists must be enlarged
        chunks_found: u32,
        /// number of chunks in the list
        chunks: u32,
    }
}

shared! {
    /// Arguments of all kernels. A kernel has one additional numeric argument.
    Arguments {
        cell: Pointer<Lattice>,
        searched_cell: Pointer<Lattice>,
        status: Pointer<Status>,
        counts: Pointer<Counts>,
        sums: Pointer<i64>,
        // arrays with one element per atom
        positions: Pointer<Vec3>,
        velocities: Pointer<Vec3>,
        old: Pointer<Vec3>,
        searched: Pointer<Vec3>,
        masses: Pointer<f64>,
        charges: Pointer<f32>,
        lj: Pointer<[f32; 2]>,
        atom_slot: Pointer<u32>,
        atom_images: Pointer<[i32; 4]>,
        atom_slice: Pointer<u32>,
        exclusion_starts: Pointer<u32>,
        exclusions: Pointer<u32>,
        // arrays with one element per slice of the spatial sorting
        slice_starts: Pointer<u32>,
        slice_filled: Pointer<u32>,
        // arrays with one element per slot
        slot_atom: Pointer<u32>,
        images: Pointer<[i32; 4]>,
        packed: Pointer<[f32; 4]>,
        slot_lj: Pointer<[f32; 2]>,
        places: Pointer<[f32; 4]>,
        forces: Pointer<i64>,
        // arrays with one element per block
        origins: Pointer<[f32; 4]>,
        bounds: Pointer<[f32; 4]>,
        // array with one element per region of 32 blocks
        regions: Pointer<[f32; 4]>,
        // arrays of the pair lists
        shifts: Pointer<[f32; 4]>,
        chunk_block: Pointer<u32>,
        outer_groups: Pointer<u32>,
        inner_groups: Pointer<u32>,
        outer: Pointer<[u32; 2]>,
        inner: Pointer<[u32; 2]>,
        type_table: Pointer<[f32; 2]>,
        // bonded terms
        bonded: BondedLists,
        cmaps: Pointer<CmapTerm>,
        cmap_patches: Pointer<f64>,
        pairs14: Pointer<Pair14Term>,
        excluded: Pointer<ExcludedTerm>,
        // position restraints
        restrained_atoms: Pointer<RestrainedAtom>,
        restraint_sets: Pointer<RestraintSet>,
        /// times (ps) and force constants of the schedules of all sets
        restraint_points: Pointer<f64>,
        /// Σ E/k over the restraints (energy E) of each set whose force constant k changes with time, nm²
        restraint_slopes: Pointer<i64>,
        restraint_work: Pointer<RestraintWork>,
        host: ComputedOnHost,
        // update groups
        free_atoms: Pointer<u32>,
        waters: Pointer<SettleWater>,
        shakes1: Pointer<ShakeCluster>,
        shakes2: Pointer<ShakeCluster>,
        shakes3: Pointer<ShakeCluster>,
        shakes4: Pointer<ShakeCluster>,
        // coupled constraints: arrays per cluster, per constraint, per atom, and per end of a constraint
        coupled_clusters: Pointer<CoupledCluster>,
        coupled_constraints: Pointer<CoupledConstraint>,
        coupled_vectors: Pointer<Vec3>,
        coupled_diagonal: Pointer<f64>,
        coupled_multipliers: Pointer<f64>,
        coupled_residuals: Pointer<f64>,
        coupled_directions: Pointer<f64>,
        coupled_products: Pointer<f64>,
        coupled_atoms: Pointer<CoupledAtom>,
        coupled_positions: Pointer<Vec3>,
        coupled_displacements: Pointer<Vec3>,
        coupled_ends: Pointer<u32>,
        // virtual sites; sites of a cluster are contiguous, and so are their atoms and their parameters
        site_starts: Pointer<u32>,
        virtual_sites: Pointer<VirtualSite>,
        site_atoms: Pointer<u32>,
        site_parameters: Pointer<f64>,
        // arrays and parameters of the PME mesh
        charge_grid: Pointer<i32>,
        grid: Pointer<f32>,
        spectrum: Pointer<[f32; 2]>,
        moduli: Pointer<f32>,
        transforms: Transforms,
        /// B-spline order of PME; 0 without PME
        order: u32,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        /// lower corner of the box that replaces the cell in the spatial sorting if there is no cell, nm
        frame_low: [f64; 3],
        /// 1/(edge length) of the box that replaces the cell in the spatial sorting if there is no cell, 1/nm
        frame_inverse: [f64; 3],
        constraint_tolerance: f64,
        rescaling: Rescaling,
        box_scaling: BoxScaling,
        volume_move: VolumeMove,
        refreshment: Refreshment,
        /// each diagonal element of the virial of the terms that depend only on the volume, multiplied by the volume,
        /// kJ nm³/mol
        virial_times_volume: f64,
        /// the longer of the Coulomb and Lennard-Jones cutoffs, nm; infinite without a cutoff
        cutoff: f64,
        /// Ewald parameter α, 1/nm, in double precision, because rounding errors of many equal pairs would add up
        exact_alpha: f64,
        coulomb_force: RootPolynomial,
        coulomb_energy: RootPolynomial,
        /// squared Coulomb and Lennard-Jones cutoffs, nm², infinite without a cutoff
        coulomb_cutoff2: f32,
        lj_cutoff2: f32,
        largest_cutoff2: f32,
        /// lower limit of squared distances, nm²; smaller squared distances are raised to this limit
        lowest_r2: f32,
        /// 1/r_c⁶ with a potential shift, otherwise 0, nm⁻⁶
        lj_shift: f32,
        lj_switch: LjSwitch,
        /// radii of the pair lists in nm
        outer_radius: f32,
        inner_radius: f32,
        /// Ewald parameter α, 1/nm
        alpha: f32,
        /// 1/√C with Coulomb's constant C; charges in the kernels contain the factor √C, which the spreading of charges
        /// removes
        inverse_root_coulomb: f32,
        /// Lennard-Jones parameters of an empty slot
        empty_lj: [f32; 2],
        atoms: u32,
        slots: u32,
        blocks: u32,
        columns_x: u32,
        columns_y: u32,
        slices: u32,
        chunk_capacity: u32,
        bonded_counts: [u32; BONDED_KINDS as usize],
        bonded_starts: [u32; BONDED_KINDS as usize + 1],
        update_group_counts: [u32; UPDATE_GROUP_KINDS as usize],
        update_group_starts: [u32; UPDATE_GROUP_KINDS as usize + 1],
        /// number of slices of the spatial sorting for which memory is allocated
        slice_capacity: u32,
        coupled_count: u32,
        site_clusters: u32,
        /// 1 if displacements limit the lifetime of the lists, otherwise 0
        check_displacements: u32,
        /// 1 if the integration kernel also packs the new positions, otherwise 0
        packs_ahead: u32,
    }
}

/// Returns the generated part of the kernels' source.
pub(super) fn declarations() -> String {
    let mut text = String::from(
        "using u32 = unsigned int;\nusing i64 = long long;\nusing u64 = unsigned long long;\n\
         template <class T>\nstruct Vec3;\n\
         template <class T, int N, int P>\nstruct Bonded {\n    u32 atoms[N];\n    T parameters[P];\n};\nconstexpr u32 ALL_LANES = 0xffffffffu;\nconstexpr u32 ALL_OF_HALF = 0xffffu;\n",
    );
    macro_rules! constants {
        ($c:literal: $($name:ident)*) => {
            let constants: &[(&str, &dyn std::fmt::Debug)] = &[$((stringify!($name), &$name)),*];
            for (name, value) in constants {
                let _ = writeln!(text, concat!("constexpr ", $c, " {} = ", $c, "({:?});"), name, value);
            }
        };
    }
    constants!("u32": WARP HALF NO_ATOM CHUNK_GROUPS SLOT_BITS SHIFTS CENTRAL_SHIFT GRID_BITS SEARCH_WARPS);
    constants!("u32": SCAN_THREADS PAIR_BLOCKS SPREAD_ATOMS SPREAD_PLANES SPREAD_POINTS);
    constants!("u32": LINES LINE_THREADS PLANE_THREADS PLANE_BLOCKS);
    constants!("u32": RULE_GEOMETRIC RULE_LORENTZ_BERTHELOT RULE_TYPE_TABLE RULE_FORCE_SWITCH RULE_POTENTIAL_SWITCH);
    constants!("u32": BONDED_KINDS UPDATE_GROUP_KINDS);
    constants!("u32": KIND_CMAP KIND_PAIR14 KIND_EXCLUDED SUM_LJ SUM_COULOMB SUM_COULOMB_14 SUM_RECIPROCAL);
    constants!("u32": SUM_KINETIC_BEFORE SUM_KINETIC_AFTER SUM_KINETIC_ALONG);
    constants!("u32": SUM_CENTRE_BEFORE SUM_CENTRE_AFTER SUM_CENTRE_CROSS);
    constants!("u32": SUM_INTERNAL_VIRIAL SUM_POWER SUM_KINETIC_CROSS SUM_VIRIAL SUM_CONSTRAINT_VIRIAL SUM_MOMENTUM SUMS);
    constants!("u32": KIND_POSITION SUM_RESTRAINT_TORQUE REFERENCES_WITH_CENTER REFERENCES_WITH_CELL);
    constants!("u32": SUM_POWER_OF_CHANGE PURPOSE_NOISE);
    constants!("u32": STOPPED_BY_FAULT STOPPED_BY_SPEED STOPPED_BY_PRESSURE STOPPED_BY_CELL);
    constants!("u32": GROUP_FREE GROUP_SETTLE GROUP_SHAKE1 GROUP_SHAKE2 GROUP_SHAKE3 GROUP_SHAKE4);
    constants!("u32": SITE_AVERAGE SITE_FIXED_DISTANCE2 SITE_FIXED_DISTANCE3 SITE_FIXED_ANGLE3 SITE_OUT_OF_PLANE);
    constants!("u32": SITE_FIXED_DISTANCE4 SITE_LOCAL_FRAME);
    constants!("u32": COUPLED_ITERATIONS COUPLED_STEPS COUPLED_THREADS ALL_ATOMS_THREADS);
    constants!("double": FORCE_SCALE SUM_SCALE ORIGIN_QUANTUM COUPLED_REDUCTION COULOMB LARGEST_CHANGE LINEAR);
    constants!("float": FORCE_LIMIT GRID_SCALE BOUNDS_ROUNDING NOWHERE);
    constants!("int": FIRST_TERMS MORE_TERMS SHAKE_ITERATIONS);
    text += &BondedLists::table();
    text += "constexpr u32 SLOT_MASK = (1u << SLOT_BITS) - 1;\n";
    for structure in [
        Refreshment::STRUCTURE,
        Lattice::STRUCTURE,
        Status::STRUCTURE,
        Counts::STRUCTURE,
        Rescaling::STRUCTURE,
        Relaxation::STRUCTURE,
        BoxScaling::STRUCTURE,
        VolumeMove::STRUCTURE,
        RootPolynomial::STRUCTURE,
        LjSwitch::STRUCTURE,
        BondedLists::STRUCTURE,
        CmapTerm::STRUCTURE,
        Pair14Term::STRUCTURE,
        ExcludedTerm::STRUCTURE,
        RestrainedAtom::STRUCTURE,
        RestraintSet::STRUCTURE,
        RestraintWork::STRUCTURE,
        ComputedOnHost::STRUCTURE,
        SettleWater::STRUCTURE,
        ShakeCluster::STRUCTURE,
        CoupledCluster::STRUCTURE,
        CoupledConstraint::STRUCTURE,
        CoupledAtom::STRUCTURE,
        VirtualSite::STRUCTURE,
        Divisor::STRUCTURE,
        Axis::STRUCTURE,
        Transforms::STRUCTURE,
        Arguments::STRUCTURE,
    ] {
        text += &structure.declaration();
    }
    text
}
