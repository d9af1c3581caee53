// Preparation of a force evaluation: packs positions as offsets, computes the grid point of each atom, and clears
// forces. The integration kernel also packs positions if `packs_ahead` is set. The kernel `pack` runs if another kernel
// has changed positions, if sums must be cleared, or if displacements must be checked against the list buffer.

// Returns the grid point below an atom along one axis, from the fractional coordinate s of the atom. The function sets
// `fraction` to the distance from the grid point to the atom, in grid spacings.
__device__ inline u32 grid_point(double s, u32 points, float& fraction) {
    const double place = (s - floor(s)) * points;
    const double point = floor(place);
    fraction = float(place - point);
    // rounding can give the index `points`, which is beyond the last grid point
    return u32(point) % points;
}

// Returns whether a pair may be missing from the lists after all positions are scaled by `scale` and an atom is
// displaced by the square root of `squared` (nm²); the counterpart of `ListSchedule::may_miss`.
__device__ inline bool may_miss(double radius, double cutoff, double scale, double squared) {
    const double slack = scale * radius - cutoff;
    return slack < 0.0 || 4.0 * squared > slack * slack;
}

// Marks the lists as expired if a pair may be missing because of the displacement of this atom.
__device__ inline void check_displacement(const Arguments& a, const Lattice& cell, u32 atom, Vec3<double> r) {
    const Lattice& then = *a.searched_cell;
    const Vec3<double> stretch = cell.periodic ? vec3(cell.ax / then.ax, cell.by / then.by, cell.cz / then.cz)
                                               : vec3(1.0, 1.0, 1.0);
    const double scale = fmin(stretch.x, fmin(stretch.y, stretch.z));
    const double squared = norm_squared(r - stretched(a.searched[atom], stretch));
    if (may_miss(double(a.outer_radius), a.cutoff, scale, squared)) atomicMax(&a.status->lists_expired, 1u);
}

__device__ inline void clear_force(const Arguments& a, u32 slot) {
    for (u32 axis = 0; axis < 3; ++axis) a.forces[slot + axis * a.slots] = 0;
}

// Packs the position `r` of the atom in a slot, and clears the force on the atom.
__device__ inline void pack_atom(const Arguments& a, u32 slot, u32 atom, Vec3<double> r) {
    clear_force(a, slot);
    const Lattice& cell = *a.cell;
    const int4 image = a.images[slot];
    const Vec3<double> origin = widened(xyz(a.origins[slot / WARP])) + lattice_shift(cell, image.x, image.y, image.z);
    const Vec3<float> offset = rounded(r - origin);
    a.packed[slot] = make_float4(offset.x, offset.y, offset.z, a.charges[atom]);
    if (a.order == 0) return;
    const Vec3<double> s = to_fractional(cell, r);
    float4 place;
    const u32 x = grid_point(s.x, a.grid_x, place.x), y = grid_point(s.y, a.grid_y, place.y);
    const u32 z = grid_point(s.z, a.grid_z, place.z);
    place.w = __uint_as_float(x | y << GRID_BITS | z << (2 * GRID_BITS));
    a.places[slot] = place;
}

extern "C" __global__ void pack(const Arguments a, const double) {
    const u32 slot = thread_number();
    for (u32 sum = slot; sum < SUMS; sum += gridDim.x * blockDim.x) a.sums[sum] = 0;
    if (slot >= a.slots) return;
    const u32 atom = a.slot_atom[slot];
    if (atom == NO_ATOM) {
        a.packed[slot] = make_float4(NOWHERE, NOWHERE, NOWHERE, 0.0f);
        // the force of an empty slot is set to zero, because the host reads the forces of all slots
        clear_force(a, slot);
        return;
    }
    const Vec3<double> r = a.positions[atom];
    if (a.check_displacements) check_displacement(a, *a.cell, atom, r);
    pack_atom(a, slot, atom, r);
}
