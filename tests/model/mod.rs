//! Test systems that are built in code: a salt crystal, and a box of five-atom chains with every kind of energy term.

use md::cell::PeriodicCell;
use md::rng::{Purpose, Stream};
use md::system::{
    Angle, Atom, Bond, Cmap, CmapGrid, Constraints, DispersionCorrection, Electrostatics, Exclusions, ForceSettings,
    G96Angle, G96Bond, HarmonicImproper, ListPolicy, LjModifier, Modifier, Name, Nonbonded, Pair14, Residue,
    RyckaertBellemans, System, Topology, Torsion,
};
use md::vec3::{Vec3, vec3};

/// Random number stream of one test.
pub(crate) fn random(seed: u64) -> Stream {
    Stream::new(seed, Purpose::Test, 0, 0)
}

/// A vector with components between −half and half.
pub(crate) fn random_vector(random: &mut Stream, half: f64) -> Vec3 {
    Vec3::from([(); 3].map(|()| random.between(-half, half)))
}

/// A system with its positions (nm) and cell.
#[derive(Clone)]
pub(crate) struct Model {
    pub(crate) system: System,
    pub(crate) positions: Vec<Vec3>,
    pub(crate) cell: PeriodicCell,
}

fn settings(cutoff: f64) -> ForceSettings {
    ForceSettings {
        cutoff: Some(cutoff),
        cutoff_lj: Some(cutoff),
        electrostatics: Electrostatics::Off,
        lj_modifier: LjModifier::PotentialShift,
        coulomb_modifier: Modifier::PotentialShift,
        dispersion_correction: DispersionCorrection::Off,
        list: ListPolicy::Exact { buffer: 0.1 },
    }
}

fn atom(charge: f64, lj_type: u32, residue: u32) -> Atom {
    Atom { name: Name::new("X"), type_name: Name::new("X"), element: 6, mass: 12.0, charge, lj_type, residue }
}

fn system(topology: Topology, nonbonded: Nonbonded, cutoff: f64) -> System {
    System { topology, nonbonded, constraints: Constraints::default(), settings: settings(cutoff) }
}

/// Returns rock salt without Lennard-Jones interactions: `cells`³ unit cells of eight ions ±1 e, with nearest
/// neighbours `distance` nm apart.
pub(crate) fn rock_salt(cells: usize, distance: f64, cutoff: f64) -> Model {
    let n = 2 * cells;
    let places = (0..n * n * n).map(|i| [i / (n * n), i / n % n, i % n]);
    let positions = places.clone().map(|p| vec3(p[0] as f64, p[1] as f64, p[2] as f64) * distance).collect();
    let charge = |p: [usize; 3]| if p.iter().sum::<usize>() % 2 == 0 { 1.0 } else { -1.0 };
    let topology = Topology { atoms: places.map(|p| atom(charge(p), 0, 0)).collect(), ..Topology::default() };
    let nonbonded = Nonbonded { types: 1, c6: vec![0.0], c12: vec![0.0], ..Default::default() };
    let topology = Topology { exclusions: Exclusions::from_pairs(topology.atoms.len(), []), ..topology };
    Model {
        system: system(topology, nonbonded, cutoff),
        positions,
        cell: PeriodicCell::orthorhombic([n as f64 * distance; 3]),
    }
}

/// Number of atoms per chain.
const CHAIN: u32 = 5;

/// Returns 27 chains in a triclinic cell, with a net charge of 0.27 e. The caller must set the Coulomb method.
pub(crate) fn chains() -> Model {
    let mut random = random(2024);
    let cell = PeriodicCell::from_lengths_angles([2.5, 2.6, 2.4], [80.0, 75.0, 95.0]).expect("a cell");
    let mut topology = Topology::default();
    let (mut positions, mut excluded) = (vec![], vec![]);
    for molecule in 0..27u32 {
        let corner = [molecule / 9, molecule / 3 % 3, molecule % 3].map(f64::from);
        let mut r = cell.to_cartesian(vec3(corner[0], corner[1], corner[2]) / 3.0);
        let first = molecule * CHAIN;
        topology.residues.push(Residue { name: Name::new("CHN"), number: molecule as i32 + 1, first });
        for (index, charge) in [0.4, -0.6, 0.5, -0.5, 0.21].into_iter().enumerate() {
            topology.atoms.push(atom(charge, index as u32 % 2, molecule));
            positions.push(r);
            // zigzag with some disorder, so that no angle is near straight
            let side = if index % 2 == 0 { 0.07 } else { -0.07 };
            r += vec3(0.11, side, 0.03 * index as f64 - 0.05) + random_vector(&mut random, 0.02);
        }
        bond_chain(&mut topology, first, &mut random);
        excluded.extend((0..CHAIN).flat_map(|i| (i + 1..(i + 4).min(CHAIN)).map(move |j| [first + i, first + j])));
    }
    topology.bonded.cmap_grids =
        vec![CmapGrid { size: 24, energies: (0..24 * 24).map(|_| random.between(-4.0, 4.0)).collect() }];
    topology.exclusions = Exclusions::from_pairs(topology.atoms.len(), excluded);
    let nonbonded = Nonbonded {
        types: 2,
        c6: vec![2e-3, 1e-3, 1e-3, 5e-4],
        c12: vec![1e-7, 8e-8, 8e-8, 5e-8],
        ..Default::default()
    };
    Model { system: system(topology, nonbonded, 0.9), positions, cell }
}

fn bond_chain(topology: &mut Topology, first: u32, random: &mut Stream) {
    let at = |i: u32| first + i;
    let bonded = &mut topology.bonded;
    for i in 0..CHAIN - 1 {
        bonded.bonds.push(Bond { atoms: [at(i), at(i + 1)], length: 0.13, force_constant: 2e5 });
        bonded.g96_bonds.push(G96Bond { atoms: [at(i), at(i + 1)], length: 0.14, force_constant: 5e6 });
    }
    for i in 0..CHAIN - 2 {
        bonded.angles.push(Angle { atoms: [at(i), at(i + 1), at(i + 2)], angle: 1.9, force_constant: 400.0 });
        bonded.g96_angles.push(G96Angle { atoms: [at(i), at(i + 1), at(i + 2)], angle: 2.0, force_constant: 500.0 });
        bonded.urey_bradleys.push(Bond { atoms: [at(i), at(i + 2)], length: 0.24, force_constant: 1e4 });
    }
    for i in 0..CHAIN - 3 {
        let atoms = [at(i), at(i + 1), at(i + 2), at(i + 3)];
        let phase = random.between(-3.0, 3.0);
        bonded.propers.push(Torsion { atoms, periodicity: 3, phase, force_constant: 5.0 });
        bonded
            .ryckaert_bellemans
            .push(RyckaertBellemans { atoms, coefficients: [9.3, 12.2, -13.1, -3.1, 26.2, -31.5] });
        bonded.impropers.push(Torsion { atoms, periodicity: 2, phase, force_constant: 8.0 });
        bonded.harmonic_impropers.push(HarmonicImproper { atoms, angle: phase, force_constant: 20.0 });
        bonded.pairs14.push(Pair14 { atoms: [at(i), at(i + 3)], charge_product: -0.2, c6: 1e-4, c12: 2e-9 });
    }
    bonded.cmaps.push(Cmap { atoms: [0, 1, 2, 3, 1, 2, 3, 4].map(at), grid: 0 });
}
