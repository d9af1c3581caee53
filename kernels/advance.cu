// The move: leapfrog and constraints, unit by unit; and what else changes velocities and positions.

// v(t+½) = v(t−½) + F dt/m, x(t+dt) = x(t) + v(t+½) dt, then the fixed distances.
struct Leap {
    const Arguments& a;
    double timestep;
    double before, after;   // kinetic energy of both half steps, kJ/mol
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
        for (int k = 0; k < N; ++k) {
            const u32 atom = unit.atoms[k];
            const double mass = a.masses[atom];
            velocity[k] = velocity[k] + change[k] * (1.0 / timestep);
            after += 0.5 * mass * norm_squared(velocity[k]);
            a.old[atom] = unit.old[k];
            a.positions[atom] = unit.moved[k] + change[k];
            a.velocities[atom] = velocity[k];
            if (k > 0) add_outer(virial, unit.old[k] - unit.old[0], change[k] * (mass / (timestep * timestep)));
        }
    }
};

template <bool SUMS>
__device__ inline void leap(const Arguments& a, double timestep) {
    if (a.status->stopped) return;
    Leap work = {a, timestep, 0.0, 0.0, {}};
    visit_unit(a, work);
    if (!SUMS) return;
    add_sum(a, SUM_KINETIC_BEFORE, work.before);
    add_sum(a, SUM_KINETIC_AFTER, work.after);
    add_tensor(a, SUM_CONSTRAINT_VIRIAL, work.virial);
}

extern "C" __global__ void advance(const Arguments a, const double timestep) {
    leap<false>(a, timestep);
}
extern "C" __global__ void advance_sums(const Arguments a, const double timestep) {
    leap<true>(a, timestep);
}

// All positions times a factor, then the fixed distances; velocities stay.
struct Scale {
    const Arguments& a;
    double factor;

    template <class Kind>
    __device__ void operator()(const Kind& kind) {
        constexpr int N = Kind::SIZE;
        Unit<N> unit;
        Vec3<double> change[N];
        for (int k = 0; k < N; ++k) {
            unit.atoms[k] = kind[k];
            unit.old[k] = a.positions[unit.atoms[k]];
            unit.moved[k] = unit.old[k] * factor;
        }
        const int failed = kind.constrain(a, unit, change);
        if (failed >= 0) return note_failure(a, unit, failed);
        for (int k = 0; k < N; ++k) {
            a.old[unit.atoms[k]] = unit.old[k];
            a.positions[unit.atoms[k]] = unit.moved[k] + change[k];
        }
    }
};

extern "C" __global__ void scale_positions(const Arguments a, const double factor) {
    if (a.status->stopped) return;
    Scale work = {a, factor};
    visit_unit(a, work);
}

extern "C" __global__ void scale_velocities(const Arguments a, const double factor) {
    const u32 atom = thread_number();
    if (atom >= a.atoms || a.status->stopped) return;
    a.velocities[atom] = a.velocities[atom] * factor;
}

// The factor of a thermostat at a kinetic energy in kJ/mol; the twin of `Rescaling::factor`.
__device__ inline double rescaling_factor(const Rescaling& rescaling, double kinetic) {
    if (kinetic == 0.0) return 1.0;
    const double root = rescaling.kept + rescaling.along / sqrt(kinetic);
    return copysign(sqrt(root * root + rescaling.across / kinetic), root);
}

// All velocities times what the thermostat makes of the kinetic energy of the last move, the mean of both half steps.
// Where the sum of both is no energy up to `limit` (kJ/mol), nothing moves any more.
extern "C" __global__ void couple(const Arguments a, const double limit) {
    if (a.status->stopped) return;
    const u32 atom = thread_number();
    const double unit = 1.0 / SUM_SCALE;
    const double before = a.sums[SUM_KINETIC_BEFORE] * unit, after = a.sums[SUM_KINETIC_AFTER] * unit;
    if (before + after < 0.0 || before + after > limit) {
        if (atom == 0) a.status->stopped = 1;
        return;
    }
    const double factor = rescaling_factor(a.rescaling, 0.5 * (before + after));
    if (atom == 0) a.status->thermostat_work += (factor * factor - 1.0) * after;
    if (atom < a.atoms) a.velocities[atom] = a.velocities[atom] * factor;
}

// Kinetic energy, and that inside units about the centre of each.
struct Kinetic {
    const Arguments& a;
    double all, internal;

    template <class Kind>
    __device__ void operator()(const Kind& kind) {
        double mass = 0.0, kinetic = 0.0;
        Vec3<double> momentum = vec3(0.0, 0.0, 0.0);
        for (int k = 0; k < Kind::SIZE; ++k) {
            const double m = a.masses[kind[k]];
            const Vec3<double> v = a.velocities[kind[k]];
            mass += m;
            momentum = momentum + v * m;
            kinetic += 0.5 * m * norm_squared(v);
        }
        all += kinetic;
        if (Kind::SIZE > 1) internal += kinetic - 0.5 * norm_squared(momentum) / mass;
    }
};

extern "C" __global__ void kinetic(const Arguments a, const double) {
    Kinetic work = {a, 0.0, 0.0};
    visit_unit(a, work);
    add_sum(a, SUM_KINETIC, work.all);
    add_sum(a, SUM_INTERNAL, work.internal);
}

// Total momentum, amu nm/ps.
extern "C" __global__ void momentum(const Arguments a, const double) {
    const u32 atom = thread_number();
    const bool used = atom < a.atoms;
    const Vec3<double> p = used ? a.velocities[atom] * a.masses[atom] : vec3(0.0, 0.0, 0.0);
    add_sum(a, SUM_MOMENTUM + 0, p.x);
    add_sum(a, SUM_MOMENTUM + 1, p.y);
    add_sum(a, SUM_MOMENTUM + 2, p.z);
}

// Takes the motion of the centre of mass away; `inverse_mass` is that of the whole system, 1/amu.
extern "C" __global__ void remove_momentum(const Arguments a, const double inverse_mass) {
    const u32 atom = thread_number();
    if (atom >= a.atoms || a.status->stopped) return;
    const double unit = inverse_mass / SUM_SCALE;
    a.velocities[atom] =
        a.velocities[atom] -
        vec3(a.sums[SUM_MOMENTUM] * unit, a.sums[SUM_MOMENTUM + 1] * unit, a.sums[SUM_MOMENTUM + 2] * unit);
}

// The largest squared way of an atom since the search, all of whose positions are scaled first, nm².
extern "C" __global__ void displacement(const Arguments a, const double scale) {
    const u32 atom = thread_number();
    if (atom >= a.atoms) return;
    const double squared = norm_squared(a.positions[atom] - a.searched[atom] * scale);
    // numbers that are not negative are in the order of their bits
    atomicMax(reinterpret_cast<u64*>(&a.status->displacement_squared), u64(__double_as_longlong(squared)));
}
