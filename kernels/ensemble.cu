// Thermostat, barostat, and removal of center-of-mass motion; the counterpart of `src/engine/ensemble`. The host draws
// the random numbers for these kernels and does not read the results of the kernels.

// Returns the velocity scaling factor of a thermostat at a kinetic energy in kJ/mol; the counterpart of
// `Rescaling::factor`.
__device__ inline double rescaling_factor(const Rescaling& rescaling, double kinetic) {
    if (kinetic == 0.0) return 1.0;
    const double root = rescaling.kept + rescaling.along / sqrt(kinetic);
    return copysign(sqrt(root * root + rescaling.across / kinetic), root);
}

// Returns the length scaling factor of a barostat for one extent of the cell (volume, xy area, or a single length),
// given a pressure in kJ/mol/nm³ and a volume in nm³; the counterpart of `Relaxation::length_factor`.
__device__ inline double length_factor(const Relaxation& relaxation, double measured, double volume) {
    const double x = 1.0 - relaxation.rate * (relaxation.pressure - measured - relaxation.thermal / volume) +
                     relaxation.noise / sqrt(volume);
    const double extent = relaxation.stochastic ? x * x : x;
    return relaxation.directions == 3 ? cbrt(extent) : relaxation.directions == 2 ? sqrt(extent) : extent;
}

// Returns half of the work (kJ/mol) that a barostat does against the potential when it scales lengths. `changes` holds
// the logarithms of the length factors along x, y and z, and `virial` is the diagonal of the virial; the counterpart of
// `ScaleFactors::half_potential_work`.
__device__ inline double half_potential_work(Vec3<double> changes, Vec3<double> virial) {
    return -0.5 * dot(virial, changes);
}

// Rescales all velocities by the factor of the thermostat at the present kinetic energy. The present kinetic energy is
// the kinetic energy after the last step plus the change that a barostat has made since that step. Halts the run if the
// kinetic energies of the two half steps add up to a negative number, NaN, or more than `limit` (kJ/mol).
extern "C" __global__ void rescale_velocities(const Arguments a, const double limit) {
    if (halted(a)) return;
    const u32 atom = thread_number();
    const double before = sum_of(a, SUM_KINETIC_BEFORE), after = sum_of(a, SUM_KINETIC_AFTER);
    if (before + after < 0.0 || before + after > limit) {
        if (atom == 0) a.status->stopped = STOPPED_BY_SPEED;
        return;
    }
    const double kinetic = after + a.status->kinetic_change;
    const double factor = rescaling_factor(a.rescaling, kinetic);
    if (atom == 0) {
        a.status->thermostat_work += (factor * factor - 1.0) * kinetic;
        a.status->pending_rescaling = 1.0 - 1.0 / factor;
    }
    if (atom < a.atoms) a.velocities[atom] = a.velocities[atom] * factor;
}

// Returns the diagonal (kJ/mol) of the virial of the centers of mass of update groups for the last forces. Terms that
// depend only on the volume are included.
__device__ inline Vec3<double> center_virial(const Arguments& a, double volume) {
    const Vec3<double> atoms = vec3(sum_of(a, SUM_VIRIAL), sum_of(a, SUM_VIRIAL + 3), sum_of(a, SUM_VIRIAL + 5));
    const double rest = a.virial_times_volume / volume;
    return atoms - vector_of(a, SUM_INTERNAL_VIRIAL) + vec3(rest, rest, rest);
}

__device__ inline double volume_of(const Lattice& cell) {
    return cell.ax * cell.by * cell.cz;
}

// Computes the scale factors of a barostat step from the measured pressure (kJ/mol/nm³) along x, y, z; the counterpart
// of `BoxScaling::factors`. Returns false if a length would change by more than LARGEST_CHANGE, because such a change
// would make the simulation unstable.
__device__ inline bool choose_factors(const Arguments& a, Vec3<double> measured) {
    Status& status = *a.status;
    const Lattice& cell = *a.cell;
    const double along[3] = {measured.x, measured.y, measured.z};
    u32 first = 0;
    for (u32 extent = 0; extent < 3; ++extent) {
        const Relaxation relaxation = a.box_scaling.relaxations[extent];
        if (relaxation.directions == 0) continue;
        double sum = 0.0;
        for (u32 k = 0; k < relaxation.directions; ++k) sum += along[first + k];
        const double pull = relaxation.directions == 2 ? a.box_scaling.surface_tension / cell.cz : 0.0;
        status.pressure = sum / relaxation.directions + pull;
        const double length = length_factor(relaxation, status.pressure, volume_of(cell));
        for (u32 k = 0; k < relaxation.directions; ++k, ++first) {
            status.length_factors[first] = length;
            status.velocity_factors[first] = relaxation.stochastic ? 1.0 / length : 1.0;
        }
        // the comparison is false if `length` is NaN
        if (!(fabs(length - 1.0) <= LARGEST_CHANGE)) return false;
    }
    return true;
}

// Scales the cell in a barostat step and adds the work of this scaling. Other kernels scale the atoms afterwards. Only
// one thread may call this function.
__device__ inline void scale_box(const Arguments& a) {
    Status& status = *a.status;
    Lattice& cell = *a.cell;
    const double volume = volume_of(cell);
    const Vec3<double> before = vector_of(a, SUM_CENTRE_BEFORE), after = vector_of(a, SUM_CENTRE_AFTER);
    const Vec3<double> virial = center_virial(a, volume), one = vec3(1.0, 1.0, 1.0);
    if (!choose_factors(a, (before + after + virial) * (1.0 / volume))) {
        status.stopped = STOPPED_BY_PRESSURE;
        return;
    }
    const Vec3<double> length = components(status.length_factors), speed = components(status.velocity_factors);
    const Vec3<double> changes = vec3(log(length.x), log(length.y), log(length.z));
    status.pending_scaling[0] = changes.x;
    status.pending_scaling[1] = changes.y;
    status.pending_scaling[2] = changes.z;
    status.kinetic_change = dot(stretched(speed, speed) - one, after);
    status.barostat_work += status.kinetic_change + dot(length - speed, after - vector_of(a, SUM_CENTRE_CROSS)) +
                            half_potential_work(changes, virial);
    cell.ax *= length.x;
    cell.bx *= length.x;
    cell.by *= length.y;
    cell.cx *= length.x;
    cell.cy *= length.y;
    cell.cz *= length.z;
    if (a.cutoff > 0.5 * fmin(cell.ax, fmin(cell.by, cell.cz))) status.stopped = STOPPED_BY_CELL;
}

// Adds the second part of the work that thermostat and barostat did after the previous step. The second part depends on
// the forces and the kinetic energies of the step that followed the thermostat and the barostat.
extern "C" __global__ void finish_work(const Arguments a, const double timestep) {
    if (halted(a) || thread_number() != 0) return;
    Status& status = *a.status;
    const Vec3<double> changes = components(status.pending_scaling);
    if (norm_squared(changes) != 0.0)
        status.barostat_work += half_potential_work(changes, center_virial(a, volume_of(*a.cell)));
    const double pending = status.pending_rescaling, forces = timestep * sum_of(a, SUM_POWER);
    const double constraints = 2.0 * (sum_of(a, SUM_KINETIC_CROSS) - sum_of(a, SUM_KINETIC_BEFORE)) - forces;
    status.thermostat_work += 0.5 * pending * (forces - constraints / (1.0 - pending));
    for (double& change : status.pending_scaling) change = 0.0;
    status.pending_rescaling = status.kinetic_change = 0.0;
}

// Computes the derived quantities of a cell from its rows. The derived quantities include the reciprocal rows, whose
// lengths are the inverse distances of opposite faces (1/nm).
__device__ inline void derive(Lattice& cell) {
    if (!cell.periodic) return;
    const Vec3<double> a = vec3(1.0 / cell.ax, -cell.bx / (cell.ax * cell.by),
                                (cell.bx * cell.cy - cell.by * cell.cx) / (cell.ax * cell.by * cell.cz));
    const Vec3<double> b = vec3(0.0, 1.0 / cell.by, -cell.cy / (cell.by * cell.cz)), c = vec3(0.0, 0.0, 1.0 / cell.cz);
    cell.inverse_width[0] = sqrt(norm_squared(a));
    cell.inverse_width[1] = sqrt(norm_squared(b));
    cell.inverse_width[2] = c.z;
    const double rows[6] = {a.x, a.y, a.z, b.y, b.z, c.z};
    for (u32 k = 0; k < 6; ++k) cell.reciprocal[k] = float(rows[k]);
    cell.coulomb_over_pi_volume = float(COULOMB / (3.141592653589793 * volume_of(cell)));
}

// Splits a component of a lattice shift into `high`, a multiple of ORIGIN_QUANTUM, and `low`, the remainder.
__device__ inline void split(double shift, float& high, float& low) {
    const double multiple = rint(shift / ORIGIN_QUANTUM) * ORIGIN_QUANTUM;
    high = float(multiple);
    low = float(shift - multiple);
}

// Computes all derived quantities of the cell, with one block of threads. If `scaled` is not zero, the barostat first
// scales the cell.
extern "C" __global__ void change_cell(const Arguments a, const double scaled) {
    if (threadIdx.x == 0) {
        if (scaled != 0.0) {
            // after a failed step nothing may be scaled, because the run reports the state before that step
            stop_after_fault(a);
            if (!halted(a)) scale_box(a);
        }
        derive(*a.cell);
    }
    __syncthreads();
    const Lattice cell = *a.cell;
    for (u32 index = threadIdx.x; index < SHIFTS; index += blockDim.x) {
        const int na = int(index / 25) - 2, nb = int(index / 5 % 5) - 2, nc = int(index % 5) - 2;
        const Vec3<double> shift = lattice_shift(cell, na, nb, nc);
        float4 high = make_float4(0.0f, 0.0f, 0.0f, 0.0f), low = high;
        split(shift.x, high.x, low.x);
        split(shift.y, high.y, low.y);
        split(shift.z, high.z, low.z);
        a.shifts[2 * index] = high;
        a.shifts[2 * index + 1] = low;
    }
}

// Computes the total momentum, amu nm/ps.
extern "C" __global__ void momentum(const Arguments a, const double) {
    const u32 atom = thread_number();
    const bool used = atom < a.atoms;
    const Vec3<double> p = used ? a.velocities[atom] * a.masses[atom] : vec3(0.0, 0.0, 0.0);
    add_vector(a, SUM_MOMENTUM, p);
}

// Removes the motion of the center of mass; `inverse_mass` (1/amu) is the inverse of the total mass of the system. The
// removed kinetic energy is subtracted from the work of the thermostat.
extern "C" __global__ void remove_momentum(const Arguments a, const double inverse_mass) {
    if (halted(a)) return;
    const u32 atom = thread_number();
    const Vec3<double> p = vector_of(a, SUM_MOMENTUM);
    if (atom == 0) a.status->thermostat_work -= 0.5 * norm_squared(p) * inverse_mass;
    // virtual sites (mass zero) have no velocity of their own
    if (atom >= a.atoms || a.masses[atom] == 0.0) return;
    a.velocities[atom] = a.velocities[atom] - p * inverse_mass;
}

// Returns the angular velocity ω (rad/ps) for an angular momentum L (amu nm²/ps) and an inertia tensor I (amu nm²),
// from I ω = L by cofactors. If all atoms are on a line, the inertia tensor has no inverse. The angular velocity is
// then perpendicular to the line, and each of the two nonzero moments of inertia is half of the trace. The function is
// the counterpart of `angular_velocity` in `src/engine/ensemble/motion.rs`.
__device__ inline Vec3<double> angular_velocity(const Tensor& inertia, Vec3<double> momentum) {
    const Tensor& i = inertia;
    const double moment = 0.5 * (i.xx + i.yy + i.zz);
    if (moment == 0.0) return vec3(0.0, 0.0, 0.0);
    const Tensor cofactor = {i.yy * i.zz - i.yz * i.yz, i.xz * i.yz - i.xy * i.zz, i.xy * i.yz - i.xz * i.yy,
                             i.xx * i.zz - i.xz * i.xz, i.xy * i.xz - i.xx * i.yz, i.xx * i.yy - i.xy * i.xy};
    const double determinant = i.xx * cofactor.xx + i.xy * cofactor.xy + i.xz * cofactor.xz;
    if (determinant <= LINEAR * moment * moment * moment) return momentum * (1.0 / moment);
    const Tensor& c = cofactor;
    return vec3(c.xx * momentum.x + c.xy * momentum.y + c.xz * momentum.z,
                c.xy * momentum.x + c.yy * momentum.y + c.yz * momentum.z,
                c.xz * momentum.x + c.yz * momentum.y + c.zz * momentum.z) *
           (1.0 / determinant);
}

// Calls `work` with mass, position and velocity of each atom of this thread, for kernels in which one block handles
// all atoms.
template <class Work>
__device__ inline void for_all_atoms(const Arguments& a, Work work) {
    for (u32 atom = threadIdx.x; atom < a.atoms; atom += blockDim.x)
        work(a.masses[atom], a.positions[atom], a.velocities[atom]);
}

// Removes the motion of the center of mass and the rotation about the center of mass, and subtracts the removed kinetic
// energy from the work of the thermostat. One block of threads suffices, because systems without a cell are small. Sums
// are in double precision, in a fixed order.
extern "C" __global__ void __launch_bounds__(ALL_ATOMS_THREADS) stop_motion(const Arguments a, const double) {
    if (halted(a)) return;
    double mass = 0.0, removed = 0.0;
    Vec3<double> center = vec3(0.0, 0.0, 0.0), drift = center, turning = center;
    for_all_atoms(a, [&](double m, Vec3<double> r, Vec3<double> v) {
        mass += m;
        center = center + r * m;
        drift = drift + v * m;
    });
    mass = block_sum(mass);
    const double inverse_mass = 1.0 / mass;
    center = block_sum(center) * inverse_mass;
    drift = block_sum(drift) * inverse_mass;
    // Σ m r⊗r
    Tensor square = {};
    for_all_atoms(a, [&](double m, Vec3<double> r, Vec3<double> v) {
        turning = turning + cross(r - center, v - drift) * m;
        add_outer(square, r - center, (r - center) * m);
    });
    square = {block_sum(square.xx), block_sum(square.xy), block_sum(square.xz),
              block_sum(square.yy), block_sum(square.yz), block_sum(square.zz)};
    const Tensor inertia = {square.yy + square.zz, -square.xy, -square.xz,
                            square.xx + square.zz, -square.yz, square.xx + square.yy};
    const Vec3<double> omega = angular_velocity(inertia, block_sum(turning));
    // the kinetic energies of rotation and translation add up, because the rotation is about the center of mass
    for_all_atoms(a, [&](double m, Vec3<double> r, Vec3<double> v) {
        removed += 0.5 * m * norm_squared(cross(omega, r - center));
    });
    removed = block_sum(removed) + 0.5 * mass * norm_squared(drift);
    if (threadIdx.x == 0) a.status->thermostat_work -= removed;
    for (u32 atom = threadIdx.x; atom < a.atoms; atom += blockDim.x)
        if (a.masses[atom] > 0.0)
            a.velocities[atom] = a.velocities[atom] - drift - cross(omega, a.positions[atom] - center);
}
