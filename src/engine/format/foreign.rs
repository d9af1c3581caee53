//! Table of the formats that `md` recognises but does not read, with advice for each of them.

use super::prmtop;
use crate::error::Problem;

/// A format that `md` does not read.
struct Foreign {
    /// name of the files of this format in messages, in the plural
    name: &'static str,
    /// function that recognises a file of this format by its first unpacked bytes
    recognises: fn(&[u8]) -> bool,
    /// advice for the user of such a file
    advice: &'static str,
}

/// All formats that are recognised but not read.
const FOREIGN: [Foreign; 11] = [
    Foreign {
        name: "GROMACS run input files (tpr)",
        recognises: is_run_input,
        advice: "use the topology (top) that grompp read, and for trajectories also a structure: gmx editconf -f \
                 run.tpr -o run.gro",
    },
    Foreign {
        name: "GROMACS checkpoints (cpt)",
        // `CPT_MAGIC1` in `checkpoint.cpp` of GROMACS 2022
        recognises: |bytes| bytes.starts_with(&171_817_i32.to_be_bytes()),
        advice: "write its positions and velocities: gmx trjconv -f state.cpt -s run.tpr -o start.gro -ndec 6",
    },
    Foreign {
        name: "GROMACS energy files (edr)",
        // `do_enxnms` in `enxio.cpp` of GROMACS 2022
        recognises: |bytes| bytes.starts_with(&(-55_555_i32).to_be_bytes()),
        advice: "write terms as text: gmx energy -f ener.edr -o energy.xvg",
    },
    Foreign {
        name: "TNG trajectories",
        recognises: is_tng,
        advice: "convert the trajectory: gmx trjconv -f traj.tng -o traj.xtc",
    },
    Foreign {
        name: "AMBER topologies in the format before AMBER 7 (without %FLAG)",
        recognises: prmtop::is_old_topology,
        advice: "write the file again with ParmEd: parmed OLD, then the command outparm NEW",
    },
    Foreign {
        name: "AMBER trajectories as text (mdcrd)",
        recognises: is_mdcrd,
        advice: "convert the trajectory with cpptraj: parm TOPOLOGY, trajin FILE, trajout traj.nc",
    },
    Foreign {
        name: "LAMMPS dumps",
        recognises: |bytes| bytes.starts_with(b"ITEM: TIMESTEP"),
        advice: "convert the trajectory, for example with VMD or MDAnalysis, to XTC or DCD",
    },
    Foreign {
        name: "XYZ files",
        recognises: is_xyz,
        advice: "convert a structure to PDB: obabel FILE.xyz -O FILE.pdb; convert a trajectory, for example with VMD or \
                 MDAnalysis, to XTC or DCD",
    },
    Foreign {
        name: "Tripos files (mol2)",
        recognises: |bytes| lines(bytes).any(|line| line.starts_with(b"@<TRIPOS>MOLECULE")),
        advice: "make a topology and coordinates of the molecule, for example with antechamber and tleap",
    },
    Foreign {
        name: "MDL files (mol, sdf)",
        recognises: |bytes| lines(bytes).nth(3).is_some_and(is_counts_of_mdl),
        advice: "make a topology and coordinates of the molecule, for example with antechamber and tleap",
    },
    Foreign {
        name: "binary PDBx/mmCIF files (bcif)",
        recognises: is_binary_cif,
        advice: "download the entry as text (cif)",
    },
];

/// Number of bytes at the beginning of a file in which the marks of a format are searched.
const BEGINNING: usize = 4096;

/// Whether the bytes are those of a GROMACS run input file (tpr). A run input file begins with one or two integers in
/// XDR format (text lengths), followed by a text `VERSION …`.
fn is_run_input(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0, 0, 0])
        && [4, 8].iter().any(|&at| bytes.get(at..).is_some_and(|text| text.starts_with(b"VERSION")))
}

/// Whether the bytes are those of a TNG trajectory. The header of its first block has three integers of 64 bits and a
/// checksum of 16 bytes, followed by the name of the block (M. Lundborg et al., J. Comput. Chem. 2014, 35, 260,
/// doi:10.1002/jcc.23495).
fn is_tng(bytes: &[u8]) -> bool {
    bytes.get(40..).is_some_and(|name| name.starts_with(b"GENERAL INFO\0"))
}

/// Whether the bytes are those of an AMBER trajectory as text: a title, followed by lines of numbers in the Fortran
/// format 10F8.3.
fn is_mdcrd(bytes: &[u8]) -> bool {
    let is_number = |field: &[u8]| {
        field.len() == 8
            && field[4] == b'.'
            && std::str::from_utf8(field).is_ok_and(|text| text.trim().parse::<f64>().is_ok())
    };
    let line = lines(bytes).nth(1).map(<[u8]>::trim_ascii_end);
    line.is_some_and(|line| (8..=80).contains(&line.len()) && line.chunks(8).all(is_number))
}

/// Whether the bytes are those of an XYZ file: the number of atoms, a comment, and for each atom an element and three
/// numbers.
fn is_xyz(bytes: &[u8]) -> bool {
    let mut lines = lines(bytes).map(|line| std::str::from_utf8(line).unwrap_or_default().trim());
    let counts = lines.next().is_some_and(|line| line.parse::<u32>().is_ok());
    let atom: Vec<&str> = lines.nth(1).unwrap_or_default().split_whitespace().collect();
    let is_element = |text: &str| text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.len() <= 4;
    counts && atom.len() >= 4 && is_element(atom[0]) && atom[1..4].iter().all(|text| text.parse::<f64>().is_ok())
}

/// Whether a line is the line of counts of an MDL file, which ends with the version of the format.
fn is_counts_of_mdl(line: &[u8]) -> bool {
    [b"V2000", b"V3000"].iter().any(|version| line.trim_ascii_end().ends_with(*version))
}

/// Whether the bytes are those of a binary CIF file: a MessagePack map of three elements, of which one is `dataBlocks`
/// (D. Sehnal et al., PLoS Comput. Biol. 2020, 16, e1008247, doi:10.1371/journal.pcbi.1008247).
fn is_binary_cif(bytes: &[u8]) -> bool {
    let has = |key: &[u8]| bytes.windows(key.len()).any(|window| window == key);
    bytes.first() == Some(&0x83) && (has(b"dataBlocks") || has(b"encoder"))
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|&byte| byte == b'\n')
}

/// Returns the problem of a file with these unpacked bytes if `md` recognises the format but does not read it.
pub fn foreign(bytes: &[u8]) -> Option<Problem> {
    let beginning = &bytes[..bytes.len().min(BEGINNING)];
    let found = FOREIGN.iter().find(|format| (format.recognises)(beginning))?;
    Some(Problem::new(format!("md does not read {}", found.name)).help(found.advice))
}
