//! A small valid AMBER topology with coordinates: a butane-like chain of four atoms with a torsion and an improper, and
//! one water.

/// Topology of seven atoms in two residues, with every section that an AMBER force field needs.
pub(crate) const PRMTOP: &str = "\
%VERSION  VERSION_STAMP = V0001.000  DATE = 01/01/00  00:00:00
%FLAG TITLE
%FORMAT(20a4)
chain and water
%FLAG POINTERS
%FORMAT(10I8)
       7       3       3       3       0       2       0       2       0       0
      12       2       3       2       2       3       1       2       1       0
       0       0       0       0       0       0       0       1       4       0
       0
%FLAG ATOM_NAME
%FORMAT(20a4)
C1  C2  C3  C4  O   H1  H2
%FLAG CHARGE
%FORMAT(5E16.8)
  1.82223000E+00 -1.82223000E+00  1.82223000E+00 -1.82223000E+00 -1.51973982E+01
  7.59869910E+00  7.59869910E+00
%FLAG ATOMIC_NUMBER
%FORMAT(10I8)
       6       6       6       6       8       1       1
%FLAG MASS
%FORMAT(5E16.8)
  1.20100000E+01  1.20100000E+01  1.20100000E+01  1.20100000E+01  1.60000000E+01
  1.00800000E+00  1.00800000E+00
%FLAG ATOM_TYPE_INDEX
%FORMAT(10I8)
       1       1       1       1       2       3       3
%FLAG NUMBER_EXCLUDED_ATOMS
%FORMAT(10I8)
       3       2       1       1       2       1       2
%FLAG NONBONDED_PARM_INDEX
%FORMAT(10I8)
       1       2       4       2       3       5       4       5       6
%FLAG RESIDUE_LABEL
%FORMAT(20a4)
BUT WAT
%FLAG RESIDUE_POINTER
%FORMAT(10I8)
       1       5
%FLAG BOND_FORCE_CONSTANT
%FORMAT(5E16.8)
  3.10000000E+02  5.53000000E+02  5.53000000E+02
%FLAG BOND_EQUIL_VALUE
%FORMAT(5E16.8)
  1.52600000E+00  9.57200000E-01  1.51360000E+00
%FLAG ANGLE_FORCE_CONSTANT
%FORMAT(5E16.8)
  4.00000000E+01
%FLAG ANGLE_EQUIL_VALUE
%FORMAT(5E16.8)
  1.91113635E+00
%FLAG DIHEDRAL_FORCE_CONSTANT
%FORMAT(5E16.8)
  1.55555556E-01  1.10000000E+00
%FLAG DIHEDRAL_PERIODICITY
%FORMAT(5E16.8)
  3.00000000E+00  2.00000000E+00
%FLAG DIHEDRAL_PHASE
%FORMAT(5E16.8)
  0.00000000E+00  3.14159400E+00
%FLAG SCEE_SCALE_FACTOR
%FORMAT(5E16.8)
  1.20000000E+00  0.00000000E+00
%FLAG SCNB_SCALE_FACTOR
%FORMAT(5E16.8)
  2.00000000E+00  0.00000000E+00
%FLAG SOLTY
%FORMAT(5E16.8)
  0.00000000E+00
%FLAG LENNARD_JONES_ACOEF
%FORMAT(5E16.8)
  1.04308023E+06  7.80000000E+05  5.81935564E+05  0.00000000E+00  0.00000000E+00
  0.00000000E+00
%FLAG LENNARD_JONES_BCOEF
%FORMAT(5E16.8)
  6.75612247E+02  6.30000000E+02  5.94825035E+02  0.00000000E+00  0.00000000E+00
  0.00000000E+00
%FLAG BONDS_INC_HYDROGEN
%FORMAT(10I8)
      12      15       2      12      18       2      15      18       3
%FLAG BONDS_WITHOUT_HYDROGEN
%FORMAT(10I8)
       0       3       1       3       6       1       6       9       1
%FLAG ANGLES_INC_HYDROGEN
%FORMAT(10I8)

%FLAG ANGLES_WITHOUT_HYDROGEN
%FORMAT(10I8)
       0       3       6       1       3       6       9       1
%FLAG DIHEDRALS_INC_HYDROGEN
%FORMAT(10I8)

%FLAG DIHEDRALS_WITHOUT_HYDROGEN
%FORMAT(10I8)
       0       3       6       9       1       0       3      -6      -9       2
%FLAG EXCLUDED_ATOMS_LIST
%FORMAT(10I8)
       2       3       4       3       4       4       0       6       7       7
       0       0
%FLAG HBOND_ACOEF
%FORMAT(5E16.8)

%FLAG HBOND_BCOEF
%FORMAT(5E16.8)

%FLAG AMBER_ATOM_TYPE
%FORMAT(20a4)
CT  CT  CT  CT  OW  HW  HW
%FLAG BOX_DIMENSIONS
%FORMAT(5E16.8)
  9.00000000E+01  2.00000000E+01  2.10000000E+01  2.20000000E+01
%FLAG RADIUS_SET
%FORMAT(1a80)
none
%FLAG IPOL
%FORMAT(1I8)
       0
";

/// Positions, velocities and box of the seven atoms of [`PRMTOP`].
pub(crate) const RST7: &str = "\
chain and water
    7  1.5000000E+01
   1.0000000   2.0000000   3.0000000   2.5000000   2.0000000   3.0000000
   3.0000000   3.4000000   3.0000000   4.5000000   3.4000000   3.0000000
  10.0000000  10.0000000  10.0000000  10.9572000  10.0000000  10.0000000
   9.7600130  10.9266270  10.0000000
   0.0100000  -0.0200000   0.0300000   0.0000000   0.0000000   0.0000000
   0.0000000   0.0000000   0.0000000   0.0000000   0.0000000   0.0000000
   0.0000000   0.0000000   0.0000000   0.5000000  -0.5000000   0.2500000
   0.0000000   0.0000000   0.0000000
  20.0000000  21.0000000  22.0000000  90.0000000  90.0000000  90.0000000
";

/// Writes `content` to a new file called `name` in a temporary folder, which exists as long as the returned guard.
pub(crate) fn file(name: &str, content: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

/// Returns `text` with its only occurrence of `old` replaced by `new`.
pub(crate) fn replaced(text: &str, old: &str, new: &str) -> String {
    assert_eq!(text.matches(old).count(), 1, "{old:?} is not unique");
    text.replacen(old, new, 1)
}

/// Replaces a line of the section `%FLAG name`. `line` counts from 1, which is the format line.
pub(crate) fn with_line(text: &str, name: &str, line: usize, new: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let flag = lines.iter().position(|l| l.trim() == format!("%FLAG {name}")).unwrap();
    lines[flag + line] = new;
    lines.join("\n") + "\n"
}

/// Returns the text without the section `name`.
pub(crate) fn without(text: &str, name: &str) -> String {
    let mut keep = true;
    let kept = text.lines().filter(|line| {
        if let Some(flag) = line.strip_prefix("%FLAG ") {
            keep = flag.trim() != name;
        }
        keep
    });
    kept.map(|line| format!("{line}\n")).collect()
}
