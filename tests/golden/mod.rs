//! Reader of the systems with reference energies and forces.
#![allow(dead_code, reason = "each test program that includes this module uses its own part of it")]

use std::path::{Path, PathBuf};

use md::backend::Evaluation;
use md::cell::PeriodicCell;
use md::format::{read, read_coordinates, read_topology};
use md::system::{
    BondedTerms, Constraints, DispersionCorrection, Electrostatics, ForceSettings, ListPolicy, LjModifier, Modifier,
    PmeParameters, System,
};
use md::team::Team;
use md::vec3::{Vec3, vec3};
use md::virtual_sites::SitePlan;
use serde_json::Value;

/// Folder of a reference system, in this project or next to the checkout of the project.
pub(crate) fn folder(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    ["tests/systems", "../shared/systems", "../../shared/systems"]
        .iter()
        .map(|path| root.join(path).join(name))
        .find(|path| path.is_dir())
}

/// Path of `name` or of one of its compressed forms.
pub(crate) fn file(folder: &Path, name: &str) -> Option<PathBuf> {
    ["", ".xz", ".gz"].iter().map(|suffix| folder.join(format!("{name}{suffix}"))).find(|path| path.exists())
}

/// A reference system as its AMBER files describe it, with all settings except the Coulomb method.
pub(crate) struct Golden {
    /// Topology, tables and settings with which the reference values were computed: cutoff 0.9 nm, plain truncation.
    pub(crate) system: System,
    /// Positions in nm.
    pub(crate) positions: Vec<Vec3>,
    /// Cell with which the reference values were computed. For octahedra the reference used the printed angle of
    /// 109.4712190°, which the reader of md replaces by the exact angle.
    pub(crate) cell: Option<PeriodicCell>,
    /// Contents of `ref.json`.
    pub(crate) reference: Value,
    /// Folder with the files of the system.
    pub(crate) folder: PathBuf,
}

impl Golden {
    /// Reads the system, or explains why it cannot be used here.
    pub(crate) fn load(name: &str) -> Result<Self, String> {
        let folder = folder(name).ok_or_else(|| format!("{name}: no such folder beside this checkout"))?;
        let path = |extension: &str| {
            let name = format!("{name}.{extension}");
            file(&folder, &name).ok_or_else(|| format!("{name} is missing"))
        };
        let amber = read_topology(&path("prmtop")?).map_err(|e| e.to_string())?;
        let atoms = amber.topology.atoms.len();
        let coordinates =
            read_coordinates(&path("rst7")?, Some(atoms), amber.cell_hint.angle_degrees).map_err(|e| e.to_string())?;
        let json = std::fs::read(folder.join("ref.json")).map_err(|e| e.to_string())?;
        let cutoff = coordinates.cell.map(|_| 0.9);
        let settings = ForceSettings {
            cutoff,
            cutoff_lj: cutoff,
            electrostatics: Electrostatics::Plain,
            lj_modifier: LjModifier::None,
            coulomb_modifier: Modifier::None,
            dispersion_correction: DispersionCorrection::AllPairs,
            list: ListPolicy::Exact { buffer: 0.1 },
        };
        let reference: Value = serde_json::from_slice(&json).map_err(|e| e.to_string())?;
        let mut positions = coordinates.positions;
        SitePlan::new(&amber.topology).place(&Team::single(), &mut positions);
        Ok(Self {
            system: System {
                topology: amber.topology,
                nonbonded: amber.nonbonded,
                constraints: Constraints::default(),
                settings,
            },
            positions,
            cell: reference_cell(&reference),
            reference,
            folder,
        })
    }

    /// Names of the cases (Coulomb settings) with reference values, such as `5e-04`.
    pub(crate) fn cases(&self) -> Vec<String> {
        self.reference["cases"].as_object().expect("ref.json has cases").keys().cloned().collect()
    }

    /// Sets the Coulomb method of a case.
    pub(crate) fn choose(&mut self, case: &str) {
        let case = &self.reference["cases"][case];
        self.system.settings.electrostatics = match case["alpha_per_nm"].as_f64() {
            None => Electrostatics::Plain,
            Some(alpha) => Electrostatics::Pme(PmeParameters {
                alpha,
                grid: [0, 1, 2].map(|d| case["grid"][d].as_u64().expect("a grid of three numbers") as usize),
                order: case["spline_order"].as_u64().expect("an order") as usize,
            }),
        };
    }

    /// Number with the name `key` in the reference values of a case; zero if the system does not have such a term.
    pub(crate) fn number(&self, case: &str, key: &str) -> f64 {
        let case = &self.reference["cases"][case];
        case["terms"][key].as_f64().or_else(|| case[key].as_f64()).unwrap_or(0.0)
    }

    /// Keeps only Lennard-Jones interactions, with the switching function `kind` of `switches.json`. Returns the energy
    /// and the dispersion correction (kJ/mol) from `switches.json`.
    pub(crate) fn switch(&mut self, kind: &str) -> [f64; 2] {
        let text = std::fs::read(self.folder.join("switches.json")).expect("a readable file");
        let file: Value = serde_json::from_slice(&text).expect("a file of the build script");
        let from = file["from"].as_f64().expect("a distance");
        let settings = &mut self.system.settings;
        settings.cutoff = file["cutoff"].as_f64();
        settings.cutoff_lj = settings.cutoff;
        settings.electrostatics = Electrostatics::Off;
        settings.lj_modifier = match kind {
            "force-switch" => LjModifier::ForceSwitch { from },
            "potential-switch" => LjModifier::PotentialSwitch { from },
            other => panic!("no switch called {other}"),
        };
        let bonded = &mut self.system.topology.bonded;
        *bonded = BondedTerms { pairs14: std::mem::take(&mut bonded.pairs14), ..BondedTerms::default() };
        ["lj", "dispersion"].map(|key| file[kind][key].as_f64().expect("a number"))
    }

    /// Keeps only Lennard-Jones interactions, with the LJ-PME settings of `lj-pme.json`. Returns the energy (kJ/mol)
    /// from `lj-pme.json`.
    pub(crate) fn lj_pme(&mut self) -> f64 {
        let text = std::fs::read(self.folder.join("lj-pme.json")).expect("a readable file");
        let file: Value = serde_json::from_slice(&text).expect("a file of the build script");
        let settings = &mut self.system.settings;
        settings.cutoff = file["cutoff"].as_f64();
        settings.cutoff_lj = settings.cutoff;
        settings.electrostatics = Electrostatics::Off;
        settings.lj_modifier = LjModifier::PotentialShift;
        settings.dispersion_correction = DispersionCorrection::Pme(PmeParameters {
            alpha: file["alpha"].as_f64().expect("a number"),
            grid: [0, 1, 2].map(|d| file["grid"][d].as_u64().expect("a grid of three numbers") as usize),
            order: file["order"].as_u64().expect("an order") as usize,
        });
        let bonded = &mut self.system.topology.bonded;
        *bonded = BondedTerms { pairs14: std::mem::take(&mut bonded.pairs14), ..BondedTerms::default() };
        file["lj"].as_f64().expect("a number")
    }

    /// Reference forces in kJ/mol/nm, if they are stored.
    pub(crate) fn forces(&self, case: &str) -> Option<Vec<Vec3>> {
        let bytes = read(&file(&self.folder, &format!("forces_{case}.npy"))?).expect("a readable file");
        Some(parse_npy(&bytes))
    }
}

/// Moves forces from virtual sites to the atoms that define the sites, as a run does.
pub(crate) fn spread(system: &System, positions: &[Vec3], evaluation: &mut Evaluation) {
    let mut sites = SitePlan::new(&system.topology);
    evaluation.virial += sites.spread(&Team::single(), positions, &mut evaluation.forces);
}

/// Returns the cell from `box_vectors_nm`; `None` in vacuum.
fn reference_cell(reference: &Value) -> Option<PeriodicCell> {
    let rows = reference["box_vectors_nm"].as_array()?;
    let row = |i: usize| {
        let number = |d: usize| rows[i][d].as_f64().expect("three rows of three numbers");
        vec3(number(0), number(1), number(2))
    };
    Some(PeriodicCell::from_rows([row(0), row(1), row(2)]).expect("reduced lattice vectors"))
}

/// Parses the array of a NumPy file: format 1.0, little-endian f64, three columns.
pub(crate) fn parse_npy(bytes: &[u8]) -> Vec<Vec3> {
    assert!(bytes.starts_with(b"\x93NUMPY\x01"), "NumPy format 1.0");
    let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let text = String::from_utf8_lossy(&bytes[10..header]);
    assert!(text.contains("'<f8'") && text.contains("False"), "row-major f64: {text}");
    let numbers: Vec<f64> =
        bytes[header..].chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes"))).collect();
    numbers.chunks_exact(3).map(|r| vec3(r[0], r[1], r[2])).collect()
}
