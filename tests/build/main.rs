//! Tests of `md build` with ubiquitin: the written files can be run, and invalid requests are refused with a reason.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "../helix/mod.rs"]
mod helix;
mod record;

use std::path::{Path, PathBuf};

use assert_cmd::Command;

use helix::helix;

/// Returns the path of the PDB entry 1UBI: 76 residues and 81 waters, with all heavy atoms.
fn entry() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("inputs/ubiquitin/1ubi.pdb.xz")
}

fn md(folder: &Path) -> Command {
    let mut command = Command::cargo_bin("md").unwrap();
    command.current_dir(folder).env_remove("MD_SIMD").env("NO_COLOR", "1").env("CUDA_VISIBLE_DEVICES", "");
    command
}

/// Returns the output of a command that must succeed.
fn done(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let printed = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    assert!(output.status.success(), "{printed}");
    printed
}

/// Returns the message, joined to one line, of a command that must end with exit code 2.
fn refused(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    let words: Vec<&str> = message.split_whitespace().filter(|word| !matches!(*word, "│" | "×")).collect();
    words.join(" ")
}

#[test]
fn a_built_system_runs() {
    let folder = tempfile::tempdir().unwrap();
    let printed = done(md(folder.path()).arg("build").arg(entry()).args(["-o", "ubi"]));
    assert!(printed.contains("kept 81 waters") && printed.contains("HIS 68 of chain A"), "{printed}");
    let check = done(md(folder.path()).args(["check", "ubi/input.toml"]));
    assert!(check.contains("net charge 0 e") && check.contains("angles 60.00 60.00 90.00"), "{check}");
    assert!(folder.path().join("ubi/system.prmtop").exists(), "{printed}");
    // the force check compares the first step of each stage with the reference
    done(md(folder.path()).args(["run", "ubi/input.toml", "--steps", "5", "--quiet"]));
    let log = std::fs::read_to_string(folder.path().join("ubi/out/run.log")).unwrap();
    assert!(log.contains("force check against double precision"), "{log}");
    let json = std::fs::read_to_string(folder.path().join("ubi/build.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(json["decisions"].as_array().unwrap().len() >= 6 && json["cations"] == json["anions"], "{json}");
}

#[test]
fn the_same_wishes_give_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    let build = |to: &str, more: &[&str]| {
        let wishes = ["--forcefield", "amber19", "--water", "opc", "--shape", "octahedron", "--salt", "0.15 M"];
        done(md(folder.path()).arg("build").arg(entry()).args(["-o", to]).args(wishes).args(more));
        let file = |name: &str| std::fs::read(folder.path().join(to).join(name)).unwrap();
        ["system.pdb", "system.rst7", "build.json"].map(file)
    };
    let (first, second, other) = (build("a", &[]), build("b", &[]), build("c", &["--seed", "2"]));
    assert!(first == second && first[0] != other[0]);
    let check = done(md(folder.path()).args(["check", "a/input.toml"]));
    assert!(check.contains("net charge 0 e") && check.contains("angles 109.47"), "{check}");
    assert!(folder.path().join("a/system.prmtop").exists() && !folder.path().join("a/system.top").exists());
    let log = std::fs::read_to_string(folder.path().join("a/build.log")).unwrap();
    assert!(log.contains("waters with extra points have an H–H bond of the same geometry"), "{log}");
}

#[test]
fn wishes_that_cannot_be_met_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let build = |more: &[&str]| refused(md(folder.path()).arg("build").arg(entry()).args(["-o", "x"]).args(more));
    assert!(build(&["--water", "tip9p"]).contains("the models are tip3p"));
    assert!(build(&["--forcefield", "charmm36", "--water", "opc"]).contains("use --water tip3p"));
    assert!(build(&["--variant", "A:68=HIX"]).contains("its variants are HID, HIE, HIP"));
    assert!(build(&["--variant", "B:68=HID"]).contains("no residue 68 in chain \"B\""));
    // an insertion code is a single letter
    assert!(build(&["--variant", "A:68BC=HID"]).contains("write \"CHAIN:NUMBER=NAME\""));
    assert!(build(&["--salt", "0.15"]).contains("write a concentration"));
    assert!(build(&["--padding", "1 kg"]).contains("--padding: unknown unit"));
    assert!(build(&["--assembly", "7"]).contains('7'));
    assert!(build(&["--cation", "Fe3+"]).contains("choose one of Na+, K+, Li+, Rb+, Cs+, Mg2+, Ca2+, Zn2+"));
    let charmm = build(&["--forcefield", "charmm36", "--anion", "I-"]);
    assert!(charmm.contains("no parameters of the ion I-") && charmm.contains("choose one of Cl-"), "{charmm}");
    assert!(build(&["--cation", "Ca2+", "--salt-method", "sltcap"]).contains("--salt-method volume"));
    let small = build(&["--size", "4 nm"]);
    assert!(small.contains("a cell of 4.000 nm is too small for a solute of"), "{small}");
    let narrow = build(&["--padding", "0.2 nm"]);
    assert!(narrow.contains("a padding of 0.2 nm leaves no room for a layer of water, 0.28 nm"), "{narrow}");
    // one water: half of the width of a dodecahedron whose images are 2.2 nm apart is 0.5 · 0.7071 · 2.2 nm
    cut(folder.path(), |line| line.starts_with("HETATM") && &line[22..26] == "  77");
    let build_water = |more: &[&str]| {
        let mut command = md(folder.path());
        command.args(["build", "cut.pdb", "-o", "w"]).args(more);
        command
    };
    let water = refused(&mut build_water(&["--size", "2.2 nm"]));
    assert!(water.contains("half of the width is 0.778 nm") && water.contains("--size by 0.48 nm"), "{water}");
    done(&mut build_water(&["--size", "2.68 nm"]));
    assert!(build(&["--size", "8 nm,8 nm"]).contains("three for a rectangular box"));
    assert!(build(&["--size", "8 nm,8 nm,9 nm", "--shape", "cube"]).contains("choose a rectangular cell"));
    assert!(build(&["--size", "8"]).contains("--size: "));
    assert!(build(&["--size", "8 nm", "--padding", "1 nm"]).contains("cannot be used with"));
    std::fs::create_dir(folder.path().join("x")).unwrap();
    assert!(build(&[]).contains("the folder already exists"));
}

/// Writes the lines of 1UBI for which `is_kept` is true to the file `cut.pdb`.
fn cut(folder: &Path, is_kept: impl Fn(&str) -> bool) {
    let mut text = String::new();
    let packed = std::fs::File::open(entry()).unwrap();
    std::io::Read::read_to_string(&mut lzma_rust2::XzReader::new(packed, true), &mut text).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| is_kept(line)).collect();
    std::fs::write(folder.join("cut.pdb"), lines.join("\n")).unwrap();
}

#[test]
fn missing_atoms_are_rebuilt_or_named() {
    let folder = tempfile::tempdir().unwrap();
    let lacks = |line: &str, residue: &str, atoms: &[&str]| {
        line.starts_with("ATOM") && &line[17..26] == residue && atoms.contains(&line[12..16].trim())
    };
    cut(folder.path(), |line| !lacks(line, "LYS A  11", &["CG", "CD", "CE", "NZ"]));
    let build = |more: &[&str]| {
        let mut command = md(folder.path());
        command.args(["build", "cut.pdb", "-o", "x", "--dry-run"]).args(more);
        command
    };
    let printed = done(&mut build(&[]));
    assert!(printed.contains("LYS 11 of chain A: rebuilt CG, CD, CE, NZ (the entry lacks"), "{printed}");
    assert!(printed.contains("rotamer") && printed.contains("the nearest atom of another residue is 0."), "{printed}");
    cut(folder.path(), |line| !lacks(line, "LEU A   8", &["CA"]));
    let message = refused(&mut build(&[]));
    assert!(message.contains("LEU 8 of chain A lacks CA") && message.contains("cut.pdb"), "{message}");
    assert!(message.contains("remove them from the file"), "{message}");
}

#[test]
fn gaps_are_refused_or_capped() {
    let folder = tempfile::tempdir().unwrap();
    let number = |line: &str| line[22..26].trim().parse::<i32>().unwrap();
    cut(folder.path(), |line| !line.starts_with("ATOM") || !(21..=24).contains(&number(line)));
    let build = || {
        let mut command = md(folder.path());
        command.args(["build", "cut.pdb", "-o", "x"]);
        command
    };
    let message = refused(&mut build());
    assert!(message.contains("4 residues are missing between SER 20 of chain A and ASN 25 of chain A"), "{message}");
    assert!(message.contains("--cap ACE,NME") && !folder.path().join("x").exists(), "{message}");
    let printed = done(build().args(["--cap", "ACE,NME"]));
    assert!(printed.contains("ASN 25 of chain A: added the cap ACE before this residue"), "{printed}");
    assert!(printed.contains("SER 20 of chain A: added the cap NME after this residue"), "{printed}");
    // the force check compares the first step of each stage with the reference
    done(md(folder.path()).args(["run", "x/input.toml", "--steps", "5", "--quiet"]));
    // a TER record at the gap does not hide the gap, if SEQRES has the missing residues
    let text = std::fs::read_to_string(folder.path().join("cut.pdb")).unwrap();
    let before = text.find("  N   ASN A  25").and_then(|at| text[..at].rfind("ATOM"));
    let (first, second) = text.split_at(before.unwrap());
    std::fs::write(folder.path().join("cut.pdb"), format!("{first}TER\n{second}")).unwrap();
    let message = refused(md(folder.path()).args(["build", "cut.pdb", "-o", "t"]));
    assert!(message.contains("4 residues are missing between SER 20 of chain A and ASN 25 of chain A"), "{message}");
    let printed = done(md(folder.path()).args(["build", "cut.pdb", "-o", "t", "--cap", "ACE,NME", "--dry-run"]));
    assert!(printed.contains("SER 20 of chain A: added the cap NME after this residue"), "{printed}");
    // CHARMM counts the atoms of caps to the capped residues; the atoms of the system are the same
    done(md(folder.path()).args(["build", "cut.pdb", "-o", "c", "--cap", "ACE,NME", "--forcefield", "charmm36"]));
    let pdb = |name: &str| std::fs::read_to_string(folder.path().join(name).join("system.pdb")).unwrap();
    let (amber, charmm) = (pdb("x"), pdb("c"));
    assert!(charmm.contains(" CAY ASN A  25") && charmm.contains(" CAT SER A  20"), "{charmm}");
    let positions = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.starts_with("ATOM")).take_while(|line| &line[17..20] != "HOH");
        lines.map(|line| line[30..54].to_owned()).collect()
    };
    assert_eq!(positions(&amber).len(), positions(&charmm).len());
    done(md(folder.path()).args(["run", "c/input.toml", "--steps", "5", "--quiet"]));
    // both force fields can be chosen for the file that the build with CHARMM wrote
    for field in ["charmm36", "amber14"] {
        let again = ["build", "c/system.pdb", "-o", "a", "--vacuum", "--dry-run", "--forcefield", field];
        let printed = done(md(folder.path()).args(again));
        assert!(printed.contains("ASN 25 of chain A: made a residue ACE of the atoms CAY, CY, OY"), "{printed}");
        assert!(printed.contains("SER 20 of chain A: made a residue NME of the atoms NT, CAT"), "{printed}");
    }
}

/// Tests a thiolate at the beginning of a chain, for which the force fields of AMBER have no template.
#[test]
fn thiolates_at_chain_ends_are_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let is_of_sulfur =
        |line: &str| line.starts_with("ATOM") && ["SD  MET A   1", "CE  MET A   1"].contains(&&line[13..26]);
    cut(folder.path(), |line| !is_of_sulfur(line));
    let text = std::fs::read_to_string(folder.path().join("cut.pdb")).unwrap();
    let sulfur = |line: &str| match line.contains("CG  MET A   1") {
        true => format!("{:<76} S", line[..66].replace("CG ", "SG ")),
        false => line.to_owned(),
    };
    let text = text.lines().map(sulfur).collect::<Vec<String>>().join("\n").replace("MET A   1 ", "CYS A   1 ");
    std::fs::write(folder.path().join("cut.pdb"), text).unwrap();
    let build = |variant: &str, field: &str| {
        let mut command = md(folder.path());
        command.args([
            "build",
            "cut.pdb",
            "-o",
            "x",
            "--vacuum",
            "--dry-run",
            "--variant",
            variant,
            "--forcefield",
            field,
        ]);
        command
    };
    let message = refused(&mut build("A:1=CYM", "amber14"));
    assert!(message.contains("choose the thiol with --variant") && message.contains("--cap ACE,NME"), "{message}");
    assert!(done(&mut build("A:1=CYM", "charmm36")).contains("CYS 1 of chain A: is CYM"), "CYM");
    done(&mut build("A:1=CYS", "amber14"));
}

/// Tests three residues with two sugars of the entry 1GYA.
#[test]
fn glycoproteins_are_built_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let entry = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/build/tests/glycan.pdb");
    let caps = ["--cap", "ACE,NME", "--cap-ends"];
    let printed = done(md(folder.path()).arg("build").arg(&entry).args(["-o", "g"]).args(caps));
    assert!(printed.contains("NAG 1 of chain B: is 4YB") && printed.contains("ASN 65 of chain A: is NLN"), "{printed}");
    done(md(folder.path()).args(["run", "g/input.toml", "--steps", "5", "--quiet"]));
    let pdb = std::fs::read_to_string(folder.path().join("g/system.pdb")).unwrap();
    assert!(pdb.contains("CONECT"), "bonds of the sugars");
    let again =
        done(md(folder.path()).args(["build", "g/system.pdb", "-o", "a", "--vacuum", "--drop-waters", "--dry-run"]));
    assert!(again.contains("ND2 of NLN 65 of chain A and C1 of 4YB 1 of chain B: made a bond"), "{again}");
    // a free sugar: the nitrogen of the asparagine becomes the oxygen of the hydroxyl group
    let text = std::fs::read_to_string(&entry).unwrap();
    let hydroxyl = text.lines().find(|line| line.contains(" ND2 ")).unwrap();
    let hydroxyl = hydroxyl.replace(" ND2 ASN A  65", " O1  NAG B   1").replace("           N", "           O");
    let sugars: Vec<&str> = text.lines().filter(|line| line.contains(" NAG B ")).collect();
    std::fs::write(folder.path().join("free.pdb"), format!("{hydroxyl}\n{}\n", sugars.join("\n"))).unwrap();
    let printed = done(md(folder.path()).args(["build", "free.pdb", "-o", "f", "--vacuum"]));
    assert!(
        printed.contains("57 atoms, 3 residues") && printed.contains("O1 of ROH 1 of chain B: made a bond"),
        "{printed}"
    );
    done(md(folder.path()).args(["energy", "f/input.toml"]));
    let again = done(md(folder.path()).args(["build", "f/system.pdb", "-o", "r", "--vacuum", "--dry-run"]));
    assert!(again.contains("57 atoms, 3 residues"), "{again}");
    let charmm = ["-o", "c", "--vacuum", "--dry-run", "--forcefield", "charmm36"];
    let message = refused(md(folder.path()).arg("build").arg(&entry).args(charmm));
    assert!(
        message.contains("bonds of NAG") && message.contains("sugars only for the force field amber14"),
        "{message}"
    );
    let dropped =
        done(md(folder.path()).arg("build").arg(&entry).args(["-o", "d", "--vacuum", "--drop-hetero"]).args(caps));
    assert!(dropped.contains("dropped 2 residues NAG"), "{dropped}");
}

#[test]
fn names_and_numbers_that_pdb_files_cut_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let built = |entry: &Path, output: &str| {
        done(md(folder.path()).arg("build").arg(entry).args(["-o", output, "--vacuum", "--drop-waters"]));
        folder.path().join(output)
    };
    let built_pdb = std::fs::read_to_string(built(&entry(), "a").join("system.pdb")).unwrap();
    let cif = |name: &str, chain: &str, shift: i32| {
        std::fs::write(folder.path().join(name), in_mmcif(&built_pdb, chain, shift)).unwrap();
        folder.path().join(name)
    };
    let output = built(&cif("long.cif", "LONG", 0), "b");
    let text = std::fs::read_to_string(output.join("system.cif")).unwrap();
    assert!(text.contains(" LONG ") && !output.join("system.pdb").exists(), "{text}");
    // residues 1 to 76 get numbers that four columns cannot hold
    for (shift, number) in [(9924, 10_000), (-1001, -1000)] {
        let output = built(&cif("number.cif", "A", shift), &format!("n{number}"));
        let text = std::fs::read_to_string(output.join("system.cif")).unwrap();
        assert!(text.contains(&format!(" {number} ")) && !output.join("system.pdb").exists(), "{text}");
    }
    assert!(built(&cif("fits.cif", "A", 9923), "f").join("system.pdb").exists());
}

/// Returns the atoms of a PDB file as an mmCIF file. `shift` is added to the residue numbers.
fn in_mmcif(pdb: &str, chain: &str, shift: i32) -> String {
    let mut rows = String::from("data_X\nloop_\n");
    let names = ["group_PDB", "id", "type_symbol", "auth_atom_id", "auth_comp_id", "auth_asym_id", "auth_seq_id"];
    for name in names.into_iter().chain(["label_seq_id", "label_asym_id"]) {
        rows += &format!("_atom_site.{name}\n");
    }
    rows += "_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\n";
    for line in pdb.lines().filter(|line| line.starts_with("ATOM")) {
        let [serial, name, residue, number] = [6..11, 12..16, 17..20, 22..26].map(|columns| line[columns].trim());
        let (number, element) = (number.parse::<i32>().unwrap() + shift, line[76..78].trim());
        let [x, y, z] = [30..38, 38..46, 46..54].map(|columns| line[columns].trim());
        rows += &format!("ATOM {serial} {element} {name} {residue} {chain} {number} {number} L {x} {y} {z}\n");
    }
    rows
}

#[test]
fn charged_residues_get_ions() {
    let folder = tempfile::tempdir().unwrap();
    // a histidine with hydrogens on both ring nitrogens has a charge of +1 e, which one chloride ion neutralises
    let printed =
        done(md(folder.path()).arg("build").arg(entry()).args(["-o", "y", "--variant", "A:68=HIP", "--dry-run"]));
    assert!(printed.contains("0 sodium and 1 chloride ions") && !folder.path().join("y").exists(), "{printed}");
}

/// Tests the counts and charges of ions, the cell, and the distances of ions from the protein and from each other.
#[test]
fn ions_and_cells_are_those_that_were_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let wishes = ["--size", "5.6 nm,5.2 nm,5.8 nm", "--cation", "Mg2+", "--salt", "0.1 M", "--variant", "A:6=LYN"];
    let printed =
        done(md(folder.path()).arg("build").arg(entry()).args(["-o", "z", "--ions", "electrostatic"]).args(wishes));
    // magnesium ions for a protein with −1 e: one Mg²⁺ and one Cl⁻ neutralise the charge, and the salt adds two Cl⁻ for
    // each further Mg²⁺
    assert!(printed.contains("Mg2+ alone cannot neutralise this charge exactly, and 1 Cl- make up"), "{printed}");
    let json = std::fs::read_to_string(folder.path().join("z/build.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let count = |name: &str| json[name].as_u64().unwrap();
    let (cations, anions, waters) = (count("cations"), count("anions"), count("waters"));
    assert_eq!(2 * cations, anions + 1, "{json}");
    let units = 0.1 * (waters + cations + anions - 2) as f64 / 55.4;
    assert_eq!(cations - 1, units.round() as u64, "{json}");
    let pdb = std::fs::read_to_string(folder.path().join("z/system.pdb")).unwrap();
    let atoms = |residues: &[&str]| -> Vec<[f64; 3]> {
        let lines = pdb.lines().filter(|line| line.starts_with("ATOM") || line.starts_with("HETATM"));
        let lines = lines.filter(|line| residues.contains(&line[17..20].trim()));
        lines.map(|line| [30, 38, 46].map(|at| line[at..at + 8].trim().parse().unwrap())).collect()
    };
    let ions = atoms(&["MG", "CL"]);
    assert_eq!(ions.len() as u64, cations + anions);
    let apart = |a: &[f64; 3], b: &[f64; 3]| {
        let edges = [56.0, 52.0, 58.0];
        (0..3).map(|k| (a[k] - b[k]) - edges[k] * ((a[k] - b[k]) / edges[k]).round()).map(|d| d * d).sum::<f64>().sqrt()
    };
    let protein = atoms(&["LEU", "ILE", "LYS", "GLU", "ASP", "THR", "GLN"]);
    assert!(protein.len() > 700);
    for (at, ion) in ions.iter().enumerate() {
        // the smallest distance is 0.5 nm, reduced by the rounding of coordinates in the file
        assert!(ions[..at].iter().chain(&protein).all(|other| apart(ion, other) > 4.99));
    }
    let check = done(md(folder.path()).args(["check", "z/input.toml"]));
    assert!(check.contains("net charge 0 e") && check.contains("5.6"), "{check}");
}

/// Tests SLTCAP: N± = N₀ exp(∓ arsinh(Q/2N₀)) with the charge Q = 5 e of the solute, rounded so that the system is
/// neutral.
#[test]
fn sltcap_gives_the_numbers_of_the_closed_form() {
    let folder = tempfile::tempdir().unwrap();
    let variants = ["A:16=GLH", "A:18=GLH", "A:24=GLH", "A:34=GLH", "A:51=GLH"];
    let mut command = md(folder.path());
    command.arg("build").arg(entry()).args([
        "-o",
        "s",
        "--cation",
        "K+",
        "--salt",
        "0.15 M",
        "--salt-method",
        "sltcap",
    ]);
    done(command.args(variants.iter().flat_map(|variant| ["--variant", variant])));
    let json = std::fs::read_to_string(folder.path().join("s/build.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let count = |name: &str| json[name].as_u64().unwrap();
    let (cations, anions, waters) = (count("cations"), count("anions"), count("waters"));
    let units = 0.15 * (waters + cations + anions) as f64 / 55.4;
    let ratio = 5.0 / (2.0 * units);
    let wanted = units * ((1.0 + ratio * ratio).sqrt() - ratio);
    assert_eq!((cations, anions), (wanted.round() as u64, wanted.round() as u64 + 5), "{json}");
    let text = json.to_string();
    assert!(text.contains("potassium and") && text.contains("SLTCAP"), "{text}");
}

#[test]
fn a_helix_is_built_into_a_membrane() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("helix.pdb"), helix(0.0)).unwrap();
    let build = |more: &[&str]| {
        let mut command = md(folder.path());
        command.args(["build", "helix.pdb", "--membrane", "POPC"]).args(more);
        command
    };
    let printed = done(&mut build(&["-o", "x"]));
    assert!(printed.contains("left out 1 residue DUM") || printed.contains("left out 2 residues DUM"), "{printed}");
    let json = std::fs::read_to_string(folder.path().join("x/build.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let lipids = [0, 1].map(|leaflet| json["lipids"][leaflet].as_u64().unwrap());
    // the cross-section of the helix is the area of two lipids, and the helix is in contact with at most six further
    // lipids, as in a hexagonal lattice
    assert!(lipids[0] == lipids[1] && (56..63).contains(&lipids[0]), "{lipids:?}");
    let check = done(md(folder.path()).args(["check", "x/input.toml"]));
    // each lipid of Lipid17 has a charge of −2e-6 e, because the force-field file rounds charges to seven decimals
    let charge: f64 = check.split("net charge ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(charge.abs() < 1e-3 && check.contains("angles 90.00 90.00 90.00"), "{check}");
    // the force check compares the first step of each stage with the reference
    done(md(folder.path()).args(["run", "x/input.toml", "--steps", "50", "--quiet"]));
    for (more, reason) in [
        (&["--shape", "cube"][..], "a membrane needs a rectangular cell"),
        (&["--orient"], "a membrane needs the orientation of the entry"),
        (&["--vacuum"], "a membrane needs a periodic cell with water"),
        (&["--padding", "0 nm"], "a padding of 0 nm is not possible with a membrane"),
        (&["--ions", "electrostatic"], "leave out --ions"),
    ] {
        let message = refused(build(&["-o", "y"]).args(more));
        assert!(message.contains(reason), "{message}");
    }
    let message = refused(md(folder.path()).args(["build", "helix.pdb", "--membrane", "DPPC", "-o", "y"]));
    assert!(message.contains("the lipids are POPC, POPE, DLPC, DLPE, DMPC, DOPC"), "{message}");
    std::fs::write(folder.path().join("helix.pdb"), helix(60.0)).unwrap();
    let message = refused(&mut build(&["-o", "y"]));
    assert!(message.contains("inside the membrane") && message.contains("see files of OPM"), "{message}");
}

#[test]
fn a_ligand_comes_from_its_topology_and_is_restrained() {
    let folder = tempfile::tempdir().unwrap();
    // positions (Å) of the heavy atoms of p-cresol with a regular ring
    let places = [
        ("C1", 1.39, 0.0),
        ("C2", 0.695, 1.204),
        ("C3", -0.695, 1.204),
        ("C4", -1.39, 0.0),
        ("C5", -0.695, -1.204),
        ("C6", 0.695, -1.204),
        ("C7", -2.9, 0.0),
        ("O1", 2.75, 0.0),
    ];
    let line = |(index, &(name, x, y)): (usize, &(&str, f64, f64))| {
        let element = &name[..1];
        format!("HETATM{index:>5}  {name:<3} PCR A   1    {x:8.3}{y:8.3}   0.000  1.00  0.00           {element}\n")
    };
    let text: String = places.iter().enumerate().map(line).collect();
    std::fs::write(folder.path().join("cresol.pdb"), text).unwrap();
    let topology = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/build/tests/fields/cresol.top");
    let build = || {
        let mut command = md(folder.path());
        command.args(["build", "cresol.pdb", "-o", "built", "--padding", "1.1 nm"]);
        command
    };
    let refusal = refused(&mut build());
    assert!(refusal.contains("the bonds of PCR 1 of chain A are unknown") && refusal.contains("--ligand"), "{refusal}");
    let printed = done(build().arg("--drop-hetero").arg("--ligand").arg(topology));
    assert!(printed.contains("all residues PCR: took parameters"), "{printed}");
    let input = std::fs::read_to_string(folder.path().join("built/input.toml")).unwrap();
    assert!(input.contains("select = \"heavy and not (water or ion)\""), "{input}");
    let check = done(md(folder.path()).args(["check", "built/input.toml"]));
    assert!(check.contains("net charge 0 e") && check.contains("position restraints: heavy and not"), "{check}");
    done(md(folder.path()).args(["run", "built/input.toml", "--steps", "5", "--quiet"]));
}
