//! Forecast of the messages of an evaluation of PME on several ranks.

use super::pencils::MeshDivision;
use crate::ranks::rounds;
use crate::simd::{Aligned16, LANES};
use crate::system::PmeParameters;

/// Share of a rank in an evaluation of PME on several ranks.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::backend) struct MeshTraffic {
    /// fraction of the mesh that the busiest rank transforms
    pub largest_part: f64,
    /// number of bytes that a rank sends, averaged over ranks
    pub bytes: f64,
    /// number of messages that a rank sends, averaged over ranks
    pub messages: f64,
}

impl MeshTraffic {
    /// Computes the share of a rank. `touched` says for each rank whether it has charges on each mesh point along x, y
    /// and z.
    ///
    /// A rank sends charges to each rank with pencils on which the charges lie. Each rank that receives charges sends
    /// the potential back. In addition, all ranks gather one byte for each plane, row and block of the mesh, and
    /// exchange the spectrum.
    pub(in crate::backend) fn new(mesh: &PmeParameters, touched: &[[Vec<bool>; 3]]) -> Self {
        let (ranks, division) = (touched.len(), MeshDivision::new(mesh.grid, touched.len()));
        let [nx, ny, _] = mesh.grid;
        let (mut vectors, mut messages) = (0, 0);
        for (rank, [planes, rows, points]) in touched.iter().enumerate() {
            let rows = rows.iter().filter(|&&row| row).count();
            let blocks: Vec<bool> = points.chunks(LANES).map(|block| block.contains(&true)).collect();
            for other in (0..ranks).filter(|&other| other != rank) {
                let common = division.x(other).filter(|&x| planes[x]).count()
                    * division.z(other).filter(|&block| blocks[block]).count();
                vectors += common * rows;
                messages += usize::from(common > 0);
            }
        }
        let mean = |sum: usize| 2.0 * sum as f64 / ranks as f64;
        let marks = (nx + ny + division.z_blocks()) * (ranks - 1);
        MeshTraffic {
            largest_part: division.largest_part(),
            bytes: mean(vectors * size_of::<Aligned16>()) + (marks + division.bytes()) as f64,
            messages: mean(messages) + (rounds(ranks) + division.messages()) as f64,
        }
    }
}
