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

// Returns the k-th integer in the order of the distance from `value`, k = 0, 1, 2, ….
__device__ inline double outward(double value, int k) {
    const double nearest = round(value), steps = (k + 1) / 2, side = value < nearest ? -1.0 : 1.0;
    return nearest + (k % 2 == 0 ? -side * steps : side * steps);
}

// Returns the shortest periodic image of a displacement of any length, as `PeriodicCell::nearest_image` finds it.
__device__ __noinline__ Vec3<double> nearest_image(const Lattice& cell, Vec3<double> d) {
    const int most = 129;
    const double equal = 1e-13;
    double shortest = norm_squared(d), na = 0.0, nb = 0.0, nc = 0.0;
    if (!(shortest < 1e300)) return d;
    for (int p = 0; p < most; ++p) {
        const double k = outward(-d.z / cell.cz, p), z = d.z + k * cell.cz;
        if (z * z >= shortest) break;
        const double y0 = d.y + k * cell.cy, x0 = d.x + k * cell.cx;
        for (int q = 0; q < most; ++q) {
            const double j = outward(-y0 / cell.by, q), y = y0 + j * cell.by, x1 = x0 + j * cell.bx;
            if (z * z + y * y >= shortest) break;
            const double i = round(-x1 / cell.ax), x = x1 + i * cell.ax, square = x * x + y * y + z * z;
            if (square < shortest * (1.0 - equal)) shortest = square, na = i, nb = j, nc = k;
        }
    }
    return d + lattice_shift(cell, na, nb, nc);
}

// Returns the shortest periodic image of a displacement.
__device__ inline Vec3<double> minimum_image(const Lattice& cell, Vec3<double> d) {
    if (!cell.periodic) return d;
    // no image of a displacement that is shorter than half of the smallest width is shorter
    const double width = 0.5 * fmin(cell.ax, fmin(cell.by, cell.cz));
    if (norm_squared(d) < width * width) return d;
    const double nc = rint(d.z / cell.cz);
    Vec3<double> reduced = d - vec3(nc * cell.cx, nc * cell.cy, nc * cell.cz);
    const double nb = rint(reduced.y / cell.by);
    reduced = reduced - vec3(nb * cell.bx, nb * cell.by, 0.0);
    reduced.x -= rint(reduced.x / cell.ax) * cell.ax;
    return norm_squared(reduced) < width * width ? reduced : nearest_image(cell, d);
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
