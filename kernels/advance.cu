// The move: leapfrog and constraints, unit by unit; and the scaling of all positions, with constraints too.

// v(t+½) = v(t−½) + F dt/m, x(t+dt) = x(t) + v(t+½) dt, then the fixed distances.
struct Leap {
    const Arguments& a;
    double timestep;
    double before, after;   // kinetic energy of both half steps, kJ/mol
    double internal;        // of the later, about the centre of each unit
    Tensor virial;          // of the constraint forces, kJ/mol

    template <class Kind>
    __device__ void operator()(const Kind& kind) {
        constexpr int N = Kind::SIZE;
        Unit<N> unit;
        Vec3<double> velocity[N], change[N];
        for (int k = 0; k < N; ++k) {
            const u32 atom = unit.atoms[k] = kind[k];
            const double mass = a.masses[atom];
            unit.old[k] = a.positions[atom];
            velocity[k] = a.velocities[atom];
            before += 0.5 * mass * norm_squared(velocity[k]);
            velocity[k] = velocity[k] + force_on(a, a.atom_slot[atom]) * (timestep / mass);
            unit.moved[k] = unit.old[k] + velocity[k] * timestep;
        }
        const int failed = kind.constrain(a, unit, change);
        if (failed >= 0) return note_failure(a, unit, failed);
        double kinetic = 0.0, all_mass = 0.0;
        Vec3<double> momentum = vec3(0.0, 0.0, 0.0);
        for (int k = 0; k < N; ++k) {
            const u32 atom = unit.atoms[k];
            const double mass = a.masses[atom];
            velocity[k] = velocity[k] + change[k] * (1.0 / timestep);
            kinetic += 0.5 * mass * norm_squared(velocity[k]);
            all_mass += mass;
            momentum = momentum + velocity[k] * mass;
            a.old[atom] = unit.old[k];
            a.positions[atom] = unit.moved[k] + change[k];
            a.velocities[atom] = velocity[k];
            if (k > 0) add_outer(virial, unit.old[k] - unit.old[0], change[k] * (mass / (timestep * timestep)));
        }
        after += kinetic;
        if (N > 1) internal += kinetic - 0.5 * norm_squared(momentum) / all_mass;
    }
};

template <bool SUMS>
__device__ inline void leap(const Arguments& a, double timestep) {
    if (halted(a)) return;
    if (thread_number() == 0) ++a.status->moves;
    Leap work = {a, timestep, 0.0, 0.0, 0.0, {}};
    visit_unit(a, work);
    if (!SUMS) return;
    add_sum(a, SUM_KINETIC_BEFORE, work.before);
    add_sum(a, SUM_KINETIC_AFTER, work.after);
    add_sum(a, SUM_INTERNAL, work.internal);
    add_tensor(a, SUM_CONSTRAINT_VIRIAL, work.virial);
}

extern "C" __global__ void advance(const Arguments a, const double timestep) {
    leap<false>(a, timestep);
}
extern "C" __global__ void advance_sums(const Arguments a, const double timestep) {
    leap<true>(a, timestep);
}

// The last dilation: all positions times its factor, then the fixed distances; velocities times theirs.
struct Scale {
    const Arguments& a;
    double length, speed;

    template <class Kind>
    __device__ void operator()(const Kind& kind) {
        constexpr int N = Kind::SIZE;
        Unit<N> unit;
        Vec3<double> change[N];
        for (int k = 0; k < N; ++k) {
            unit.atoms[k] = kind[k];
            unit.old[k] = a.positions[unit.atoms[k]];
            unit.moved[k] = unit.old[k] * length;
        }
        const int failed = kind.constrain(a, unit, change);
        if (failed >= 0) return note_failure(a, unit, failed);
        for (int k = 0; k < N; ++k) {
            const u32 atom = unit.atoms[k];
            a.old[atom] = unit.old[k];
            a.positions[atom] = unit.moved[k] + change[k];
            a.velocities[atom] = a.velocities[atom] * speed;
        }
    }
};

extern "C" __global__ void scale(const Arguments a, const double) {
    if (halted(a)) return;
    Scale work = {a, a.status->length_factor, a.status->velocity_factor};
    visit_unit(a, work);
}
