//! The displacements from which a bonded term is computed.

use super::Real;
use crate::vec3::Vec3;

/// Indices of the two atoms of each displacement. A displacement is the position of the first atom minus the position
/// of the second atom. A bond has the displacement r_i − r_j. An angle also has r_k − r_j, and a torsion also has r_l −
/// r_k. A term of N atoms uses the first N − 1 displacements.
pub const DISPLACEMENTS: [[usize; 2]; 3] = [[0, 1], [2, 1], [3, 2]];

/// Positions of the atoms relative to the second atom. The positions are computed from the displacements, and are
/// used for the virial.
#[inline(always)]
pub fn relative_positions<T: Real, const N: usize, const E: usize>(displacements: [Vec3<T>; E]) -> [Vec3<T>; N] {
    let mut positions = [Vec3::splat(T::constant(0.0)); N];
    positions[0] = displacements[0];
    if N > 2 {
        positions[2] = displacements[1];
    }
    if N > 3 {
        positions[3] = displacements[1] + displacements[2];
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::vec3;

    #[test]
    fn displacements_lead_back_to_the_positions() {
        // coordinates are multiples of powers of two, so that no result is rounded
        let atoms = [vec3(0.5, 1.0, 2.0), vec3(-1.0, 0.25, 4.0), vec3(3.0, -2.0, 1.0), vec3(0.0, 8.0, -0.5)];
        let displacements = DISPLACEMENTS.map(|[i, j]| atoms[i] - atoms[j]);
        assert_eq!(relative_positions(displacements), atoms.map(|r| r - atoms[1]));
        assert_eq!(relative_positions([displacements[0]]), [atoms[0] - atoms[1], Vec3::ZERO]);
    }
}
