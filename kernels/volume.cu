// Monte Carlo volume moves; the counterpart of `src/engine/backend/host/volume.rs`.

// Computes the positions after a volume move. Each molecule is translated rigidly, so that its center of mass is scaled
// with the cell. One warp handles one molecule.
extern "C" __global__ void stretch_molecules(const Arguments a, const double) {
    const VolumeMove& move = a.volume_move;
    const u32 molecule = warp_number();
    if (molecule >= move.molecules) return;
    const u32 first = move.starts[molecule] + lane_number(), end = move.starts[molecule + 1];
    double mass = 0.0;
    Vec3<double> center = vec3(0.0, 0.0, 0.0);
    for (u32 k = first; k < end; k += WARP) {
        const u32 atom = move.members[k];
        mass += a.masses[atom];
        center = center + a.positions[atom] * a.masses[atom];
    }
    mass = warp_sum(mass);
    center = vec3(warp_sum(center.x), warp_sum(center.y), warp_sum(center.z));
    const Vec3<double> further = (components(move.factors) - vec3(1.0, 1.0, 1.0)) * (1.0 / mass);
    for (u32 k = first; k < end; k += WARP) {
        const u32 atom = move.members[k];
        move.stretched[atom] = a.positions[atom] + stretched(center, further);
    }
}

// Computes the largest distance (nm) between the position of an atom after the volume move and the scaled position of
// the atom.
extern "C" __global__ void largest_deviation(const Arguments a, const double) {
    const VolumeMove& move = a.volume_move;
    const u32 atom = thread_number();
    if (atom >= a.atoms) return;
    const Vec3<double> off = move.stretched[atom] - stretched(a.positions[atom], components(move.factors));
    // non-negative floats have the same order as their bits read as integers
    atomicMax(move.deviation, __float_as_uint(float(sqrt(norm_squared(off)))));
}

// Stores the forces at the present positions, for comparison with the forces after a volume move.
extern "C" __global__ void keep_forces(const Arguments a, const double) {
    const u32 atom = thread_number();
    if (atom < a.atoms) a.volume_move.kept_forces[atom] = force_on(a, a.atom_slot[atom]);
}

// Adds Σ v·ΔF (kJ/mol/ps) to a total in device memory, where v is the velocity of an atom, and ΔF is the difference
// between the force on the atom and the force that `keep_forces` stored.
extern "C" __global__ void power_of_change(const Arguments a, const double) {
    const u32 atom = thread_number();
    double power = 0.0;
    if (atom < a.atoms)
        power = dot(a.velocities[atom], force_on(a, a.atom_slot[atom]) - a.volume_move.kept_forces[atom]);
    add_sum(a, SUM_POWER_OF_CHANGE, power);
}
