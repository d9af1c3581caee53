//! Reciprocal-space forces: smooth particle-mesh Ewald in `f32` on the slots of the spatial grid.
//!
//! Each thread spreads the charges of a contiguous range of blocks onto a private padded mesh, so the inner loops
//! need no periodic indices. [`Spectral`] sums the meshes in a fixed order and computes the padded potential, from
//! which forces are gathered. Energy and virial are sums over the spectrum, computed only on request.

use super::mesh_exchange::MeshExchange;
use super::mesh_grid::{Padded, SpreadBuffer};
use super::mesh_kernel::{Gather, MeshAtoms, Spread};
use super::spectral::Spectral;
use super::threads::partition;
use crate::cell::PeriodicCell;
use crate::pair::Grid;
use crate::pme::{ChargeSums, Influence, MeshPotential};
use crate::ranks::Ranks;
use crate::simd::{Aligned16, Level, dispatch};
use crate::system::PmeParameters;
use crate::team::Team;
use crate::vec3::Mat3;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Wall times of the stages of a mesh evaluation, s.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MeshTimes {
    pub spread: f64,
    pub solve: f64,
}

/// Reciprocal-space part of PME or LJ-PME.
pub(super) struct Mesh {
    parameters: PmeParameters,
    /// pair potential that the mesh sums (Coulomb or dispersion)
    pub potential: MeshPotential,
    level: Level,
    padded: Padded,
    /// sums over the charges of all atoms, from which the self energy and the energy of the neutralising plasma follow;
    /// zero if another rank counts these energies
    pub charges: ChargeSums,
    thread_buffers: Vec<SpreadBuffer>,
    spectral: Spectral,
    /// potential on the padded mesh, after [`Mesh::solve`]
    values: Vec<Aligned16>,
    team: Arc<Team>,
    /// number of work partitions that spread charges; the additional buffer for charges from other ranks is not counted
    parts: usize,
    /// exchange of charges and potential with the other ranks that share the mesh
    exchange: Option<MeshExchange>,
    /// wall times of spreading and solving
    pub times: MeshTimes,
}

impl Mesh {
    /// Plans a mesh without self energy and plasma energy. The mesh sums the charges of all `ranks`, and each rank
    /// computes its part of the energy and the virial.
    pub(super) fn new(
        parameters: PmeParameters,
        potential: MeshPotential,
        parts: usize,
        level: Level,
        team: Arc<Team>,
        ranks: &Ranks,
    ) -> Self {
        let padded = Padded::new(&parameters);
        let exchange = (ranks.count() > 1).then(|| MeshExchange::new(ranks.count(), &padded));
        // the last buffer is for charges from other ranks
        let buffers = parts + usize::from(exchange.is_some());
        Mesh {
            parameters,
            potential,
            level,
            padded,
            charges: ChargeSums::default(),
            thread_buffers: (0..buffers).map(|_| SpreadBuffer::new(&padded, exchange.is_some())).collect(),
            spectral: Spectral::new(padded, Influence::new(&parameters, potential), parts, level, ranks),
            values: padded.grid(),
            team,
            parts,
            exchange,
            times: MeshTimes::default(),
        }
    }

    /// Computes the potential of the charges, after [`Self::spread`]. Returns the energy (with self and neutralising
    /// plasma terms) and the virial; both are zero unless `sums` is true. Calls `work` in each exchange among ranks,
    /// while messages travel. All ranks call this function together.
    ///
    /// On one machine `work` is not called: the processors copy the messages, and `work` would only displace the mesh
    /// from their caches. DHFR on two ranks of one thread ran 2 to 3 % slower with `work` (AMD EPYC, Zen 5,
    /// `1ad39e75`).
    pub(super) fn solve(&mut self, cell: &PeriodicCell, sums: bool, work: &mut dyn FnMut()) -> (f64, Mat3) {
        let (start, mut elsewhere) = (Instant::now(), Duration::ZERO);
        let travelling = self.spectral.pencils.ranks.messages_travel();
        let mut work = || {
            let start = Instant::now();
            if travelling {
                work();
            }
            elsewhere += start.elapsed();
        };
        if let Some(exchange) = &mut self.exchange {
            let (own, received) = self.thread_buffers.split_at_mut(self.parts);
            exchange.send_charges(&self.spectral.pencils, own, &mut received[0], &self.padded, &mut work);
        }
        let (mut energy, mut virial) =
            self.spectral.solve(&self.team, &self.thread_buffers, cell, &mut self.values, sums, &mut work);
        if let Some(exchange) = &mut self.exchange {
            exchange.send_potential(&self.spectral.pencils, &mut self.values, &self.padded, &mut work);
        }
        self.spectral.fill_last_planes(&self.team, &mut self.values);
        if sums {
            let alpha = self.parameters.alpha;
            let plasma = self.potential.plasma_energy(alpha, self.charges, cell.volume());
            for (axis, row) in virial.0.iter_mut().enumerate() {
                row[axis] += energy + plasma;
            }
            energy += self.potential.self_energy(alpha, self.charges) + plasma;
        }
        self.times.solve += (start.elapsed() - elsewhere).as_secs_f64();
        (energy, virial)
    }

    /// Spreads the charges of all slots. All ranks call this function together.
    pub(super) fn spread(&mut self, MeshInput { grid, cell, packed, charges, charged }: MeshInput<'_>) {
        let start = Instant::now();
        let (padded, order, level, parts) = (self.padded, self.parameters.order, self.level, self.parts);
        let atoms = MeshAtoms { grid, cell, packed, charges, padded };
        self.team.for_each(self.thread_buffers[..parts].par_iter_mut().enumerate(), |(index, buffer)| {
            let blocks = partition(charged, index, parts);
            buffer.clear(&padded);
            let (to, begins) = (bytemuck::cast_slice_mut(&mut buffer.grid), &mut buffer.begins);
            match order {
                4 => dispatch(level, Spread::<4, 4> { atoms, blocks, to, begins }),
                5 => dispatch(level, Spread::<5, 8> { atoms, blocks, to, begins }),
                6 => dispatch(level, Spread::<6, 8> { atoms, blocks, to, begins }),
                _ => dispatch(level, Spread::<8, 8> { atoms, blocks, to, begins }),
            }
            buffer.mark(order, &padded);
            buffer.fold(&padded);
        });
        if let Some(exchange) = &mut self.exchange {
            exchange.find_common(&self.spectral.pencils, &self.thread_buffers[..parts], &padded);
        }
        self.times.spread += start.elapsed().as_secs_f64();
    }

    /// Adds the reciprocal-space forces on the atoms of `blocks` to `forces`. The first element of `forces` belongs to
    /// the first of `blocks`.
    pub(super) fn gather(&self, input: MeshInput<'_>, blocks: Range<usize>, forces: &mut [[f32; 24]]) {
        let MeshInput { grid, cell, packed, charges, charged } = input;
        let blocks = blocks.start..blocks.end.min(charged);
        if blocks.is_empty() {
            return;
        }
        let atoms = MeshAtoms { grid, cell, packed, charges, padded: self.padded };
        let from = bytemuck::cast_slice(&self.values);
        match self.parameters.order {
            4 => dispatch(self.level, Gather::<4, 4> { atoms, blocks, from, forces }),
            5 => dispatch(self.level, Gather::<5, 8> { atoms, blocks, from, forces }),
            6 => dispatch(self.level, Gather::<6, 8> { atoms, blocks, from, forces }),
            _ => dispatch(self.level, Gather::<8, 8> { atoms, blocks, from, forces }),
        }
    }
}

/// Positions and charges of atoms, as input of the mesh.
#[derive(Clone, Copy)]
pub(super) struct MeshInput<'a> {
    pub grid: &'a Grid,
    pub cell: &'a PeriodicCell,
    /// offsets (nm) of the slots from the centers of their blocks: eight x, eight y, eight z for each block
    pub packed: &'a [[f32; 24]],
    /// charges of the mesh potential, `[block][slot]`: charge times √(Coulomb constant), or √c6 for dispersion
    pub charges: &'a [[f32; 8]],
    /// number n of blocks such that the first n blocks contain all charged atoms
    pub charged: usize,
}
