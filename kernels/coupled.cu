// Coupled constraints, the counterpart of `src/engine/constraint/coupled.rs`. One block of threads handles each cluster
// of constraints that are connected by shared atoms. All arithmetic is in double precision.
//
// The iteration is the same as on the CPU: Newton's method, in which all iterations use the matrix A = D M⁻¹ Dᵀ of the
// old bond vectors (D: derivatives of the constraints with respect to the positions, M: masses). The CPU factors the
// matrix A in a computation that is serial along a chain of bonds. The GPU instead uses conjugate gradients with
// diagonal preconditioning to solve for the change of the multipliers (M. R. Hestenes, E. Stiefel, J. Res. Natl. Bur.
// Stand. 49, 409 (1952), doi:10.6028/jres.049.044). Conjugate gradients converge because the matrix A is positive
// definite. The condition number of the matrix A depends on the angles between neighbouring bonds and not on the number
// of bonds (6.2 for the 73 bonds of a peptide, 6.4 for the 2523 bonds of DHFR), so long chains need no more iterations
// than short chains. The matrix A is never formed: to multiply A by a vector λ of multipliers, the solver first
// computes the displacements M⁻¹ Dᵀ λ of the atoms, and then multiplies these displacements by D.

// Solver for a cluster of coupled constraints, run by one block of threads. Constraints and atoms are numbered
// consecutively over all clusters. `old` holds the positions at the start of the step.
struct CoupledSolver {
    const Arguments& a;
    const Vec3<double>* old;
    CoupledCluster cluster;

    // Calls `work` with the index of each constraint that this thread handles, then waits for all threads.
    template <class Work>
    __device__ void for_constraints(Work work) const {
        for (u32 k = threadIdx.x; k < cluster.constraints; k += blockDim.x) work(cluster.first_constraint + k);
        __syncthreads();
    }

    // Calls `work` with the index of each atom that this thread handles, then waits for all threads.
    template <class Work>
    __device__ void for_atoms(Work work) const {
        for (u32 k = threadIdx.x; k < cluster.atoms; k += blockDim.x) work(cluster.first_atom + k);
        __syncthreads();
    }

    // Computes the displacements M⁻¹ Dᵀ λ (nm) of the atoms from the multipliers λ, the masses M, and the derivatives D
    // of the constraints.
    __device__ void displace(const double* multipliers) const {
        for_atoms([&](u32 i) {
            Vec3<double> sum = vec3(0.0, 0.0, 0.0);
            for (u32 end = a.coupled_atoms[i].first_end; end < a.coupled_atoms[i + 1].first_end; ++end) {
                const u32 constraint = a.coupled_ends[end] / 2;
                const double sign = a.coupled_ends[end] % 2 == 0 ? -1.0 : 1.0;
                sum = sum + a.coupled_vectors[constraint] * (sign * multipliers[constraint]);
            }
            a.coupled_displacements[i] = sum * (1.0 / a.masses[a.coupled_atoms[i].atom]);
        });
    }

    // Returns the change of a bond vector by the displacements that `displace` computed.
    __device__ Vec3<double> stretch(const CoupledConstraint& constraint) const {
        return a.coupled_displacements[constraint.ends[1]] - a.coupled_displacements[constraint.ends[0]];
    }

    __device__ Vec3<double> old_position(u32 i) const {
        return old[a.coupled_atoms[i].atom];
    }

    // Computes the bond vectors for the atom positions `at`, computes the diagonal of the matrix A = D M⁻¹ Dᵀ, and sets
    // the multipliers to zero.
    template <class Positions>
    __device__ void begin(Positions at) const {
        for_constraints([&](u32 k) {
            const CoupledConstraint constraint = a.coupled_constraints[k];
            const Vec3<double> vector = at(constraint.ends[1]) - at(constraint.ends[0]);
            const double masses = 1.0 / a.masses[a.coupled_atoms[constraint.ends[0]].atom] +
                                  1.0 / a.masses[a.coupled_atoms[constraint.ends[1]].atom];
            a.coupled_vectors[k] = vector;
            a.coupled_diagonal[k] = norm_squared(vector) * masses;
            a.coupled_multipliers[k] = 0.0;
        });
    }

    // Runs conjugate gradients until the residuals of the linear equations have decreased by a factor of
    // COUPLED_REDUCTION, for at most COUPLED_STEPS iterations.
    __device__ void solve() const {
        double of_thread = 0.0;
        for_constraints([&](u32 k) {
            a.coupled_directions[k] = a.coupled_residuals[k] / a.coupled_diagonal[k];
            of_thread += a.coupled_residuals[k] * a.coupled_directions[k];
        });
        double size = block_sum(of_thread);
        const double enough = COUPLED_REDUCTION * COUPLED_REDUCTION * size;
        // the comparison `size > enough` is false if `size` is NaN, which ends the loop
        for (u32 step = 0; step < COUPLED_STEPS && size > enough; ++step) {
            displace(a.coupled_directions);
            double curvature = 0.0, fresh = 0.0;
            for_constraints([&](u32 k) {
                a.coupled_products[k] = dot(a.coupled_vectors[k], stretch(a.coupled_constraints[k]));
                curvature += a.coupled_directions[k] * a.coupled_products[k];
            });
            const double length = size / block_sum(curvature);
            for_constraints([&](u32 k) {
                a.coupled_multipliers[k] += length * a.coupled_directions[k];
                a.coupled_residuals[k] -= length * a.coupled_products[k];
                fresh += a.coupled_residuals[k] * a.coupled_residuals[k] / a.coupled_diagonal[k];
            });
            fresh = block_sum(fresh);
            const double kept = fresh / size;
            for_constraints([&](u32 k) {
                a.coupled_directions[k] = a.coupled_residuals[k] / a.coupled_diagonal[k] + kept * a.coupled_directions[k];
            });
            size = fresh;
        }
    }

    // Computes the corrections (`coupled_displacements`) from the old and the unconstrained positions
    // (`coupled_positions`). If the iteration does not converge, returns false and reports the constraint with the
    // largest initial error.
    __device__ bool shake() const {
        begin([&](u32 i) { return old_position(i); });
        return satisfy_lengths();
    }

    // Iterates until all constrained distances are within the tolerance after the displacements are added to
    // `coupled_positions`.
    __device__ bool satisfy_lengths() const {
        return iterate([&](u32, const CoupledConstraint& constraint) {
            const Vec3<double> moved = a.coupled_positions[constraint.ends[1]] - a.coupled_positions[constraint.ends[0]];
            return 0.5 * (constraint.length * constraint.length - norm_squared(moved + stretch(constraint)));
        });
    }

    // Satisfies the constraints at the end of a drift whose velocities were changed halfway, as `finish_drift` does for
    // the other update groups. `coupled_positions` holds the unconstrained positions at the end of the drift.
    __device__ bool finish_drift(double half) const {
        const auto velocity = [&](u32 i) -> Vec3<double>& { return a.velocities[a.coupled_atoms[i].atom]; };
        begin([&](u32 i) { return a.coupled_positions[i] - velocity(i) * half; });
        const bool projected = iterate([&](u32 k, const CoupledConstraint& constraint) {
            const Vec3<double> drifted = (velocity(constraint.ends[1]) - velocity(constraint.ends[0])) * half;
            return -dot(a.coupled_vectors[k], drifted + stretch(constraint));
        });
        if (!projected) return false;
        for_atoms([&](u32 i) {
            velocity(i) = velocity(i) + a.coupled_displacements[i] * (1.0 / half);
            a.coupled_positions[i] = a.coupled_positions[i] + a.coupled_displacements[i];
        });
        for_constraints([&](u32 k) { a.coupled_multipliers[k] = 0.0; });
        return satisfy_lengths();
    }

    // Newton's method for the multipliers. `residual_of` returns the residual (nm²) of a constraint for the
    // displacements that follow from the present multipliers.
    template <class Residual>
    __device__ bool iterate(Residual residual_of) const {
        double worst = 0.0;
        u32 worst_constraint = cluster.first_constraint;
        for (u32 iteration = 0; iteration < COUPLED_ITERATIONS; ++iteration) {
            displace(a.coupled_multipliers);
            double wrong = 0.0;
            for_constraints([&](u32 k) {
                const CoupledConstraint constraint = a.coupled_constraints[k];
                const double square = constraint.length * constraint.length;
                const double residual = residual_of(k, constraint);
                // NaN counts as the largest error
                const double error = fabs(residual) <= 1e300 ? fabs(residual) / square : 1e300;
                a.coupled_residuals[k] = residual;
                if (!(error <= a.constraint_tolerance)) wrong += 1.0;
                if (iteration == 0 && error > worst) {
                    worst = error;
                    worst_constraint = k;
                }
            });
            if (block_sum(wrong) == 0.0) return true;
            solve();
        }
        note_worst(worst, worst_constraint);
        return false;
    }

    // Reports the atoms of the constraint with the largest error, among the constraints of all threads. The result does
    // not depend on the order of threads. The function stores the old positions of the atoms in `a.old`.
    __device__ void note_worst(double worst, u32 worst_constraint) const {
        __shared__ double errors[COUPLED_THREADS];
        __shared__ u32 constraints[COUPLED_THREADS];
        errors[threadIdx.x] = worst;
        constraints[threadIdx.x] = worst_constraint;
        for_atoms([&](u32 i) { a.old[a.coupled_atoms[i].atom] = old_position(i); });
        if (threadIdx.x != 0) return;
        u32 first = 0;
        for (u32 other = 1; other < blockDim.x; ++other)
            if (errors[other] > errors[first]) first = other;
        const CoupledConstraint constraint = a.coupled_constraints[constraints[first]];
        atomicMin(&a.status->failed[0], a.coupled_atoms[constraint.ends[0]].atom);
        atomicMin(&a.status->failed[1], a.coupled_atoms[constraint.ends[1]].atom);
    }
};

// Adds the sums of a step over the atoms of a cluster, including the virial of the constraint forces, to the totals in
// device memory.
__device__ inline void store_sums(const CoupledSolver& solver, StepSums& sums, const CenterSums& center, double timestep) {
    const Arguments& a = solver.a;
    solver.for_constraints([&](u32 k) {
        const Vec3<double> vector = a.coupled_vectors[k];
        add_outer(sums.virial, vector, vector * (a.coupled_multipliers[k] / (timestep * timestep)));
    });
    const CenterSums whole = {block_sum(center.mass),  block_sum(center.power),  block_sum(center.moment),
                              block_sum(center.lever), block_sum(center.force), block_sum(center.before),
                              block_sum(center.after)};
    if (threadIdx.x == 0) sums.add(whole);
    sums.store(a);
}

// Refreshes the velocities of the atoms of a cluster, as `renew` does for the other update groups.
__device__ inline void refresh_coupled_cluster(const Arguments& a, double timestep) {
    const CoupledSolver solver = {a, a.old, a.coupled_clusters[blockIdx.x]};
    const Refreshment refreshment = a.status->refreshment;
    const double half = 0.5 * timestep;
    double work = 0.0;
    solver.for_atoms([&](u32 i) {
        const u32 atom = a.coupled_atoms[i].atom;
        const double mass = a.masses[atom];
        const Vec3<double> velocity = a.velocities[atom], change = renewal(refreshment, atom, mass, velocity);
        work -= 0.5 * mass * norm_squared(velocity);
        a.velocities[atom] = velocity + change;
        a.coupled_positions[i] = a.positions[atom] + change * half;
    });
    if (!solver.finish_drift(half)) return;
    solver.for_atoms([&](u32 i) {
        const u32 atom = a.coupled_atoms[i].atom;
        work += 0.5 * a.masses[atom] * norm_squared(a.velocities[atom]);
        a.positions[atom] = a.coupled_positions[i] + a.coupled_displacements[i];
    });
    add_refreshment_work(a, work);
}

// Integrates one leapfrog step, as `Leapfrog` does for the other update groups.
template <bool SUMS, bool RENEWS>
__device__ inline void leapfrog_coupled(const Arguments& a, double timestep) {
    if (halted(a) || forces_overflowed(a)) return;
    const CoupledSolver solver = {a, a.positions, a.coupled_clusters[blockIdx.x]};
    StepSums sums = {};
    CenterSums center = {};
    const auto force = [&](u32 atom) { return force_on(a, a.atom_slot[atom]); };
    const auto free_velocity = [&](u32 atom) {
        return a.velocities[atom] + force(atom) * (timestep / a.masses[atom]);
    };
    const Vec3<double> origin = solver.old_position(solver.cluster.first_atom);
    solver.for_atoms([&](u32 i) {
        const u32 atom = a.coupled_atoms[i].atom;
        const double mass = a.masses[atom];
        sums.before += 0.5 * mass * norm_squared(a.velocities[atom]);
        if (SUMS) center.start(a.positions[atom] - origin, a.velocities[atom], force(atom), mass);
        a.coupled_positions[i] = a.positions[atom] + free_velocity(atom) * timestep;
    });
    if (!solver.shake()) return;
    solver.for_atoms([&](u32 i) {
        const u32 atom = a.coupled_atoms[i].atom;
        const Vec3<double> velocity = free_velocity(atom) + a.coupled_displacements[i] * (1.0 / timestep);
        sums.after += 0.5 * a.masses[atom] * norm_squared(velocity);
        if (SUMS) sums.add_kinetic(a.velocities[atom], velocity, a.masses[atom]);
        center.end(velocity, a.masses[atom]);
        a.old[atom] = a.positions[atom];
        a.positions[atom] = a.coupled_positions[i] + a.coupled_displacements[i];
        a.velocities[atom] = velocity;
    });
    if (SUMS) store_sums(solver, sums, center, timestep);
    if (RENEWS) refresh_coupled_cluster(a, timestep);
    if (!a.packs_ahead) return;
    solver.for_atoms([&](u32 i) {
        const u32 atom = a.coupled_atoms[i].atom;
        pack_atom(a, a.atom_slot[atom], atom, a.positions[atom]);
    });
}

extern "C" __global__ void __launch_bounds__(COUPLED_THREADS, 1) advance_coupled(const Arguments a, const double timestep) {
    leapfrog_coupled<false, false>(a, timestep);
}
extern "C" __global__ void __launch_bounds__(COUPLED_THREADS, 1) advance_coupled_sums(const Arguments a, const double timestep) {
    leapfrog_coupled<true, false>(a, timestep);
}
extern "C" __global__ void __launch_bounds__(COUPLED_THREADS, 1) advance_coupled_refreshed(const Arguments a, const double timestep) {
    leapfrog_coupled<false, true>(a, timestep);
}
extern "C" __global__ void __launch_bounds__(COUPLED_THREADS, 1) advance_coupled_refreshed_sums(const Arguments a, const double timestep) {
    leapfrog_coupled<true, true>(a, timestep);
}
extern "C" __global__ void __launch_bounds__(COUPLED_THREADS, 1) refresh_coupled(const Arguments a, const double timestep) {
    if (!halted(a)) refresh_coupled_cluster(a, timestep);
}

// Scales the center of mass of each cluster by the factors of the last barostat step, as `Scale` does for the other
// update groups.
extern "C" __global__ void __launch_bounds__(COUPLED_THREADS, 1) scale_coupled(const Arguments a, const double) {
    if (halted(a)) return;
    const CoupledSolver solver = {a, a.old, a.coupled_clusters[blockIdx.x]};
    CenterMotion center = {};
    solver.for_atoms([&](u32 i) { center.add(a, a.coupled_atoms[i].atom); });
    center = {block_sum(center.mass), block_sum(center.old), block_sum(center.moved), block_sum(center.momentum)};
    solver.for_atoms([&](u32 i) { center.scale(a, a.coupled_atoms[i].atom); });
}
