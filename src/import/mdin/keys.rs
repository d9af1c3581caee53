//! Table of the keys of AMBER's namelists `&cntrl` and `&ewald` (manual of sander and pmemd), with defaults and
//! treatment.

use crate::import::settings::{Key, absent, carried, no_use, part};

/// All known keys of `&cntrl` and `&ewald`.
pub(super) const KEYS: &[&[Key]] = &[RUN, OUTPUT, FORCES, COUPLING, EWALD, MODULES];

const RUN: &[Key] = &[
    carried("imin irest", "0"),
    carried("ntx", "1"),
    carried("maxcyc", "1"),
    no_use("ncyc ntmin dx0", MINIMISER),
    carried("drms", "1e-4"),
    carried("nstlim", "1"),
    carried("dt", "0.001"),
    absent("t", "0", "md counts the time from 0"),
    carried("nscm", "1000"),
    no_use("nrespa nrespai", "md computes all forces at every step"),
    carried("ig", "-1"),
    no_use("vlimit", "md does not limit velocities: an unstable run ends with a message"),
    carried("ntr ibelly", "0"),
    carried("restraint_wt", "0"),
    carried("restraintmask bellymask", ""),
    carried("nmropt", "0"),
    absent("jar", "0", "md does not read moving targets: set \"rate\" in the restraint to (r2a - r2) / (nstlim dt)"),
    no_use("nsnb", "md updates its lists when necessary"),
    no_use("watnam owtnm hwtnm1 hwtnm2", "md knows waters by their atoms"),
    no_use("ntrx irandom timlim npscal ndfmin fixcom", INSIDE),
    absent("mask_from_ref", "0", "md selects restrained atoms by the initial positions"),
];

const INSIDE: &str = "a detail of AMBER's programs";

const MINIMISER: &str = "a parameter of AMBER minimisers; md uses steepest descent to remove clashes, then L-BFGS";

const OUTPUT: &[Key] = &[
    carried("ntpr", "50"),
    carried("ntwx ntwv ntwf", "0"),
    no_use("ntwe", "energies are in energies.csv"),
    no_use("ntwr", "output.checkpoint sets the wall-clock time between checkpoints"),
    carried("ntwprt", "0"),
    no_use("ntxo", "md writes final.rst7 and its own checkpoints"),
    carried("ioutfm", "1"),
    carried("iwrap", "0"),
    no_use("ntave ene_avg_sampling", "averages are in the log"),
    no_use(
        "mdinfo_flush_interval mdout_flush_interval dbg_atom_redistribution loadbal_verbose profile_mpi exch_ntpr",
        INSIDE,
    ),
    no_use("lastist lastrst iesp nion n3b", INSIDE),
    no_use("idecomp", "md writes only the energies of the whole system"),
    no_use("iscale noeskp ipnlty mxsub scalm pencut tausw", "a parameter of NMR restraints"),
];

const FORCES: &[Key] = &[
    carried("ntf ntb", "1"),
    carried("cut es_cutoff vdw_cutoff", ""),
    carried("fswitch", "-1"),
    absent("cut_inner", "", "md has one cutoff for forces of all steps"),
    absent("ips", "0", "md has no isotropic periodic sum"),
    carried("ntc", "1"),
    carried("tol", "1e-5"),
    no_use("jfastw", "waters are rigid if bonds to hydrogen are constrained"),
    absent("noshakemask", "", "md constrains the bonds of all atoms in the same way"),
    carried("igb", "0"),
    absent("ipb", "0", "md has no Poisson-Boltzmann solvent"),
    absent("irism", "0", "md has no 3D-RISM"),
    absent(
        "dielc",
        "1",
        "md uses a relative permittivity of 1: divide the charges of the topology by the square root of dielc",
    ),
    no_use("scee scnb", "md uses the 1-4 scaling of the topology"),
    no_use("ipol", "the topology determines the polarisation"),
    no_use("lj1264 plj1264", "md computes the 12-6-4 terms of the topology"),
    no_use("gbsa saltcon rgbmax rbornstat offset surften rdt intdiel extdiel alpb arad", GB),
];

const GB: &str = "a parameter of implicit solvent";

const COUPLING: &[Key] = &[
    carried("ntt", "0"),
    carried("temp0", "300"),
    carried("tempi", "0"),
    carried("tautp", "1"),
    carried("gamma_ln", "0"),
    carried("vrand", "1000"),
    no_use("vrandfr", "a parameter of AMBER's Andersen thermostat"),
    no_use("nkija idistr sinrtau", "a parameter of AMBER's isokinetic thermostats"),
    no_use("temp0les", "a parameter of locally enhanced sampling"),
    carried("ntp", "0"),
    carried("barostat", "1"),
    carried("mcbarint", "100"),
    carried("pres0", "1"),
    carried("comp", "44.6"),
    carried("taup", "1"),
    carried("csurften gamma_ten", "0"),
    carried("ninterface", "2"),
    absent("baroscalingdir", "0", "md scales all directions whose barostat.compressibility is not zero"),
    no_use("pencut", "a parameter of NMR restraints"),
];

const EWALD: &[Key] = &[
    carried("nfft1 nfft2 nfft3", "0"),
    carried("order", "4"),
    carried("dsum_tol", "1e-5"),
    carried("ew_coeff", "0"),
    carried("skinnb", "2"),
    no_use("nbflag", "md updates its lists when necessary"),
    no_use("nbtell", "the log describes the lists"),
    carried("vdwmeth", "1"),
    absent("ew_type", "0", "md uses PME with the accuracy of forces.pme"),
    part("rsum_tol mlimit", "ew_type"),
    absent("use_pme", "1", "PME is used"),
    absent("eedmeth", "1", "md uses the direct sum of PME, or plain interactions without a cell"),
    no_use("eedtbdns ee_type", "md has no tabulated potentials"),
    no_use("column_fft", "md chooses its Fourier transforms"),
    no_use("netfrc", "md removes the motion of the center of mass"),
    no_use("verbose", "the log describes PME"),
    no_use("frameon chngmask", "md derives extra points from the topology"),
    no_use("a b c alpha beta gamma", "the coordinate file has the cell"),
    no_use("skin_permit ischrgd nogrdptrs block_fft fft_blk_y_divisor excl_recip excl_master atm_redist_freq", INSIDE),
    no_use("fft_grids_per_ang", "forces.pme sets the grid"),
    no_use("indmeth diptol maxiter dipmass diptau irstdip scaldip", "a parameter of polarisable force fields"),
];

const MODULES: &[Key] = &[
    absent("icfe", "0", "md has no free-energy perturbation"),
    absent("ifsc", "0", "md has no soft core"),
    part(
        "clambda klambda dvdl_norest logdvdl crgmask scmask* timask* scalpha scbeta gti_* ifmbar ifmbar_net bar_* mbar_* \
         tishake dynlmb",
        "icfe",
    ),
    absent("icnstph", "0", "md has only constant protonation states"),
    absent("icnste", "0", "md has only constant oxidation states"),
    part("ntcnstph ntrelax solvph", "icnstph"),
    part("ntcnste ntrelaxe solve", "icnste"),
    absent("iamd", "0", "md has no accelerated dynamics"),
    part("ethreshd alphad ethreshp alphap w_amd iamdlag", "iamd"),
    absent("scaledMD", "0", "md has no scaled dynamics"),
    absent("ineb", "0", "md has no nudged elastic bands"),
    part("skmin skmax", "ineb"),
    absent("mcwat", "0", "md has no Monte Carlo moves of waters"),
    part("mcint nmd", "mcwat"),
    absent("hybridgb", "0", "md has no implicit solvent"),
    part("numwatkeep", "hybridgb"),
    absent("iphmd", "0", "md has no dynamics at constant pH"),
    absent("ifsams", "0", "md has no self-adjusted mixture sampling"),
    absent("gremd_acyc reweight", "0", "set ensemble.exchange for replica exchange"),
    absent("igamd", "0", "md has no Gaussian accelerated dynamics"),
    part("iE iED iEP iVm irest_gamd ntcmd* nteb* sigma0* sigmaVD VmaxD cutoffD igamdlag", "igamd"),
    absent("ivcap", "0", "md has no solvent cap"),
    part("fcap cutcap xcap ycap zcap", "ivcap"),
    absent("iamoeba", "0", "md has no AMOEBA force field"),
    absent("ifqnt", "0", "md has no QM/MM"),
    absent("ievb", "0", "md has no empirical valence bonds"),
    absent("isgld", "0", "md has no self-guided dynamics"),
    part("tsgavg sgft sgff sgfd tempsg isgsta isgend", "isgld"),
    absent("itgtmd", "0", "md has no targeted dynamics"),
    part("tgtrmsd tgtmdfrc tgtfitmask tgtrmsmask", "itgtmd"),
    absent("infe", "0", "md has no adaptively biased dynamics"),
    absent("plumed", "0", "md does not call PLUMED"),
    part("plumedfile", "plumed"),
    absent("numexchg", "0", "set ensemble.exchange for replica exchange"),
    absent("efx efy efz", "0", "md has no electric field"),
    part("efn efphase effreq", "efx"),
    absent("iemap", "0", "md has no EMAP restraints"),
    absent("lmod", "0", "md has no low-mode search"),
    absent("csurften_mc", "0", "md has no coupling of the surface tension"),
];
