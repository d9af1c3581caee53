//! Tests of small files that would need as much memory or time as very large files.

use md::format::{TopologyOptions, read_topology, read_topology_with};

use crate::gromacs_text::TOP;
use crate::literal::{file, replaced};
use crate::openmm::XML;

/// Returns the message with which a topology is refused. The message must name the file.
#[track_caller]
fn refusal(name: &str, text: &[u8], options: &TopologyOptions) -> String {
    let (_folder, path) = file(name, text);
    let error = read_topology_with(&path, options).map(|_| ()).expect_err("refused");
    assert_eq!(error.exit_code(), 2, "{error}");
    let message = error.to_string();
    assert!(message.contains(name) && message.len() < 2000, "{message}");
    message
}

/// Tests a topology in which all atoms are bonded to the first, so that the number of pairs two bonds apart is
/// quadratic in the number of atoms.
#[test]
fn bonds_that_meet_in_one_atom_are_refused_before_their_exclusions_take_memory() {
    let star = |atoms: usize| -> String { (2..=atoms).map(|atom| format!("1 {atom}\n")).collect() };
    let molecule = |atoms: usize, molecules: usize| {
        let rows: String = (1..=atoms).map(|atom| format!("{atom} CT 1 A C 1 0 12\n")).collect();
        let bonds = star(atoms);
        let molecule = format!("[ moleculetype ]\nSTAR 3\n[ atoms ]\n{rows}[ bonds ]\n{bonds}[ system ]\n");
        let text = replaced(TOP, "[ system ]\n", &molecule);
        replaced(&text, "BUT 1\n", &format!("STAR {molecules}\nBUT 1\n"))
    };
    let (_folder, path) = file("a.top", molecule(600, 10).as_bytes());
    assert_eq!(read_topology(&path).unwrap().topology.exclusions.len(), 10 * 600 * 599 / 2 + 6 + 2 * 3);
    let of_gromacs = |atoms, molecules| refusal("a.top", molecule(atoms, molecules).as_bytes(), &Default::default());
    assert!(of_gromacs(600, 100).contains("more than 12229248 pairs of 60010 atoms are excluded"));
    assert!(of_gromacs(5000, 1).contains("molecule type STAR: more than 8708608 pairs of 5000 atoms are excluded"));

    let atoms = 5000;
    let rows: String = (1..=atoms).map(|atom| format!("{atom} A 1 R C CT 0.0 12.0 0\n")).collect();
    let psf = format!(
        "PSF\n\n1 !NTITLE\nx\n\n{atoms} !NATOM\n{rows}\n{} !NBOND\n{}\n0 !NTHETA\n\n0 !NPHI\n\n0 !NIMPHI\n\n",
        atoms - 1,
        star(atoms)
    );
    let (_folder, parameters) = file("star.prm", b"BONDS\nCT CT 100 1.5\nNONBONDED\nCT 0 -0.1 2.0\nEND\n");
    let options = TopologyOptions { parameters: vec![parameters], ..TopologyOptions::default() };
    let message = refusal("star.psf", psf.as_bytes(), &options);
    assert!(
        message.contains("pairs of 5000 atoms are excluded") && message.contains("one atom may have too many"),
        "{message}"
    );
}

/// Tests a large number of atom types: the size of the Lennard-Jones table is the square of the number of types.
#[test]
fn more_types_than_a_table_is_made_for_are_refused() {
    let system = |types: usize| {
        let particles = "<Particle mass=\"39.9\"/>".repeat(types);
        let forces: String =
            (0..types).map(|k| format!("<Particle eps=\"1\" q=\"0\" sig=\"{}\"/>", 0.3 + 1e-6 * k as f64)).collect();
        format!(
            "<System version=\"1\"><PeriodicBoxVectors><A x=\"3\" y=\"0\" z=\"0\"/><B x=\"0\" y=\"3\" z=\"0\"/><C x=\"0\" \
             y=\"0\" z=\"3\"/></PeriodicBoxVectors><Particles>{particles}</Particles><Constraints/><Forces><Force alpha=\"0\" \
             cutoff=\"1\" dispersionCorrection=\"1\" ewaldTolerance=\".0005\" method=\"4\" nx=\"0\" ny=\"0\" nz=\"0\" \
             rfDielectric=\"78.3\" switchingDistance=\"-1\" type=\"NonbondedForce\" useSwitchingFunction=\"0\" \
             version=\"4\"><Particles>{forces}</Particles><Exceptions/></Force></Forces></System>"
        )
    };
    let (_folder, path) = file("types.xml", system(100).as_bytes());
    assert_eq!(read_topology(&path).unwrap().nonbonded.types, 100);
    let message = refusal("types.xml", system(4097).as_bytes(), &TopologyOptions::default());
    assert!(
        message.contains("4097 types of Lennard-Jones parameters") && message.contains("the maximum is 4096"),
        "{message}"
    );
}

#[test]
fn elements_with_many_attributes_are_refused_with_their_line() {
    let many: String = (0..200_000).map(|k| format!(" a{k}=\"1\"")).collect();
    let message = refusal(
        "many.xml",
        XML.replacen("<Particle ", &format!("<Particle{many} "), 1).as_bytes(),
        &Default::default(),
    );
    assert!(message.contains("many.xml:9: the element `Particle` has more than 256 attributes"), "{message}");
}

/// Tests a file that is included many times. Every inclusion takes time.
#[test]
fn files_that_are_included_over_and_over_are_refused() {
    let (folder, path) = file("a.top", &b"#include \"b.itp\"\n".repeat(2000));
    std::fs::write(folder.path().join("b.itp"), "#define A 1\n".repeat(8000)).unwrap();
    let message = read_topology(&path).map(|_| ()).expect_err("refused").to_string();
    assert!(message.contains("more than 1024 MiB") && message.contains("over and over"), "{message}");
}

/// Tests a chain of macros, each of which expands to two copies of the next one.
#[test]
fn macros_that_double_are_refused_with_their_line() {
    let doubling = |levels: usize, chain: usize| -> String {
        let define = |level: usize| match level {
            _ if level < levels => format!("#define M{level} M{0} M{0}\n", level + 1),
            _ => format!("#define M{level} M{}\n", level + 1),
        };
        (0..levels + chain).map(define).collect()
    };
    for (levels, chain) in [(18, 45), (30, 0), (62, 0)] {
        let text = format!("{}[ defaults ]\nM0\n", doubling(levels, chain));
        let message = refusal("a.top", text.as_bytes(), &TopologyOptions::default());
        let place = format!("a.top:{}: ", levels + chain + 2);
        assert!(
            message.contains(&place) && message.contains("M0 and the macros in its text need more than"),
            "{message}"
        );
    }
}
