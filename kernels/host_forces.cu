// Forces that the host computes: restraints of collective variables, and external forces. The counterpart on the host
// is `src/engine/backend/cuda/host_forces.rs`.

// Copies the positions of the atoms that the host needs. The array element after the positions is a flag. The flag
// tells the host not to compute forces after a fault, or after the pair lists have expired.
extern "C" __global__ void gather_positions(const Arguments a, const double) {
    const u32 number = thread_number();
    if (number < a.host.count) a.host.positions[number] = a.positions[a.host.atoms[number]];
    if (number > 0) return;
    const bool failed = a.status->overflow != NO_ATOM || a.status->failed[0] != NO_ATOM;
    a.host.positions[a.host.count] = vec3(halted(a) || failed ? 1.0 : 0.0, 0.0, 0.0);
}

// Adds the virial that the host computed, which need not be symmetric, to the sums.
__device__ inline void add_host_virial(const Arguments& a) {
    const Vec3<double>* rows = a.host.forces + a.host.count;
    const double upper[6] = {rows[0].x, rows[0].y, rows[0].z, rows[1].y, rows[1].z, rows[2].z};
    const double torque[3] = {rows[1].z - rows[2].y, rows[2].x - rows[0].z, rows[0].y - rows[1].x};
    for (u32 k = 0; k < 6; ++k) add_fixed(&a.sums[SUM_VIRIAL + k], upper[k], SUM_SCALE);
    for (u32 k = 0; k < 3; ++k) add_fixed(&a.sums[SUM_RESTRAINT_TORQUE + k], torque[k], SUM_SCALE);
}

template <bool SUMS>
__device__ inline void add_forces_of_host(const Arguments& a) {
    const u32 number = thread_number();
    if (number < a.host.count) add_force(a, a.atom_slot[a.host.atoms[number]], a.host.forces[number]);
    if (SUMS && number == 0) add_host_virial(a);
}

extern "C" __global__ void add_host_forces(const Arguments a, const double) {
    add_forces_of_host<false>(a);
}
extern "C" __global__ void add_host_forces_sums(const Arguments a, const double) {
    add_forces_of_host<true>(a);
}
