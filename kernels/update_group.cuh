// Units of motion: what one thread moves by itself, because constraints join it to nothing else: a free atom, a rigid
// water, or a SHAKE cluster of one centre and up to four leaves. All arithmetic is in double precision.

// The atoms of a unit, the constraint's centre first.
template <int N>
struct Unit {
    u32 atoms[N];
    Vec3<double> old[N], moved[N];
};

// No distance is fixed.
struct Free {
    static constexpr int SIZE = 1;
    u32 atom;
    __device__ u32 operator[](u32) const {
        return atom;
    }
    __device__ int constrain(const Arguments&, const Unit<1>&, Vec3<double>* change) const {
        change[0] = vec3(0.0, 0.0, 0.0);
        return -1;
    }
};

// A rigid water.
struct Rigid {
    static constexpr int SIZE = 3;
    WaterUnit water;
    __device__ u32 operator[](u32 k) const {
        return water.atoms[k];
    }
    // The corrections; −1, or the leaf that could not be brought to its distance.
    __device__ int constrain(const Arguments& a, const Unit<3>& unit, Vec3<double>* change) const {
        const SettleShape shape =
            settle_shape(a.masses[water.atoms[0]], a.masses[water.atoms[1]], water.oh, water.hh);
        settle(shape, unit.old, unit.moved, change);
        // what fails spreads to all components of the oxygen
        return fabs(change[0].x) < 1e300 ? -1 : 0;
    }
};

// A SHAKE cluster of N leaves.
template <int N>
struct Shake {
    static constexpr int SIZE = N + 1;
    ShakeUnit cluster;
    __device__ u32 operator[](u32 k) const {
        return cluster.atoms[k];
    }
    __device__ int constrain(const Arguments& a, const Unit<N + 1>& unit, Vec3<double>* change) const {
        ShakeShape<N> shape;
        shape.inverse_center = 1.0 / a.masses[cluster.atoms[0]];
#pragma unroll
        for (int i = 0; i < N; ++i) {
            shape.inverse_leaf[i] = 1.0 / a.masses[cluster.atoms[1 + i]];
            shape.length_squared[i] = cluster.lengths[i] * cluster.lengths[i];
        }
        return shake<N>(shape, unit.old, unit.moved, a.constraint_tolerance, change);
    }
};

// Calls `work` with the unit of this thread, if it has one. Kinds begin at whole warps.
template <class Work>
__device__ inline void visit_unit(const Arguments& a, Work& work) {
    const u32 thread = thread_number();
    u32 kind = 0;
    while (kind + 1 < UNIT_KINDS && thread >= a.unit_starts[kind + 1]) ++kind;
    const u32 index = thread - a.unit_starts[kind];
    if (index >= a.unit_counts[kind]) return;
    if (kind == UNIT_FREE) work(Free{a.free_atoms[index]});
    if (kind == UNIT_WATER) work(Rigid{a.waters[index]});
    if (kind == UNIT_SHAKE1) work(Shake<1>{a.shakes1[index]});
    if (kind == UNIT_SHAKE2) work(Shake<2>{a.shakes2[index]});
    if (kind == UNIT_SHAKE3) work(Shake<3>{a.shakes3[index]});
    if (kind == UNIT_SHAKE4) work(Shake<4>{a.shakes4[index]});
}

// Notes the constraint that failed, of several that with the lowest atoms, and leaves the unit where it is.
template <int N>
__device__ inline void note_failure(const Arguments& a, const Unit<N>& unit, int failed) {
    atomicMin(&a.status->failed[0], unit.atoms[0]);
#pragma unroll
    for (int k = 0; k < N; ++k) {
        // an index that varies, also one that the compiler makes of a choice, would put all of the unit into memory
        atomicMin(&a.status->failed[1], unit.atoms[k] | (k == 1 + failed ? 0u : NO_ATOM));
        a.old[unit.atoms[k]] = unit.old[k];
    }
}

// What one unit adds to the sums over centres.
struct CentreSums {
    double mass, power;                 // amu, Σ v·F before the move in kJ/mol/ps
    double moment;                      // Σ r·F about any point of the unit, kJ/mol
    Vec3<double> lever, force;          // Σ m r about that point; Σ F
    Vec3<double> before, after;         // momentum

    // An atom before the move, at `r` from that point.
    __device__ void start(Vec3<double> r, Vec3<double> velocity, Vec3<double> on_atom, double m) {
        mass += m;
        power += dot(velocity, on_atom);
        moment += dot(r, on_atom);
        lever = lever + r * m;
        force = force + on_atom;
        before = before + velocity * m;
    }
    // The same after it.
    __device__ void end(Vec3<double> velocity, double m) {
        after = after + velocity * m;
    }
};

// Sums over a move, kJ/mol.
struct MoveSums {
    double before, after, cross;                        // kinetic energy of both half steps, and ½ m v·v with both
    double centre_before, centre_after, centre_cross;   // ½ P²/M of units, and ½ P·P/M with both
    double internal_virial, power;                      // Σ (r−R)·F; Σ v·F before, kJ/mol/ps
    Tensor virial;                                      // of the constraint forces

    __device__ void add(const CentreSums& c) {
        const double half = 0.5 / c.mass;
        centre_before += half * norm_squared(c.before);
        centre_after += half * norm_squared(c.after);
        centre_cross += half * dot(c.before, c.after);
        internal_virial += c.moment - dot(c.lever, c.force) * (1.0 / c.mass);
        power += c.power;
    }
    // All lanes of a warp must take part.
    __device__ void store(const Arguments& a) const {
        add_sum(a, SUM_KINETIC_BEFORE, before);
        add_sum(a, SUM_KINETIC_AFTER, after);
        add_sum(a, SUM_KINETIC_CROSS, cross);
        add_sum(a, SUM_CENTRE_BEFORE, centre_before);
        add_sum(a, SUM_CENTRE_AFTER, centre_after);
        add_sum(a, SUM_CENTRE_CROSS, centre_cross);
        add_sum(a, SUM_INTERNAL_VIRIAL, internal_virial);
        add_sum(a, SUM_POWER, power);
        add_tensor(a, SUM_CONSTRAINT_VIRIAL, virial);
    }
};

// The centre of a unit before the last move, and how it has moved since, times the mass of the unit.
struct CentreMotion {
    double mass;
    Vec3<double> old, moved, momentum;

    __device__ void add(const Arguments& a, u32 atom) {
        const double m = a.masses[atom];
        mass += m;
        old = old + a.old[atom] * m;
        moved = moved + (a.positions[atom] - a.old[atom]) * m;
        momentum = momentum + a.velocities[atom] * m;
    }
    // R(t) times `length` and V times `speed`, with what follows for an atom at t+dt.
    __device__ void scale(const Arguments& a, u32 atom, double length, double speed) const {
        const double further = (length - 1.0) / mass, faster = (speed - 1.0) / mass;
        a.positions[atom] = a.positions[atom] + old * further + moved * faster;
        a.velocities[atom] = a.velocities[atom] + momentum * faster;
    }
};
