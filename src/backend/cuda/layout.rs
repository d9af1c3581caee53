//! What host and kernels share: structures and constants. Written once, here; the C side is generated from it
//! ([`declarations`]) with an assertion for every size and offset, so that a slip is a compile error.

mod terms;

pub(super) use terms::*;

use super::shared::{Element, Member, Pointer, members, shared};
use crate::ensemble::barostat::LARGEST_CHANGE;
use crate::ensemble::motion::LINEAR;
use crate::pair::FIRST_TERMS;
use crate::units::COULOMB;
use crate::vec3::Vec3;
use bytemuck::{Pod, Zeroable};
use std::fmt::Write;

/// Lanes of a warp, and atoms of a block.
pub(super) const WARP: u32 = 32;
/// Marks a slot without an atom, and a fault that has not happened.
pub(super) const NO_ATOM: u32 = u32::MAX;
/// Groups of 32 list entries in a chunk, the work of one warp. Four keep the longest warp short and the forces on the
/// i-atoms, added once per chunk, cheap.
pub(super) const CHUNK_GROUPS: u32 = 4;
/// Bits of a list entry that number a slot; the others number a lattice shift, of which there are 125.
pub(super) const SLOT_BITS: u32 = 25;
/// Lattice shifts.
pub(super) const SHIFTS: u32 = crate::pair::SHIFTS as u32;
/// The one that is none.
pub(super) const CENTRAL_SHIFT: u32 = 62;
/// Bits that number a grid point along one axis.
pub(super) const GRID_BITS: u32 = 10;
/// Warps of a block of threads in kernels of lists and pairs.
pub(super) const SEARCH_WARPS: u32 = 4;
/// Threads of the one block that sums up slices: all that a block may have, so that few tiles come one after the other.
pub(super) const SCAN_THREADS: u32 = 1024;
/// Blocks of pair kernels that a multiprocessor holds at once, at least: so registers stop at 64, and the pairs of a system
/// of 24 000 atoms are under way all at once on the 132 multiprocessors of an H100.
const PAIR_BLOCKS: u32 = 8;

/// Forces are summed as multiples of 2⁻³² kJ/mol/nm: 10⁻¹³ of a typical force.
pub(super) const FORCE_SCALE: f64 = 4_294_967_296.0;
/// A contribution to a force beyond this (kJ/mol/nm) stops the run: 2¹¹ of them, more than an atom has neighbours, still
/// fit into 63 bits.
pub(super) const FORCE_LIMIT: f32 = 1_048_576.0;
/// Energies, virials and momenta are summed as multiples of 2⁻²⁴ (kJ/mol, amu nm/ps), up to 5·10¹¹.
pub(super) const SUM_SCALE: f64 = 16_777_216.0;
/// Charges on the grid are summed as multiples of 2⁻²⁶ e, up to 32 e on one point: the rounding is 10⁻⁷ of a typical one.
pub(super) const GRID_SCALE: f32 = 67_108_864.0;
/// Origins of blocks are multiples of this (nm), so that their differences are exact in `f32`.
pub(super) const ORIGIN_QUANTUM: f64 = 1.0 / 1024.0;
/// Boxes around blocks are rounded to `f32` coordinates of up to 100 nm; they count as this much larger (nm).
const BOUNDS_ROUNDING: f32 = 2e-5;
/// Where empty slots are, as an offset from the origin (nm): beyond any cutoff, squares stay finite.
const NOWHERE: f32 = 1e6;
/// Newton iterations after which a SHAKE cluster of constraints is given up, as on the CPU.
const STAR_ITERATIONS: u32 = 50;
/// Newton iterations after which a chain of constraints is given up, as on the CPU.
const COUPLED_ITERATIONS: u32 = 100;
/// Part of the residuals that the linear solver of such an iteration leaves: bonds turn by some 0.03 rad in a step, and
/// what is not linear leaves a thousandth of them anyway.
const COUPLED_REDUCTION: f64 = 1e-3;
/// Steps of the linear solver, at most. Eight do for the bonds of a protein, and a hundred for a condition of 700.
const COUPLED_STEPS: u32 = 100;
/// Threads that work on one chain.
pub(super) const COUPLED_THREADS: u32 = 256;
/// Threads of the one block that works on all atoms.
pub(super) const ALL_ATOMS_THREADS: u32 = 512;

/// Lennard-Jones parameters per atom are √(6 c6), √(12 c12).
pub(super) const RULE_GEOMETRIC: u32 = 0;
/// Lennard-Jones parameters per atom are σ/2 and √(24 ε).
pub(super) const RULE_LORENTZ_BERTHELOT: u32 = 1;
/// Lennard-Jones parameters are the number of a type.
pub(super) const RULE_TYPE_TABLE: u32 = 2;

/// Numbers consecutive constants, and says how many there are.
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

/// Kinds of bonded terms, the lists of the table first; the energy of each is the sum of the same number.
pub(super) const KIND_CMAP: u32 = BONDED_LISTS;
pub(super) const KIND_PAIR14: u32 = BONDED_LISTS + 1;
pub(super) const KIND_EXCLUDED: u32 = BONDED_LISTS + 2;
pub(super) const BONDED_KINDS: u32 = BONDED_LISTS + 3;
numbered! {
    /// Kinds of units that move by themselves.
    UNIT_KINDS: UNIT_FREE UNIT_WATER UNIT_SHAKE1 UNIT_SHAKE2 UNIT_SHAKE3 UNIT_SHAKE4
}
/// Why nothing moves any more: a force or a constraint, the velocities, a barostat's factor, a cell that is too small.
pub(super) const STOPPED_BY_FAULT: u32 = 1;
pub(super) const STOPPED_BY_SPEED: u32 = 2;
pub(super) const STOPPED_BY_PRESSURE: u32 = 3;
pub(super) const STOPPED_BY_CELL: u32 = 4;
/// Sums behind those of the bonded kinds.
pub(super) const SUM_LJ: u32 = BONDED_KINDS;
pub(super) const SUM_COULOMB: u32 = SUM_LJ + 1;
pub(super) const SUM_COULOMB_14: u32 = SUM_LJ + 2;
pub(super) const SUM_RECIPROCAL: u32 = SUM_LJ + 3;
pub(super) const SUM_KINETIC_BEFORE: u32 = SUM_LJ + 4;
pub(super) const SUM_KINETIC_AFTER: u32 = SUM_LJ + 5;
/// kinetic energies of the centres of units, half a step before and after, and of both together: ½ Σ M V(t−½)·V(t+½)
pub(super) const SUM_CENTRE_BEFORE: u32 = SUM_LJ + 6;
pub(super) const SUM_CENTRE_AFTER: u32 = SUM_LJ + 7;
pub(super) const SUM_CENTRE_CROSS: u32 = SUM_LJ + 8;
/// Σ (r−R)·F about the centres
pub(super) const SUM_INTERNAL_VIRIAL: u32 = SUM_LJ + 9;
/// Σ v(t−½)·F, kJ/mol/ps
pub(super) const SUM_POWER: u32 = SUM_LJ + 10;
/// ½ Σ m v(t−½)·v(t+½)
pub(super) const SUM_KINETIC_CROSS: u32 = SUM_LJ + 11;
/// Six components each, in the order xx xy xz yy yz zz.
pub(super) const SUM_VIRIAL: u32 = SUM_LJ + 12;
pub(super) const SUM_CONSTRAINT_VIRIAL: u32 = SUM_VIRIAL + 6;
/// Three components.
pub(super) const SUM_MOMENTUM: u32 = SUM_CONSTRAINT_VIRIAL + 6;
/// How many sums there are.
pub(super) const SUMS: u32 = SUM_MOMENTUM + 3;

shared! {
    /// The periodic cell, and what a kernel finds to follow from its rows.
    Lattice {
        /// row a, nm
        ax: f64,
        /// row b
        bx: f64,
        by: f64,
        /// row c
        cx: f64,
        cy: f64,
        cz: f64,
        /// 1/distance of opposite faces, 1/nm
        inverse_width: [f64; 3],
        /// reciprocal rows: a* (three components), the last two of b*, the last of c*, 1/nm
        reciprocal: [f32; 6],
        /// C/(πV), kJ/mol/nm²/e²
        coulomb_over_pi_volume: f32,
        /// 0 where there is no cell
        periodic: u32,
    }
}

shared! {
    /// What has gone wrong, whether the state still moves, and what couplings have done.
    Status {
        /// lowest atom with a force beyond the limit
        overflow: u32,
        /// lowest centre, and lowest leaf, of a constraint that could not be restored
        failed: [u32; 2],
        /// why nothing moves any more
        stopped: u32,
        /// 1 as soon as a pair might be missing from the lists: nothing moves until they are new
        overdue: u32,
        /// moves since they were
        moves: u32,
        /// of the last box_scaling
        length_factor: f64,
        velocity_factor: f64,
        /// that it follows from, kJ/mol/nm³
        pressure: f64,
        /// what it has added to the kinetic energy, kJ/mol; 0 after the next move
        kinetic_change: f64,
        /// as in [`crate::system::Coupling`]
        thermostat_work: f64,
        barostat_work: f64,
        pending_scaling: f64,
        pending_rescaling: f64,
    }
}

shared! {
    /// A thermostat's step ([`crate::ensemble::thermostat::Rescaling`]).
    Rescaling {
        kept: f64,
        /// √(kJ/mol)
        along: f64,
        /// kJ/mol
        across: f64,
    }
}

shared! {
    /// A barostat's step ([`crate::ensemble::barostat::BoxScaling`]).
    BoxScaling {
        /// nm³ mol/kJ
        rate: f64,
        /// kJ/mol/nm³
        pressure: f64,
        /// kJ/mol
        thermal: f64,
        /// nm^(3/2)
        noise: f64,
        /// 1 where the root of the volume relaxes
        stochastic: u32,
        unused: u32,
    }
}

members!(Rescaling, BoxScaling);

shared! {
    /// Lengths that only the device knows.
    Counts {
        /// chunks that the search wanted
        chunks_found: u32,
        /// chunks there are
        chunks: u32,
    }
}

shared! {
    /// A polynomial in centre − r² ([`crate::pair::Polynomial`]).
    Smooth {
        /// nm²
        centre: f32,
        /// pairs of coefficients in `more`
        more_pairs: u32,
        /// c₀ to c₁₀
        first: [f32; FIRST_TERMS],
        /// [c₁₂, c₁₁], [c₁₄, c₁₃] … in falling order
        more: [f32; 8],
    }
}

members!(Smooth);

shared! {
    /// Everything that kernels read and write. All kernels take it, and one number.
    Arguments {
        cell: Pointer<Lattice>,
        searched_cell: Pointer<Lattice>,
        status: Pointer<Status>,
        counts: Pointer<Counts>,
        sums: Pointer<i64>,
        // by atom
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
        // by slice of the sorting
        slice_starts: Pointer<u32>,
        slice_filled: Pointer<u32>,
        // by slot
        slot_atom: Pointer<u32>,
        images: Pointer<[i32; 4]>,
        packed: Pointer<[f32; 4]>,
        slot_lj: Pointer<[f32; 2]>,
        places: Pointer<[f32; 4]>,
        forces: Pointer<i64>,
        // by block
        origins: Pointer<[f32; 4]>,
        bounds: Pointer<[f32; 4]>,
        // by region of 32 blocks
        regions: Pointer<[f32; 4]>,
        // lists
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
        // units
        free_atoms: Pointer<u32>,
        waters: Pointer<WaterUnit>,
        shakes1: Pointer<ShakeUnit>,
        shakes2: Pointer<ShakeUnit>,
        shakes3: Pointer<ShakeUnit>,
        shakes4: Pointer<ShakeUnit>,
        // chains: by chain, bond, atom and end of a bond
        chains: Pointer<ChainUnit>,
        chain_bonds: Pointer<ChainBond>,
        chain_vectors: Pointer<Vec3>,
        chain_diagonal: Pointer<f64>,
        chain_multipliers: Pointer<f64>,
        chain_residuals: Pointer<f64>,
        chain_directions: Pointer<f64>,
        chain_products: Pointer<f64>,
        chain_atoms: Pointer<ChainAtom>,
        chain_places: Pointer<Vec3>,
        chain_pulls: Pointer<Vec3>,
        chain_ends: Pointer<u32>,
        // mesh
        charge_grid: Pointer<i32>,
        grid: Pointer<f32>,
        spectrum: Pointer<[f32; 2]>,
        moduli: Pointer<f32>,
        /// without a cell, atoms are sorted in a box with this corner, nm
        frame_low: [f64; 3],
        /// 1/edge of that box, 1/nm
        frame_inverse: [f64; 3],
        constraint_tolerance: f64,
        rescaling: Rescaling,
        box_scaling: BoxScaling,
        /// what the virial's trace has beside the sums, times the volume, kJ nm³/mol
        trace_times_volume: f64,
        /// the longer of both, nm; infinite without
        cutoff: f64,
        coulomb_force: Smooth,
        coulomb_energy: Smooth,
        /// nm², infinite without a cutoff
        coulomb_cutoff2: f32,
        lj_cutoff2: f32,
        largest_cutoff2: f32,
        /// distances below count as this, nm²
        lowest_r2: f32,
        /// 1/r_c⁶ where the potential is shifted, nm⁻⁶
        lj_shift: f32,
        /// nm
        outer_radius: f32,
        inner_radius: f32,
        /// Ewald's, 1/nm
        alpha: f32,
        /// charges carry √C, the mesh wants them without
        inverse_root_coulomb: f32,
        /// Lennard-Jones parameters of an empty slot
        empty_lj: [f32; 2],
        atoms: u32,
        slots: u32,
        blocks: u32,
        /// types in a row of the table
        types: u32,
        columns_x: u32,
        columns_y: u32,
        slices: u32,
        chunk_capacity: u32,
        /// of the mesh; 0 where there is none
        order: u32,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        bonded_counts: [u32; BONDED_KINDS as usize],
        bonded_starts: [u32; BONDED_KINDS as usize + 1],
        unit_counts: [u32; UNIT_KINDS as usize],
        unit_starts: [u32; UNIT_KINDS as usize + 1],
        /// slices there is room for
        slice_capacity: u32,
        chain_count: u32,
        /// 1 where lists end by displacement
        watched: u32,
    }
}

/// The generated part of the kernels' source.
pub(super) fn declarations() -> String {
    let mut text = String::from(
        "using u32 = unsigned int;\nusing i64 = long long;\nusing u64 = unsigned long long;\n\
         template <class T>\nstruct Vec3;\n\
         template <class T, int N, int P>\nstruct Bonded {\n    u32 atoms[N];\n    T parameters[P];\n};\nconstexpr u32 ALL_LANES = 0xffffffffu;\n",
    );
    macro_rules! constants {
        ($c:literal: $($name:ident)*) => {
            $(let _ = writeln!(text, concat!("constexpr ", $c, " ", stringify!($name), " = ", $c, "({:?});"), $name);)*
        };
    }
    constants!("u32": WARP NO_ATOM CHUNK_GROUPS SLOT_BITS SHIFTS CENTRAL_SHIFT GRID_BITS SEARCH_WARPS);
    constants!("u32": SCAN_THREADS PAIR_BLOCKS);
    constants!("u32": RULE_GEOMETRIC RULE_LORENTZ_BERTHELOT RULE_TYPE_TABLE BONDED_KINDS UNIT_KINDS);
    constants!("u32": KIND_CMAP KIND_PAIR14 KIND_EXCLUDED SUM_LJ SUM_COULOMB SUM_COULOMB_14 SUM_RECIPROCAL);
    constants!("u32": SUM_KINETIC_BEFORE SUM_KINETIC_AFTER SUM_CENTRE_BEFORE SUM_CENTRE_AFTER SUM_CENTRE_CROSS);
    constants!("u32": SUM_INTERNAL_VIRIAL SUM_POWER SUM_KINETIC_CROSS SUM_VIRIAL SUM_CONSTRAINT_VIRIAL SUM_MOMENTUM SUMS);
    constants!("u32": STOPPED_BY_FAULT STOPPED_BY_SPEED STOPPED_BY_PRESSURE STOPPED_BY_CELL);
    constants!("u32": UNIT_FREE UNIT_WATER UNIT_SHAKE1 UNIT_SHAKE2 UNIT_SHAKE3 UNIT_SHAKE4);
    constants!("u32": COUPLED_ITERATIONS COUPLED_STEPS COUPLED_THREADS ALL_ATOMS_THREADS);
    constants!("double": FORCE_SCALE SUM_SCALE ORIGIN_QUANTUM COUPLED_REDUCTION COULOMB LARGEST_CHANGE LINEAR);
    constants!("float": FORCE_LIMIT GRID_SCALE BOUNDS_ROUNDING NOWHERE);
    constants!("int": FIRST_TERMS STAR_ITERATIONS);
    text += &BondedLists::table();
    text += "constexpr u32 SLOT_MASK = (1u << SLOT_BITS) - 1;\n";
    for structure in [
        Lattice::declaration(),
        Status::declaration(),
        Counts::declaration(),
        Rescaling::declaration(),
        BoxScaling::declaration(),
        Smooth::declaration(),
        BondedLists::declaration(),
        CmapTerm::declaration(),
        Pair14Term::declaration(),
        ExcludedTerm::declaration(),
        WaterUnit::declaration(),
        ShakeUnit::declaration(),
        ChainUnit::declaration(),
        ChainBond::declaration(),
        ChainAtom::declaration(),
        Arguments::declaration(),
    ] {
        text += &structure;
    }
    text
}
