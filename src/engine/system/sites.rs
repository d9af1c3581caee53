//! Virtual sites: particles without mass whose positions follow from those of atoms.

/// A virtual site. Its charge and Lennard-Jones type are those of its entry in the list of atoms, where its mass is zero.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct VirtualSite {
    /// the site
    pub site: u32,
    /// how its position follows from those of other atoms
    pub construction: Construction,
}

/// The position of a virtual site, with r_ij = r_j − r_i; i, j, k, l are the atoms in order, which may themselves be virtual
/// sites. Names of GROMACS and OpenMM in brackets.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Construction {
    /// r = Σ w r of two atoms, Σ w = 1 (2; `TwoParticleAverageSite`)
    Average2 {
        /// i, j
        atoms: [u32; 2],
        /// w
        weights: [f64; 2],
    },
    /// r = Σ w r of three atoms, Σ w = 1: in their plane (3; `ThreeParticleAverageSite`)
    Average3 {
        /// i, j, k
        atoms: [u32; 3],
        /// w
        weights: [f64; 3],
    },
    /// r = Σ w r of any number of atoms, Σ w = 1 (n)
    Average {
        /// all of them
        atoms: Vec<u32>,
        /// w, one for each
        weights: Vec<f64>,
    },
    /// r = r_i + d r_ij/|r_ij| (2fd)
    FixedDistance2 {
        /// i, j
        atoms: [u32; 2],
        /// d in nm
        distance: f64,
    },
    /// r = r_i + d s/|s| with s = r_ij + a r_jk: in the plane of the three (3fd)
    FixedDistance3 {
        /// i, j, k
        atoms: [u32; 3],
        /// a
        weight: f64,
        /// d in nm
        distance: f64,
    },
    /// r = r_i + d cos θ r_ij/|r_ij| + d sin θ s/|s| with s = r_jk − r_ij (r_ij·r_jk)/(r_ij·r_ij) (3fad)
    FixedAngle3 {
        /// i, j, k
        atoms: [u32; 3],
        /// θ in rad, between r_ij and the direction from i to the site
        angle: f64,
        /// d in nm
        distance: f64,
    },
    /// r = r_i + a r_ij + b r_ik + c r_ij × r_ik (3out; `OutOfPlaneSite`)
    OutOfPlane {
        /// i, j, k
        atoms: [u32; 3],
        /// a and b
        weights: [f64; 2],
        /// c in 1/nm
        cross: f64,
    },
    /// r = r_i + d s/|s| with s = (a r_ik − r_ij) × (b r_il − r_ij) (4fdn)
    FixedDistance4 {
        /// i, j, k, l
        atoms: [u32; 4],
        /// a and b
        weights: [f64; 2],
        /// d in nm
        distance: f64,
    },
    /// r = o + x p₁ + y p₂ + z p₃ with o = Σ w r, x̂ along Σ u r, ẑ along (Σ u r) × (Σ v r), ŷ = ẑ × x̂
    /// (`LocalCoordinatesSite`)
    LocalFrame {
        /// the atoms of the frame
        atoms: Vec<u32>,
        /// w, u, v of each: sums 1, 0, 0
        weights: Vec<[f64; 3]>,
        /// p in nm
        position: [f64; 3],
    },
}

impl Construction {
    /// The atoms that the position follows from.
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

    /// Atoms and weights, if the position is an average of theirs.
    pub fn average(&self) -> Option<(&[u32], &[f64])> {
        match self {
            Construction::Average2 { atoms, weights } => Some((atoms, weights)),
            Construction::Average3 { atoms, weights } => Some((atoms, weights)),
            Construction::Average { atoms, weights } => Some((atoms, weights)),
            _ => None,
        }
    }

    /// [`Construction::atoms`], to be renumbered.
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
