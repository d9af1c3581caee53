//! Fourier transforms of sixteen lines at once, one in each lane of a vector.
//!
//! Data never move between lanes, so the caller must transpose the data first. Real and imaginary parts are in separate
//! arrays. The transform uses Stockham's ordering: every stage processes one factor of the length, reads one array and
//! writes a different array, and the result is in natural order.

use crate::memory;
use crate::simd::{Aligned16, Arithmetic, Float, Kernel, Level, Simd, dispatch};
use std::f64::consts::TAU;

/// Sixteen lines in memory. Element i of all sixteen lines is the vector at `[i · stride]`.
#[derive(Clone, Copy)]
pub struct Lines<'a> {
    /// real parts
    pub re: &'a [Aligned16],
    /// imaginary parts
    pub im: &'a [Aligned16],
    /// distance from one element to the next, in vectors
    pub stride: usize,
}

/// Sixteen lines in memory as in [`Lines`], mutable.
pub struct LinesMut<'a> {
    /// real parts
    pub re: &'a mut [Aligned16],
    /// imaginary parts
    pub im: &'a mut [Aligned16],
    /// distance from one element to the next, in vectors
    pub stride: usize,
}

/// Complex numbers, with real parts in one array and imaginary parts in a second array.
#[derive(Clone, Debug, Default)]
pub struct Split {
    /// real parts
    pub re: Vec<Aligned16>,
    /// imaginary parts
    pub im: Vec<Aligned16>,
}

impl Split {
    /// Creates arrays of `length` zeros.
    pub fn new(length: usize) -> Self {
        let zeros = || memory::filled(Aligned16::default(), length);
        Split { re: zeros(), im: zeros() }
    }

    /// Returns sixteen lines: the first elements are at index `first`, and successive elements are `stride` vectors
    /// apart.
    #[inline(always)]
    pub fn lines(&self, first: usize, stride: usize) -> Lines<'_> {
        Lines { re: &self.re[first..], im: &self.im[first..], stride }
    }

    /// Returns the same lines as [`Self::lines`], mutable.
    #[inline(always)]
    pub fn lines_mut(&mut self, first: usize, stride: usize) -> LinesMut<'_> {
        LinesMut { re: &mut self.re[first..], im: &mut self.im[first..], stride }
    }
}

impl Lines<'_> {
    /// Exchanges real and imaginary parts. An exchange, a forward transform and a second exchange give the inverse
    /// transform.
    pub fn swapped(self) -> Self {
        Self { re: self.im, im: self.re, stride: self.stride }
    }

    /// Returns whether the arrays hold all elements of lines that are `length` ≥ 1 elements long.
    #[inline(always)]
    fn contain(&self, length: usize) -> bool {
        (length - 1).checked_mul(self.stride).is_some_and(|last| last < self.re.len().min(self.im.len()))
    }

    /// Loads register number `register` of the element at the index `at` of the arrays.
    ///
    /// # Safety
    /// `at` is less than the length of both arrays. The caller checks the indices once for many elements, because a
    /// check of each element costs as much as the arithmetic.
    #[inline(always)]
    unsafe fn get<F: Float>(&self, at: usize, register: usize) -> Complex<F::Register> {
        // SAFETY: the caller guarantees the safety conditions
        let [re, im] = unsafe { [&self.re.get_unchecked(at).0, &self.im.get_unchecked(at).0] };
        Complex { re: F::load_register(re, register), im: F::load_register(im, register) }
    }
}

impl LinesMut<'_> {
    /// Exchanges real and imaginary parts, as [`Lines::swapped`] does.
    pub fn swapped(self) -> Self {
        Self { re: self.im, im: self.re, stride: self.stride }
    }

    /// Returns whether the arrays hold all elements of lines that are `length` ≥ 1 elements long.
    #[inline(always)]
    fn contain(&self, length: usize) -> bool {
        Lines { re: self.re, im: self.im, stride: self.stride }.contain(length)
    }

    /// Stores register number `register` of the element at the index `at` of the arrays.
    ///
    /// # Safety
    /// `at` is less than the length of both arrays, as for [`Lines::get`].
    #[inline(always)]
    unsafe fn put<F: Float>(&mut self, at: usize, register: usize, value: Complex<F::Register>) {
        // SAFETY: the caller guarantees the safety conditions
        let [re, im] = unsafe { [&mut self.re.get_unchecked_mut(at).0, &mut self.im.get_unchecked_mut(at).0] };
        F::store_register(value.re, re, register);
        F::store_register(value.im, im, register);
    }
}

/// Complex numbers, one for each lane of a register. The transform of radix nine needs all vector registers.
#[derive(Clone, Copy)]
struct Complex<A> {
    re: A,
    im: A,
}

impl<A: Arithmetic> Complex<A> {
    #[inline(always)]
    fn plus(self, o: Self) -> Self {
        Self { re: self.re + o.re, im: self.im + o.im }
    }
    #[inline(always)]
    fn minus(self, o: Self) -> Self {
        Self { re: self.re - o.re, im: self.im - o.im }
    }
    #[inline(always)]
    fn scaled(self, factor: f32) -> Self {
        Self { re: self.re * A::splat(factor), im: self.im * A::splat(factor) }
    }
    /// Returns self + factor · o.
    #[inline(always)]
    fn plus_scaled(self, factor: f32, o: Self) -> Self {
        Self { re: o.re.mul_add(A::splat(factor), self.re), im: o.im.mul_add(A::splat(factor), self.im) }
    }
    /// Returns the product with a complex number, whose parts are broadcast from memory.
    #[inline(always)]
    fn times(self, factor: &[f32; 2]) -> Self {
        let (c, s) = (A::splat(factor[0]), A::splat(factor[1]));
        Self { re: self.im.neg_mul_add(s, self.re * c), im: self.re.mul_add(s, self.im * c) }
    }
    /// Returns self + i · o.
    #[inline(always)]
    fn plus_i(self, o: Self) -> Self {
        Self { re: self.re - o.im, im: self.im + o.re }
    }
    /// Returns self − i · o.
    #[inline(always)]
    fn minus_i(self, o: Self) -> Self {
        Self { re: self.re + o.im, im: self.im - o.re }
    }
}

/// Factors of the length for which transforms in registers exist, in the order in which they are tried.
const RADICES: [usize; 10] = [9, 8, 7, 6, 5, 4, 3, 2, 13, 11];

/// A stage of the transform. The product `radix` · `groups` · `stride` is the length of the line.
#[derive(Clone, Copy, Debug)]
struct Stage {
    radix: usize,
    groups: usize,
    stride: usize,
    /// index in `LineFft::twiddles` of the first twiddle factor of the stage
    twiddles: usize,
    /// index in `LineFft::roots` of the first root of unity of the stage
    roots: usize,
}

/// A plan for lines of one length: F(k) = Σ f(j) e^{−2πi jk/n}. Any length n works; transforms are fast if n is a
/// product of small primes.
pub struct LineFft {
    length: usize,
    stages: Vec<Stage>,
    /// e^{−2πi pj/(radix·groups)} for p = 1 … groups − 1, j = 1 … radix − 1, stage by stage
    twiddles: Vec<[f32; 2]>,
    /// e^{−2πi k/radix} for k = 0 … radix − 1, stage by stage
    roots: Vec<[f32; 2]>,
}

/// Returns e^{−2πi k/n}.
fn root(k: usize, n: usize) -> [f32; 2] {
    let angle = TAU * (k % n) as f64 / n as f64;
    [angle.cos() as f32, -angle.sin() as f32]
}

/// Returns the next factor of the remaining length `rest`.
fn next_radix(rest: usize) -> usize {
    let in_registers = RADICES.into_iter().find(|&radix| rest.is_multiple_of(radix));
    in_registers.unwrap_or_else(|| (2..=rest).find(|&prime| rest.is_multiple_of(prime)).unwrap_or(1))
}

impl LineFft {
    /// Plans transforms of lines of `length` ≥ 1 elements.
    pub fn new(length: usize) -> Self {
        let (mut stages, mut twiddles, mut roots) = (vec![], vec![], vec![]);
        let (mut rest, mut stride) = (length, 1);
        while rest > 1 {
            let radix = next_radix(rest);
            let groups = rest / radix;
            stages.push(Stage { radix, groups, stride, twiddles: twiddles.len(), roots: roots.len() });
            twiddles.extend((1..groups).flat_map(|p| (1..radix).map(move |j| root(p * j, rest))));
            roots.extend((0..radix).map(|k| root(k, radix)));
            (rest, stride) = (groups, stride * radix);
        }
        LineFft { length, stages, twiddles, roots }
    }

    /// Transforms `input` into `output`. `work` is overwritten.
    #[inline(always)]
    pub fn transform(&self, level: Level, input: Lines<'_>, output: LinesMut<'_>, work: &mut [Split; 2]) {
        dispatch(level, Transform { plan: self, input, output, work });
    }

    /// Returns work space for [`Self::transform`] of lines of at most `length` elements.
    pub fn work(length: usize) -> [Split; 2] {
        [Split::new(length), Split::new(length)]
    }
}

struct Transform<'a> {
    plan: &'a LineFft,
    input: Lines<'a>,
    output: LinesMut<'a>,
    work: &'a mut [Split; 2],
}

impl Kernel for Transform<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Transform { plan, input, output, work: [a, b] } = self;
        let last = plan.stages.len().saturating_sub(1);
        if plan.length == 1 {
            (output.re[0], output.im[0]) = (input.re[0], input.im[0]);
        }
        for (index, stage) in plan.stages.iter().enumerate() {
            let (from, to) = if index % 2 == 0 { (&*b, &mut *a) } else { (&*a, &mut *b) };
            let from = if index == 0 { input } else { from.lines(0, 1) };
            let to = if index == last {
                LinesMut { re: &mut *output.re, im: &mut *output.im, stride: output.stride }
            } else {
                to.lines_mut(0, 1)
            };
            match stage.radix {
                2 => plan.stage::<S, 2>(stage, from, to),
                3 => plan.stage::<S, 3>(stage, from, to),
                4 => plan.stage::<S, 4>(stage, from, to),
                5 => plan.stage::<S, 5>(stage, from, to),
                6 => plan.stage::<S, 6>(stage, from, to),
                7 => plan.stage::<S, 7>(stage, from, to),
                8 => plan.stage::<S, 8>(stage, from, to),
                9 => plan.stage::<S, 9>(stage, from, to),
                11 => plan.stage::<S, 11>(stage, from, to),
                13 => plan.stage::<S, 13>(stage, from, to),
                _ => plan.long_stage::<S>(stage, from, to),
            }
        }
    }
}

impl LineFft {
    /// Returns the twiddle factors of element p of a group, for outputs 1 … radix − 1. The slice is empty for p = 0,
    /// because all factors are 1.
    #[inline(always)]
    fn twiddles(&self, stage: &Stage, p: usize) -> &[[f32; 2]] {
        match p {
            0 => &[],
            _ => &self.twiddles[stage.twiddles + (p - 1) * (stage.radix - 1)..][..stage.radix - 1],
        }
    }

    #[inline(always)]
    fn stage<S: Simd, const R: usize>(&self, stage: &Stage, from: Lines<'_>, mut to: LinesMut<'_>) {
        let Stage { groups, stride, .. } = *stage;
        assert!(from.contain(R * groups * stride) && to.contain(R * groups * stride));
        let roots = &self.roots[stage.roots..][..R];
        // distances in memory between the inputs of one transform, and between its outputs
        let (read, write) = (groups * stride * from.stride, stride * to.stride);
        for p in 0..groups {
            let twiddles = self.twiddles(stage, p);
            for q in 0..stride {
                let (input, output) = ((q + stride * p) * from.stride, (q + stride * R * p) * to.stride);
                for register in 0..S::F::REGISTERS {
                    // SAFETY: q + stride · (p + groups · k) and q + stride · (R · p + j) are below R · groups · stride
                    // for all j, k < R, and the assertion above checks that so many elements are in memory
                    unsafe {
                        let mut a = [from.get::<S::F>(input, register); R];
                        for k in 1..R {
                            a[k] = from.get::<S::F>(input + read * k, register);
                        }
                        a = in_registers(a, roots);
                        to.put::<S::F>(output, register, a[0]);
                        if p == 0 {
                            for j in 1..R {
                                to.put::<S::F>(output + write * j, register, a[j]);
                            }
                        } else {
                            for j in 1..R {
                                to.put::<S::F>(output + write * j, register, a[j].times(&twiddles[j - 1]));
                            }
                        }
                    }
                }
            }
        }
    }

    /// Computes a stage whose radix is a large prime, by the definition of the transform.
    #[inline(always)]
    fn long_stage<S: Simd>(&self, stage: &Stage, from: Lines<'_>, mut to: LinesMut<'_>) {
        let Stage { radix, groups, stride, .. } = *stage;
        assert!(from.contain(radix * groups * stride) && to.contain(radix * groups * stride));
        let roots = &self.roots[stage.roots..][..radix];
        let (read, write) = (groups * stride * from.stride, stride * to.stride);
        for p in 0..groups {
            for q in 0..stride {
                let (input, output) = ((q + stride * p) * from.stride, (q + stride * radix * p) * to.stride);
                for register in 0..S::F::REGISTERS {
                    for j in 0..radix {
                        // SAFETY: the indices are in range for the same reason as in `stage`
                        let mut sum = unsafe { from.get::<S::F>(input, register) };
                        for k in 1..radix {
                            // SAFETY: the indices are in range for the same reason as in `stage`
                            let element = unsafe { from.get::<S::F>(input + read * k, register) };
                            sum = sum.plus(element.times(&roots[j * k % radix]));
                        }
                        if p > 0 && j > 0 {
                            sum = sum.times(&self.twiddles(stage, p)[j - 1]);
                        }
                        // SAFETY: the indices are in range for the same reason as in `stage`
                        unsafe { to.put::<S::F>(output + write * j, register, sum) };
                    }
                }
            }
        }
    }
}

/// Transforms R numbers; `roots` are e^{−2πi k/R}.
#[inline(always)]
fn in_registers<A: Arithmetic, const R: usize>(a: [Complex<A>; R], roots: &[[f32; 2]]) -> [Complex<A>; R] {
    match R {
        2 => {
            let mut out = a;
            (out[0], out[1]) = (a[0].plus(a[1]), a[0].minus(a[1]));
            out
        }
        4 => {
            let mut out = a;
            [out[0], out[1], out[2], out[3]] = four([a[0], a[1], a[2], a[3]]);
            out
        }
        6 => product::<A, R, 3, 2>(a, roots),
        8 => product::<A, R, 4, 2>(a, roots),
        9 => product::<A, R, 3, 3>(a, roots),
        _ => odd::<A, R>(a, roots, 1),
    }
}

#[inline(always)]
fn four<A: Arithmetic>(a: [Complex<A>; 4]) -> [Complex<A>; 4] {
    let (even, odd) = ([a[0].plus(a[2]), a[0].minus(a[2])], [a[1].plus(a[3]), a[1].minus(a[3])]);
    [even[0].plus(odd[0]), even[1].minus_i(odd[1]), even[0].minus(odd[0]), even[1].plus_i(odd[1])]
}

/// Transforms an odd number R of elements. The sums of elements k and R − k are multiplied by cosines, and the
/// differences of elements k and R − k by sines. The root e^{−2πi k/R} is the element `roots[step · k]`.
#[inline(always)]
fn odd<A: Arithmetic, const R: usize>(a: [Complex<A>; R], roots: &[[f32; 2]], step: usize) -> [Complex<A>; R] {
    let (mut sums, mut differences, mut out) = (a, a, a);
    for k in 1..=R / 2 {
        sums[k] = a[k].plus(a[R - k]);
        differences[k] = a[k].minus(a[R - k]);
        out[0] = out[0].plus(sums[k]);
    }
    for j in 1..=R / 2 {
        let [cosine, sine] = roots[step * j];
        let (mut even, mut odd) = (a[0].plus_scaled(cosine, sums[1]), differences[1].scaled(sine));
        for k in 2..=R / 2 {
            let [cosine, sine] = roots[step * (j * k % R)];
            even = even.plus_scaled(cosine, sums[k]);
            odd = odd.plus_scaled(sine, differences[k]);
        }
        (out[j], out[R - j]) = (even.plus_i(odd), even.minus_i(odd));
    }
    out
}

/// Transforms R = P · Q elements with P = 3 or 4 and Q = 2 or 3 in three steps: Q transforms of P elements each,
/// twiddle factors, then P transforms of Q elements each.
#[inline(always)]
fn product<A: Arithmetic, const R: usize, const P: usize, const Q: usize>(
    a: [Complex<A>; R],
    roots: &[[f32; 2]],
) -> [Complex<A>; R] {
    let (mut inner, mut out) = ([[a[0]; P]; Q], a);
    for q in 0..Q {
        for p in 0..P {
            inner[q][p] = a[Q * p + q];
        }
        if P == 4 {
            let numbers = [inner[q][0], inner[q][1], inner[q][2], inner[q][3]];
            [inner[q][0], inner[q][1], inner[q][2], inner[q][3]] = four(numbers);
        } else {
            inner[q] = odd(inner[q], roots, Q);
        }
        for p in 1..P {
            if q > 0 {
                inner[q][p] = inner[q][p].times(&roots[p * q]);
            }
        }
    }
    for p in 0..P {
        if Q == 2 {
            out[p] = inner[0][p].plus(inner[1][p]);
            out[P + p] = inner[0][p].minus(inner[1][p]);
        } else {
            let column = odd([inner[0][p], inner[1][p], inner[2][p]], roots, P);
            for q in 0..3 {
                out[P * q + p] = column[q];
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(length: usize, lane: usize, i: usize) -> [f64; 2] {
        let value = |salt: usize| ((i * i * 31 + 7 * i + lane * 13 + salt + length) % 101) as f64 / 50.0 - 1.0;
        [value(0), value(57)]
    }

    /// Returns the element F(k) of the transform of one lane, summed by the definition.
    fn naive(length: usize, lane: usize, k: usize) -> [f64; 2] {
        let (mut re, mut im) = (0.0, 0.0);
        for i in 0..length {
            let [a, b] = input(length, lane, i);
            let (sine, cosine) = (TAU * ((i * k) % length) as f64 / length as f64).sin_cos();
            re += a * cosine + b * sine;
            im += b * cosine - a * sine;
        }
        [re, im]
    }

    /// Transforms `length` elements that are `stride` apart forward and back.
    fn round(level: Level, length: usize, stride: usize) -> [Split; 2] {
        let plan = LineFft::new(length);
        let [mut from, mut to] = [Split::new(length * stride), Split::new(length)];
        for i in 0..length {
            for lane in 0..16 {
                [from.re[i * stride].0[lane], from.im[i * stride].0[lane]] =
                    input(length, lane, i).map(|value| value as f32);
            }
        }
        let mut work = LineFft::work(length);
        plan.transform(level, from.lines(0, stride), to.lines_mut(0, 1), &mut work);
        plan.transform(level, to.lines(0, 1).swapped(), from.lines_mut(0, stride).swapped(), &mut work);
        [from, to]
    }

    #[test]
    fn forward_is_the_definition_and_inverse_undoes_it() {
        // the lengths include every radix with a transform in registers, alone and combined with other radices; primes
        // without a transform in registers; and lengths with three stages
        for length in (1..=40).chain([54, 64, 72, 77, 81, 96, 100, 108, 143]) {
            for level in Level::available() {
                let [back, spectrum] = round(level, length, 3);
                // tolerance for the largest error of about a hundred elements. Each stage rounds numbers of about √n
                // with a relative error of 6e-8. A prime factor without a transform in registers is summed directly,
                // which adds another factor √n
                let tolerance = 1e-6 * length as f64;
                let tolerance_back = 2.0 * tolerance * (length as f64).sqrt();
                for k in 0..length {
                    for lane in [0, 7, 15] {
                        let [re, im] = naive(length, lane, k);
                        let error = f64::from(spectrum.re[k].0[lane]) - re;
                        assert!(error.abs() < tolerance, "{level:?} {length} at {k}: {error:e}");
                        let error = f64::from(spectrum.im[k].0[lane]) - im;
                        assert!(error.abs() < tolerance, "{level:?} {length} at {k}: {error:e}");
                        let [re, im] = input(length, lane, k).map(|value| value * length as f64);
                        let error = f64::from(back.re[3 * k].0[lane]) - re;
                        assert!(error.abs() < tolerance_back, "{level:?} {length}: {error:e}");
                        let error = f64::from(back.im[3 * k].0[lane]) - im;
                        assert!(error.abs() < tolerance_back, "{level:?} {length}: {error:e}");
                    }
                }
            }
        }
    }
}
