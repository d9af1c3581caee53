//! SIMD with one source for every instruction set: vectors have 16 logical lanes of `f32`, and the instruction set is
//! chosen at run time.
//!
//! A kernel is a struct whose [`Kernel::run`] is generic over [`Simd`]. [`dispatch`] runs the version that is
//! compiled for the chosen [`Level`]. The logical width is 16 on every level (one AVX-512 register, two AVX2
//! registers, a portable vector), so that layouts, padding and the order of additions in sums do not depend on the
//! machine.
//!
//! Rules for the code of kernels:
//! - Every function between `dispatch` and an intrinsic is `#[inline(always)]`. A function that the compiler does not
//!   inline is compiled without the instruction set of its caller. Closures do not call intrinsics, because a closure
//!   cannot have this attribute.
//! - Kernels use [`crate::arrays`] and loops over an index instead of the methods `map` of arrays and `zip` of
//!   iterators. The compiler does not inline `map` and `zip` if their code is in another codegen unit. `.ci/kernels.py`
//!   finds calls in the loops of kernels.
//! - A kernel is dispatched in a function that is not generic, because other packages would compile a generic function
//!   and the kernel again.
//! - Horizontal sums are trait operations that add lanes in one fixed tree order.
//!
//! The results of [`Float::recip_fast`] and [`Float::recip_sqrt_fast`] differ between levels in the last bits. On the
//! portable level every multiply-add also differs, because the product and the sum are rounded separately.

/// Runs intrinsics. Code that contains intrinsics runs only through `dispatch`, which has checked that the processor
/// supports the intrinsics. Memory is accessed through references to arrays of the exact length.
#[cfg(target_arch = "x86_64")]
macro_rules! op {
    ($e:expr) => {
        // SAFETY: the documentation of this macro states the reason
        unsafe { $e }
    };
}

mod aligned;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx2_compress;
#[cfg(target_arch = "x86_64")]
mod avx2_rows;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
#[cfg(test)]
mod tests;

use crate::arrays::from_fn;
pub use aligned::AlignedArrays;
use std::mem::ManuallyDrop;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// Number of logical lanes of every vector.
pub const LANES: usize = 16;

/// Array of sixteen floats, aligned to a cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Aligned16(pub [f32; LANES]);

impl Add for Aligned16 {
    type Output = Self;

    #[inline(always)]
    fn add(mut self, other: Self) -> Self {
        for lane in 0..LANES {
            self.0[lane] += other.0[lane];
        }
        self
    }
}

/// Five tables of 32 floats, aligned to a cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tables(pub [[f32; 32]; 5]);

/// Instruction set for which kernels are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// portable code for any processor
    Portable,
    /// x86-64 with AVX2 and FMA
    Avx2,
    /// x86-64 with AVX-512 F, VL, BW and DQ
    Avx512,
}

impl Level {
    /// Every level, lowest first.
    pub const ALL: [Level; 3] = [Level::Portable, Level::Avx2, Level::Avx512];

    /// Returns every level that this processor can run, lowest first.
    pub fn available() -> Vec<Level> {
        Self::ALL.into_iter().filter(|level| level.is_available()).collect()
    }

    /// Returns the highest level that this processor can run.
    pub fn detect() -> Level {
        Level::available().pop().unwrap_or(Level::Portable)
    }

    /// Returns the name of the level in options and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Portable => "portable",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }

    /// Returns the number of floats in [`Float::Slots`], divided by eight.
    pub fn halves(self) -> usize {
        match self {
            Level::Portable | Level::Avx2 => 1,
            Level::Avx512 => 2,
        }
    }

    /// Whether this processor has the instructions of the level.
    pub fn is_available(self) -> bool {
        match self {
            Level::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                Level::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Level::Avx2 | Level::Avx512 => false,
        }
    }
}

/// Instruction set as a type, with its vector type.
pub trait Simd: Copy + 'static {
    /// level that the type represents
    const LEVEL: Level;
    /// Whether [`Float::look_up`] reads tables from registers. Reading a table from registers is faster than computing
    /// 1/√x and a polynomial. Tables in registers need 32 registers of sixteen lanes each.
    const TABLES: bool;
    /// Whether the level is needed on few processors only. If true, only the most general variants of a kernel are
    /// compiled for the level, which shortens the build.
    const RARE: bool;
    /// vector of 16 floats
    type F: Float;
    /// Computes a·b + c of scalars, with a single rounding if the level has a fused instruction.
    fn fma(a: f32, b: f32, c: f32) -> f32;
    /// Copies the values of the lanes whose bit in `bits` is one to the start of `to`, in order, and returns the number
    /// of these values. The rest of `to` has unspecified values.
    #[inline(always)]
    fn compress(values: [u32; LANES], bits: u16, to: &mut [u32; LANES]) -> usize {
        let mut count = 0;
        for (lane, value) in values.into_iter().enumerate() {
            to[count] = value;
            count += usize::from(bits >> lane & 1);
        }
        bits.count_ones() as usize
    }
    /// Returns which of sixteen words are not zero, as the bits of an integer.
    #[inline(always)]
    fn not_zero(words: &[u16; LANES]) -> u16 {
        let mut bits = 0;
        for (lane, word) in words.iter().enumerate() {
            bits |= u16::from(*word != 0) << lane;
        }
        bits
    }
    /// Transposes an 8 × 8 matrix: element j of row i becomes element i of row j.
    #[inline(always)]
    fn transpose8(rows: [&[f64; 8]; 8]) -> [[f64; 8]; 8] {
        from_fn(|i| from_fn(|j| rows[j][i]))
    }
}

/// Lanes of `f32` that can be added and multiplied. Values of this type exist only inside a kernel that [`dispatch`]
/// runs.
pub trait Arithmetic: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// Returns a vector with one value in all lanes.
    fn splat(value: f32) -> Self;
    /// Computes self·b + c, with one rounding on SIMD levels that have a fused multiply-add instruction.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// Computes c − self·b, with one rounding on SIMD levels that have a fused multiply-add instruction.
    fn neg_mul_add(self, b: Self, c: Self) -> Self;
}

/// Vector of sixteen `f32` lanes.
pub trait Float: Arithmetic + Div<Output = Self> + Neg<Output = Self> + AddAssign + SubAssign {
    /// Register that holds all or a part of the sixteen lanes, for code that needs many registers at a time.
    type Register: Arithmetic;
    /// Number of registers that sixteen lanes need.
    const REGISTERS: usize;
    /// Mask with one bit for each lane.
    type Mask: Copy;
    /// Five tables of 32 floats in the form for which [`Self::look_up`] is fastest: in registers, if the level has
    /// enough registers.
    type Bins<'t>: Copy;
    /// Floats to which [`Self::add_products`] adds: eight floats for the sums of lanes k and k + 8, or, if adding the
    /// two halves of a register takes additional operations, sixteen floats.
    type Slots: AsMut<[f32]> + bytemuck::Pod;

    /// Loads sixteen consecutive floats.
    fn load(from: &[f32; 16]) -> Self;
    /// Stores sixteen consecutive floats.
    fn store(self, to: &mut [f32; 16]);
    /// Loads the register with index `index` from sixteen floats.
    fn load_register(from: &[f32; 16], index: usize) -> Self::Register;
    /// Stores the register with index `index` into sixteen floats, the reverse of [`Self::load_register`].
    fn store_register(value: Self::Register, to: &mut [f32; 16], index: usize);
    /// Stores lanes 0–7.
    fn store_low(self, to: &mut [f32; 8]);
    /// Loads eight floats into lanes 0–7 and again into lanes 8–15.
    fn load_twice(from: &[f32; 8]) -> Self;
    /// Returns a vector with `low` in lanes 0–7 and `high` in lanes 8–15.
    fn two(low: f32, high: f32) -> Self;
    /// Loads the same four floats into each group of four lanes.
    fn load_four_times(from: &[f32; 4]) -> Self;
    /// Repeats each of four floats four times: a a a a b b b b ….
    fn spread4(from: &[f32; 4]) -> Self;
    /// Loads four consecutive floats from each of four rows; row k fills lanes 4k to 4k + 3.
    fn load_rows4(rows: [&[f32; 4]; 4]) -> Self;
    /// Returns the larger of the two values in each lane.
    fn max(self, other: Self) -> Self;
    /// Returns the mask of the lanes in which self < other.
    fn lt(self, other: Self) -> Self::Mask;
    /// Converts bits, one per lane, to a mask.
    fn mask(bits: u16) -> Self::Mask;
    /// Converts a mask to bits, one per lane.
    fn bits(mask: Self::Mask) -> u16;
    /// Returns zero if no lane of the mask is set, and another number otherwise. This is faster than [`Self::bits`].
    fn any(mask: Self::Mask) -> u16;
    /// Computes the bitwise AND of two masks.
    fn and(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Returns the lanes of self where the mask is set, and zero in all other lanes.
    fn keep(self, mask: Self::Mask) -> Self;
    /// Returns the lanes of self where the mask is set, and the lanes of `other` elsewhere.
    fn select(self, mask: Self::Mask, other: Self) -> Self;
    /// Rounds to the nearest integer; halves are rounded to the even integer.
    fn round(self) -> Self;
    /// Computes the square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// Returns 1/self with a relative error of at most 2.6·10⁻⁷ if self and 1/self are normal numbers. The last bits
    /// differ between levels.
    fn recip_fast(self) -> Self;
    /// Returns 1/√self with a relative error of at most 3.6·10⁻⁷ if self and 4·self are normal numbers. The last bits
    /// differ between levels.
    fn recip_sqrt_fast(self) -> Self;
    /// Returns self; all lanes of self must be equal. Because all lanes are equal, the compiler can do arithmetic on
    /// the result once for all registers.
    #[inline(always)]
    fn uniform(self) -> Self {
        self
    }
    /// Prepares tables for [`Self::look_up`].
    fn bins(tables: &Tables) -> Self::Bins<'_>;
    /// Returns the values of five tables at the index (bits of self >> 21) mod 32. The index consists of exponent
    /// bits and two mantissa bits, which gives four bins per octave over eight octaves.
    fn look_up(self, bins: &Self::Bins<'_>) -> [Self; 5];
    /// Returns elements of two rows of 16 R floats, R = 1, 2 or 4. The bits of self are the indices, integers below
    /// 16 R. Lanes 0–7 of the result come from the first row, and lanes 8–15 come from the second row.
    fn pick<const R: usize>(self, rows: [&[Aligned16; R]; 2]) -> Self;
    /// Returns the first and the second elements of pairs in two rows of any length. The bits of self are the indices
    /// into the rows, as for [`Self::pick`]. An index beyond the end of a row selects the last pair of the row.
    fn pick_pairs(self, rows: [&[[f32; 2]]; 2]) -> [Self; 2];
    /// Returns the exact offset of self inside its bin of [`Self::look_up`]: self − (self with its low 21 bits
    /// cleared).
    fn bin_offset(self) -> Self;
    /// Adds the products of `N` pairs of vectors to `to`.
    fn add_products<const N: usize>(a: [Self; N], b: [Self; N], to: &mut Self::Slots);
    /// Returns the sums of lanes 0–7 and of lanes 8–15 of six vectors, in the tree order 8 → 4 → 2 → 1. Element 2v + h
    /// of array k is the sum of half h of vector v of pair k.
    fn half_sums(pairs: [[Self; 2]; 3]) -> [[f32; 4]; 3];
    /// Returns the sum of all lanes, in the tree order 16 → 8 → 4 → 2 → 1.
    fn sum(self) -> f32;
    /// Returns the sum over the lanes of each of sixteen vectors; each sum is equal to [`Self::sum`].
    fn sums16(vectors: &[Self; 16]) -> Self;
    /// Returns the smaller of the two values in each lane.
    fn min(self, other: Self) -> Self;
    /// Loads eight floats into lanes 0–7 and eight floats into lanes 8–15.
    fn load_halves(low: &[f32; 8], high: &[f32; 8]) -> Self;
    /// Rounds each lane down to an integer.
    fn floor(self) -> Self;
    /// Stores lanes as integers. Values must be at least 0 and below 2³¹; other values become unspecified integers.
    fn store_whole(self, to: &mut [u32; 16]);
    /// Divides the lanes of four vectors into groups of four, and transposes the 4 × 4 matrix of each group: lane 4g +
    /// j of vector i becomes lane 4g + i of vector j.
    fn transpose4(vectors: [Self; 4]) -> [Self; 4];
    /// Transposes a 16 × 16 matrix: lane j of vector i becomes lane i of vector j.
    fn transpose16(vectors: [Self; 16]) -> [Self; 16];
}

/// Code that can be compiled for every level.
pub trait Kernel {
    /// Return type of the kernel.
    type Output;
    /// Runs the kernel. Implementations must be `#[inline(always)]`.
    fn run<S: Simd>(self) -> Self::Output;
}

/// Runs the version of `kernel` that is compiled for `level`.
///
/// # Panics
/// Panics if this processor lacks the instructions of the level. The caller checks the level with
/// [`Level::is_available`].
#[inline(always)]
pub fn dispatch<K: Kernel>(level: Level, kernel: K) -> K::Output {
    assert!(level.is_available(), "the SIMD level {} is not available on this processor", level.name());
    let mut kernel = ManuallyDrop::new(kernel);
    // SAFETY: the assertion above checks that the processor has the features, and no entry is called twice
    unsafe {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => Entries::run_avx2(&mut kernel),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => Entries::run_avx512(&mut kernel),
            _ => Entries::run_portable(&mut kernel),
        }
    }
}

/// Entry points of a kernel, one for each level. The compiler puts a provided method of a trait into the codegen unit
/// of the module that defines the implementing type. Kernels of different modules are therefore compiled in parallel.
/// Functions of the module `simd` would all be in one codegen unit.
///
/// Entries take the kernel by reference. The compiler would copy a kernel that is passed by value, two words at a time,
/// and Intel processors read two words that were stored one by one only after all earlier stores.
///
/// # Safety
/// The processor must have the instructions of the level. The kernel is moved out of the argument, which must not be
/// used again.
trait Entries: Kernel + Sized {
    #[inline(never)]
    unsafe fn run_portable(kernel: &mut ManuallyDrop<Self>) -> Self::Output {
        // SAFETY: the caller does not use the kernel again
        unsafe { ManuallyDrop::take(kernel) }.run::<portable::Portable>()
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    #[inline(never)]
    unsafe fn run_avx2(kernel: &mut ManuallyDrop<Self>) -> Self::Output {
        // SAFETY: the caller does not use the kernel again
        unsafe { ManuallyDrop::take(kernel) }.run::<avx2::Avx2>()
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")]
    #[inline(never)]
    unsafe fn run_avx512(kernel: &mut ManuallyDrop<Self>) -> Self::Output {
        // SAFETY: the caller does not use the kernel again
        unsafe { ManuallyDrop::take(kernel) }.run::<avx512::Avx512>()
    }
}

impl<K: Kernel> Entries for K {}
