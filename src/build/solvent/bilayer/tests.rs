//! Tests of bilayers around rods, rings and cones of carbon atoms.

use std::f64::consts::PI;

use md_engine::neighbours::Neighbours;

use super::*;

/// Van-der-Waals radius of carbon (Bondi), nm.
const CARBON: f64 = 0.17;

/// Returns carbon atoms in layers at z from −2.5 to 2.5 nm. Each layer is a ring, or a disk if `filled`, with the
/// radius `radius(z)`.
fn wall(radius: impl Fn(f64) -> f64, filled: bool) -> Vec<Embedded> {
    let mut atoms = vec![];
    for layer in 0..=25 {
        let z = -2.5 + 0.2 * f64::from(layer);
        let mut ring = radius(z);
        loop {
            let count = (2.0 * PI * ring / 0.15).ceil().max(1.0);
            let angles = (0..count as u32).map(|k| 2.0 * PI * f64::from(k) / count);
            atoms.extend(angles.map(|angle| Embedded {
                position: vec3(9.0 + ring * angle.cos(), -7.0 + ring * angle.sin(), z),
                element: 6,
                is_water: false,
            }));
            if !filled || ring == 0.0 {
                break;
            }
            ring = (ring - 0.25).max(0.0);
        }
    }
    atoms
}

fn popc(solute: &[Embedded], padding: f64) -> Bilayer {
    Bilayer::around(&Patch::read("POPC").unwrap(), solute, padding).unwrap()
}

/// Returns the smallest distance (nm) between a heavy atom of a lipid and an atom of the solute, by brute force.
fn nearest(made: &Bilayer, solute: &[Embedded]) -> f64 {
    let heavy = Patch::read("POPC").unwrap().heavy();
    let mut nearest = f64::INFINITY;
    for lipid in &made.lipids {
        for (&site, _) in lipid.iter().zip(&heavy).filter(|(_, heavy)| **heavy) {
            for atom in solute {
                let d = made.cell.minimum_image(site - atom.position - made.shift).norm_squared();
                nearest = nearest.min(d.sqrt());
            }
        }
    }
    nearest
}

#[test]
fn a_rod_removes_about_its_area_from_both_leaflets() {
    let solute = wall(|_| 0.3, true);
    let made = popc(&solute, 1.0);
    let patch = Patch::read("POPC").unwrap();
    assert_eq!(made.copies, [1, 1]);
    let [a, b, c] = made.cell.face_distances();
    assert_eq!([a, b], patch.edges);
    assert!((c - 2.0 * (patch.reach().max(2.5) + 1.0)).abs() < 1e-9, "{c}");
    assert!(nearest(&made, &solute) >= place::HEAVY_APART);
    let area = PI * (0.3 + CARBON).powi(2);
    for leaflet in made.leaflets {
        assert!((leaflet.solute_area - area).abs() < 0.1, "{leaflet:?} {area}");
        let removed = leaflet.clashing + leaflet.enclosed + leaflet.balanced;
        assert_eq!(leaflet.lipids + removed, 64);
        // the cross-section of the rod is the area of one lipid, and chains of neighbouring lipids may overlap with the
        // rod
        assert!((1..=4).contains(&removed), "{leaflet:?}");
    }
    assert_eq!(made.leaflets[0].lipids, made.leaflets[1].lipids);
    assert_eq!(made.lipids.len(), made.leaflets[0].lipids + made.leaflets[1].lipids);
}

#[test]
fn a_cone_leaves_the_same_area_in_both_leaflets() {
    let solute = wall(|z| 0.9 + 0.3 * z.clamp(-1.5, 1.5), true);
    let made = popc(&solute, 0.6);
    let patch = Patch::read("POPC").unwrap();
    // mean of π (0.9 + 0.17 ± 0.3 z)² for z from 0 to the half thickness h
    let mean = |sign: f64| {
        let (r, h) = (0.9 + CARBON, made.core);
        PI * (r * r + sign * 0.3 * r * h + 0.03 * h * h)
    };
    let [upper, lower] = made.leaflets;
    assert!((upper.solute_area - mean(1.0)).abs() < 0.3, "{upper:?} {}", mean(1.0));
    assert!((lower.solute_area - mean(-1.0)).abs() < 0.3, "{lower:?} {}", mean(-1.0));
    let area = |leaflet: Leaflet| leaflet.lipids as f64 * patch.area_per_lipid() + leaflet.solute_area;
    assert!((area(upper) - area(lower)).abs() <= 0.5 * patch.area_per_lipid() + 1e-9);
    assert!(upper.lipids < lower.lipids && nearest(&made, &solute) >= place::HEAVY_APART);
}

#[test]
fn pores_have_water_and_no_lipids() {
    let solute = wall(|_| 2.0, false);
    let made = popc(&solute, 1.0);
    assert!(made.leaflets.iter().all(|leaflet| leaflet.enclosed > 0), "{:?}", made.leaflets);
    let axis = vec3(9.0, -7.0, 0.0) + made.shift;
    let from_axis = |p: Vec3| {
        let d = made.cell.minimum_image(p - axis);
        d.x.hypot(d.y)
    };
    let carbons = made.lipids.iter().flatten().filter(|p| (p.z - axis.z).abs() < made.core);
    let inside = carbons.filter(|&&p| from_axis(p) < 2.0).count();
    assert_eq!(inside, 0);
    // water is allowed in the pore and beyond the hydrocarbon core, but not among the hydrocarbon chains
    let at = |x: f64, z: f64| made.admits_water(axis + vec3(x, 0.0, z));
    assert!(at(0.0, 0.0) && at(1.5, 1.0) && at(2.6, made.core + 0.1) && at(-2.6, -made.core - 0.1));
    assert!(!at(2.6, 0.0) && !at(-2.6, -1.0) && !at(2.0, 0.5));
}

#[test]
fn large_solutes_get_several_patches() {
    let (radius, area) = (2.5, 0.6656);
    let made = popc(&wall(|_| radius, false), 1.0);
    assert_eq!(made.copies, [2, 2]);
    let [a, b, _] = made.cell.face_distances();
    for leaflet in made.leaflets {
        let left = a * b - PI * (radius + CARBON).powi(2);
        let missing = left - leaflet.lipids as f64 * area;
        // other conformations fill the gap that removed lipids leave around the solute, so that the mean width of the
        // rest is less than half of a lipid
        let gap = 2.0 * PI * (radius + CARBON) * f64::sqrt(area);
        assert!(leaflet.refitted > 0 && (0.0..0.5 * gap).contains(&missing), "{leaflet:?} {missing} {gap}");
    }
    let (heavy, count) = (Patch::read("POPC").unwrap().heavy(), made.lipids[0].len());
    let sites = made.lipids.concat();
    let near = Neighbours::new(Some(&made.cell), &sites, place::HEAVY_APART);
    for (index, &site) in sites.iter().enumerate() {
        near.visit(site, |other, d| {
            let other = other as usize;
            let is_close = heavy[index % count] && heavy[other % count] || d.norm() < place::ATOMS_APART;
            assert!(other / count == index / count || !is_close, "{index} {other}");
        });
    }
}

#[test]
fn impossible_membranes_are_refused_with_advice() {
    let patch = Patch::read("DLPE").unwrap();
    let solute = wall(|_| 0.3, true);
    let refused = |solute: &[Embedded], padding: f64| {
        let Err(problem) = Bilayer::around(&patch, solute, padding) else { panic!("this is impossible") };
        assert!(problem.help.is_some());
        problem.message
    };
    for bad in [f64::NAN, f64::INFINITY, -1.0, 0.0, 0.4] {
        assert!(refused(&solute, bad).contains("with a membrane"), "{bad}");
    }
    let moved =
        |d: Vec3| solute.iter().map(|atom| Embedded { position: atom.position + d, ..*atom }).collect::<Vec<_>>();
    assert!(refused(&moved(vec3(0.0, 0.0, 7.0)), 1.0).contains("no atom of the solute is within"));
    assert!(refused(&[], 1.0).contains("no atom of the solute is within"));
    assert!(refused(&moved(vec3(f64::NAN, 0.0, 0.0)), 1.0).contains("is at"));
    let far = [solute.clone(), moved(vec3(500.0, 0.0, 0.0))].concat();
    assert!(refused(&far, 60.0).contains("more than 10000 nm2"));
}
