//! Costs of pair lists on a CPU and on a GPU, relative to the forces of a pair.

/// Costs of the operations on pair lists, from which the fastest lifetimes are estimated.
#[derive(Clone, Copy)]
pub(super) struct Costs {
    /// cost of pruning one slot (atom pair) of the outer list, relative to the forces of one slot of the inner list
    pub(super) prune: f64,
    /// cost of finding one slot in the pair search, relative to the forces of one slot of the inner list
    pub(super) search: f64,
    /// cost of a slot beyond the Coulomb cutoff, with only Lennard-Jones interactions, relative to a slot within the
    /// Coulomb cutoff
    pub(super) far: f64,
    /// cost of a slot of the inner list with switched Lennard-Jones interactions, relative to a slot without a switch
    pub(super) switched: f64,
    /// effective increase of the list radius (nm) due to cluster pairs: the number of slots of a list with radius r
    /// equals the number of atom pairs within r + `reach`
    pub(super) reach: f64,
    /// clock cycles for a slot of the inner list
    pub(super) cycles: f64,
}

/// Costs on a CPU, measured on Zen 4 with AVX-512; `far` was measured on DHFR. `switched` is a ratio of instruction
/// counts with AVX2: 1.22 for the force switch, and 1.33 for the potential switch.
pub(super) const CPU: Costs = Costs { prune: 0.56, search: 2.4, far: 0.4, switched: 1.25, reach: 0.25, cycles: 2.8 };
/// Costs for lists of single j-atoms against i-blocks of 32 atoms, as on a GPU. **Estimates, never measured**: the
/// costs were derived from the source of the kernels, for a system of some 10⁴ atoms on a large GPU, where a step takes
/// 50 µs:
///
/// - `cycles`: a lane needs 53 instructions for a pair, at one cycle per instruction, or 57 instructions if some pairs
///   of the tile do not interact;
/// - `prune`: a distance test takes 8 instructions per slot, whereas the forces of a pair take 57 instructions; copying
///   and two kernel launches take as long as the distance tests;
/// - `search`: the pair search takes 60 instructions per slot of the list, because it computes distances of three times
///   as many slots and tests bounding boxes and exclusions. A dozen kernel launches and the transfer of the list length
///   to the host take 100 µs, which is three times as long as the forces of the pairs;
/// - `far`: the kernel computes both interactions in one branch, so that slots beyond the Coulomb cutoff are not
///   cheaper;
/// - `switched`: the additional instructions of kernels with a switch are neglected;
/// - `reach`: a cube of 32 atoms of a liquid is 0.68 nm wide. For r from 0.9 to 1.2 nm, the number of atoms within r of
///   a cube of 32 atoms equals the number of atoms in a sphere of radius r + `reach`.
pub(super) const GPU: Costs = Costs { prune: 0.3, search: 4.0, far: 1.0, switched: 1.0, reach: 0.487, cycles: 57.0 };
