//! Tests of operations that read tables.

use super::{Lanes, ROUNDS, any, check, random};
use crate::rng::Stream;
use crate::simd::{Aligned16, Float, Kernel, LANES, Level, Simd, Tables, dispatch};
use std::array::from_fn;

/// Looks up the values of five tables for a vector.
struct LookUp<'a>(&'a Tables, Lanes);

impl Kernel for LookUp<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        let LookUp(tables, x) = self;
        for (table, found) in S::F::load(&x).look_up(&S::F::bins(tables)).into_iter().enumerate() {
            check("look up", found, |k| tables.0[table][(x[k].to_bits() >> 21) as usize % 32]);
        }
    }
}

#[test]
fn tables_are_read_at_exponent_and_mantissa() {
    let mut random = random(5);
    let tables = Tables(from_fn(|_| from_fn(|_| any(&mut random))));
    for _ in 0..ROUNDS {
        let x = from_fn(|_| any(&mut random));
        Level::available().into_iter().for_each(|level| dispatch(level, LookUp(&tables, x)));
    }
}

/// Picks values from two rows, at indices inside the rows.
struct Pick<'a, const R: usize>(&'a [[Aligned16; R]; 2], [u32; LANES]);

impl<const R: usize> Kernel for Pick<'_, R> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        let Pick([first, second], index) = self;
        let found = S::F::load(&index.map(f32::from_bits)).pick([first, second]);
        let row = |k: usize| if k < LANES / 2 { first } else { second };
        check("pick", found, |k| row(k)[index[k] as usize / LANES].0[index[k] as usize % LANES]);
    }
}

/// Picks values from two rows of pairs.
struct PickPairs<'a>([&'a [[f32; 2]]; 2], [u32; LANES]);

impl Kernel for PickPairs<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        let PickPairs(rows, index) = self;
        let found = S::F::load(&index.map(f32::from_bits)).pick_pairs(rows);
        for (element, found) in found.into_iter().enumerate() {
            let pair = |k: usize| rows[k / 8][(index[k] as usize).min(rows[k / 8].len() - 1)];
            check("pick_pairs", found, |k| pair(k)[element]);
        }
    }
}

#[test]
fn rows_are_read_at_whole_numbers() {
    fn of_size<const R: usize>(random: &mut Stream) {
        let rows: [[Aligned16; R]; 2] = from_fn(|_| from_fn(|_| Aligned16(from_fn(|_| any(random)))));
        for _ in 0..ROUNDS {
            let index = from_fn(|_| (random.bits() % (16 * R as u64)) as u32);
            Level::available().into_iter().for_each(|level| dispatch(level, Pick(&rows, index)));
        }
    }
    let mut random = random(12);
    of_size::<1>(&mut random);
    of_size::<2>(&mut random);
    of_size::<4>(&mut random);
    let pairs: Vec<[f32; 2]> = (0..90).map(|_| from_fn(|_| any(&mut random))).collect();
    for _ in 0..ROUNDS {
        // some indices are beyond the end of the row
        let index = from_fn(|_| (random.bits() % 100) as u32);
        let rows = [&pairs[..70], &pairs[5..]];
        Level::available().into_iter().for_each(|level| dispatch(level, PickPairs(rows, index)));
    }
}
