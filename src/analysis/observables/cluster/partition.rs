//! Algorithms that divide frames into clusters.

use rayon::prelude::*;

use super::RmsdMatrix;

/// Clusters of frames, the largest first.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Partition {
    /// cluster of each frame
    pub(super) clusters: Vec<u32>,
    /// central frame of each cluster
    pub(super) centers: Vec<u32>,
}

impl Partition {
    /// Sorts clusters by size, and clusters of equal size by their central frame.
    fn sorted(self) -> Self {
        let mut sizes = vec![0usize; self.centers.len()];
        self.clusters.iter().for_each(|&cluster| sizes[cluster as usize] += 1);
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by_key(|&cluster| (std::cmp::Reverse(sizes[cluster]), self.centers[cluster]));
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &cluster)| places[cluster] = place as u32);
        Partition {
            clusters: self.clusters.into_iter().map(|cluster| places[cluster as usize]).collect(),
            centers: order.into_iter().map(|cluster| self.centers[cluster]).collect(),
        }
    }
}

/// Clusters frames by the method of Daura et al., Angew. Chem. Int. Ed. 38, 236 (1999),
/// doi:10.1002/(SICI)1521-3773(19990115)38:1/2<236::AID-ANIE236>3.0.CO;2-M: the frame with the most neighbours within
/// the cutoff (nm) is the center of a cluster, whose members are this frame and its neighbours. The members of the
/// cluster are removed, and the search is repeated for the remaining frames.
pub(super) fn gromos(matrix: &RmsdMatrix, cutoff: f64) -> Partition {
    let count = matrix.frames;
    let is_near = |rmsd: f32| f64::from(rmsd) <= cutoff;
    let number = |frame: usize| matrix.row(frame).iter().filter(|&&rmsd| is_near(rmsd)).count();
    let mut neighbours: Vec<usize> = (0..count).into_par_iter().map(number).collect();
    let mut clusters: Vec<Option<u32>> = vec![None; count];
    let mut centers = vec![];
    loop {
        let left = (0..count).filter(|&frame| clusters[frame].is_none());
        // if several frames have the most neighbours, the first of them is the center
        let Some(center) = left.min_by_key(|&frame| std::cmp::Reverse(neighbours[frame])) else { break };
        let row = matrix.row(center);
        let members: Vec<usize> = (0..count).filter(|&i| clusters[i].is_none() && is_near(row[i])).collect();
        for &member in &members {
            clusters[member] = Some(centers.len() as u32);
            let row = matrix.row(member).iter();
            neighbours.iter_mut().zip(row).for_each(|(number, &rmsd)| *number -= usize::from(is_near(rmsd)));
        }
        centers.push(center as u32);
    }
    Partition { clusters: clusters.into_iter().flatten().collect(), centers }.sorted()
}

/// Clusters frames by average linkage (UPGMA; Sokal & Michener, Univ. Kansas Sci. Bull. 38, 1409 (1958)): the two
/// clusters with the smallest mean RMSD between their frames are merged, until this mean exceeds the cutoff (nm), or
/// until only `least` clusters are left. The center of a cluster is the frame with the smallest sum of RMSDs to the
/// other frames of the cluster.
pub(super) fn average_linkage(matrix: &RmsdMatrix, cutoff: f64, least: usize) -> Partition {
    let count = matrix.frames;
    let mut condensed: Vec<f32> = Vec::with_capacity(count * count.saturating_sub(1) / 2);
    (0..count).for_each(|frame| condensed.extend_from_slice(&matrix.row(frame)[frame + 1..]));
    let dendrogram = kodama::linkage(&mut condensed, count, kodama::Method::Average);
    // members of each cluster of the dendrogram: the single frames, then the clusters that the merging steps create
    let mut members: Vec<Vec<usize>> = (0..count).map(|frame| vec![frame]).collect();
    for step in dendrogram.steps().iter().take(count.saturating_sub(least)) {
        if f64::from(step.dissimilarity) > cutoff {
            break;
        }
        let [mut joined, mut other] = [step.cluster1, step.cluster2].map(|label| std::mem::take(&mut members[label]));
        if joined.len() < other.len() {
            std::mem::swap(&mut joined, &mut other);
        }
        joined.append(&mut other);
        members.push(joined);
    }
    members.retain(|members| !members.is_empty());
    let mut clusters = vec![0; count];
    for (cluster, members) in members.iter_mut().enumerate() {
        members.sort_unstable();
        members.iter().for_each(|&frame| clusters[frame] = cluster as u32);
    }
    let centers = members.par_iter().map(|members| medoid(matrix, members)).collect();
    Partition { clusters, centers }.sorted()
}

/// Returns the medoid of a cluster: the member with the smallest sum of RMSDs to the other members.
fn medoid(matrix: &RmsdMatrix, members: &[usize]) -> u32 {
    let sum = |frame: usize| members.iter().map(|&other| f64::from(matrix.row(frame)[other])).sum::<f64>();
    let sums: Vec<f64> = members.iter().map(|&frame| sum(frame)).collect();
    let least = (0..members.len()).min_by(|&a, &b| sums[a].total_cmp(&sums[b]));
    least.map_or(0, |place| members[place] as u32)
}

/// Nearest center of a frame, with the RMSDs to the nearest and to the second nearest center.
#[derive(Clone, Copy, Debug)]
struct Nearest {
    /// index of the nearest center
    center: usize,
    /// RMSD (nm) to the nearest center, and to the second nearest center
    rmsd: [f64; 2],
}

/// Partitions frames around medoids (Kaufman & Rousseeuw, Finding Groups in Data, 1990, doi:10.1002/9780470316801): the
/// centers are a local minimum of the sum of RMSDs of all frames to their nearest center. No exchange of one center for
/// another frame lowers this sum of RMSDs.
///
/// For each frame, a single loop computes how the sum of RMSDs changes if the frame replaces the first center, the
/// second center, and so on (Schubert & Rousseeuw, Inf. Syst. 101, 101804 (2021), doi:10.1016/j.is.2021.101804).
pub(super) fn k_medoids(matrix: &RmsdMatrix, clusters: usize) -> Partition {
    let count = matrix.frames;
    let mut centers = first_centers(matrix, clusters.min(count));
    loop {
        let nearest = nearest_centers(matrix, &centers);
        let candidates = (0..count).into_par_iter().filter(|frame| !centers.contains(frame));
        let exchanges = candidates.map(|frame| best_exchange(matrix, &nearest, centers.len(), frame));
        let best = exchanges.min_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
        let total: f64 = nearest.iter().map(|nearest| nearest.rmsd[0]).sum();
        match best {
            // changes below 1e-9 of the sum of RMSDs are rounding errors
            Some((change, center, frame)) if change < -1e-9 * total => centers[center] = frame,
            _ => {
                let clusters = nearest.iter().map(|nearest| nearest.center as u32).collect();
                let centers = centers.into_iter().map(|center| center as u32).collect();
                return Partition { clusters, centers }.sorted();
            }
        }
    }
}

/// Chooses the initial centers one after another: each new center is the frame that most lowers the sum of the RMSDs of
/// all frames to their nearest centers.
fn first_centers(matrix: &RmsdMatrix, clusters: usize) -> Vec<usize> {
    let count = matrix.frames;
    let mut least = vec![f64::INFINITY; count];
    let mut centers: Vec<usize> = vec![];
    while centers.len() < clusters {
        let sum = |frame: usize| {
            let row = matrix.row(frame).iter().zip(&least);
            row.map(|(&rmsd, &least)| f64::from(rmsd).min(least)).sum::<f64>()
        };
        let left = (0..count).into_par_iter().filter(|frame| !centers.contains(frame));
        let best = left.map(|frame| (sum(frame), frame)).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let Some((_, center)) = best else { break };
        least.iter_mut().zip(matrix.row(center)).for_each(|(least, &rmsd)| *least = least.min(f64::from(rmsd)));
        centers.push(center);
    }
    centers
}

fn nearest_centers(matrix: &RmsdMatrix, centers: &[usize]) -> Vec<Nearest> {
    let nearest = |frame: usize| {
        let mut nearest = Nearest { center: 0, rmsd: [f64::INFINITY; 2] };
        for (center, &at) in centers.iter().enumerate() {
            let rmsd = f64::from(matrix.row(at)[frame]);
            if rmsd < nearest.rmsd[0] || at == frame {
                nearest = Nearest { center, rmsd: [rmsd, nearest.rmsd[0]] };
            } else {
                nearest.rmsd[1] = nearest.rmsd[1].min(rmsd);
            }
        }
        nearest
    };
    (0..matrix.frames).into_par_iter().map(nearest).collect()
}

/// Finds the center whose replacement by `frame` lowers the sum of RMSDs most. Returns the change of the sum of RMSDs,
/// the center, and `frame`.
fn best_exchange(matrix: &RmsdMatrix, nearest: &[Nearest], centers: usize, frame: usize) -> (f64, usize, usize) {
    // `common` is the change of the sum of RMSDs if the new center is added; `removal` is the further change if an old
    // center is removed
    let (mut common, mut removal) = (0.0, vec![0.0; centers]);
    for (&rmsd, &Nearest { center, rmsd: [first, second] }) in matrix.row(frame).iter().zip(nearest) {
        let rmsd = f64::from(rmsd);
        common += (rmsd - first).min(0.0);
        // if the center of a frame is removed, the frame joins the new center or the second nearest of the old centers
        removal[center] += rmsd.min(second) - rmsd.min(first);
    }
    let best = (0..centers).min_by(|&a, &b| removal[a].total_cmp(&removal[b])).unwrap_or(0);
    (common + removal[best], best, frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the matrix of the distances of points on a line.
    fn line(points: &[f32]) -> RmsdMatrix {
        let values = points.iter().flat_map(|a| points.iter().map(move |b| (a - b).abs())).collect();
        RmsdMatrix { frames: points.len(), values }
    }

    /// Points on a line, in mixed order, which form groups of three, four and one.
    const POINTS: [f32; 8] = [10.0, 0.0, 10.25, 1.0, 0.5, 10.5, 20.0, 10.75];

    #[test]
    fn all_methods_find_groups() {
        let matrix = line(&POINTS);
        let expected = vec![0, 1, 0, 1, 1, 0, 2, 0];
        for (found, centers) in [
            (gromos(&matrix, 0.6), [2, 4, 6]),
            (average_linkage(&matrix, 2.0, 1), [2, 4, 6]),
            (average_linkage(&matrix, f64::INFINITY, 3), [2, 4, 6]),
            (k_medoids(&matrix, 3), [2, 4, 6]),
        ] {
            assert_eq!(found.clusters, expected);
            assert_eq!(found.centers, centers);
        }
    }

    /// Points 1, 2 and 3 have two neighbours each within the cutoff of 1. Point 1, the first of these points, becomes a
    /// center. The points 3 and 4 are left for a second cluster.
    #[test]
    fn gromos_removes_neighbours() {
        let found = gromos(&line(&[0.0, 1.0, 2.0, 3.0, 4.0]), 1.0);
        assert_eq!(found, Partition { clusters: vec![0, 0, 0, 1, 1], centers: vec![1, 3] });
    }

    /// The points 0 and 1 merge at a mean distance of 1; the point at 3.5 joins the points 0 and 1 at the mean distance
    /// (3.5 + 2.5)/2 = 3.
    #[test]
    fn average_linkage_compares_means() {
        let matrix = line(&[0.0, 1.0, 3.5]);
        assert_eq!(average_linkage(&matrix, 2.99, 1).clusters, [0, 0, 1]);
        assert_eq!(average_linkage(&matrix, 3.01, 1).clusters, [0, 0, 0]);
        assert_eq!(average_linkage(&line(&[1.0]), 1.0, 1).clusters, [0]);
    }

    /// The centers of [`k_medoids`] are compared with the best of all choices of two centers.
    #[test]
    fn medoids_are_optimal_for_few_points() {
        let points: Vec<f32> = (0..13).map(|i| (i * i % 17) as f32 + 0.1 * i as f32).collect();
        let matrix = line(&points);
        let cost = |centers: &[usize]| -> f32 {
            (0..13).map(|i| centers.iter().map(|&c| matrix.row(c)[i]).fold(f32::INFINITY, f32::min)).sum()
        };
        let pairs = (0..13).flat_map(|a| (a + 1..13).map(move |b| [a, b]));
        let least = pairs.map(|pair| cost(&pair)).fold(f32::INFINITY, f32::min);
        let centers: Vec<usize> = k_medoids(&matrix, 2).centers.iter().map(|&c| c as usize).collect();
        assert!((cost(&centers) - least).abs() < 1e-4, "{centers:?}");
        // the center of a single cluster is the median; with as many clusters as points, every point is a center
        assert_eq!(k_medoids(&line(&[5.0, 0.0, 1.0]), 1).centers, [2]);
        assert_eq!(k_medoids(&line(&[5.0, 0.0, 1.0]), 9).centers, [0, 1, 2]);
    }

    #[test]
    fn equal_frames_share_clusters() {
        let matrix = line(&[0.0; 4]);
        assert_eq!(gromos(&matrix, 0.1).centers, [0]);
        assert_eq!(k_medoids(&matrix, 2).centers.len(), 2);
    }
}
