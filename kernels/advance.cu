// Integration: leapfrog and constraints, one thread per update group; and the scaling of the groups' centres of mass.

// v(t+½) = v(t−½) + F dt/m, x(t+dt) = x(t) + v(t+½) dt, then the constraints.
struct Leapfrog {
    const Arguments& a;
    double timestep;
    StepSums sums;

    template <class Kind>
    __device__ void operator()(const Kind& kind) {
        constexpr int N = Kind::SIZE;
        UpdateGroup<N> group;
        Vec3<double> velocity[N], change[N];
        CentreSums centre = {};
        for (int k = 0; k < N; ++k) {
            const u32 atom = group.atoms[k] = kind[k];
            const double mass = a.masses[atom];
            const Vec3<double> force = force_on(a, a.atom_slot[atom]);
            group.old[k] = a.positions[atom];
            velocity[k] = a.velocities[atom];
            sums.before += 0.5 * mass * norm_squared(velocity[k]);
            centre.start(group.old[k] - group.old[0], velocity[k], force, mass);
            velocity[k] = velocity[k] + force * (timestep / mass);
            group.unconstrained[k] = group.old[k] + velocity[k] * timestep;
        }
        const int failed = kind.constrain(a, group, change);
        if (failed >= 0) return note_failure(a, group, failed);
        for (int k = 0; k < N; ++k) {
            const u32 atom = group.atoms[k];
            const double mass = a.masses[atom];
            velocity[k] = velocity[k] + change[k] * (1.0 / timestep);
            sums.after += 0.5 * mass * norm_squared(velocity[k]);
            sums.cross += 0.5 * mass * dot(a.velocities[atom], velocity[k]);
            centre.end(velocity[k], mass);
            a.old[atom] = group.old[k];
            a.positions[atom] = group.unconstrained[k] + change[k];
            a.velocities[atom] = velocity[k];
            if (k > 0) add_outer(sums.virial, group.old[k] - group.old[0], change[k] * (mass / (timestep * timestep)));
        }
        sums.add(centre);
    }
};

template <bool SUMS>
__device__ inline void leapfrog(const Arguments& a, double timestep) {
    if (halted(a)) return;
    if (thread_number() == 0) ++a.status->steps;
    Leapfrog work = {a, timestep, {}};
    visit_update_group(a, work);
    if (SUMS) work.sums.store(a);
}

extern "C" __global__ void advance(const Arguments a, const double timestep) {
    leapfrog<false>(a, timestep);
}
extern "C" __global__ void advance_sums(const Arguments a, const double timestep) {
    leapfrog<true>(a, timestep);
}

// The barostat's last step: scales position and velocity of the centre of mass of each update group, see
// `src/ensemble/barostat.rs`.
struct Scale {
    const Arguments& a;
    double length, speed;

    template <class Kind>
    __device__ void operator()(const Kind& kind) {
        CentreMotion centre = {};
        for (int k = 0; k < Kind::SIZE; ++k) centre.add(a, kind[k]);
        for (int k = 0; k < Kind::SIZE; ++k) centre.scale(a, kind[k], length, speed);
    }
};

extern "C" __global__ void scale(const Arguments a, const double) {
    if (halted(a)) return;
    Scale work = {a, a.status->length_factor, a.status->velocity_factor};
    visit_update_group(a, work);
}
