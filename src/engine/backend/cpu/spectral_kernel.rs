//! Kernels between the transforms of the mesh: separation of real lines, transposition, and the influence function.

use crate::compute::{Lines, Split};
use crate::simd::{Aligned16, Arithmetic, Float, Kernel, LANES, Simd};

/// Separates the transform C of a complex line a + ib into the transforms A and B of the real lines a and b of length
/// n: A(k) = (C(k) + C*(n − k))/2 and B(k) = (C(k) − C*(n − k))/2i, with the complex conjugate C* of C.
pub(super) struct Separate<'a> {
    pub(super) line: &'a Split,
    pub(super) points: usize,
    /// output: `[A, B][k][block of z]`
    pub(super) re: &'a mut [Aligned16],
    pub(super) im: &'a mut [Aligned16],
    pub(super) z: usize,
    pub(super) z_blocks: usize,
}

impl Kernel for Separate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Separate { line, points, re, im, z, z_blocks } = self;
        let half = S::F::splat(0.5);
        let second = (points / 2 + 1) * z_blocks;
        for k in 0..=points / 2 {
            let image = if k == 0 { 0 } else { points - k };
            let (c, d) = (S::F::load(&line.re[k].0) * half, S::F::load(&line.im[k].0) * half);
            let (e, f) = (S::F::load(&line.re[image].0) * half, S::F::load(&line.im[image].0) * half);
            let to = k * z_blocks + z;
            (c + e).store(&mut re[to].0);
            (d - f).store(&mut im[to].0);
            if second < re.len() {
                (d + f).store(&mut re[second + to].0);
                (e - c).store(&mut im[second + to].0);
            }
        }
    }
}

/// Inverse of [`Separate`]: C(k) = A(k) + iB(k) and C(n − k) = A*(k) + iB*(k), with the transforms A and B of two real
/// lines of length n. The imaginary parts at k = 0 and k = n/2, which are zero in the transform of real lines, are not
/// read.
pub(super) struct Join<'a> {
    pub(super) planes: [Lines<'a>; 2],
    pub(super) points: usize,
    pub(super) line: &'a mut Split,
}

impl Kernel for Join<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Join { planes: [a, b], points, line } = self;
        for k in 0..=points / 2 {
            let (p, q) = (S::F::load(&a.re[k * a.stride].0), S::F::load(&a.im[k * a.stride].0));
            let (r, s) = (S::F::load(&b.re[k * b.stride].0), S::F::load(&b.im[k * b.stride].0));
            if k == 0 || 2 * k == points {
                p.store(&mut line.re[k].0);
                r.store(&mut line.im[k].0);
            } else {
                (p - s).store(&mut line.re[k].0);
                (q + r).store(&mut line.im[k].0);
                (p + s).store(&mut line.re[points - k].0);
                (r - q).store(&mut line.im[points - k].0);
            }
        }
    }
}

/// Transposes the elements at sixteen x and all z between `columns` (`[block of z][x]`, with z in lanes) and `turned`
/// (`[z]`, with x in lanes).
pub(super) struct Turn<'a> {
    /// real and imaginary parts
    pub(super) columns: [&'a mut [Aligned16]; 2],
    pub(super) turned: &'a mut Split,
    /// index in a row of `columns` at which the sixteen elements along x begin
    pub(super) first: usize,
    /// number of vectors in `columns` from one block of z to the next
    pub(super) height: usize,
    /// whether to transpose from `turned` to `columns` instead of from `columns` to `turned`
    pub(super) back: bool,
}

impl Kernel for Turn<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Turn { columns, turned, first, height, back } = self;
        let [re, im] = columns;
        for (columns, turned) in [(re, &mut turned.re), (im, &mut turned.im)] {
            for (block, turned) in turned.chunks_exact_mut(LANES).enumerate() {
                let columns = &mut columns[block * height + first..][..LANES];
                let (from, to) = if back { (turned, columns) } else { (columns, turned) };
                let mut lanes = [S::F::splat(0.0); LANES];
                for k in 0..LANES {
                    lanes[k] = S::F::load(&from[k].0);
                }
                lanes = S::F::transpose16(lanes);
                for k in 0..LANES {
                    lanes[k].store(&mut to[k].0);
                }
            }
        }
    }
}

/// Multiplies a spectrum by the influence function.
pub(super) struct Multiply<'a> {
    pub(super) spectrum: &'a mut Split,
    pub(super) green: &'a [Aligned16],
}

impl Kernel for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Multiply { spectrum, green } = self;
        // all slices are cut to one length, so that the loop needs no bounds checks
        let length = spectrum.re.len().min(green.len());
        let (re, im, green) = (&mut spectrum.re[..length], &mut spectrum.im[..length], &green[..length]);
        for z in 0..length {
            let green = S::F::load(&green[z].0);
            (S::F::load(&re[z].0) * green).store(&mut re[z].0);
            (S::F::load(&im[z].0) * green).store(&mut im[z].0);
        }
    }
}
