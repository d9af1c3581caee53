//! Tests of OpenMM systems: energies of serialised systems, virtual sites, and refusals.

use md::backend::{Reference, Workload};
use md::format::{read_coordinates, read_topology, take_names};
use md::system::{
    BoxKind, Constraints, Construction, Description, DispersionCorrection, Electrostatics, ForceSettings, ListPolicy,
    LjModifier, Modifier, PmeParameters, System,
};
use md::team::Team;
use md::vec3::Vec3;
use md::virtual_sites::SitePlan;

use crate::golden::{self, Golden};
use crate::literal::{file, replaced};
use serde_json::Value;
use std::io::Read;
use std::path::Path;

/// Relative tolerance, as for the prmtop files of the same systems.
const TOLERANCE: f64 = 1e-7;

/// Tests the PME parameters of an OpenMM system. Reference: `getPMEParametersInContext` on the Reference platform
/// returns α = 2.628260884878466/nm and 17 × 17 × 17 grid points.
#[test]
fn methods_are_those_of_openmm() {
    let of = |name: &str| {
        let folder = Golden::load(name).unwrap().folder;
        read_topology(&folder.join(format!("{name}.xml.xz"))).unwrap().topology.methods.unwrap()
    };
    let water = of("tip4pew");
    assert_eq!(
        (water.cutoff, water.lj_modifier, water.dispersion_correction),
        (Some(1.0), LjModifier::None, DispersionCorrection::AllPairs)
    );
    let Electrostatics::Pme(pme) = water.electrostatics else { panic!("{:?}", water.electrostatics) };
    assert!((pme.alpha / 2.628260884878466 - 1.0).abs() < TOLERANCE, "{}", pme.alpha);
    assert_eq!((pme.grid, pme.order), ([17; 3], 5));
    // for the same file with LJ-PME, `getLJPMEParametersInContext` returns 2.628260884878466/nm and 9 × 9 × 9 grid
    // points
    let packed = std::fs::read(Golden::load("tip4pew").unwrap().folder.join("tip4pew.xml.xz")).unwrap();
    let mut text = String::new();
    lzma_rust2::XzReader::new(&packed[..], true).read_to_string(&mut text).unwrap();
    let (_folder, path) = file("lj-pme.xml", replaced(&text, "method=\"4\"", "method=\"5\"").as_bytes());
    let by_mesh = read_topology(&path).unwrap().topology.methods.unwrap();
    let DispersionCorrection::Pme(pme) = by_mesh.dispersion_correction else { panic!("{by_mesh:?}") };
    assert!((pme.alpha / 2.628260884878466 - 1.0).abs() < TOLERANCE, "{}", pme.alpha);
    assert_eq!((pme.grid, pme.order, by_mesh.lj_modifier), ([9; 3], 5, LjModifier::PotentialShift));
    let vacuum = of("peptide-vacuum");
    assert_eq!((vacuum.cutoff, vacuum.electrostatics), (None, Electrostatics::Plain));
    assert_eq!(vacuum.dispersion_correction, DispersionCorrection::Off);
}

/// Compares energies and forces with the systems that `tests/systems/build/openmm_xml.py` has serialised.
#[test]
fn energies_and_forces_of_serialised_systems_agree() {
    for name in ["peptide-vacuum", "peptide-ff19sb", "peptide-charmm36", "tip4pew", "tip5p"] {
        let mut golden = Golden::load(name).unwrap();
        let path = golden.folder.join(format!("{name}.xml.xz"));
        let Description { topology, nonbonded, cell_hint, .. } = read_topology(&path).unwrap();
        assert_eq!(cell_hint.kind != BoxKind::None, golden.cell.is_some());
        let from_prmtop = std::mem::replace(&mut golden.system.topology, topology);
        golden.system.nonbonded = nonbonded;
        let topology = &golden.system.topology;
        assert_eq!(topology.charmm, from_prmtop.charmm);
        assert_eq!(topology.exclusions, from_prmtop.exclusions);
        let bonds = |bonds: &[[u32; 2]]| {
            let mut bonds: Vec<[u32; 2]> = bonds.iter().map(|&[i, j]| [i.min(j), i.max(j)]).collect();
            bonds.sort_unstable();
            bonds
        };
        if topology.virtual_sites.is_empty() {
            assert_eq!(bonds(&topology.connectivity), bonds(&from_prmtop.connectivity));
        }
        SitePlan::new(topology).place(&Team::single(), &mut golden.positions);
        for (ours, theirs) in topology.atoms.iter().zip(&from_prmtop.atoms) {
            assert_eq!(ours.element, theirs.element);
        }
        let waters = |topology: &md::system::Topology| {
            (0..topology.residues.len()).filter(|&residue| topology.is_water(residue)).count()
        };
        assert_eq!(waters(topology), waters(&from_prmtop));
        let case = golden.cases()[0].clone();
        golden.choose(&case);
        let mut reference = Reference::new(&golden.system).unwrap();
        let workload = Workload { energy: true, virial: false, ..Workload::FORCES };
        let mut ours = reference.evaluate(golden.cell.as_ref(), &golden.positions, workload);
        golden::spread(&golden.system, &golden.positions, &mut ours);
        let their = |keys: &[&str]| keys.iter().map(|key| golden.number(&case, key)).sum::<f64>();
        let e = &ours.energies;
        for (term, ours, theirs) in [
            ("bond", e.bond, their(&["bond"])),
            ("angle", e.angle, their(&["angle"])),
            ("urey_bradley", e.urey_bradley, their(&["urey_bradley"])),
            ("torsions", e.proper + e.improper, their(&["dihedral_proper", "dihedral_improper", "improper_harmonic"])),
            ("cmap", e.cmap, their(&["cmap"])),
            ("coulomb", e.coulomb, their(&["elec_total"])),
            ("coulomb_14", e.coulomb_14, their(&["elec_14"])),
            ("lj", e.lj, their(&["lj_with_dispcorr", "lj_nbfix"])),
            ("lj_14", e.lj_14, their(&["lj_14"])),
        ] {
            let error = (ours - theirs).abs() / theirs.abs().max(1.0);
            println!("{name} {term}: {ours} against {theirs} ({error:.1e})");
            assert!(error < TOLERANCE, "{name} {term}: {ours} against {theirs}");
        }
        let theirs = golden.forces(&case).unwrap();
        let (mut error, mut scale) = (0.0, 0.0);
        for (ours, theirs) in ours.forces.iter().zip(&theirs) {
            error += (*ours - *theirs).norm_squared();
            scale += theirs.norm_squared();
        }
        assert!(f64::sqrt(error / scale) < TOLERANCE, "{name}: {}", f64::sqrt(error / scale));
    }
}

/// Compares energies and forces of CHARMM36 as OpenMM's `ForceField` serialises it, with Lennard-Jones interactions in
/// custom forces (`tests/systems/build/charmm36_forcefield.py`).
#[test]
fn energies_and_forces_of_charmm36_as_a_force_field_agree() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/charmm36-forcefield");
    let Description { topology, nonbonded, .. } = read_topology(&folder.join("system.xml.xz")).unwrap();
    let start = read_coordinates(&folder.join("start.pdb.xz"), None, None).unwrap();
    let reference: Value = serde_json::from_slice(&std::fs::read(folder.join("ref.json")).unwrap()).unwrap();
    let number = |key: &str| reference[key].as_f64().unwrap();
    let methods = topology.methods.unwrap();
    let grid = [0, 1, 2].map(|axis| reference["grid"][axis].as_u64().unwrap() as usize);
    assert_eq!(methods.lj_modifier, LjModifier::PotentialSwitch { from: number("switch_nm") });
    assert_eq!(methods.dispersion_correction, DispersionCorrection::Off);
    assert!(topology.charmm);
    let pme = PmeParameters { alpha: number("alpha_per_nm"), grid, order: 5 };
    let cutoff = Some(number("cutoff_nm"));
    let settings = ForceSettings {
        cutoff,
        cutoff_lj: cutoff,
        electrostatics: Electrostatics::Pme(pme),
        lj_modifier: methods.lj_modifier,
        coulomb_modifier: Modifier::None,
        dispersion_correction: methods.dispersion_correction,
        list: ListPolicy::Exact { buffer: 0.1 },
    };
    let system = System { topology, nonbonded, constraints: Constraints::default(), settings };
    let workload = Workload { energy: true, virial: false, ..Workload::FORCES };
    let ours = Reference::new(&system).unwrap().evaluate(start.cell.as_ref(), &start.positions, workload);
    let (e, theirs) = (&ours.energies, |force: &str| reference["kJ/mol"][force].as_f64().unwrap());
    for (ours, theirs) in [
        (e.bond + e.urey_bradley, theirs("HarmonicBondForce")),
        (e.angle, theirs("HarmonicAngleForce")),
        (e.proper + e.improper, theirs("PeriodicTorsionForce") + theirs("CustomTorsionForce")),
        (e.cmap, theirs("CMAPTorsionForce")),
        (e.coulomb, theirs("NonbondedForce")),
        (e.lj, theirs("LennardJones") + theirs("LennardJones14")),
        (e.lj_14, theirs("LennardJones14")),
    ] {
        assert!((ours - theirs).abs() < TOLERANCE * theirs.abs().max(1.0), "{ours} against {theirs}");
    }
    let expected = golden::parse_npy(&std::fs::read(folder.join("forces.npy")).unwrap());
    let square = |forces: &mut dyn Iterator<Item = Vec3>| forces.map(|f| f.norm_squared()).sum::<f64>();
    let error = square(&mut ours.forces.iter().zip(&expected).map(|(a, b)| *a - *b));
    assert!((error / square(&mut expected.iter().copied())).sqrt() < TOLERANCE);
}

/// A serialised OpenMM system of a few particles with every supported XML element, in the layout of `XmlSerializer`.
pub(crate) const XML: &str = r#"<?xml version="1.0" ?>
<System openmmVersion="8.6.1" type="System" version="1">
	<PeriodicBoxVectors>
		<A x="3" y="0" z="0"/>
		<B x=".1" y="3" z="0"/>
		<C x="0" y="0" z="3"/>
	</PeriodicBoxVectors>
	<Particles>
		<Particle mass="12.011"/>
		<Particle mass="14.007"/>
		<Particle mass="15.999"/>
		<Particle mass="1.008"/>
		<Particle mass="0">
			<TwoParticleAverageSite p1="0" p2="1" w1=".3" w2=".7"/>
		</Particle>
		<Particle mass="0">
			<LocalCoordinatesSite p1="0" p2="1" p3="2" pos1=".1" pos2=".2" pos3=".3" wo1=".5" wo2=".25" wo3=".25" wx1="-1" wx2=".5" wx3=".5" wy1="0" wy2="-1" wy3="1"/>
		</Particle>
		<Particle mass="0">
			<OutOfPlaneSite p1="0" p2="1" p3="2" w12=".1" w13=".2" wc="3"/>
		</Particle>
		<Particle mass="0">
			<ThreeParticleAverageSite p1="0" p2="1" p3="2" w1=".1" w2=".2" w3=".7"/>
		</Particle>
		<Particle mass="22.99"/>
	</Particles>
	<Constraints>
		<Constraint d=".1" p1="2" p2="3"/>
	</Constraints>
	<Forces>
		<Force forceGroup="0" name="HarmonicBondForce" type="HarmonicBondForce" usesPeriodic="0" version="2">
			<Bonds>
				<Bond d=".1" k="1000" p1="0" p2="1"/>
				<Bond d=".15" k="900" p1="2" p2="1"/>
			</Bonds>
		</Force>
		<Force forceGroup="0" name="UreyBradley" type="HarmonicBondForce" usesPeriodic="0" version="2">
			<Bonds>
				<Bond d=".2" k="50" p1="0" p2="2"/>
			</Bonds>
		</Force>
		<Force forceGroup="0" name="HarmonicAngleForce" type="HarmonicAngleForce" usesPeriodic="0" version="2">
			<Angles>
				<Angle a="2" k="100" p1="0" p2="1" p3="2"/>
			</Angles>
		</Force>
		<Force forceGroup="0" name="PeriodicTorsionForce" type="PeriodicTorsionForce" usesPeriodic="0" version="2">
			<Torsions>
				<Torsion k="5" p1="0" p2="1" p3="2" p4="3" periodicity="2" phase="3.1"/>
			</Torsions>
		</Force>
		<Force forceGroup="0" name="RBTorsionForce" type="RBTorsionForce" usesPeriodic="0" version="2">
			<Torsions>
				<Torsion c0="1" c1="2" c2="3" c3="4" c4="5" c5="6" p1="0" p2="1" p3="2" p4="3"/>
			</Torsions>
		</Force>
		<Force forceGroup="0" name="CMAPTorsionForce" type="CMAPTorsionForce" usesPeriodic="0" version="2">
			<Maps>
				<Map size="4">
					<Energy e="0"/><Energy e="1"/><Energy e="2"/><Energy e="3"/>
					<Energy e="4"/><Energy e="5"/><Energy e="6"/><Energy e="7"/>
					<Energy e="8"/><Energy e="9"/><Energy e="10"/><Energy e="11"/>
					<Energy e="12"/><Energy e="13"/><Energy e="14"/><Energy e="15"/>
				</Map>
			</Maps>
			<Torsions>
				<Torsion a1="0" a2="1" a3="2" a4="3" b1="1" b2="2" b3="3" b4="0" map="0"/>
			</Torsions>
		</Force>
		<Force energy="k*min(dtheta, 2*pi-dtheta)^2; dtheta = abs(theta-theta0);pi = 3.141593;" forceGroup="0" name="CustomTorsionForce" type="CustomTorsionForce" usesPeriodic="0" version="3">
			<PerTorsionParameters>
				<Parameter name="k"/>
				<Parameter name="theta0"/>
			</PerTorsionParameters>
			<GlobalParameters/>
			<EnergyParameterDerivatives/>
			<Torsions>
				<Torsion p1="0" p2="1" p3="2" p4="3" param1="3" param2=".5"/>
			</Torsions>
		</Force>
		<Force cutoff="1" method="4" name="NonbondedForce" type="NonbondedForce" version="4">
			<GlobalParameters/>
			<ParticleOffsets/>
			<ExceptionOffsets/>
			<Particles>
				<Particle eps=".5" q=".5" sig=".3"/>
				<Particle eps=".5" q="-.5" sig=".3"/>
				<Particle eps=".4" q="0" sig=".2"/>
				<Particle eps="0" q="0" sig="1"/>
				<Particle eps="0" q="0" sig="1"/>
				<Particle eps="0" q="0" sig="1"/>
				<Particle eps="0" q="0" sig="1"/>
				<Particle eps="0" q="0" sig="1"/>
				<Particle eps=".1" q="1" sig=".25"/>
			</Particles>
			<Exceptions>
				<Exception eps="0" p1="0" p2="1" q="0" sig="1"/>
				<Exception eps=".25" p1="0" p2="3" q=".1" sig="2"/>
			</Exceptions>
		</Force>
		<Force forceGroup="0" frequency="1" name="CMMotionRemover" type="CMMotionRemover" version="1"/>
		<Force forceGroup="0" frequency="25" name="MonteCarloBarostat" pressure="1" randomSeed="0" temperature="300" type="MonteCarloBarostat" version="1"/>
	</Forces>
</System>
"#;

fn read(text: &str) -> md::error::Result<Description> {
    let (_folder, path) = file("system.xml", text.as_bytes());
    read_topology(&path)
}

#[test]
fn the_file_means_what_it_says() {
    let Description { topology, nonbonded, cell_hint, .. } = read(XML).unwrap();
    assert_eq!(cell_hint.kind, BoxKind::Triclinic);
    let names: Vec<&str> = topology.atoms.iter().map(|atom| atom.name.as_str()).collect();
    assert_eq!(names, ["C", "N", "O", "H", "EP", "EP", "EP", "EP", "Na"]);
    let residues: Vec<(&str, u32)> = topology.residues.iter().map(|r| (r.name.as_str(), r.first)).collect();
    assert_eq!(residues, [("MOL", 0), ("NA", 8)]);
    let sites: Vec<&Construction> = topology.virtual_sites.iter().map(|site| &site.construction).collect();
    let frame = vec![[0.5, -1.0, 0.0], [0.25, 0.5, -1.0], [0.25, 0.5, 1.0]];
    let expected = [
        Construction::Average2 { atoms: [0, 1], weights: [0.3, 0.7] },
        Construction::LocalFrame { atoms: vec![0, 1, 2], weights: frame, position: [0.1, 0.2, 0.3] },
        Construction::OutOfPlane { atoms: [0, 1, 2], weights: [0.1, 0.2], cross: 3.0 },
        Construction::Average3 { atoms: [0, 1, 2], weights: [0.1, 0.2, 0.7] },
    ];
    assert_eq!(sites, expected.iter().collect::<Vec<_>>());
    assert_eq!(topology.virtual_sites.iter().map(|site| site.site).collect::<Vec<_>>(), [4, 5, 6, 7]);
    assert_eq!(topology.constraints[0].atoms, [2, 3]);
    assert_eq!(topology.connectivity, [[0, 1], [1, 2], [2, 3]]);
    let bonded = &topology.bonded;
    assert_eq!((bonded.bonds.len(), bonded.urey_bradleys[0].atoms, bonded.urey_bradleys.len()), (2, [0, 2], 1));
    assert_eq!(bonded.ryckaert_bellemans[0].coefficients, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!((bonded.propers[0].periodicity, bonded.propers[0].phase), (2, 3.1));
    assert_eq!((bonded.harmonic_impropers[0].force_constant, bonded.harmonic_impropers[0].angle), (6.0, 0.5));
    // OpenMM's grid starts at 0 with φ fastest; the grid of md starts at −π with ψ fastest
    assert_eq!(bonded.cmap_grids[0].energies[..5], [10.0, 14.0, 2.0, 6.0, 11.0]);
    assert_eq!(bonded.cmaps[0].atoms, [0, 1, 2, 3, 1, 2, 3, 0]);
    assert!(topology.charmm);
    assert_eq!(nonbonded.types, 4);
    assert_eq!(topology.atoms[0].lj_type, topology.atoms[1].lj_type);
    let (sigma, epsilon) = nonbonded.sigma_epsilon(0, 1);
    assert!((sigma - 0.25).abs() < 1e-14 && (epsilon - f64::sqrt(0.2)).abs() < 1e-14);
    assert_eq!((topology.exclusions.len(), bonded.pairs14.len()), (2, 1));
    let pair = bonded.pairs14[0];
    assert_eq!((pair.atoms, pair.charge_product, pair.c6, pair.c12), ([0, 3], 0.1, 64.0, 4096.0));
}

/// Tests that atom names come from the coordinate file, because an OpenMM system has no names. A coordinate file with
/// other atoms is not used for names.
#[test]
fn names_come_from_the_coordinates() {
    let description = read(XML).unwrap();
    assert!(description.nameless);
    let rows = [("CA", "ALA", 5), ("N", "ALA", 5), ("O", "ALA", 5), ("H", "ALA", 5)].into_iter();
    let rows = rows.chain([("M1", "ALA", 5), ("M2", "ALA", 5), ("M3", "ALA", 5), ("M4", "ALA", 5), ("NA", "NA", 6)]);
    let line = |(index, (name, residue, number)): (usize, (&str, &str, i32))| {
        format!(
            "ATOM  {:>5} {name:<4} {residue:>3} A{number:>4}    {:>8.3}{:>8.3}{:>8.3}\n",
            index + 1,
            index as f64,
            0.0,
            0.0
        )
    };
    let text: String = rows.enumerate().map(line).collect();
    let (_folder, path) = file("named.pdb", text.as_bytes());
    let labels = read_coordinates(&path, None, None).unwrap().labels;
    let mut topology = description.topology.clone();
    take_names(&mut topology, &labels[1..]);
    assert_eq!(topology.atoms, description.topology.atoms);
    take_names(&mut topology, &labels);
    let residues: Vec<(&str, i32, u32)> =
        topology.residues.iter().map(|r| (r.name.as_str(), r.number, r.first)).collect();
    assert_eq!(residues, [("ALA", 5, 0), ("NA", 6, 8)]);
    let atoms: Vec<(&str, u8, u32)> = topology.atoms.iter().map(|a| (a.name.as_str(), a.element, a.residue)).collect();
    assert_eq!((atoms[0], atoms[4], atoms[8]), (("CA", 6, 0), ("M1", 0, 0), ("NA", 11, 1)));
    assert_eq!(md::select::select(&topology, "protein and name CA").unwrap(), [0]);
}

#[test]
fn repartitioned_hydrogens_are_hydrogens() {
    let topology = read(&XML.replace("mass=\"1.008\"", "mass=\"4.032\"").replace("22.99", "4.0026")).unwrap().topology;
    assert_eq!((topology.atoms[3].element, topology.atoms[8].element), (1, 2));
}

#[test]
fn parameters_are_refused_where_the_file_holds_its_own() {
    let (_folder, path) = file("system.xml", XML.as_bytes());
    let options = md::format::TopologyOptions { parameters: vec![path.clone()], ..Default::default() };
    let error = md::format::read_topology_with(&path, &options).unwrap_err().to_string();
    assert!(error.contains("system.parameters has no effect on this topology"), "{error}");
}

#[test]
fn other_spellings_of_harmonic_impropers() {
    let energy = "k*min(dtheta, 2*pi-dtheta)^2; dtheta = abs(theta-theta0);pi = 3.141593;";
    let gromacs = "0.5*k*(thetap-theta0)^2; thetap = step(-(theta-theta0+pi))*2*pi+theta+step(theta-theta0-pi)*(-2*pi); pi = 3.14159265358979";
    let inline = "k*min(dtheta, 2*3.141592653589793-dtheta)^2; dtheta = abs(theta-theta0)";
    for (spelling, factor) in [(inline, 2.0), (gromacs, 1.0)] {
        let topology = read(&XML.replace(energy, spelling)).unwrap().topology;
        assert_eq!(topology.bonded.harmonic_impropers[0].force_constant, 3.0 * factor);
    }
    for spelling in ["k*(theta-theta0)^2;", "k*(theta-theta0)^2"] {
        let error = read(&XML.replace(energy, spelling)).unwrap_err().to_string();
        assert!(error.contains("theta0 is 0.5, and the energy does not wrap"), "{error}");
    }
    let unwrapped = XML.replace(energy, "k*(theta-theta0)^2");
    let topology = read(&unwrapped.replace("param2=\".5\"", "param2=\"0\"")).unwrap().topology;
    assert_eq!(topology.bonded.harmonic_impropers[0].force_constant, 6.0);
    let other = XML.replace("pi = 3.141593;", "pi = 3.2;");
    let error = read(&other).unwrap_err().to_string();
    assert!(error.contains("CustomTorsionForce whose energy"), "{error}");
}

#[test]
fn what_is_wrong_or_not_supported_is_refused_with_its_line() {
    for (from, to, message) in [
        ("<System ", "<State ", "not valid XML: expected 'State' tag"),
        ("version=\"1\">\n\t<Per", "version=\"2\">\n\t<Per", "system.xml:2: <System>: version 2, expected 1"),
        ("mass=\"12.011\"", "mass=\"0\"", "particle 0, a particle that is not a virtual site, has the mass 0"),
        ("mass=\"0\"", "mass=\"3\"", "particle 4, a virtual site, has the mass 3"),
        ("mass=\"12.011\"", "mas=\"1\"", "system.xml:9: <Particle>: lacks its attribute mass"),
        ("mass=\"12.011\"", "mass=\"x\"", "system.xml:9: <Particle>: mass is `x`, not a finite number"),
        ("TwoParticleAverageSite p1=\"0\"", "SymmetrySite p1=\"0\"", "virtual sites of the kind SymmetrySite"),
        ("TwoParticleAverageSite p1=\"0\"", "TwoParticleAverageSite p1=\"4\"", "site 4 is defined by its own position"),
        ("wy3=\"1\"", "", "the site has 3 particles, expected at least 2 particles"),
        ("p1=\"2\" p2=\"3\"/", "p1=\"2\" p2=\"9\"/", "p2 is `9`, not between 0 and 8"),
        ("p1=\"2\" p2=\"3\"/", "p1=\"2\" p2=\"2\"/", "<Constraint>: names particle 2 twice"),
        ("<Bonds>", "<Springs></Springs><Other>", "not valid XML"),
        ("type=\"RBTorsionForce\"", "type=\"CustomBondForce\"", "a force of the kind CustomBondForce"),
        ("<Map size=\"4\">", "<Map size=\"5\">", "a map of size 5 with 16 energies"),
        ("map=\"0\"", "map=\"1\"", "map is `1`, not between 0 and 0"),
        ("<ParticleOffsets/>", "<ParticleOffsets><Offset/></ParticleOffsets>", "depend on a global parameter"),
        ("<Particle eps=\".1\" q=\"1\" sig=\".25\"/>", "", "the force has 8 particles, but the system has 9"),
        ("eps=\".1\"", "eps=\"-.1\"", "the Lennard-Jones parameters are invalid: sigma 0.25 nm, epsilon -0.1"),
        ("sig=\".25\"", "sig=\"-.25\"", "the Lennard-Jones parameters are invalid: sigma -0.25 nm"),
        ("sig=\".25\"", "sig=\"0\"", "sigma is 0, but epsilon is 0.1 kJ/mol"),
        ("type=\"HarmonicAngleForce\"", "type=\"NonbondedForce\"", "<Force>: lacks its part <Particles>"),
        ("type=\"NonbondedForce\"", "type=\"CMMotionRemover\"", "no NonbondedForce"),
        ("type=\"CMMotionRemover\"", "type=\"NonbondedForce\"", "a second NonbondedForce"),
        ("<A x=\"3\"", "<A x=\"-3\"", "the periodic box vectors do not form a cell"),
        ("\t<Constraints>", "\t<Bonds/><Constrain>", "not valid XML"),
        ("cutoff=\"1\" method", "cutoff=\"1\" includeDirectSpace=\"0\" method", "includeDirectSpace is not 1"),
        ("method=\"4\"", "method=\"6\"", "the non-bonded method `6` is unknown"),
        ("cutoff=\"1\" method", "cutoff=\"1\" scale=\"2\" method", "<Force>: the attribute `scale` is unknown to md"),
        (
            "type=\"HarmonicBondForce\"",
            "type=\"HarmonicBondForce\" cubic=\"2\"",
            "the attribute `cubic` is unknown to md",
        ),
        ("<Bond d=\".2\"", "<Bond d=\".2\" c=\"1\"", "<Bond>: the attribute `c` is unknown to md"),
        ("eps=\".1\" q=\"1\"", "eps=\".1\" alpha=\"1\" q=\"1\"", "<Particle>: the attribute `alpha` is unknown to md"),
        ("<Maps>", "<Offsets/><Maps>", "<Offsets>: the part is unknown to md"),
        ("\t<Constraints>", "\t<Sites/><Constraints>", "<Sites>: the part is unknown to md"),
    ] {
        assert!(XML.contains(from), "{from}");
        let error = read(&XML.replacen(from, to, 1)).expect_err(message);
        assert_eq!(error.exit_code(), 2);
        assert!(
            error.to_string().contains("system.xml:") && error.to_string().contains(message),
            "{error}\nfor {message}"
        );
    }
    // the attributes of OpenMM that do not change the energies of md
    let named = "cutoff=\"1\" includeDirectSpace=\"1\" exceptionsUsePeriodic=\"1\" recipForceGroup=\"1\" method";
    assert!(
        read(&XML.replace("cutoff=\"1\" method", named).replace("usesPeriodic=\"0\"", "usesPeriodic=\"1\"")).is_ok()
    );
    let error = read("<?xml version=\"1.0\"?>\n<State/>").unwrap_err().to_string();
    assert!(error.contains("system.xml:2: <State>: expected a <System> of OpenMM"), "{error}");
    let error = read("<!DOCTYPE a [<!ENTITY b \"c\">]><System>&b;</System>").unwrap_err().to_string();
    assert!(error.contains("system.xml"), "{error}");
    // the elements are nested so deeply that a recursive parser would overflow its stack
    let deep = format!("<System>{}", "<a>".repeat(200_000));
    assert!(read(&deep).is_err());
}
