//! Presence of bonds, contacts or atoms in the frames of a trajectory, with occupancies and time correlations.
//!
//! The series h(t) of each item is 1 in frames in which the item is present, and 0 in all other frames. The series is
//! stored as runs of frames in which the item is present, so that memory grows with the number of changes.
//!
//! Lifetimes are integrals of correlations that decay to zero, whatever the length of the trajectory. ⟨h(t) h(t+τ)⟩ /
//! ⟨h⟩ decays to the probability that an item is present by chance, so that the lifetime is the integral of the
//! autocorrelation of the fluctuations δh = h − ⟨h⟩ (Chandler, J. Chem. Phys. 68, 2959 (1978), doi:10.1063/1.436049;
//! Luzar & Chandler, Nature 379, 55 (1996), doi:10.1038/379055a0, for hydrogen bonds with a small ⟨h⟩). A survival
//! probability decays to the share of items that are present in all frames, which are left out of the integral.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::msd::OF_RUNS;
use crate::analysis::findings::{Array, Axis, Findings, Layer, Number, Plot, TIME};
use crate::analysis::pass::Passed;
use crate::analysis::statistics::Summary;
use crate::compute::Autocorrelation;
use crate::system::Topology;

/// Record of the frames in which items (bonds, contacts or atoms) are present.
#[derive(Clone, Debug, Default)]
pub(super) struct Presence<K> {
    /// runs of consecutive frames in which each item is present; a run is given by its first frame and the frame after
    /// its last frame
    runs: BTreeMap<K, Vec<[u32; 2]>>,
    /// number of items in each frame
    numbers: Vec<u32>,
}

/// Number of groups into which items are divided. The correlations of each group are summed separately. A fixed number
/// makes the order of summation independent of the number of threads.
const PARTS: usize = 16;
/// Cost of a Fourier transform, as a number of multiplications per frame. The correlation of an item is computed as a
/// direct sum if the sum needs fewer multiplications than the transform.
const TRANSFORM: usize = 64;

impl<K: Ord + Copy + Sync> Presence<K> {
    /// Returns an empty record.
    pub(super) fn new() -> Self {
        Presence { runs: BTreeMap::new(), numbers: vec![] }
    }

    /// Estimates the memory in bytes of `items` items over `frames` frames, under the assumption that each item has one
    /// run per four frames.
    pub(super) fn bytes(items: usize, frames: usize) -> f64 {
        0.25 * size_of::<[u32; 2]>() as f64 * items as f64 * frames as f64
    }

    /// Adds the items that are present in the next frame. Each item occurs at most once in `items`.
    pub(super) fn add(&mut self, items: &[K]) {
        let frame = self.numbers.len() as u32;
        for &item in items {
            let runs = self.runs.entry(item).or_default();
            match runs.last_mut() {
                Some([_, end]) if *end == frame => *end += 1,
                _ => runs.push([frame, frame + 1]),
            }
        }
        self.numbers.push(items.len() as u32);
    }

    /// Returns the number of items in each frame.
    pub(super) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Returns all items with the fraction of frames in which each item is present, the most frequent item first.
    pub(super) fn occupancies(&self) -> Vec<(K, f64)> {
        let frames = self.numbers.len() as f64;
        let present = |runs: &Vec<[u32; 2]>| runs.iter().map(|[first, end]| f64::from(end - first)).sum::<f64>();
        let mut all: Vec<(K, f64)> = self.runs.iter().map(|(&item, runs)| (item, present(runs) / frames)).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all
    }

    /// Returns C(τ) = ⟨h(t) h(t+τ)⟩ / ⟨h⟩ of all items for each lag τ in frames, where h(t) is 1 if an item is present
    /// in frame t, and 0 otherwise. The result is empty if no item is ever present.
    ///
    /// An item that is absent for some time and then returns counts as present at both times (intermittent definition).
    pub(super) fn intermittent(&self) -> Vec<f64> {
        let frames = self.numbers.len();
        let series: Vec<&[[u32; 2]]> = self.runs.values().map(Vec::as_slice).collect();
        if series.is_empty() {
            return vec![];
        }
        let of_part = |series: &[&[[u32; 2]]]| {
            let (mut plan, mut sums) = (Autocorrelation::new(frames), vec![0.0; frames]);
            series.iter().for_each(|runs| correlate(runs, &mut plan, &mut sums));
            sums
        };
        let sums: Vec<Vec<f64>> = series.par_chunks(series.len().div_ceil(PARTS)).map(of_part).collect();
        let mean = self.numbers.iter().map(|&number| f64::from(number)).sum::<f64>() / frames as f64;
        let at = |lag: usize| sums.iter().map(|sum| sum[lag]).sum::<f64>() / (frames - lag) as f64 / mean;
        (0..frames).map(at).collect()
    }

    /// Returns the autocorrelation Σ ⟨δh(t) δh(t+τ)⟩ / Σ ⟨δh²⟩ of the fluctuations δh = h − ⟨h⟩ for each lag τ in
    /// frames, with sums over all items. `intermittent` is the result of [`Self::intermittent`]. The result is empty if
    /// no item appears or disappears.
    ///
    /// ⟨δh(t) δh(t+τ)⟩ is ⟨h(t) h(t+τ)⟩ − ⟨h⟩², and ⟨δh²⟩ is ⟨h⟩ − ⟨h⟩², because h² = h. With C∞ = Σ ⟨h⟩² / Σ ⟨h⟩, the
    /// autocorrelation of the fluctuations is therefore (C(τ) − C∞) / (1 − C∞). Items that are present in all frames do
    /// not contribute. C∞ is the mean of C over the pairs of frames whose lag is at least half of the trajectory (`gmx
    /// hbond` averages lags from a quarter to half of the trajectory for the same purpose): the squares of the means of
    /// a short trajectory would include the correlation at short lags. The result is NaN if C∞ is not below 1.
    pub(super) fn fluctuations(&self, intermittent: &[f64]) -> Vec<f64> {
        if self.permanent() == self.runs.len() {
            return vec![];
        }
        let frames = intermittent.len();
        let far = frames.div_ceil(2)..frames;
        let pairs: f64 = far.clone().map(|lag| (frames - lag) as f64).sum();
        let limit = far.map(|lag| (frames - lag) as f64 * intermittent[lag]).sum::<f64>() / pairs;
        let rest = if limit < 1.0 { 1.0 - limit } else { f64::NAN };
        intermittent.iter().map(|value| (value - limit) / rest).collect()
    }

    /// Returns the number of items that are present in all frames.
    fn permanent(&self) -> usize {
        self.runs.values().filter(|runs| self.is_permanent(runs)).count()
    }

    /// Whether an item with the given runs is present in all frames.
    fn is_permanent(&self, runs: &[[u32; 2]]) -> bool {
        matches!(runs, [[0, end]] if *end as usize == self.numbers.len())
    }

    /// Returns the survival probability, see [`Self::continuous`], of the items that are absent in at least one frame;
    /// empty if there are no such items.
    pub(super) fn continuous_of_transient(&self) -> Vec<f64> {
        let permanent = self.permanent() as u32;
        let runs = self.runs.iter().filter(|(_, runs)| !self.is_permanent(runs));
        let runs = runs.map(|(&item, runs)| (item, runs.clone())).collect();
        Presence { runs, numbers: self.numbers.iter().map(|number| number - permanent).collect() }.continuous()
    }

    /// Returns P(τ) = Σ N(t, t+τ) / Σ N(t) for each lag τ in frames; empty if no item is ever present.
    ///
    /// N(t, t+τ) is the number of items that are present in all frames from t to t+τ (continuous definition). The sums
    /// are over all t for which t+τ is in the trajectory.
    pub(super) fn continuous(&self) -> Vec<f64> {
        let frames = self.numbers.len();
        if self.runs.is_empty() {
            return vec![];
        }
        // a run of n frames has n − τ pairs of frames at lag τ
        let mut of_length = vec![0.0; frames + 1];
        self.runs.values().flatten().for_each(|[first, end]| of_length[(end - first) as usize] += 1.0);
        let (mut sums, mut longer, mut sum) = (vec![0.0; frames], 0.0, 0.0);
        for lag in (0..frames).rev() {
            longer += of_length[lag + 1];
            sum += longer;
            sums[lag] = sum;
        }
        let mut starts: f64 = self.numbers.iter().map(|&number| f64::from(number)).sum();
        let mut values = Vec::with_capacity(frames);
        for lag in 0..frames {
            values.push(if starts > 0.0 { sums[lag] / starts } else { f64::NAN });
            starts -= f64::from(self.numbers[frames - 1 - lag]);
        }
        values
    }
}

/// Adds Σ_t h(t) h(t+τ) of one item to `sums` for each lag τ in frames, where h(t) is 1 in the frames of `runs` and 0
/// in all other frames.
fn correlate(runs: &[[u32; 2]], plan: &mut Autocorrelation, sums: &mut [f64]) {
    let present: Vec<u32> = runs.iter().flat_map(|[first, end]| *first..*end).collect();
    if present.len().saturating_mul(present.len()) > TRANSFORM.saturating_mul(sums.len()) {
        let mut series = vec![0.0; sums.len()];
        present.iter().for_each(|&frame| series[frame as usize] = 1.0);
        plan.add(series.into_iter(), sums);
        return;
    }
    for (index, &frame) in present.iter().enumerate() {
        present[index..].iter().for_each(|&later| sums[(later - frame) as usize] += 1.0);
    }
}

/// Returns the name of a residue, such as `ALA 7`.
pub(super) fn residue_name(topology: &Topology, residue: u32) -> String {
    let residue = &topology.residues[residue as usize];
    format!("{} {}", residue.name, residue.number)
}

/// Adds the number of items in each frame to the results, as an array, a mean, a line of the summary and a picture.
pub(super) fn add_numbers(findings: &mut Findings, passed: &Passed, numbers: &[u32], title: &str) {
    let values: Vec<f64> = numbers.iter().map(|&number| f64::from(number)).collect();
    let summary = Summary::of(&values);
    findings.numbers.push(summary.number("number", ""));
    findings.summary.extend(summary.lines("in a frame"));
    findings.plots.push(Plot::over_time(
        title,
        Axis::new("number").of_whole_numbers(),
        summary.layers(&passed.times, &values),
    ));
    findings.arrays.push(Array::new("number", [(TIME, values.len())], numbers.to_vec(), ""));
}

/// Number of pairs that the summary lists.
const LISTED: usize = 5;

/// Adds named pairs with their occupancies to the results. The results list the pairs in the order of `pairs`.
pub(super) fn add_occupancies(findings: &mut Findings, pairs: Vec<(String, f64)>) {
    let count = pairs.len();
    findings.summary.push(format!("pairs        {count} in at least one frame"));
    for (name, occupancy) in pairs.iter().take(LISTED) {
        findings.summary.push(format!("  {:5.1} %    {name}", 100.0 * occupancy));
    }
    let (names, occupancies): (Vec<String>, Vec<f64>) = pairs.into_iter().unzip();
    findings.arrays.push(Array::new("occupancy", [("pair", count)], occupancies, ""));
    findings.arrays.push(Array::new("pair", [("pair", count)], names, ""));
}

/// Adds pairs of residues with their occupancies to the results.
pub(super) fn add_residue_pairs(
    findings: &mut Findings,
    presence: &Presence<[u32; 2]>,
    names: &BTreeMap<u32, String>,
    between: &str,
) {
    let pairs = presence.occupancies();
    let name = |residue: &u32| names.get(residue).map_or("", String::as_str);
    let named = pairs.iter().map(|([a, b], occupancy)| (format!("{}{between}{}", name(a), name(b)), *occupancy));
    add_occupancies(findings, named.collect());
    let residues: Vec<u32> = pairs.iter().flat_map(|(residues, _)| *residues).collect();
    findings.arrays.push(Array::new("residues", [("pair", pairs.len()), ("end", 2)], residues, ""));
}

/// Time correlation function of the presence of items.
pub(super) struct Correlation {
    /// name of the array in the result files
    pub(super) name: &'static str,
    /// name of the quantity, for the label of the axis
    pub(super) quantity: &'static str,
    /// symbol of the function
    pub(super) label: &'static str,
    /// title of the picture
    pub(super) title: String,
    /// end of the file name of the picture
    pub(super) suffix: &'static str,
    /// value for each lag in frames; the value at lag 0 is 1
    pub(super) values: Vec<f64>,
    /// part of the function that decays to zero, normalised to 1 at lag 0, for each lag in frames; empty if nothing
    /// appears or disappears
    pub(super) relaxation: Vec<f64>,
    /// words for the relaxation in the summary
    pub(super) of_relaxation: &'static str,
}

/// Largest part of the integral of a relaxation that its last value, times the range of the integral, may have. The
/// tail beyond the range is unknown, and for an exponential it is smaller than this product.
const TAIL: f64 = 0.1;

/// Adds a correlation function to the results, with the integral of its relaxation (`lifetime`, ps) and the time at
/// which the relaxation falls to 1/e (`decay_time`, ps).
///
/// Lags up to half of the trajectory enter the integral, because longer lags have few independent samples. The lifetime
/// is missing if the relaxation has not decayed within half of the trajectory.
pub(super) fn add_correlation(findings: &mut Findings, passed: &Passed, correlation: Correlation) {
    let Correlation { name, quantity, label, title, suffix, values, relaxation, of_relaxation } = correlation;
    let frames = values.len();
    let Some(interval) = passed.interval().filter(|_| frames > 0) else {
        let reason = match frames {
            0 => "nothing is ever present",
            1 => "there is only one frame",
            _ if passed.is_of_runs => OF_RUNS,
            _ => "frames are not at equal intervals (choose them by --begin and --end)",
        };
        findings.summary.push(format!("lifetime     unknown, because {reason}"));
        return;
    };
    let lags: Vec<f64> = (0..frames).map(|lag| lag as f64 * interval).collect();
    let used = frames.div_ceil(2).max(2);
    let shown = &relaxation[..used.min(relaxation.len())];
    match integral(shown, interval) {
        Some(value) => {
            findings.numbers.push(Number { name: "lifetime", value, error: None, unit: "ps" });
            findings.summary.push(format!("lifetime     {value:.4} ps, the integral of {of_relaxation}"));
        }
        None if relaxation.is_empty() => {
            findings.summary.push("lifetime     unknown, because nothing appears or disappears".to_owned());
        }
        None => findings.summary.push(format!(
            "lifetime     unknown, because {of_relaxation} has not decayed within {:.4} ps",
            lags[used - 1]
        )),
    }
    if let Some(value) = decay_time(shown, interval) {
        findings.numbers.push(Number { name: "decay_time", value, error: None, unit: "ps" });
        findings.summary.push(format!("decay time   {value:.4} ps, at which {of_relaxation} is 1/e"));
    }
    findings.plots.push(Plot {
        suffix,
        title,
        x: Axis::new("lag / ps"),
        y: Axis::between(format!("{quantity} {label}"), [0.0, 1.0]),
        layers: vec![Layer::line("", &lags[..used], &values[..used])],
    });
    findings.arrays.push(Array::new(name, [("lag", frames)], values, ""));
    if !relaxation.is_empty() {
        findings.arrays.push(Array::new("relaxation", [("lag", frames)], relaxation, ""));
    }
    findings.arrays.push(Array::new("lag", [("lag", frames)], lags, "ps"));
}

/// Returns the integral of a function by the trapezoidal rule, up to the first value that is not positive and counts as
/// zero: later values are noise. Returns `None` if the function has not decayed at the end, see [`TAIL`].
fn integral(values: &[f64], interval: f64) -> Option<f64> {
    let (first, last) = (values.first()?, values.last()?);
    let sum = |values: &[f64]| values.iter().sum::<f64>() - 0.5 * first;
    if let Some(end) = values.iter().position(|value| *value <= 0.0 || value.is_nan()) {
        return (!values[end].is_nan()).then(|| sum(&values[..end]) * interval);
    }
    let sum = sum(values) - 0.5 * last;
    (last * (values.len() - 1) as f64 <= TAIL * sum).then_some(sum * interval)
}

/// Returns the time at which a function first falls to 1/e, interpolated linearly; `None` if the function stays above
/// 1/e.
fn decay_time(values: &[f64], interval: f64) -> Option<f64> {
    let level = (-1f64).exp();
    let after = values.iter().position(|value| *value <= level).filter(|after| *after > 0)?;
    let [a, b] = [values[after - 1], values[after]];
    Some(((after - 1) as f64 + (a - level) / (a - b)) * interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    /// Returns a record of `frames` frames: item 1 is present in `length` consecutive frames from the frame `first` on,
    /// and item 2 is present in the first and the last frame.
    fn presence(frames: usize, first: usize, length: usize) -> Presence<u8> {
        let mut presence = Presence::new();
        for t in 0..frames {
            let one = (first..first + length).contains(&t).then_some(1);
            let two = (t == 0 || t == frames - 1).then_some(2);
            presence.add(&one.into_iter().chain(two).collect::<Vec<u8>>());
        }
        presence
    }

    /// A run of L frames has L − τ pairs of frames at lag τ. The item that is present in the first and the last of N
    /// frames has two pairs at lag 0 and one at lag N − 1.
    #[test]
    fn correlations_of_a_block() {
        // the run of 300 frames is correlated by FFT, the run of 30 frames directly
        for (frames, first, length) in [(400, 20, 300), (400, 20, 30)] {
            let found = presence(frames, first, length);
            assert_eq!(found.occupancies()[0], (1, length as f64 / frames as f64));
            let [c, p] = [found.intermittent(), found.continuous()];
            let total = (length + 2) as f64;
            for lag in 0..frames {
                let block = length.saturating_sub(lag) as f64;
                let other = if lag == 0 { 2.0 } else { 0.0 };
                let again = if lag == frames - 1 { 1.0 } else { 0.0 };
                let mean = (block + other + again) / (frames - lag) as f64;
                // tolerance for the rounding of an FFT of numbers up to 300
                assert!((c[lag] - mean / (total / frames as f64)).abs() < 1e-10, "{lag}: {}", c[lag]);
                // number of frames t of the run for which the frame t + lag is also in the trajectory
                let block_starts = (frames - lag).saturating_sub(first).min(length) as f64;
                let starts = block_starts + if lag == 0 { 2.0 } else { 1.0 };
                assert!((p[lag] - (block + other) / starts).abs() < 1e-12, "{lag}: {}", p[lag]);
            }
        }
    }

    /// The integral of exp(−t/τ) from 0 to infinity is τ. The trapezoidal rule with intervals of length h has an error
    /// of τ (h/τ)²/12 for this integral. The integral from 0 to T lacks the tail τ exp(−T/τ).
    #[test]
    fn lifetimes_of_an_exponential() {
        let values: Vec<f64> = (0..2000).map(|t| (-f64::from(t) * 0.01 / 0.5).exp()).collect();
        assert!((integral(&values, 0.01).unwrap() - 0.5).abs() < 0.5 * 0.02f64.powi(2) / 11.0);
        assert!((decay_time(&values, 0.01).unwrap() - 0.5).abs() < 1e-4);
        assert_eq!(integral(&values[..50], 0.01), None);
        // a plateau of 5 % gives half of the integral over 1000 decay times, and more over a longer time
        let plateau: Vec<f64> = values.iter().map(|value| 0.95 * value + 0.05).collect();
        assert_eq!(integral(&plateau, 0.01), None);
        assert_eq!(integral(&[1.0, 0.5, -0.1, 0.3, 7.0], 2.0), Some(2.0));
        assert_eq!(integral(&[1.0, f64::NAN], 1.0), None);
    }

    /// Returns the lifetime (ps) of a record at intervals of 1 ps.
    fn lifetime(presence: &Presence<u8>, is_continuous: bool) -> Option<f64> {
        let times: Vec<f64> = (0..presence.numbers.len()).map(|t| t as f64).collect();
        let passed = Passed { steps: vec![0; times.len()], times, ..Passed::default() };
        let values = if is_continuous { presence.continuous() } else { presence.intermittent() };
        let relaxation =
            if is_continuous { presence.continuous_of_transient() } else { presence.fluctuations(&values) };
        let (title, of_relaxation) = (String::new(), "C(t)");
        let correlation =
            Correlation { name: "c", quantity: "c", label: "C", title, suffix: "", values, relaxation, of_relaxation };
        let mut findings = Findings::default();
        add_correlation(&mut findings, &passed, correlation);
        findings.numbers.iter().find(|number| number.name == "lifetime").map(|number| number.value)
    }

    /// An item appears with the probability 0.02 per frame and disappears with the probability 0.08, so that it is
    /// present in a fifth of the frames, and the autocorrelation of its fluctuations at lag k is (1 − 0.1)ᵏ. The
    /// trapezoidal rule gives 1/(1 − 0.9) − 1/2 = 9.5 frames. The survival probability is 0.92ᵏ, which gives 12 frames.
    /// A second item is always present, and changes neither of the lifetimes.
    #[test]
    fn lifetimes_do_not_depend_on_the_length_of_the_trajectory() {
        // The bounds are four standard deviations of the means of 8 series. The lifetime of one series has standard
        // deviations of 1.33 and 0.35 frames, from a simulation of the same process by other means (numpy).
        for (frames, bound) in [(20_000, 1.9), (200_000, 0.5)] {
            let of_seed = |seed| {
                let mut random = Stream::new(seed, Purpose::Test, 0, 0);
                let (mut found, mut is_present) = (Presence::new(), false);
                for _ in 0..frames {
                    is_present = if is_present { random.uniform() >= 0.08 } else { random.uniform() < 0.02 };
                    found.add(if is_present { &[1u8, 2][..] } else { &[2] });
                }
                [false, true].map(|is_continuous| lifetime(&found, is_continuous).unwrap())
            };
            let found: Vec<[f64; 2]> = (0..8).map(of_seed).collect();
            let mean = |k: usize| found.iter().map(|lifetimes| lifetimes[k]).sum::<f64>() / 8.0;
            assert!((mean(0) - 9.5).abs() < bound && (mean(1) - 12.0).abs() < bound, "{frames}: {found:?}");
        }
    }

    #[test]
    fn what_never_changes_has_no_lifetime() {
        let mut always = Presence::new();
        (0..100).for_each(|_| always.add(&[1u8]));
        assert_eq!([lifetime(&always, false), lifetime(&always, true)], [None, None]);
    }
}
