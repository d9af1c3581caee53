//! Pair interactions: spatial sorting, cluster-pair lists, pruning, buffers, and radial tables.
//!
//! Atoms are sorted into columns along the third lattice vector and cut into blocks of eight slots. The two halves of a
//! block are i-clusters of four slots. A list entry is an i-cluster with the j-blocks near it. A cluster pair (an
//! i-cluster and a j-block) has 4 × 8 atom pairs, which a kernel computes in two steps of sixteen lanes (the layout of
//! GROMACS' 2×MM kernels: Páll & Hess 2013, 10.1016/j.cpc.2013.06.003). Kernels get positions as `f32` offsets from the
//! center of their block, so that rounding does not grow with the cell. Uncharged atoms may be sorted into a second
//! section of columns, for example the oxygens of four-site water. Clusters of the second section are paired only with
//! blocks that have Lennard-Jones interactions, and kernels compute no Coulomb interactions for these clusters. Start
//! reading at [`Grid`], then [`PairList`].

mod buffer;
mod density;
mod exception;
mod exclusion;
mod grid;
mod list;
mod prune;
mod region;
mod root_polynomial;
mod search;
mod smooth;
mod table;
#[cfg(test)]
mod tests;

pub use buffer::{BufferEstimate, ListErrors, ListSchedule};
pub use density::filled_volume;
pub use exception::Marks;
pub use exclusion::SymmetricExclusions;
pub use grid::{BLOCK, CENTRE_QUANTUM, CLUSTER, Grid, NO_ATOM, Tiles};
pub use list::{Entry, ListChunk, LjRows, MaskedPair, PairList, SHIFTS, shift_image, shift_index};
pub use prune::{PruneInput, Reach, prune_chunk};
pub use region::{Region, ZONES};
pub use root_polynomial::{MOST_TERMS, RootPolynomial};
pub use search::{SearchInput, SearchScratch, search_chunk};
pub use smooth::SmoothPart;
pub use table::{Bins, PowerTable, RadialFunction, RadialTable};
