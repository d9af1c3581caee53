#![allow(missing_docs, clippy::all)]
use super::pair_kernel::*;
use crate::cell::*;
use crate::pair::*;
use crate::simd::*;
use crate::vec3::*;
pub fn run(pos: &[Vec3], l: f64, level: Level, radius: f64) {
    let cell = PeriodicCell::orthorhombic([l, l, l]);
    let n = pos.len();
    let has: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
    let mut g = Grid::default();
    let t = std::time::Instant::now();
    g.build(Some(&cell), pos, &has);
    println!("grid {:?} blocks {} columns {:?}", t.elapsed(), g.blocks(), g.columns);
    let t = std::time::Instant::now();
    let mut packed = vec![[0f32; 24]; g.blocks()];
    for (b, p) in packed.iter_mut().enumerate() {
        g.pack_block(b, pos, p);
    }
    println!("pack {:?}", t.elapsed());
    let ex = crate::system::Exclusions::from_pairs(
        n,
        (0..n as u32 / 3).flat_map(|w| [[3 * w, 3 * w + 1], [3 * w, 3 * w + 2], [3 * w + 1, 3 * w + 2]]),
    );
    let both = BothWays::new(n, &ex);
    let mut list = PairList::default();
    list.resize(&g);
    let mut scratch = SearchScratch::default();
    for _ in 0..3 {
        let t = std::time::Instant::now();
        for c in 0..list.chunks.len() {
            search_chunk(
                level,
                SearchInput {
                    grid: &g,
                    packed: &packed,
                    cell: Some(&cell),
                    exclusions: &both,
                    has_lj: &has,
                    far_exclusions: &[],
                    radius,
                },
                c,
                &mut scratch,
                &mut list.chunks[c],
            );
        }
        println!(
            "search {:?} slots {} M entries {}",
            t.elapsed(),
            list.slots() as f64 / 1e6,
            list.chunks.iter().map(|c| c.entries.len()).sum::<usize>()
        );
    }
    let mut inner = PairList::default();
    inner.resize(&g);
    for _ in 0..3 {
        let t = std::time::Instant::now();
        for c in 0..list.chunks.len() {
            prune_chunk(level, &g, &packed, Some(&cell), 0.91, &list.chunks[c], &mut inner.chunks[c]);
        }
        println!("prune {:?} slots {} M", t.elapsed(), inner.slots() as f64 / 1e6);
    }
    let excl: usize = inner.chunks.iter().flat_map(|c| c.masked.iter()).map(|m| m.excluded.count_ones() as usize).sum();
    println!("excluded bits {} of {}", excl, ex.len());
    let al = 3.12341 / 0.9f64;
    let sp = std::f64::consts::PI.sqrt();
    let f = |r: f64| (libm::erfc(al * r) / r + 2.0 * al / sp * (-al * al * r * r).exp()) / (r * r);
    let e = |r: f64| libm::erfc(al * r) / r;
    let fx = |r: f64| -(libm::erf(al * r) / r - 2.0 * al / sp * (-al * al * r * r).exp()) / (r * r);
    let ex_ = |r: f64| -libm::erf(al * r) / r;
    let tabs = CoulombTables {
        force: RadialTable::new(&f, 0.9),
        energy: RadialTable::new(&e, 0.9),
        excluded_force: RadialTable::new(&fx, 0.9),
        excluded_energy: RadialTable::new(&ex_, 0.9),
    };
    let sc = crate::units::COULOMB.sqrt() as f32;
    let mut q = vec![[0f32; 8]; g.blocks()];
    let mut lj = vec![[0f32; 16]; g.blocks()];
    for (s, &a) in g.slot_atom.iter().enumerate() {
        if a != NO_ATOM {
            q[s / 8][s % 8] = sc * if has[a as usize] { -0.834 } else { 0.417 };
            if has[a as usize] {
                lj[s / 8][s % 8] = 0.315061 / 2.0;
                lj[s / 8][8 + s % 8] = (24.0f32 * 0.636386).sqrt();
            }
        }
    }
    let mut forces = vec![[0f32; 24]; g.blocks()];
    let input = PairInput {
        grid: &g,
        cell: Some(&cell),
        packed: &packed,
        charges: &q,
        lj: &lj,
        type_table: &[],
        types: 0,
        coulomb: &tabs,
        cutoff_squared: 0.81,
        cutoff_lj_squared: 0.81,
        lj_shift: 0.0,
    };
    let mut best = 1e9f64;
    let nch = inner.chunks.len();
    for _ in 0..30 {
        let mut out = PairOutput::default();
        let t = std::time::Instant::now();
        dispatch(
            level,
            PairKernel::<1, false, false> {
                input,
                chunks: &inner.chunks,
                range: 0..nch,
                forces: &mut forces,
                output: &mut out,
            },
        );
        best = best.min(t.elapsed().as_secs_f64());
    }
    println!(
        "{} F kernel {:.3} ms  {:.1} clk@3.7GHz/zmm",
        level.name(),
        best * 1e3,
        best * 3.7e9 / (inner.slots() as f64 / 16.0)
    );
    let mut be = 1e9f64;
    let mut out = PairOutput::default();
    for _ in 0..10 {
        for f in &mut forces {
            *f = [0.0; 24];
        }
        out = PairOutput::default();
        let t = std::time::Instant::now();
        dispatch(
            level,
            PairKernel::<1, false, true> {
                input,
                chunks: &inner.chunks,
                range: 0..nch,
                forces: &mut forces,
                output: &mut out,
            },
        );
        be = be.min(t.elapsed().as_secs_f64());
    }
    println!("E kernel {:.3} ms lj {} coul {}", be * 1e3, out.lj, out.coulomb);
    // exact for a few atoms
    let mut se = 0.0;
    let mut sf = 0.0;
    for i in (0..n).step_by(97) {
        let mut fi = Vec3::ZERO;
        for j in 0..n {
            if i == j {
                continue;
            }
            let d = cell.minimum_image(pos[i] - pos[j]);
            let r2 = d.norm_squared();
            let qi = if i % 3 == 0 { -0.834 } else { 0.417 };
            let qj = if j % 3 == 0 { -0.834 } else { 0.417 };
            let r = r2.sqrt();
            let mut fr = 0.0;
            if i / 3 == j / 3 {
                fr = crate::units::COULOMB * qi * qj * fx(r);
            } else if r < 0.9 {
                fr = crate::units::COULOMB * qi * qj * f(r);
                if i % 3 == 0 && j % 3 == 0 {
                    let s6 = (0.315061 / r).powi(6);
                    fr += 24.0 * 0.636386 * s6 * (2.0 * s6 - 1.0) / r2;
                }
            }
            fi += d * fr;
        }
        let s = g.atom_slot[i] as usize;
        let m = vec3(forces[s / 8][s % 8] as f64, forces[s / 8][8 + s % 8] as f64, forces[s / 8][16 + s % 8] as f64);
        se += (m - fi).norm_squared();
        sf += fi.norm_squared();
    }
    println!("rel rms {:e}  rms {}", (se / sf).sqrt(), (sf / (n as f64 / 97.0)).sqrt());
}
