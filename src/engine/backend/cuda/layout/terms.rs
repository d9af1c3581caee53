//! Structures, shared by host and kernels, of bonded terms and update groups.

use crate::backend::Energies;
use crate::backend::cuda::device::{Device, store};
use crate::backend::cuda::shared::{Element, Member, Pointer, members, shared};
use crate::error::Result;
use crate::system::{self, BondedTerm, BondedTerms, bonded_terms};
use bytemuck::{Pod, Zeroable};

/// Number type in which a GPU computes a kind of bonded terms.
pub(in crate::backend::cuda) trait Number: Element {
    /// Rounds a value to this type.
    fn nearest(value: f64) -> Self;
}

impl Number for f64 {
    fn nearest(value: f64) -> Self {
        value
    }
}

impl Number for f32 {
    fn nearest(value: f64) -> Self {
        value as f32
    }
}

/// A term in the table of bonded terms, with N atoms and P parameters. The name of the type in C is `Bonded<T, N, P>`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(in crate::backend::cuda) struct Bonded<T, const N: usize, const P: usize> {
    atoms: [u32; N],
    parameters: [T; P],
}

impl<T: Number, const N: usize, const P: usize> Bonded<T, N, P> {
    /// Converts a bonded term, and rounds its parameters to the precision of the device.
    pub(in crate::backend::cuda) fn new<K: BondedTerm<N, E, P, Number = T>, const E: usize>(term: &K) -> Self {
        const { assert!(size_of::<Self>() == N * size_of::<u32>() + P * size_of::<T>(), "no padding") };
        Bonded { atoms: term.atoms(), parameters: term.parameters().map(T::nearest) }
    }
}

// SAFETY: zeros are valid numbers
unsafe impl<T: Zeroable, const N: usize, const P: usize> Zeroable for Bonded<T, N, P> {}
// SAFETY: the structure consists of arrays of numbers without padding, as `new` asserts
unsafe impl<T: Pod, const N: usize, const P: usize> Pod for Bonded<T, N, P> {}

impl<T: Number, const N: usize, const P: usize> Element for Bonded<T, N, P> {
    fn c() -> String {
        format!("Bonded<{}, {N}, {P}>", T::c())
    }
}

macro_rules! define_bonded_lists {
    ($($(#[$doc:meta])* $energy:ident {
        $($list:ident: $Term:ident($n:literal, $e:literal, $p:literal) $name:literal),+
    })*) => {
        shared! {
            /// Arrays of bonded terms, one for each list in the table of bonded terms.
            BondedLists {
                $($($list: Pointer<Bonded<<system::$Term as BondedTerm<$n, $e, $p>>::Number, $n, $p>>,)+)*
            }
        }

        /// Number of lists of bonded terms.
        pub(in crate::backend::cuda) const BONDED_LISTS: u32 = [$($(stringify!($list)),+),*].len() as u32;

        impl BondedLists {
            /// Uploads all lists and returns their lengths.
            pub(in crate::backend::cuda) fn store(
                device: &impl Device,
                terms: &BondedTerms,
            ) -> Result<(Self, [usize; BONDED_LISTS as usize])> {
                let lists = BondedLists {
                    $($($list: store(device, &terms.$list.iter().map(Bonded::new).collect::<Vec<_>>())?,)+)*
                };
                Ok((lists, [$($(terms.$list.len()),+),*]))
            }

            /// Adds the energies of the lists to `energies`; `sum` returns the energy of the list with a given
            /// number.
            pub(in crate::backend::cuda) fn add_energies(energies: &mut Energies, sum: impl Fn(u32) -> f64) {
                let mut lists = 0..;
                $($(
                    let _ = stringify!($list);
                    energies.$energy += lists.next().map_or(0.0, &sum);
                )+)*
            }

            /// Returns the name (for messages) of a list of bonded terms that is not empty but has no kernel.
            pub(in crate::backend::cuda) fn unsupported(terms: &BondedTerms) -> Option<&'static str> {
                let lists =
                    [$($((<system::$Term as BondedTerm<$n, $e, $p>>::KERNEL, terms.$list.len(), $name)),+),*];
                lists.into_iter().find(|(kernel, length, _)| kernel.is_none() && *length > 0).map(|(.., name)| name)
            }

            /// Returns the definition of the C macro `BONDED_LISTS_TABLE(ROW)`, which applies `ROW` to the number, the
            /// name and the formula of each list with a kernel.
            pub(in crate::backend::cuda) fn table() -> String {
                let rows = [$($((stringify!($list), <system::$Term as BondedTerm<$n, $e, $p>>::KERNEL)),+),*];
                let row = |(number, (list, kernel)): (usize, &(&str, Option<&str>))| {
                    kernel.map(|formula| format!(" ROW({number}, {list}, {formula})"))
                };
                let rows: String = rows.iter().enumerate().filter_map(row).collect();
                format!("#define BONDED_LISTS_TABLE(ROW){rows}\n")
            }
        }
    };
}
bonded_terms!(define_bonded_lists);
members!(BondedLists);

shared! {
    /// Correction-map (CMAP) term.
    CmapTerm {
        atoms: [u32; 8],
        /// index of the first grid square of the term's correction map
        first_patch: u32,
        /// number of grid points per angle
        size: u32,
    }
}

shared! {
    /// Scaled 1-4 pair.
    Pair14Term {
        atoms: [u32; 2],
        /// product of the two charges and Coulomb's constant, kJ nm/mol
        charge_product: f32,
        c6: f32,
        c12: f32,
    }
}

shared! {
    /// Excluded pair, for the Ewald correction.
    ExcludedTerm {
        atoms: [u32; 2],
        /// product of the two charges and Coulomb's constant, kJ nm/mol
        charge_product: f64,
    }
}

shared! {
    /// Rigid water, for SETTLE.
    SettleWater {
        atoms: [u32; 3],
        unused: u32,
        /// lengths O–H and H–H in nm
        oh: f64,
        hh: f64,
    }
}

shared! {
    /// SHAKE cluster: constraints between a center and up to four leaves.
    ShakeCluster {
        /// the center, then the leaves
        atoms: [u32; 5],
        unused: u32,
        /// constraint lengths from the center to each leaf, nm
        lengths: [f64; 4],
    }
}

shared! {
    /// Cluster of coupled constraints: ranges of its constraints and atoms.
    CoupledCluster {
        first_constraint: u32,
        constraints: u32,
        first_atom: u32,
        atoms: u32,
    }
}

shared! {
    /// Coupled constraint.
    CoupledConstraint {
        /// indices of the [`CoupledAtom`]s at the two ends of the constraint
        ends: [u32; 2],
        /// constraint length, nm
        length: f64,
    }
}

shared! {
    /// Atom with coupled constraints.
    CoupledAtom {
        atom: u32,
        /// index of the first constraint end of this atom; the last constraint end of this atom precedes the first
        /// constraint end of the next atom
        first_end: u32,
    }
}
