//! Forecast of the time of a step on several ranks.
//!
//! The time of a step on n ranks is the computing time of the busiest rank, plus the time of its messages:
//!
//! t(n) = w(n) (t_pairs + t_work + t_serial) + s(n) t_search + m(n) t_mesh + t_rest
//!        + Σ (messages × latency + bytes / bandwidth)
//!
//! t_pairs, t_work, t_serial, t_search, t_mesh and t_rest are the times of a step on one rank ([`StepTimes`]). w, s and
//! m are the fractions of the work, the pair search and the mesh that the busiest rank computes, and the bytes follow
//! from the division of the cell ([`RankShare`]). Messages of the mesh travel while pair forces are computed, and only
//! their time beyond w(n) t_pairs counts. Other communication counts in full; the formula leaves out that messages of
//! the halo travel while charges are spread and mesh forces are gathered.

use crate::backend::RankShare;

/// Latency and bandwidth of messages between ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// time of an empty message, s
    pub latency: f64,
    /// data rate of a rank in bytes per second; a rank can send and receive at the same time, both at this rate
    pub bandwidth: f64,
}

impl Network {
    /// Network of a cluster with a nominal rate of 100 Gbit/s. The latency is close to the value of 1.93 µs that was
    /// measured for Ethernet messages which bypass the kernel (J. Squyres,
    /// <https://blogs.cisco.com/performance/mpi-over-40gb-ethernet>).
    pub const CLUSTER: Network = Network { latency: 2e-6, bandwidth: 12e9 };

    fn seconds(&self, messages: f64, bytes: f64) -> f64 {
        messages * self.latency + bytes / self.bandwidth
    }
}

/// Mean times (s) of the parts of a step on one rank, and mean numbers of prunings and pair searches per step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepTimes {
    /// time of pair forces and bonded terms; on several ranks this time is proportional to the computational load of a
    /// rank
    pub pairs: f64,
    /// time of charge spreading, force gathering, constraints and integration, proportional to the load as well
    pub work: f64,
    /// time of the pair search, including the sorting of halo atoms
    pub search: f64,
    /// time of the Fourier transforms; on several ranks this time is proportional to the part of the mesh that a rank
    /// transforms
    pub mesh: f64,
    /// time that is proportional to the number of atoms of a rank, and does not decrease with more processor cores
    pub serial: f64,
    /// time that does not decrease when the number of ranks or cores increases
    pub rest: f64,
    /// number of prunings of the pair lists in a step
    pub prunings: f64,
    /// number of pair searches in a step
    pub searches: f64,
}

impl StepTimes {
    /// Returns the times on `factor` times as many processor cores. The serial part and the rest of a step take as long
    /// as before.
    pub fn divided_by(self, factor: f64) -> Self {
        let StepTimes { pairs, work, search, mesh, .. } = self;
        let [pairs, work, search, mesh] = [pairs, work, search, mesh].map(|time| time / factor);
        StepTimes { pairs, work, search, mesh, ..self }
    }
}

/// Mean number of commands of rank 0 to all ranks in a step, such as the commands to compute forces and to integrate
/// (measured for DHFR).
const ORDERS: f64 = 2.3;
/// Mean number of sums over all ranks in a step (0.38 was measured for DHFR with velocity rescaling).
const SUMS: f64 = 0.4;

/// Time of a step on several ranks, in s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// time of the computation on the busiest rank
    pub compute: f64,
    /// time to send the positions of halo atoms and the forces on halo atoms
    pub halo: f64,
    /// time to send charges, potential and spectrum of the PME mesh, beyond the time of the pair forces
    pub mesh: f64,
    /// time to send commands of rank 0, sums over all ranks, and atoms that change their domain
    pub other: f64,
}

impl Forecast {
    /// Returns the forecast for a single rank.
    pub fn alone(step: &StepTimes) -> Self {
        let StepTimes { pairs, work, search, mesh, serial, rest, .. } = step;
        Forecast { compute: pairs + work + search + mesh + serial + rest, halo: 0.0, mesh: 0.0, other: 0.0 }
    }

    /// Returns the forecast for a system whose step has the times `step` on one rank.
    pub fn new(step: &StepTimes, share: &RankShare, network: &Network) -> Self {
        let sorted = share.work + share.halo_atoms / share.atoms.max(1) as f64;
        let halo = network.seconds(share.halo_messages() as f64, share.halo_bytes());
        let (pairs, mesh) = (step.pairs * share.work, network.seconds(share.mesh_messages, share.mesh_bytes));
        let small = (ORDERS + SUMS) * share.gather_messages() as f64 + step.searches * share.search_messages() as f64;
        Forecast {
            compute: pairs
                + (step.work + step.serial) * share.work
                + step.search * sorted.min(1.0)
                + step.mesh * share.mesh
                + step.rest,
            // positions are sent in each force evaluation and before each pruning, and forces are sent back
            halo: (2.0 + step.prunings) * halo,
            mesh: (mesh - pairs).max(0.0),
            other: network.seconds(small, 0.0),
        }
    }

    /// Returns the time of a step.
    pub fn seconds(&self) -> f64 {
        self.compute + self.halo + self.mesh + self.other
    }

    /// Names the part of a step that takes most time.
    pub fn limit(&self) -> &'static str {
        let parts = [
            (self.compute, "computation"),
            (self.halo, "positions and forces of halo atoms"),
            (self.mesh, "messages of the PME mesh"),
            (self.other, "orders and sums"),
        ];
        parts.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map_or("", |(_, name)| name)
    }
}
