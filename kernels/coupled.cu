// Constraints coupled in any way, the twin of `src/constraint/coupled.rs`: a block of threads for each chain, which is
// what constraints hold together. All arithmetic is in double precision.
//
// The iteration is that of the CPU: Newton's method with the matrix A = D M⁻¹ Dᵀ of the old bonds, for all iterations.
// Where the CPU factors A, which goes from bond to bond, conjugate gradients scaled by the diagonal solve for a change of
// the multipliers (M. R. Hestenes, E. Stiefel, J. Res. Natl. Bur. Stand. 49, 409 (1952), doi:10.6028/jres.049.044). A is
// positive definite, so that they get there; its condition follows from the angles between neighbouring bonds and not from
// how many there are (6.2 for the 73 bonds of a peptide, 6.4 for the 2523 of DHFR), so that a long chain takes no more of
// them than a short one. A is never formed: multipliers pull at atoms, and pulls stretch bonds.

// A chain and what its block of threads does together. Bonds and atoms are counted over all chains.
struct Coupled {
    const Arguments& a;
    ChainUnit unit;

    // Calls `work` with the bonds of this thread; then those of all threads are done.
    template <class Work>
    __device__ void for_bonds(Work work) const {
        for (u32 k = threadIdx.x; k < unit.bonds; k += blockDim.x) work(unit.first_bond + k);
        __syncthreads();
    }

    // The same with atoms.
    template <class Work>
    __device__ void for_atoms(Work work) const {
        for (u32 k = threadIdx.x; k < unit.atoms; k += blockDim.x) work(unit.first_atom + k);
        __syncthreads();
    }

    // What a multiplier for each bond does to the atoms: M⁻¹ Dᵀ times the multipliers, nm.
    __device__ void pull(const double* multipliers) const {
        for_atoms([&](u32 i) {
            Vec3<double> sum = vec3(0.0, 0.0, 0.0);
            for (u32 end = a.chain_atoms[i].first_end; end < a.chain_atoms[i + 1].first_end; ++end) {
                const u32 bond = a.chain_ends[end] / 2;
                const double sign = a.chain_ends[end] % 2 == 0 ? -1.0 : 1.0;
                sum = sum + a.chain_vectors[bond] * (sign * multipliers[bond]);
            }
            a.chain_pulls[i] = sum * (1.0 / a.masses[a.chain_atoms[i].atom]);
        });
    }

    // How far apart the ends of a bond are pulled.
    __device__ Vec3<double> stretch(const ChainBond& bond) const {
        return a.chain_pulls[bond.ends[1]] - a.chain_pulls[bond.ends[0]];
    }

    __device__ Vec3<double> old_position(u32 i) const {
        return a.positions[a.chain_atoms[i].atom];
    }

    // The old bonds, the diagonal of A, and no pull.
    __device__ void begin() const {
        for_bonds([&](u32 k) {
            const ChainBond bond = a.chain_bonds[k];
            const Vec3<double> vector = old_position(bond.ends[1]) - old_position(bond.ends[0]);
            const double masses = 1.0 / a.masses[a.chain_atoms[bond.ends[0]].atom] +
                                  1.0 / a.masses[a.chain_atoms[bond.ends[1]].atom];
            a.chain_vectors[k] = vector;
            a.chain_diagonal[k] = norm_squared(vector) * masses;
            a.chain_multipliers[k] = 0.0;
        });
    }

    // Changes the multipliers until the linear part of the residuals is down to COUPLED_REDUCTION of what it was.
    __device__ void solve() const {
        double of_thread = 0.0;
        for_bonds([&](u32 k) {
            a.chain_directions[k] = a.chain_residuals[k] / a.chain_diagonal[k];
            of_thread += a.chain_residuals[k] * a.chain_directions[k];
        });
        double size = block_sum(of_thread);
        const double enough = COUPLED_REDUCTION * COUPLED_REDUCTION * size;
        // false for what is not a number
        for (u32 step = 0; step < COUPLED_STEPS && size > enough; ++step) {
            pull(a.chain_directions);
            double curvature = 0.0, fresh = 0.0;
            for_bonds([&](u32 k) {
                a.chain_products[k] = dot(a.chain_vectors[k], stretch(a.chain_bonds[k]));
                curvature += a.chain_directions[k] * a.chain_products[k];
            });
            const double length = size / block_sum(curvature);
            for_bonds([&](u32 k) {
                a.chain_multipliers[k] += length * a.chain_directions[k];
                a.chain_residuals[k] -= length * a.chain_products[k];
                fresh += a.chain_residuals[k] * a.chain_residuals[k] / a.chain_diagonal[k];
            });
            fresh = block_sum(fresh);
            const double kept = fresh / size;
            for_bonds([&](u32 k) {
                a.chain_directions[k] = a.chain_residuals[k] / a.chain_diagonal[k] + kept * a.chain_directions[k];
            });
            size = fresh;
        }
    }

    // From the old positions and `chain_places`, where the atoms have moved, to the corrections in `chain_pulls`; false
    // where a distance cannot be restored, of which the one that was worst at first is noted.
    __device__ bool shake() const {
        begin();
        double worst = 0.0;
        u32 culprit = unit.first_bond;
        for (u32 iteration = 0; iteration < COUPLED_ITERATIONS; ++iteration) {
            pull(a.chain_multipliers);
            double wrong = 0.0;
            for_bonds([&](u32 k) {
                const ChainBond bond = a.chain_bonds[k];
                const Vec3<double> moved = a.chain_places[bond.ends[1]] - a.chain_places[bond.ends[0]];
                const double square = bond.length * bond.length;
                const double residual = 0.5 * (square - norm_squared(moved + stretch(bond)));
                // what is not a number is wrong, and worse than any
                const double error = fabs(residual) <= 1e300 ? fabs(residual) / square : 1e300;
                a.chain_residuals[k] = residual;
                if (!(error <= a.constraint_tolerance)) wrong += 1.0;
                if (iteration == 0 && error > worst) {
                    worst = error;
                    culprit = k;
                }
            });
            if (block_sum(wrong) == 0.0) return true;
            solve();
        }
        note_worst(worst, culprit);
        return false;
    }

    // Notes the atoms of the worst of all threads' bonds, always the same where several are; all atoms stay where they are.
    __device__ void note_worst(double worst, u32 culprit) const {
        __shared__ double errors[COUPLED_THREADS];
        __shared__ u32 bonds[COUPLED_THREADS];
        errors[threadIdx.x] = worst;
        bonds[threadIdx.x] = culprit;
        for_atoms([&](u32 i) { a.old[a.chain_atoms[i].atom] = old_position(i); });
        if (threadIdx.x != 0) return;
        u32 first = 0;
        for (u32 other = 1; other < blockDim.x; ++other)
            if (errors[other] > errors[first]) first = other;
        const ChainBond bond = a.chain_bonds[bonds[first]];
        atomicMin(&a.status->failed[0], a.chain_atoms[bond.ends[0]].atom);
        atomicMin(&a.status->failed[1], a.chain_atoms[bond.ends[1]].atom);
    }
};

// Leapfrog as for the other units, see `Leap`.
template <bool SUMS>
__device__ inline void leap_chain(const Arguments& a, double timestep) {
    if (halted(a)) return;
    const Coupled chain = {a, a.chains[blockIdx.x]};
    MoveSums sums = {};
    CentreSums centre = {};
    const auto force = [&](u32 atom) { return force_on(a, a.atom_slot[atom]); };
    const auto free_velocity = [&](u32 atom) {
        return a.velocities[atom] + force(atom) * (timestep / a.masses[atom]);
    };
    const Vec3<double> origin = chain.old_position(chain.unit.first_atom);
    chain.for_atoms([&](u32 i) {
        const u32 atom = a.chain_atoms[i].atom;
        const double mass = a.masses[atom];
        sums.before += 0.5 * mass * norm_squared(a.velocities[atom]);
        if (SUMS) centre.start(a.positions[atom] - origin, a.velocities[atom], force(atom), mass);
        a.chain_places[i] = a.positions[atom] + free_velocity(atom) * timestep;
    });
    if (!chain.shake()) return;
    chain.for_atoms([&](u32 i) {
        const u32 atom = a.chain_atoms[i].atom;
        const Vec3<double> velocity = free_velocity(atom) + a.chain_pulls[i] * (1.0 / timestep);
        sums.after += 0.5 * a.masses[atom] * norm_squared(velocity);
        if (SUMS) sums.cross += 0.5 * a.masses[atom] * dot(a.velocities[atom], velocity);
        centre.end(velocity, a.masses[atom]);
        a.old[atom] = a.positions[atom];
        a.positions[atom] = a.chain_places[i] + a.chain_pulls[i];
        a.velocities[atom] = velocity;
    });
    if (!SUMS) return;
    chain.for_bonds([&](u32 k) {
        const Vec3<double> vector = a.chain_vectors[k];
        add_outer(sums.virial, vector, vector * (a.chain_multipliers[k] / (timestep * timestep)));
    });
    const CentreSums whole = {block_sum(centre.mass),  block_sum(centre.power),  block_sum(centre.moment),
                              block_sum(centre.lever), block_sum(centre.force), block_sum(centre.before),
                              block_sum(centre.after)};
    if (threadIdx.x == 0) sums.add(whole);
    sums.store(a);
}

extern "C" __global__ void __launch_bounds__(COUPLED_THREADS, 1) advance_chains(const Arguments a, const double timestep) {
    leap_chain<false>(a, timestep);
}
extern "C" __global__ void __launch_bounds__(COUPLED_THREADS, 1) advance_chains_sums(const Arguments a, const double timestep) {
    leap_chain<true>(a, timestep);
}

// The last box_scaling, see `Scale`.
extern "C" __global__ void __launch_bounds__(COUPLED_THREADS, 1) scale_chains(const Arguments a, const double) {
    if (halted(a)) return;
    const Coupled chain = {a, a.chains[blockIdx.x]};
    CentreMotion centre = {};
    chain.for_atoms([&](u32 i) { centre.add(a, a.chain_atoms[i].atom); });
    centre = {block_sum(centre.mass), block_sum(centre.old), block_sum(centre.moved), block_sum(centre.momentum)};
    const double length = a.status->length_factor, speed = a.status->velocity_factor;
    chain.for_atoms([&](u32 i) { centre.scale(a, a.chain_atoms[i].atom, length, speed); });
}
