// Periodic cell with rows a = (ax, 0, 0), b = (bx, by, 0), c = (cx, cy, cz); the counterpart of `src/engine/cell.rs`.

// Returns the sum na a + nb b + nc c (nm) of multiples of the cell vectors a, b and c.
__device__ inline Vec3<double> lattice_shift(const Lattice& cell, double na, double nb, double nc) {
    return vec3(na * cell.ax + nb * cell.bx + nc * cell.cx, nb * cell.by + nc * cell.cy, nc * cell.cz);
}

// Returns the fractional coordinates of a position `r` (nm).
__device__ inline Vec3<double> to_fractional(const Lattice& cell, Vec3<double> r) {
    const double sz = r.z / cell.cz;
    const double sy = (r.y - sz * cell.cy) / cell.by;
    return vec3((r.x - sy * cell.bx - sz * cell.cx) / cell.ax, sy, sz);
}

// Returns the shortest periodic image of a displacement. The result is the shortest image if the length of this image
// is below the largest cutoff that the cell allows.
__device__ inline Vec3<double> minimum_image(const Lattice& cell, Vec3<double> d) {
    if (!cell.periodic) return d;
    // most displacements are shorter than half of the cell along x, y and z, so that all three roundings below would
    // give zero
    if (fabs(d.z) < 0.5 * cell.cz && fabs(d.y) < 0.5 * cell.by && fabs(d.x) < 0.5 * cell.ax) return d;
    const double nc = rint(d.z / cell.cz);
    d = d - vec3(nc * cell.cx, nc * cell.cy, nc * cell.cz);
    const double nb = rint(d.y / cell.by);
    d = d - vec3(nb * cell.bx, nb * cell.by, 0.0);
    d.x -= rint(d.x / cell.ax) * cell.ax;
    return d;
}

// Wraps a position into the cell, and stores in `image` the lattice image (na, nb, nc) in which the position was.
__device__ inline Vec3<double> wrap(const Lattice& cell, Vec3<double> r, int4& image) {
    image = make_int4(0, 0, 0, 0);
    if (!cell.periodic) return r;
    // after the first pass, rounding can leave a fractional coordinate s = 1 exactly; the second pass ensures 0 ≤ s < 1
    for (int pass = 0; pass < 2; ++pass) {
        const Vec3<double> s = to_fractional(cell, r);
        const double na = floor(s.x), nb = floor(s.y), nc = floor(s.z);
        r = r - lattice_shift(cell, na, nb, nc);
        image.x += int(na);
        image.y += int(nb);
        image.z += int(nc);
    }
    return r;
}

// Returns the index of the lattice shift (na, nb, nc), with numbers from −2 to 2, as in `src/engine/pair/list.rs`.
__device__ inline u32 shift_number(int na, int nb, int nc) {
    return u32(((na + 2) * 5 + nb + 2) * 5 + nc + 2);
}
