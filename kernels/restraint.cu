// Position restraints: a harmonic potential with a flat bottom around a reference position, which may be scaled with
// the cell; the counterpart of `src/engine/restraint`. The kernel of bonded terms calls these functions.

// Maps a point (nm) of the reference cell to the present cell.
__device__ inline Vec3<double> moved(const Lattice& then, const Lattice& now, Vec3<double> r) {
    if (!then.periodic || !now.periodic) return r;
    const Vec3<double> s = to_fractional(then, r);
    return lattice_shift(now, s.x, s.y, s.z);
}

// Restraint of one atom: the force F (kJ/mol/nm), the ratio E/k (nm²) of the energy E and the force constant k, and the
// vector r (nm) in the virial r⊗F.
struct Held {
    Vec3<double> force, arm;
    double half_square;
};

__device__ inline Held held(const RestraintSet& set, const Lattice& cell, Vec3<double> position, Vec3<double> reference) {
    Vec3<double> origin = vec3(0.0, 0.0, 0.0);
    if (set.scaling == REFERENCES_WITH_CENTER) {
        const Vec3<double> center = vec3(set.center[0], set.center[1], set.center[2]);
        origin = moved(set.cell, cell, center);
        reference = reference + (origin - center);
    }
    if (set.scaling == REFERENCES_WITH_CELL) origin = reference = moved(set.cell, cell, reference);
    const Vec3<double> d = position - reference;
    const double distance = sqrt(norm_squared(d)), beyond = distance - set.flat_radius;
    if (beyond <= 0.0) return {vec3(0.0, 0.0, 0.0), position - origin, 0.0};
    return {d * (-set.force_constant * beyond / distance), position - origin, 0.5 * beyond * beyond};
}

// Returns a force constant (kJ/mol/nm²) at a time (ps); the counterpart of `Schedule::at`.
__device__ inline double force_constant_at(const Arguments& a, const RestraintSet& set, double time) {
    const double* points = a.restraint_points + 2 * set.first_point;
    u32 later = 0;
    while (later < set.points && points[2 * later] <= time) ++later;
    if (later == 0) return points[1];
    const double* before = points + 2 * (later - 1);
    if (later == set.points) return before[1];
    return before[1] + (before[3] - before[1]) * ((time - before[0]) / (before[2] - before[0]));
}

// Sets the force constants to their values at `time` (ps since the start of the stage), before forces are computed. One
// thread handles one set of position restraints.
extern "C" __global__ void set_force_constants(const Arguments a, const double time) {
    const u32 number = thread_number();
    if (number >= a.restraint_work->sets) return;
    if (number == 0) a.restraint_work->time = time;
    RestraintSet& set = a.restraint_sets[number];
    set.force_constant = force_constant_at(a, set, time);
    a.restraint_slopes[number] = 0;
}

// Adds the work that the change of time-dependent force constants does in a step of `timestep` (ps), as
// `Restraining::book_work` does. A single thread does all additions, so that their order is fixed.
extern "C" __global__ void book_restraint_work(const Arguments a, const double timestep) {
    if (halted(a) || thread_number() != 0) return;
    RestraintWork& work = *a.restraint_work;
    double before = 0.0, behind = 0.0;
    for (u32 number = 0; number < work.sets; ++number) {
        const RestraintSet& set = a.restraint_sets[number];
        const double slope = a.restraint_slopes[number] * (1.0 / FORCE_SCALE);
        const double earlier = force_constant_at(a, set, work.time - 0.5 * timestep);
        const double later = force_constant_at(a, set, work.time + 0.5 * timestep);
        before += (set.force_constant - earlier) * slope;
        behind += (later - set.force_constant) * slope;
    }
    work.at_step = work.begun ? work.after + before : 0.0;
    work.after = work.at_step + behind;
    work.begun = 1;
}
