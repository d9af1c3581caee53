// Update groups: atoms connected by constraints, which one thread integrates together. A group is a free atom, a
// rigid water, or a SHAKE cluster of one center and up to four leaves. All arithmetic is in double precision.

// Atoms of an update group. The center of the constraints comes first.
template <int N>
struct UpdateGroup {
    u32 atoms[N];
    Vec3<double> old[N], unconstrained[N];
};

// A free atom, without constraints.
struct Free {
    static constexpr int SIZE = 1;
    u32 atom;
    __device__ u32 operator[](u32) const {
        return atom;
    }
    __device__ int constrain(const Arguments&, const UpdateGroup<1>&, Vec3<double>* change) const {
        change[0] = vec3(0.0, 0.0, 0.0);
        return -1;
    }
    __device__ void project(const Arguments&, const Vec3<double>*, const Vec3<double>*, Vec3<double>* change) const {
        change[0] = vec3(0.0, 0.0, 0.0);
    }
};

// A rigid water, constrained by SETTLE.
struct Rigid {
    static constexpr int SIZE = 3;
    SettleWater water;
    __device__ u32 operator[](u32 k) const {
        return water.atoms[k];
    }
    __device__ SettleShape shape(const Arguments& a) const {
        return settle_shape(a.masses[water.atoms[0]], a.masses[water.atoms[1]], water.oh, water.hh);
    }
    // Computes the constraint corrections. Returns −1 on success, otherwise the index of the leaf whose constraint
    // failed.
    __device__ int constrain(const Arguments& a, const UpdateGroup<3>& group, Vec3<double>* change) const {
        settle(shape(a), group.old, group.unconstrained, change);
        // if the position of any atom is NaN, all components of the oxygen's correction are NaN
        return fabs(change[0].x) < 1e300 ? -1 : 0;
    }
    // Computes the corrections of velocities that make the time derivatives of the constrained distances zero.
    __device__ void project(const Arguments& a, const Vec3<double>* positions, const Vec3<double>* velocities,
                            Vec3<double>* change) const {
        settle_project(shape(a), positions, velocities, change);
    }
};

// A SHAKE cluster with N leaves.
template <int N>
struct Shake {
    static constexpr int SIZE = N + 1;
    ShakeCluster cluster;
    __device__ u32 operator[](u32 k) const {
        return cluster.atoms[k];
    }
    __device__ ShakeShape<N> shape(const Arguments& a) const {
        ShakeShape<N> shape;
        shape.inverse_center = 1.0 / a.masses[cluster.atoms[0]];
#pragma unroll
        for (int i = 0; i < N; ++i) {
            shape.inverse_leaf[i] = 1.0 / a.masses[cluster.atoms[1 + i]];
            shape.length_squared[i] = cluster.lengths[i] * cluster.lengths[i];
        }
        return shape;
    }
    __device__ int constrain(const Arguments& a, const UpdateGroup<N + 1>& group, Vec3<double>* change) const {
        return shake<N>(shape(a), group.old, group.unconstrained, a.constraint_tolerance, change);
    }
    __device__ void project(const Arguments& a, const Vec3<double>* positions, const Vec3<double>* velocities,
                            Vec3<double>* change) const {
        shake_project<N>(shape(a), positions, velocities, change);
    }
};

// Satisfies the constraints of an update group at the end of a drift whose velocities were changed halfway, as `Drift`
// in `src/engine/constraint` describes. `velocity` holds the changed velocities, and `unconstrained` holds the
// positions that follow from the drift with the changed velocities. `half` (ps) is half of the duration of the drift.
// The function corrects both positions and velocities. Returns −1 on success, otherwise the index of the leaf whose
// constraint failed.
template <class Kind>
__device__ inline int finish_drift(const Arguments& a, const Kind& kind, double half, UpdateGroup<Kind::SIZE>& group,
                                   Vec3<double> (&velocity)[Kind::SIZE]) {
    constexpr int N = Kind::SIZE;
    UpdateGroup<N> drift;
    Vec3<double> change[N];
    // only differences between the positions in `drift.old` are used
    for (int k = 0; k < N; ++k) drift.old[k] = group.unconstrained[k] - velocity[k] * half;
    kind.project(a, drift.old, velocity, change);
    for (int k = 0; k < N; ++k) {
        velocity[k] = velocity[k] + change[k];
        drift.unconstrained[k] = group.unconstrained[k] + change[k] * half;
    }
    const int failed = kind.constrain(a, drift, change);
    for (int k = 0; k < N; ++k) group.unconstrained[k] = drift.unconstrained[k] + change[k];
    return failed;
}

// Calls `work` with the update group of this thread, if there is one. The index of the first thread of each kind of
// groups is a multiple of the warp size.
template <class Work>
__device__ inline void visit_update_group(const Arguments& a, Work& work) {
    const u32 thread = thread_number();
    u32 kind = 0;
    while (kind + 1 < UPDATE_GROUP_KINDS && thread >= a.update_group_starts[kind + 1]) ++kind;
    const u32 index = thread - a.update_group_starts[kind];
    if (index >= a.update_group_counts[kind]) return;
    if (kind == GROUP_FREE) work(Free{a.free_atoms[index]});
    if (kind == GROUP_SETTLE) work(Rigid{a.waters[index]});
    if (kind == GROUP_SHAKE1) work(Shake<1>{a.shakes1[index]});
    if (kind == GROUP_SHAKE2) work(Shake<2>{a.shakes2[index]});
    if (kind == GROUP_SHAKE3) work(Shake<3>{a.shakes3[index]});
    if (kind == GROUP_SHAKE4) work(Shake<4>{a.shakes4[index]});
}

// Reports a failed constraint. If several constraints fail, the constraint with the lowest atom indices is reported.
// The function stores the old positions of the group in `a.old`.
template <int N>
__device__ inline void note_failure(const Arguments& a, const UpdateGroup<N>& group, int failed) {
    atomicMin(&a.status->failed[0], group.atoms[0]);
#pragma unroll
    for (int k = 0; k < N; ++k) {
        // every atom is tested in turn, because an access with a variable index would move the whole group from
        // registers to local memory
        atomicMin(&a.status->failed[1], group.atoms[k] | (k == 1 + failed ? 0u : NO_ATOM));
        a.old[group.atoms[k]] = group.old[k];
    }
}

// Contribution of one update group to the sums over centers of mass.
struct CenterSums {
    double mass, power;                 // group mass in amu; Σ v·F before the step in kJ/mol/ps
    // Σ r_x F_x, Σ r_y F_y and Σ r_z F_z, with r relative to a reference point of the group, kJ/mol
    Vec3<double> moment;
    Vec3<double> lever, force;          // Σ m r relative to the reference point; Σ F
    Vec3<double> before, after;         // momentum of the group before and after the step

    // Adds an atom before the step; `r` is the vector from the reference point to the atom.
    __device__ void start(Vec3<double> r, Vec3<double> velocity, Vec3<double> on_atom, double m) {
        mass += m;
        power += dot(velocity, on_atom);
        moment = moment + stretched(r, on_atom);
        lever = lever + r * m;
        force = force + on_atom;
        before = before + velocity * m;
    }
    // Adds an atom after the step.
    __device__ void end(Vec3<double> velocity, double m) {
        after = after + velocity * m;
    }
};

// Sums over the atoms of an integration step, kJ/mol unless stated otherwise.
struct StepSums {
    double before, after, cross;                        // kinetic energy of both half steps; Σ ½ m v(t−½dt)·v(t+½dt)
    double power;                                       // Σ v(t−½dt)·F, kJ/mol/ps
    // values along x, y, z: mean kinetic energy of the two half steps; kinetic energy ½ P²/M of the centers of mass at
    // t−½dt and at t+½dt, and the mixed term ½ P(t−½dt) P(t+½dt)/M; internal virial Σ (r−R) F
    Vec3<double> along, center_before, center_after, center_cross, internal_virial;
    Tensor virial;                                      // virial of the constraint forces

    __device__ void add(const CenterSums& c) {
        const double half = 0.5 / c.mass;
        center_before = center_before + stretched(c.before, c.before) * half;
        center_after = center_after + stretched(c.after, c.after) * half;
        center_cross = center_cross + stretched(c.before, c.after) * half;
        internal_virial = internal_virial + c.moment - stretched(c.lever, c.force) * (1.0 / c.mass);
        power += c.power;
    }
    // Adds an atom of mass `m` with its velocities at both half steps to the kinetic energies.
    __device__ void add_kinetic(Vec3<double> earlier, Vec3<double> later, double m) {
        const Vec3<double> twice = stretched(earlier, earlier) + stretched(later, later);
        along = along + twice * (0.25 * m);
        cross += 0.5 * m * dot(earlier, later);
    }
    // Adds these sums to the totals in device memory. All lanes of a warp must call this function.
    __device__ void store(const Arguments& a) const {
        add_sum(a, SUM_KINETIC_BEFORE, before);
        add_sum(a, SUM_KINETIC_AFTER, after);
        add_sum(a, SUM_KINETIC_CROSS, cross);
        add_vector(a, SUM_KINETIC_ALONG, along);
        add_vector(a, SUM_CENTRE_BEFORE, center_before);
        add_vector(a, SUM_CENTRE_AFTER, center_after);
        add_vector(a, SUM_CENTRE_CROSS, center_cross);
        add_vector(a, SUM_INTERNAL_VIRIAL, internal_virial);
        add_sum(a, SUM_POWER, power);
        add_tensor(a, SUM_CONSTRAINT_VIRIAL, virial);
    }
};

// Center of mass of an update group before the last step, and the displacement of the center since then, both
// multiplied by the group's mass.
struct CenterMotion {
    double mass;
    Vec3<double> old, moved, momentum;

    __device__ void add(const Arguments& a, u32 atom) {
        const double m = a.masses[atom];
        mass += m;
        old = old + a.old[atom] * m;
        moved = moved + (a.positions[atom] - a.old[atom]) * m;
        momentum = momentum + a.velocities[atom] * m;
    }
    // Scales the position R(t) and the velocity V of the center of mass by the factors of the last barostat step, and
    // changes the position at t + dt and the velocity of an atom accordingly.
    __device__ void scale(const Arguments& a, u32 atom) const {
        const Vec3<double> one = vec3(1.0, 1.0, 1.0);
        const Vec3<double> further = (components(a.status->length_factors) - one) * (1.0 / mass);
        const Vec3<double> faster = (components(a.status->velocity_factors) - one) * (1.0 / mass);
        a.positions[atom] = a.positions[atom] + stretched(old, further) + stretched(moved, faster);
        a.velocities[atom] = a.velocities[atom] + stretched(momentum, faster);
    }
};
