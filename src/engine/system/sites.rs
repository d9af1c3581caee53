//! Virtual sites: particles without mass whose positions are computed from the positions of atoms.

/// A virtual site. The list of atoms also contains the site, with its charge, its Lennard-Jones type and a mass of
/// zero.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct VirtualSite {
    /// atom number of the site
    pub site: u32,
    /// construction of the position of the site from the positions of atoms
    pub construction: Construction,
}

/// Construction of the position r of a virtual site from the positions r_i to r_l of the atoms i, j, k, l, in this
/// order, with r_ij = r_j − r_i. The atoms i to l may themselves be virtual sites. The names of each construction in
/// GROMACS and OpenMM are in brackets.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Construction {
    /// weighted average r = Σ w r of two atoms, Σ w = 1 (GROMACS 2; `TwoParticleAverageSite`)
    Average2 {
        /// atoms i, j
        atoms: [u32; 2],
        /// weights w
        weights: [f64; 2],
    },
    /// weighted average r = Σ w r of three atoms, Σ w = 1, in the plane of the atoms (GROMACS 3;
    /// `ThreeParticleAverageSite`)
    Average3 {
        /// atoms i, j, k
        atoms: [u32; 3],
        /// weights w
        weights: [f64; 3],
    },
    /// weighted average r = Σ w r of any number of atoms, Σ w = 1 (GROMACS n)
    Average {
        /// all atoms of the average
        atoms: Vec<u32>,
        /// weights w, one for each atom
        weights: Vec<f64>,
    },
    /// site at the distance d from atom i on the line through i and j: r = r_i + d r_ij/|r_ij| (GROMACS 2fd)
    FixedDistance2 {
        /// atoms i, j
        atoms: [u32; 2],
        /// distance d in nm
        distance: f64,
    },
    /// site at the distance d from atom i in the plane of three atoms: r = r_i + d s/|s| with s = r_ij + a r_jk
    /// (GROMACS 3fd)
    FixedDistance3 {
        /// atoms i, j, k
        atoms: [u32; 3],
        /// weight a
        weight: f64,
        /// distance d in nm
        distance: f64,
    },
    /// site at a distance d and an angle θ in the plane of three atoms: r = r_i + d cos θ r_ij/|r_ij| + d sin θ s/|s|
    /// with s = r_jk − r_ij (r_ij·r_jk)/(r_ij·r_ij) (GROMACS 3fad)
    FixedAngle3 {
        /// atoms i, j, k
        atoms: [u32; 3],
        /// angle θ in rad, between r_ij and the direction from i to the site
        angle: f64,
        /// distance d in nm
        distance: f64,
    },
    /// site outside of the plane of three atoms: r = r_i + a r_ij + b r_ik + c r_ij × r_ik (GROMACS 3out;
    /// `OutOfPlaneSite`)
    OutOfPlane {
        /// atoms i, j, k
        atoms: [u32; 3],
        /// weights a and b
        weights: [f64; 2],
        /// coefficient c of the cross product, in 1/nm
        cross: f64,
    },
    /// site at the distance d from atom i, from four atoms: r = r_i + d s/|s| with s = (a r_ik − r_ij) × (b r_il −
    /// r_ij) (GROMACS 4fdn)
    FixedDistance4 {
        /// atoms i, j, k, l
        atoms: [u32; 4],
        /// weights a and b
        weights: [f64; 2],
        /// distance d in nm
        distance: f64,
    },
    /// site in a local frame: r = o + p₁ x̂ + p₂ ŷ + p₃ ẑ with the origin o = Σ w r and the axes x̂ along Σ u r, ẑ
    /// along (Σ u r) × (Σ v r), ŷ = ẑ × x̂ (`LocalCoordinatesSite`)
    LocalFrame {
        /// atoms of the frame
        atoms: Vec<u32>,
        /// weights w, u, v of each atom; the sums of w, u and v over all atoms are 1, 0 and 0
        weights: Vec<[f64; 3]>,
        /// position p in the frame, nm
        position: [f64; 3],
    },
}

impl Construction {
    /// The atoms from which the position of the site is computed.
    pub fn atoms(&self) -> &[u32] {
        match self {
            Construction::Average2 { atoms, .. } | Construction::FixedDistance2 { atoms, .. } => atoms,
            Construction::Average3 { atoms, .. }
            | Construction::FixedDistance3 { atoms, .. }
            | Construction::FixedAngle3 { atoms, .. }
            | Construction::OutOfPlane { atoms, .. } => atoms,
            Construction::FixedDistance4 { atoms, .. } => atoms,
            Construction::Average { atoms, .. } | Construction::LocalFrame { atoms, .. } => atoms,
        }
    }

    /// Atoms and weights, if the position is a weighted average; `None` for other constructions.
    pub fn average(&self) -> Option<(&[u32], &[f64])> {
        match self {
            Construction::Average2 { atoms, weights } => Some((atoms, weights)),
            Construction::Average3 { atoms, weights } => Some((atoms, weights)),
            Construction::Average { atoms, weights } => Some((atoms, weights)),
            _ => None,
        }
    }

    /// Mutable reference to the atoms of [`Construction::atoms`], for renumbering.
    pub fn atoms_mut(&mut self) -> &mut [u32] {
        match self {
            Construction::Average2 { atoms, .. } | Construction::FixedDistance2 { atoms, .. } => atoms,
            Construction::Average3 { atoms, .. }
            | Construction::FixedDistance3 { atoms, .. }
            | Construction::FixedAngle3 { atoms, .. }
            | Construction::OutOfPlane { atoms, .. } => atoms,
            Construction::FixedDistance4 { atoms, .. } => atoms,
            Construction::Average { atoms, .. } | Construction::LocalFrame { atoms, .. } => atoms,
        }
    }
}
