// Integration by the leapfrog algorithm with constraints; one thread integrates one update group. The file also
// contains the barostat's scaling of the centers of mass of update groups.

// Leapfrog step v(t+½dt) = v(t−½dt) + F dt/m, x(t+dt) = x(t) + v(t+½dt) dt, after which the constraints are satisfied.
// If RENEWS is true, a thermostat refreshes velocities in the middle of the step.
template <bool RENEWS>
struct Leapfrog {
    const Arguments& a;
    double timestep;
    StepSums sums;
    // work of the refreshment, kJ/mol
    double refreshment_work;

    template <class Kind>
    __device__ void operator()(const Kind& kind) {
        constexpr int N = Kind::SIZE;
        UpdateGroup<N> group;
        Vec3<double> velocity[N], change[N];
        CenterSums center = {};
        for (int k = 0; k < N; ++k) {
            const u32 atom = group.atoms[k] = kind[k];
            const double mass = a.masses[atom];
            const Vec3<double> force = force_on(a, a.atom_slot[atom]);
            group.old[k] = a.positions[atom];
            velocity[k] = a.velocities[atom];
            sums.before += 0.5 * mass * norm_squared(velocity[k]);
            center.start(group.old[k] - group.old[0], velocity[k], force, mass);
            velocity[k] = velocity[k] + force * (timestep / mass);
            group.unconstrained[k] = group.old[k] + velocity[k] * timestep;
        }
        int failed = kind.constrain(a, group, change);
        if (failed >= 0) return note_failure(a, group, failed);
        for (int k = 0; k < N; ++k) {
            const u32 atom = group.atoms[k];
            const double mass = a.masses[atom];
            velocity[k] = velocity[k] + change[k] * (1.0 / timestep);
            sums.after += 0.5 * mass * norm_squared(velocity[k]);
            sums.add_kinetic(a.velocities[atom], velocity[k], mass);
            center.end(velocity[k], mass);
            group.unconstrained[k] = group.unconstrained[k] + change[k];
            if (k > 0) add_outer(sums.virial, group.old[k] - group.old[0], change[k] * (mass / (timestep * timestep)));
        }
        sums.add(center);
        if (RENEWS) failed = renew(a, kind, timestep, group, velocity, refreshment_work);
        if (failed >= 0) return note_failure(a, group, failed);
        for (int k = 0; k < N; ++k) {
            const u32 atom = group.atoms[k];
            a.old[atom] = group.old[k];
            a.positions[atom] = group.unconstrained[k];
            a.velocities[atom] = velocity[k];
            if (a.packs_ahead) pack_atom(a, a.atom_slot[atom], atom, group.unconstrained[k]);
        }
    }
};

template <bool SUMS, bool RENEWS>
__device__ inline void leapfrog(const Arguments& a, double timestep) {
    if (halted(a) || forces_overflowed(a)) return;
    if (thread_number() == 0) {
        ++a.status->steps;
        if (RENEWS) end_refreshment(a);
    }
    Leapfrog<RENEWS> work = {a, timestep, {}, 0.0};
    visit_update_group(a, work);
    if (SUMS) work.sums.store(a);
    if (RENEWS) add_refreshment_work(a, work.refreshment_work);
}

extern "C" __global__ void advance(const Arguments a, const double timestep) {
    leapfrog<false, false>(a, timestep);
}
extern "C" __global__ void advance_sums(const Arguments a, const double timestep) {
    leapfrog<true, false>(a, timestep);
}
extern "C" __global__ void advance_refreshed(const Arguments a, const double timestep) {
    leapfrog<false, true>(a, timestep);
}
extern "C" __global__ void advance_refreshed_sums(const Arguments a, const double timestep) {
    leapfrog<true, true>(a, timestep);
}

// Scales the position and the velocity of the center of mass of each update group by the factors of the last barostat
// step, as described in `src/engine/ensemble/barostat.rs`.
struct Scale {
    const Arguments& a;

    template <class Kind>
    __device__ void operator()(const Kind& kind) {
        CenterMotion center = {};
        for (int k = 0; k < Kind::SIZE; ++k) center.add(a, kind[k]);
        for (int k = 0; k < Kind::SIZE; ++k) center.scale(a, kind[k]);
    }
};

extern "C" __global__ void scale(const Arguments a, const double) {
    if (halted(a)) return;
    Scale work = {a};
    visit_update_group(a, work);
}
