//! Input file that `md build` writes: forces, output, and the stages of a protocol for the system.

use md_build::Built;
use md_build::entry::{ResidueKind, standard_residue};

use super::{COORDINATES, LOG};
use crate::select::select;
use crate::system::Topology;

/// Returns an input file with a protocol for the system.
pub(super) fn text(built: &Built, topology: &str) -> String {
    let is_periodic = built.cell.is_some();
    let forces =
        if is_periodic { "electrostatics = \"pme\"" } else { "cutoff         = \"none\"\nelectrostatics = \"plain\"" };
    let has_protein = built.structure.atoms.iter().any(|atom| atom.name == "CA" && atom.element == 6);
    let has_membrane = built.added.lipids != [0; 2];
    let equilibration = match is_periodic {
        _ if has_membrane => membrane(&built.description.topology),
        true if has_other_solute(built) => [PRESET, SOLUTE].concat(),
        true if has_protein => PRESET.to_owned(),
        true => [MINIMIZE, HEAT_IN_CELL].concat(),
        false => [MINIMIZE, HEAT].concat(),
    };
    let barostat = match is_periodic {
        _ if has_membrane => SEMI_ISOTROPIC,
        true => "barostat   = { kind = \"c-rescale\", pressure = \"1 bar\", coupling_time = \"5 ps\" }\n",
        false => "",
    };
    let temperature = if has_membrane { "310 K" } else { "300 K" };
    format!(
        "# Written by `md build`; {LOG} has the decisions. `md check` describes the run, `md help KEY` explains a key.\n\n\
         [system]\ntopology    = \"{topology}\"\ncoordinates = \"{COORDINATES}\"\n\n\
         [forces]\n{forces}\nconstraints    = \"h-bonds\"\n\n\
         [output]\ntrajectory = {{ every = \"10 ps\" }}\nenergies   = {{ every = \"1 ps\" }}\n\n\
         {equilibration}\n\
         [[stage]]\nname       = \"production\"\nkind       = \"dynamics\"\nduration   = \"1 ns\"\ntimestep   = \"2 fs\"\n\
         thermostat = {{ kind = \"v-rescale\", temperature = \"{temperature}\", coupling_time = \"1 ps\" }}\n{barostat}"
    )
}

/// Returns whether there are molecules other than proteins, water and ions: nucleic acids or ligands.
fn has_other_solute(built: &Built) -> bool {
    let structure = &built.structure;
    (0..structure.residues.len()).any(|residue| {
        let kind = standard_residue(&structure.residues[residue].name).map(|standard| standard.kind);
        let is_protein_or_water = matches!(kind, Some(ResidueKind::Protein | ResidueKind::Water));
        !is_protein_or_water && structure.residue_atoms(residue).len() > 1
    })
}

/// Stages of minimisation and equilibration for a solute in a periodic cell. The preset restrains the heavy atoms of
/// proteins.
const PRESET: &str = "[[stage]]
preset = \"equilibrate-protein\"    # minimises, heats, relaxes the density, releases restraints
";
/// Setting of [`PRESET`] that restrains all heavy atoms of the solute.
const SOLUTE: &str = "select = \"heavy and not (water or ion)\"
";
/// Minimisation, the first stage of a system without restraints.
const MINIMIZE: &str = "[[stage]]
name = \"minimize\"
kind = \"minimize\"

";
/// Equilibration stages that follow [`MINIMIZE`], for a periodic cell without a solute.
const HEAT_IN_CELL: &str = "[[stage]]
name       = \"heat\"
kind       = \"dynamics\"
duration   = \"50 ps\"
timestep   = \"2 fs\"
velocities = \"generate\"
thermostat = { kind = \"v-rescale\", temperature = \"300 K\", coupling_time = \"0.1 ps\" }

[[stage]]
name       = \"density\"
kind       = \"dynamics\"
duration   = \"100 ps\"
timestep   = \"2 fs\"
thermostat = { kind = \"v-rescale\", temperature = \"300 K\", coupling_time = \"1 ps\" }
barostat   = { kind = \"c-rescale\", pressure = \"1 bar\", coupling_time = \"2 ps\" }
";
/// Equilibration stages that follow [`MINIMIZE`], for a system without a periodic cell.
const HEAT: &str = "[[stage]]
name       = \"heat\"
kind       = \"dynamics\"
duration   = \"50 ps\"
timestep   = \"1 fs\"
velocities = \"generate\"
thermostat = { kind = \"langevin\", temperature = \"300 K\", friction = \"5 1/ps\" }
";
/// Keys of semi-isotropic pressure coupling, for a membrane whose area and thickness change independently.
const SEMI_ISOTROPIC: &str =
    "barostat   = { kind = \"c-rescale\", coupling = \"semi-isotropic\", pressure = \"1 bar\", \
                              coupling_time = \"5 ps\" }
";
/// Stages of minimisation and equilibration for a system with a membrane. At 310 K all lipids of `md build` are fluid.
/// Among these lipids DLPE has the highest transition temperature, 303 K (R. Koynova and M. Caffrey, Chem. Phys. Lipids
/// 69, 1 (1994), doi:10.1016/0009-3084(94)90024-8). The head groups are restrained until the lipid chains have filled
/// the gaps at the solute. The head groups are then released while the area changes. [`membrane`] replaces the
/// placeholders of the restraints of the solute.
const MEMBRANE: &str = "[[stage]]
name = \"minimize\"
kind = \"minimize\"
<solute alone>
[[stage]]
name       = \"heat\"                   # at constant volume; holds the solute and the head groups of the lipids
kind       = \"dynamics\"
duration   = \"50 ps\"
timestep   = \"1 fs\"
velocities = \"generate\"
temperature = \"10 K\"
output     = { trajectory = \"none\" }
thermostat = { kind = \"v-rescale\", temperature = [[\"0 ps\", \"10 K\"], [\"40 ps\", \"310 K\"]], coupling_time = \"0.1 ps\" }
position_restraints = [
<solute>  { select = \"lipid and name P\" },
]

[[stage]]
name       = \"release-lipids\"         # lets the head groups go while area and thickness change
kind       = \"dynamics\"
duration   = \"200 ps\"
timestep   = \"2 fs\"
output     = { trajectory = \"none\" }
thermostat = { kind = \"v-rescale\", temperature = \"310 K\", coupling_time = \"0.5 ps\" }
barostat   = { kind = \"c-rescale\", coupling = \"semi-isotropic\", pressure = \"1 bar\", coupling_time = \"5 ps\" }
position_restraints = [
<solute>  { select = \"lipid and name P\", reference_scaling = \"all\", \
force_constant = [[\"0 ps\", \"1000 kJ/mol/nm^2\"], [\"150 ps\", \"0 kJ/mol/nm^2\"]] },
]
";
/// The last stage of the equilibration that begins with [`MEMBRANE`], if there is a solute.
const RELEASE: &str = "
[[stage]]
name       = \"release\"                # lets the solute go
kind       = \"dynamics\"
duration   = \"200 ps\"
timestep   = \"2 fs\"
output     = { trajectory = \"none\" }
thermostat = { kind = \"v-rescale\", temperature = \"310 K\", coupling_time = \"1 ps\" }
barostat   = { kind = \"c-rescale\", coupling = \"semi-isotropic\", pressure = \"1 bar\", coupling_time = \"5 ps\" }
position_restraints = { select = \"heavy and not (water or ion or lipid)\", \
force_constant = [[\"0 ps\", \"1000 kJ/mol/nm^2\"], [\"200 ps\", \"0 kJ/mol/nm^2\"]] }
";

/// Returns the equilibration stages of a system with a membrane. Without a solute in the membrane, the restraints of
/// the solute and the stage that releases the solute are left out.
fn membrane(topology: &Topology) -> String {
    let solute = "heavy and not (water or ion or lipid)";
    let (alone, among, release) = match select(topology, solute) {
        Ok(_) => (
            format!("position_restraints = {{ select = \"{solute}\" }}\n"),
            format!("  {{ select = \"{solute}\" }},\n"),
            RELEASE,
        ),
        Err(_) => (String::new(), String::new(), ""),
    };
    MEMBRANE.replace("<solute alone>", &alone).replace("<solute>", &among) + release
}
