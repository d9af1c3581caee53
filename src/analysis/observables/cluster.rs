//! Clusters of frames by their RMSD from each other.

use super::rmsd_matrix::{Compared, RmsdMatrix, device};
use super::{Input, Options};
use crate::analysis::findings::{Array, Axis, Findings, Layer, Number, Plot, TIME};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::error::{Problem, Result};
use crate::observe::trajectory::StoredFrame;
use crate::run::Device;
use crate::vec3::Vec3;

mod partition;

use partition::{Partition, average_linkage, gromos, k_medoids};

/// Results: cluster of each frame (0 is the largest), and by cluster: size, central_frame (its 0-based number in the
/// trajectory, as --frame of md convert counts), central_time (ps), and the mean RMSD (nm) of the members from the
/// central frame
#[derive(Debug, clap::Args)]
pub(super) struct ClusterOptions {
    /// Selection of atoms that are superposed and compared
    #[arg(long, value_name = "TEXT", default_value = "protein and heavy")]
    select: String,
    /// Weight atoms by mass (default: equal weights)
    #[arg(long)]
    mass_weighted: bool,
    /// Method: gromos needs --cutoff, k-medoids needs --clusters, average needs either --cutoff or --clusters
    #[arg(long, value_enum, default_value_t = Method::Gromos)]
    method: Method,
    /// Largest RMSD of neighbours (gromos), or largest mean RMSD between two clusters that are merged (average), for
    /// example "0.2 nm"
    #[arg(long, value_name = "LENGTH", value_parser = super::length)]
    cutoff: Option<f64>,
    /// Number of clusters
    #[arg(short = 'k', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    clusters: Option<u32>,
    /// Device that multiplies matrices: auto, cpu, cuda or cuda:1; auto is the CPU
    #[arg(long, value_parser = device)]
    device: Option<Device>,
}

/// Method of clustering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Method {
    /// the frame with the most neighbours and its neighbours form a cluster; the search is repeated among the other
    /// frames
    Gromos,
    /// the two clusters with the smallest mean RMSD between their frames are merged repeatedly
    Average,
    /// the sum of RMSDs from the central frames is minimised
    KMedoids,
}

/// Clustering method with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Division {
    Gromos { cutoff: f64 },
    AverageUpTo { cutoff: f64 },
    Average { clusters: usize },
    KMedoids { clusters: usize },
}

impl ClusterOptions {
    fn division(&self) -> Result<Division> {
        let clusters = self.clusters.map(|clusters| clusters as usize);
        let problem = |message: &str, help: &str| Err(Problem::new(message.to_owned()).help(help.to_owned()).into());
        match (self.method, self.cutoff, clusters) {
            (Method::Gromos, Some(cutoff), None) => Ok(Division::Gromos { cutoff }),
            (Method::Gromos, ..) => problem(
                "the method gromos needs the option --cutoff without --clusters",
                "write for example --cutoff \"0.2 nm\"; the observable rmsd-matrix shows the RMSD of all frame pairs",
            ),
            (Method::Average, Some(cutoff), None) => Ok(Division::AverageUpTo { cutoff }),
            (Method::Average, None, Some(clusters)) => Ok(Division::Average { clusters }),
            (Method::Average, ..) => {
                problem("the method average needs either --cutoff or --clusters", "write for example --clusters 5")
            }
            (Method::KMedoids, None, Some(clusters)) => Ok(Division::KMedoids { clusters }),
            (Method::KMedoids, ..) => problem(
                "the method k-medoids needs the option --clusters without --cutoff",
                "write for example --method k-medoids --clusters 5",
            ),
        }
    }
}

impl Options for ClusterOptions {
    fn observable(&self, input: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let division = self.division()?;
        let compared = Compared::new(input, &self.select, self.mass_weighted, self.device)?;
        Ok(Box::new(Clusters { division, compared }))
    }
}

/// Observable of clusters of similar frames. The positions of the selected atoms of every frame are kept in memory.
struct Clusters {
    division: Division,
    compared: Compared,
}

impl Division {
    fn divide(self, matrix: &RmsdMatrix) -> Partition {
        match self {
            Division::Gromos { cutoff } => gromos(matrix, cutoff),
            Division::AverageUpTo { cutoff } => average_linkage(matrix, cutoff, 1),
            Division::Average { clusters } => average_linkage(matrix, f64::INFINITY, clusters),
            Division::KMedoids { clusters } => k_medoids(matrix, clusters),
        }
    }

    fn settings(self) -> Vec<(&'static str, String)> {
        let cutoff = |method: &str, cutoff: f64| vec![("method", method.into()), ("cutoff", format!("{cutoff} nm"))];
        let count = |method: &str, n: usize| vec![("method", method.into()), ("clusters", n.to_string())];
        match self {
            Division::Gromos { cutoff: value } => cutoff("gromos", value),
            Division::AverageUpTo { cutoff: value } => cutoff("average", value),
            Division::Average { clusters } => count("average", clusters),
            Division::KMedoids { clusters } => count("k-medoids", clusters),
        }
    }
}

/// Number of clusters that the summary lists.
const LISTED: usize = 10;

impl Observable for Clusters {
    type Sample = Vec<Vec3>;

    fn memory(&self, frames: usize) -> f64 {
        // average linkage copies the upper half of the RMSD matrix
        self.compared.bytes(frames) + 0.5 * RmsdMatrix::bytes(frames)
    }

    fn atoms_used(&self) -> usize {
        self.compared.group.end()
    }

    fn measure(&self, frame: &StoredFrame) -> Result<Self::Sample> {
        Ok(self.compared.positions(frame))
    }

    fn add(&mut self, positions: Self::Sample) -> Result<()> {
        self.compared.frames.push(&positions);
        Ok(())
    }

    fn finish(&mut self, passed: &Passed) -> Result<Findings> {
        let matrix = self.compared.matrix()?;
        let Partition { clusters, centers } = self.division.divide(&matrix);
        let (frames, count) = (clusters.len(), centers.len());
        let mut sizes = vec![0u32; count];
        let mut spreads = vec![0.0; count];
        for (frame, &cluster) in clusters.iter().enumerate() {
            sizes[cluster as usize] += 1;
            spreads[cluster as usize] += f64::from(matrix.row(centers[cluster as usize] as usize)[frame]);
        }
        spreads.iter_mut().zip(&sizes).for_each(|(spread, &size)| *spread /= f64::from(size));
        let share = |cluster: usize| f64::from(sizes[cluster]) / frames as f64;
        let numbers: Vec<u32> = centers.iter().map(|&center| passed.frames[center as usize]).collect();
        let times: Vec<f64> = centers.iter().map(|&center| passed.times[center as usize]).collect();
        let line = |cluster: usize| {
            let [part, time, spread] = [100.0 * share(cluster), times[cluster], spreads[cluster]];
            format!("cluster {cluster:<5}{part:.1} % of frames, center at {time:.3} ps, mean RMSD {spread:.4} nm")
        };
        let mut summary = vec![format!("clusters     {count}")];
        summary.extend((0..count.min(LISTED)).map(line));
        let mut settings = vec![("select", self.compared.group.text.clone()), self.compared.frames.weights_setting()];
        settings.extend(self.division.settings());
        let y = clusters.iter().map(|&cluster| f64::from(cluster)).collect();
        Ok(Findings {
            numbers: vec![
                Number { name: "clusters", value: count as f64, error: None, unit: "" },
                Number { name: "largest_fraction", value: share(0), error: None, unit: "" },
            ],
            summary,
            warnings: vec![],
            settings,
            plots: vec![Plot::over_time(
                format!("Clusters: {}", self.compared.group.text),
                Axis::between("cluster", [-0.5, count as f64 - 0.5]).of_whole_numbers(),
                vec![Layer::Points { label: String::new(), x: passed.times.clone(), y }],
            )],
            arrays: vec![
                Array::new("cluster", [(TIME, frames)], clusters, ""),
                Array::new("size", [("cluster_index", count)], sizes, ""),
                Array::new("central_frame", [("cluster_index", count)], numbers, ""),
                Array::new("central_time", [("cluster_index", count)], times, "ps"),
                Array::new("mean_rmsd", [("cluster_index", count)], spreads, "nm"),
            ],
        })
    }
}
