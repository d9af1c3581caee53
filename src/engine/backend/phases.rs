//! Time spent in each phase of a step.

/// Wall-clock seconds spent in each phase since the start of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Phases {
    /// computation of pair forces (pair kernel)
    pub pairs: f64,
    /// sorting of atoms, search and pruning of pair lists
    pub search: f64,
    /// spreading of charges onto the PME mesh
    pub pme_spread: f64,
    /// solution on the mesh, from charges to potential: Fourier transforms, with the influence function between them
    pub pme_solve: f64,
    /// gathering of forces from the PME mesh
    pub pme_gather: f64,
    /// bonded terms and 1-4 pairs
    pub bonded: f64,
    /// reordering of positions into list order, summation of forces over threads and reordering into topology order
    pub reduce: f64,
    /// leapfrog integration, kinetic energies, thermostat and barostat
    pub update: f64,
    /// solution of constraints
    pub constraints: f64,
}

impl Phases {
    /// Returns names and seconds of the phases in the order of a step.
    pub fn named(&self) -> [(&'static str, f64); 9] {
        [
            ("pairs", self.pairs),
            ("search", self.search),
            ("pme_spread", self.pme_spread),
            ("pme_solve", self.pme_solve),
            ("pme_gather", self.pme_gather),
            ("bonded", self.bonded),
            ("reduce", self.reduce),
            ("constraints", self.constraints),
            ("update", self.update),
        ]
    }

    /// Returns all times multiplied by `factor`.
    pub fn scaled(&self, factor: f64) -> Phases {
        Phases {
            pairs: factor * self.pairs,
            search: factor * self.search,
            pme_spread: factor * self.pme_spread,
            pme_solve: factor * self.pme_solve,
            pme_gather: factor * self.pme_gather,
            bonded: factor * self.bonded,
            reduce: factor * self.reduce,
            update: factor * self.update,
            constraints: factor * self.constraints,
        }
    }

    /// Adds the time of each phase between the readings `before` and `after`.
    pub fn add_difference(&mut self, after: &Phases, before: &Phases) {
        self.pairs += after.pairs - before.pairs;
        self.search += after.search - before.search;
        self.pme_spread += after.pme_spread - before.pme_spread;
        self.pme_solve += after.pme_solve - before.pme_solve;
        self.pme_gather += after.pme_gather - before.pme_gather;
        self.bonded += after.bonded - before.bonded;
        self.reduce += after.reduce - before.reduce;
        self.update += after.update - before.update;
        self.constraints += after.constraints - before.constraints;
    }
}
