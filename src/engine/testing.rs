//! Helpers for the unit tests of the engine and of the main package. The helpers load systems of `tests/systems`
//! together with settings and pair lists, and run ranks as threads of one process.

use crate::backend::cuda::{Cuda, Device, Emulated};
use crate::backend::{Backend, Requested, Serving, Workload};
use crate::cell::{PeriodicCell, displacement};
use crate::constraint::{ConstraintKind, ConstraintPlan, derive};
use crate::ensemble::volume_trial::VolumeTrial;
use crate::format::{read_coordinates, read_topology};
use crate::image::WholeMolecules;
use crate::pair::ListSchedule;
use crate::ranks::Ranks;
use crate::simd::Level;
use crate::system::{
    Atom, Constraint, Constraints, Construction, DispersionCorrection, Electrostatics, Exclusions, ForceSettings,
    ListPolicy, LjModifier, Modifier, Name, Nonbonded, PmeParameters, State, System, Topology, VirtualSite,
};
use crate::team::Team;
use std::path::{Path, PathBuf};

pub(crate) const EVERYTHING: Workload = Workload { energy: true, virial: true, ..Workload::FORCES };

/// Cutoff, nm. The cells of the test systems are a little over 2 nm wide.
const CUTOFF: f64 = 0.9;
/// Cutoff for domain decomposition, nm. The cells are 2 nm wide, and two domains must fit into a cell.
pub(crate) const SHORT_CUTOFF: f64 = 0.45;
/// Buffer of the pair lists, nm.
const BUFFER: f64 = 0.05;

/// Finds a folder of the project, in the folder of this package or in one of its parent folders.
pub(crate) fn folder(name: &str) -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().map(|above| above.join(name)).find(|folder| folder.is_dir()).expect("a folder of the project")
}

/// Test system and its state.
pub(crate) struct Sample {
    pub(crate) system: System,
    pub(crate) state: State,
}

impl Sample {
    /// Loads a system without constraints. Periodic systems use PME.
    pub(crate) fn load(name: &str) -> Self {
        let folder = folder("tests/systems").join(name);
        let amber = read_topology(&folder.join(format!("{name}.prmtop.xz"))).expect("a topology");
        let (atoms, angle) = (amber.topology.atoms.len(), amber.cell_hint.angle_degrees);
        let coordinates =
            read_coordinates(&folder.join(format!("{name}.rst7.xz")), Some(atoms), angle).expect("a restart");
        let cutoff = coordinates.cell.map(|_| CUTOFF);
        let electrostatics = match coordinates.cell {
            Some(_) => Electrostatics::Pme(PmeParameters { alpha: 3.1, grid: [24, 20, 27], order: 5 }),
            None => Electrostatics::Plain,
        };
        let settings = ForceSettings {
            cutoff,
            cutoff_lj: cutoff,
            electrostatics,
            lj_modifier: LjModifier::PotentialShift,
            coulomb_modifier: Modifier::PotentialShift,
            dispersion_correction: DispersionCorrection::AllPairs,
            list: ListPolicy::Exact { buffer: BUFFER },
        };
        // settings without potential shifts, for systems without a cutoff
        let unshifted = ForceSettings { lj_modifier: LjModifier::None, coulomb_modifier: Modifier::None, ..settings };
        let settings = if cutoff.is_some() { settings } else { unshifted };
        let velocities = coordinates.velocities.unwrap_or_else(|| vec![Default::default(); atoms]);
        let state = State { cell: coordinates.cell, positions: coordinates.positions, velocities, ..State::default() };
        let constraints = Constraints::default();
        Sample { system: System { topology: amber.topology, nonbonded: amber.nonbonded, constraints, settings }, state }
    }

    /// Loads a system with a longer cutoff (nm), in a cubic cell with room for the cutoff. The molecules are a droplet
    /// in the cell.
    pub(crate) fn with_cutoff(name: &str, cutoff: f64) -> Self {
        let mut sample = Sample::load(name);
        if let Some(cell) = sample.state.cell {
            WholeMolecules::of(&sample.system.topology).make_whole(&cell, &mut sample.state.positions);
        }
        sample.state.cell = Some(PeriodicCell::orthorhombic([2.0 * cutoff + 0.5; 3]));
        let settings = &mut sample.system.settings;
        (settings.cutoff, settings.cutoff_lj) = (Some(cutoff), Some(cutoff));
        // the product of α and the cutoff is that of the other samples
        let alpha = 3.1 * CUTOFF / cutoff;
        settings.electrostatics = Electrostatics::Pme(PmeParameters { alpha, grid: [32; 3], order: 5 });
        sample
    }

    /// Keeps the molecules near the first atom, at the same positions in the same cell. `radius` (nm) is the maximum
    /// distance of the first atom of a molecule from the first atom of the system.
    pub(crate) fn droplet(mut self, radius: f64) -> Self {
        let (topology, state) = (&self.system.topology, &self.state);
        let (molecules, center) = (topology.molecules(), state.positions[0]);
        let first = |m: &usize| state.positions[molecules.atoms(*m)[0] as usize];
        let is_near = |m: &usize| displacement(state.cell.as_ref(), first(m) - center).norm() <= radius;
        let mut atoms: Vec<u32> =
            (0..molecules.len()).filter(is_near).flat_map(|m| molecules.atoms(m)).copied().collect();
        atoms.sort_unstable();
        let place = |atom: u32| atoms.binary_search(&atom).ok().map(|place| place as u32);
        let kept = |atom: u32| place(atom).expect("an atom of a molecule that is kept");
        let mut droplet = topology.subset(&atoms);
        let pairs = topology.exclusions.pairs().filter_map(|[i, j]| Some([place(i)?, place(j)?]));
        droplet.exclusions = Exclusions::from_pairs(atoms.len(), pairs);
        droplet.bonded.cmap_grids.clone_from(&topology.bonded.cmap_grids);
        droplet.bonded.append_those(&topology.bonded, |atoms| place(atoms[0]).is_some(), kept);
        for site in topology.virtual_sites.iter().filter(|site| place(site.site).is_some()) {
            let mut site = VirtualSite { site: kept(site.site), ..site.clone() };
            site.construction.atoms_mut().iter_mut().for_each(|atom| *atom = kept(*atom));
            droplet.virtual_sites.push(site);
        }
        let [positions, velocities] =
            [&state.positions, &state.velocities].map(|all| atoms.iter().map(|&atom| all[atom as usize]).collect());
        (self.state.positions, self.state.velocities) = (positions, velocities);
        self.system.topology = droplet;
        self
    }

    /// Returns water with one virtual site per molecule. Successive molecules use all constructions of virtual sites in
    /// turn. One of the constructions uses an atom of the next molecule.
    pub(crate) fn with_every_kind_of_site() -> Self {
        let mut sample = Sample::load("tip4pew");
        let molecules = sample.system.topology.virtual_sites.len() as u32;
        for (number, site) in (0..molecules).zip(&mut sample.system.topology.virtual_sites) {
            let &[o, h, g] = site.construction.atoms() else {
                panic!("virtual sites of TIP4P-Ew are averages of three atoms")
            };
            let (atoms, beyond) = ([o, h, g], (4 * number + 4) % (4 * molecules));
            let frame = vec![[0.8, -1.0, 0.0], [0.1, 0.4, -0.9], [0.1, 0.6, 0.9]];
            site.construction = match number % 9 {
                0 => Construction::Average2 { atoms: [o, h], weights: [0.8, 0.2] },
                1 => Construction::Average3 { atoms, weights: [0.6, 0.3, 0.1] },
                2 => Construction::Average { atoms: vec![h, o, g], weights: vec![0.1, 0.85, 0.05] },
                3 => Construction::FixedDistance2 { atoms: [o, h], distance: 0.015 },
                4 => Construction::FixedDistance3 { atoms, weight: 0.4, distance: 0.012 },
                5 => Construction::FixedAngle3 { atoms, angle: 1.1, distance: 0.02 },
                6 => Construction::OutOfPlane { atoms, weights: [0.1, 0.2], cross: 1.5 },
                7 => Construction::FixedDistance4 { atoms: [o, h, g, beyond], weights: [0.9, 0.8], distance: 0.01 },
                _ => {
                    Construction::LocalFrame { atoms: atoms.to_vec(), weights: frame, position: [0.01, -0.005, 0.003] }
                }
            };
        }
        sample
    }

    /// Returns water with two virtual sites per molecule, the second of which is constructed from the first site and
    /// two atoms.
    pub(crate) fn with_sites_of_sites() -> Self {
        let mut sample = Sample::load("tip5p");
        for pair in sample.system.topology.virtual_sites.chunks_mut(2) {
            let (first, [o, h, _]) = (pair[0].site, pair[1].construction.atoms()) else {
                panic!("virtual sites of TIP5P are constructed from three atoms")
            };
            let atoms = [*o, first, *h];
            pair[1].construction = Construction::OutOfPlane { atoms, weights: [-0.5, 0.3], cross: 2.0 };
        }
        sample
    }

    /// Makes waters rigid and constrains bonds with hydrogen. The positions are changed to satisfy the constraints.
    pub(crate) fn rigid(self) -> Self {
        let constraints = derive(&self.system.topology, ConstraintKind::HBonds, true).expect("constraints");
        self.constrained(constraints)
    }

    /// Makes waters rigid and constrains all bonds. In every molecule other than water the constraints form one cluster
    /// of coupled constraints.
    pub(crate) fn all_bonds(self) -> Self {
        let constraints = derive(&self.system.topology, ConstraintKind::AllBonds, true).expect("constraints");
        self.constrained(constraints)
    }

    /// Makes waters rigid and constrains all bonds and angles with hydrogen.
    pub(crate) fn h_angles(self) -> Self {
        let constraints = derive(&self.system.topology, ConstraintKind::HAngles, true).expect("constraints");
        self.constrained(constraints)
    }

    /// Adds constraints, and makes positions and velocities satisfy them.
    pub(crate) fn constrained(mut self, constraints: Constraints) -> Self {
        self.system.constraints = constraints;
        let masses: Vec<f64> = self.system.topology.atoms.iter().map(|atom| atom.mass).collect();
        let plan = ConstraintPlan::new(&self.system.constraints, &masses).expect("a plan");
        let reference = self.state.positions.clone();
        plan.satisfy(&reference, &mut self.state.positions).expect("distances near their lengths");
        plan.project(&self.state.positions, &mut self.state.velocities).expect("velocities");
        self
    }

    pub(crate) fn schedule(&self) -> ListSchedule {
        let settings = &self.system.settings;
        let cutoff = |value: Option<f64>| value.unwrap_or(f64::INFINITY);
        let radius = cutoff(settings.cutoff).max(cutoff(settings.cutoff_lj)) + BUFFER;
        ListSchedule { rebuild: 10, prune: 5, outer: radius + BUFFER, inner: radius, lookahead: 0.0 }
    }

    /// Returns the system on an emulated GPU, with pair lists.
    pub(crate) fn emulated(&self, order: u32) -> Cuda<Emulated> {
        self.on(Emulated::new(order))
    }

    /// Returns the system on a device, with pair lists.
    pub(crate) fn on<D: Device>(&self, device: D) -> Cuda<D> {
        let mut cuda = Cuda::new(&self.system, device, &self.schedule()).expect("a supported system");
        cuda.upload(&self.state).expect("a state");
        cuda.build_lists().unwrap();
        cuda.prune_lists(0.0).unwrap();
        cuda
    }
}

/// Schedule of pair lists with a buffer so large that the lists stay valid after a volume move of [`volume_trial`].
pub(crate) const TRIAL_LISTS: ListSchedule =
    ListSchedule { rebuild: 50, prune: 5, outer: 1.0, inner: 0.91, lookahead: 0.0 };

/// Returns a Monte Carlo volume move along x and y, whose change is a fifth of the maximum change Δ.
pub(crate) fn volume_trial(threshold: f64) -> VolumeTrial {
    VolumeTrial {
        extent: 1,
        directions: [true, true, false],
        pressure: 0.06,
        surface_tension: 1.0,
        compressibility: 7.5e-4,
        kt: 2.5,
        change: 0.2,
        threshold,
        timestep: 0.002,
    }
}

/// Returns the backend of a rank that computes forces for rank 0, with the work split into two chunks.
pub(crate) fn serving(ranks: Ranks) -> Serving {
    Serving { ranks, parts: 2, level: Level::Portable, team: Team::single() }
}

/// Loads a system with a short cutoff at which all forces are continuous, so that results do not depend on whether a
/// pair exactly at the cutoff is counted.
pub(crate) fn divisible(name: &str) -> Sample {
    with_short_cutoff(Sample::load(name).rigid())
}

/// Returns a system with the settings of [`divisible`].
pub(crate) fn with_short_cutoff(mut sample: Sample) -> Sample {
    let settings = &mut sample.system.settings;
    (settings.cutoff, settings.cutoff_lj) = (Some(SHORT_CUTOFF), Some(SHORT_CUTOFF));
    settings.lj_modifier = LjModifier::PotentialSwitch { from: 0.8 * SHORT_CUTOFF };
    settings.electrostatics = Electrostatics::Pme(PmeParameters { alpha: 6.0, grid: [48, 40, 54], order: 6 });
    sample
}

/// Returns a system of `atoms` equal atoms without interactions. The atoms of each pair are bonded and constrained.
pub(crate) fn linked_atoms(atoms: usize, pairs: &[[u32; 2]]) -> System {
    let atom = Atom {
        name: Name::default(),
        type_name: Name::default(),
        element: 0,
        mass: 1.0,
        charge: 0.0,
        lj_type: 0,
        residue: 0,
    };
    System {
        topology: Topology {
            atoms: vec![atom; atoms],
            exclusions: Exclusions::from_pairs(atoms, []),
            connectivity: pairs.to_vec(),
            ..Topology::default()
        },
        nonbonded: Nonbonded { types: 1, ..Nonbonded::default() },
        constraints: Constraints {
            bonds: pairs.iter().map(|&atoms| Constraint { atoms, length: 0.1 }).collect(),
            ..Constraints::default()
        },
        settings: ForceSettings {
            cutoff: None,
            cutoff_lj: None,
            electrostatics: Electrostatics::Off,
            lj_modifier: LjModifier::None,
            coulomb_modifier: Modifier::None,
            dispersion_correction: DispersionCorrection::Off,
            list: ListPolicy::Exact { buffer: 0.0 },
        },
    }
}

/// Runs `work` on rank 0 of `count` ranks, while the other ranks compute the forces that rank 0 requests.
pub(crate) fn on_ranks<R: Send>(count: usize, work: impl Fn(&Serving) -> R + Sync) -> R {
    let done = Ranks::threads(count, |ranks| {
        let serving = serving(ranks);
        if serving.ranks.is_first() {
            let result = work(&serving);
            Serving::release(&serving.ranks);
            return Some(result);
        }
        serving.serve(Requested::default);
        None
    });
    done.into_iter().flatten().next().expect("the first rank")
}
