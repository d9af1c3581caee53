// Velocity refreshment as a separate kernel, which runs after a step that was integrated without refreshment. The
// separate kernel is needed if a barostat or the host acts between the step and the refreshment. The kernel
// `advance_refreshed` refreshes velocities within the step, with identical results.

struct Refresh {
    const Arguments& a;
    double timestep, work;

    template <class Kind>
    __device__ void operator()(const Kind& kind) {
        constexpr int N = Kind::SIZE;
        UpdateGroup<N> group;
        Vec3<double> velocity[N];
        for (int k = 0; k < N; ++k) {
            const u32 atom = group.atoms[k] = kind[k];
            group.old[k] = a.old[atom];
            group.unconstrained[k] = a.positions[atom];
            velocity[k] = a.velocities[atom];
        }
        const int failed = renew(a, kind, timestep, group, velocity, work);
        if (failed >= 0) return note_failure(a, group, failed);
        for (int k = 0; k < N; ++k) {
            a.positions[group.atoms[k]] = group.unconstrained[k];
            a.velocities[group.atoms[k]] = velocity[k];
        }
    }
};

extern "C" __global__ void refresh(const Arguments a, const double timestep) {
    if (halted(a)) return;
    if (thread_number() == 0) end_refreshment(a);
    Refresh work = {a, timestep, 0.0};
    visit_update_group(a, work);
    add_refreshment_work(a, work.work);
}

// Sets the parameters of the next refreshment.
extern "C" __global__ void set_refreshment(const Arguments a, const double) {
    if (thread_number() == 0) a.status->refreshment = a.refreshment;
}
