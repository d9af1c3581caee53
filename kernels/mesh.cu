// Particle-mesh Ewald: kernels that spread charges onto the mesh, multiply by the influence function, and gather
// forces. The kernels between spreading and gathering are in `mesh_fft.cu`. Meshes that the kernels of `mesh_fft.cu`
// cannot transform use `solve` between transforms by cuFFT. The grid point (x, y, z) has the index (x · grid_y + y) ·
// grid_z + z; in the spectrum grid_z/2 + 1 replaces grid_z.

// Spline weights of one atom, and its first grid point.
template <int N>
struct Support {
    u32 first[3];
    float value[3][N], slope[3][N];
};

template <int N>
__device__ inline Support<N> support(float4 place) {
    Support<N> s;
    const u32 point = __float_as_uint(place.w), mask = (1u << GRID_BITS) - 1;
    s.first[0] = point & mask;
    s.first[1] = point >> GRID_BITS & mask;
    s.first[2] = point >> (2 * GRID_BITS);
    spline<float, N>(place.x, s.value[0], s.slope[0]);
    spline<float, N>(place.y, s.value[1], s.slope[1]);
    spline<float, N>(place.z, s.value[2], s.slope[2]);
    return s;
}

// Returns element k of a register array. Indexing with a variable would move the array to local memory.
template <int N>
__device__ inline float element(const float* values, u32 k) {
    float found = values[0];
#pragma unroll
    for (u32 n = 1; n < N; ++n) found = k == n ? values[n] : found;
    return found;
}

__device__ inline u32 wrapped(u32 point, u32 points) {
    return point < points ? point : point - points;
}

// Part of the spline of one atom, which one lane handles. The N lanes that share an atom handle N different grid points
// along z. A warp handles 32/N atoms, rounded down. `active` is false in lanes without work.
struct SplineLane {
    u32 slot, z;
    bool active;
};

template <int N>
__device__ inline SplineLane spline_lane(const Arguments& a) {
    constexpr u32 ATOMS = WARP / N;
    const u32 lane = lane_number(), slot = warp_number() * ATOMS + lane / N;
    const bool active = lane < ATOMS * N && slot < a.slots && a.slot_atom[slot < a.slots ? slot : 0] != NO_ATOM;
    return {active ? slot : 0, lane % N, active};
}

// Spreading of charges onto the mesh, in fixed point, so that the order of additions does not matter. Additions to
// global memory limit the speed of spreading. A block of threads therefore first adds the charges of SPREAD_ATOMS
// neighbouring atoms to a box of grid points in shared memory. At order 4 each atom takes 64 additions, whereas the box
// of SPREAD_ATOMS atoms has only about 1600 grid points.

// Returns an atom's grid point relative to the grid point of the first atom of its block, in the nearest image.
__device__ inline int nearest(int point, int first, int points) {
    const int d = point - first;
    return 2 * d > points ? d - points : 2 * d < -points ? d + points : d;
}

// Returns the lowest value of all lanes of a warp.
__device__ inline int warp_lowest(int value) {
    for (u32 distance = WARP / 2; distance > 0; distance /= 2) {
        const int other = __shfl_xor_sync(ALL_LANES, value, distance);
        value = other < value ? other : value;
    }
    return value;
}

// Calls `add` for each grid point of the spline in every SPREAD_PLANES-th plane, starting with plane `first_plane`. The
// arguments of `add` are the indices of the grid point in the spline, and the charge that the atom spreads to the grid
// point.
template <int N, class Add>
__device__ inline void add_charges(const Support<N>& at, float charge, u32 first_plane, Add add) {
#pragma unroll
    for (u32 n = 0; n < N; n += SPREAD_PLANES) {
        const u32 i = n + first_plane;
        if (i >= N) return;
        const float plane = charge * element<N>(at.value[0], i);
#pragma unroll
        for (u32 j = 0; j < N; ++j) {
            const float row = plane * at.value[1][j];
#pragma unroll
            for (u32 k = 0; k < N; ++k) add(i, j, k, int(rintf(row * at.value[2][k])));
        }
    }
}

// Box of grid points for the atoms of a block of threads, relative to the grid point of the first atom.
struct SpreadBox {
    int low[3], size[3];
};

template <int N>
__device__ inline SpreadBox spread_box(const int (&at)[3], bool active) {
    constexpr u32 WARPS = SPREAD_ATOMS * SPREAD_PLANES / WARP;
    __shared__ int corners[WARPS][6];
    const int far = 1 << GRID_BITS;
#pragma unroll
    for (u32 d = 0; d < 3; ++d) {
        const int low = warp_lowest(active ? at[d] : far), minus_high = warp_lowest(active ? -at[d] : far);
        if (lane_number() == 0) {
            corners[threadIdx.x / WARP][d] = low;
            corners[threadIdx.x / WARP][3 + d] = minus_high;
        }
    }
    __syncthreads();
    SpreadBox box;
#pragma unroll
    for (u32 d = 0; d < 3; ++d) {
        int low = far, minus_high = far;
        for (u32 warp = 0; warp < WARPS; ++warp) {
            low = corners[warp][d] < low ? corners[warp][d] : low;
            minus_high = corners[warp][3 + d] < minus_high ? corners[warp][3 + d] : minus_high;
        }
        box.low[d] = low;
        box.size[d] = -minus_high - low + N;
    }
    return box;
}

// Wraps the index of a grid point into the mesh. The index may be up to half a mesh below zero, or up to one and a half
// meshes beyond the last point, because a spline may be as wide as the mesh.
__device__ inline u32 absolute(int point, u32 points) {
    return point < 0 ? u32(point + int(points)) : wrapped(wrapped(u32(point), points), points);
}

template <int N>
__device__ inline void spread(const Arguments& a) {
    __shared__ int tile[SPREAD_POINTS];
    // charges are spread even after a halt, because the following kernels also run after a halt and read the charges
    const u32 first_slot = blockIdx.x * SPREAD_ATOMS, slot = first_slot + threadIdx.x % SPREAD_ATOMS;
    const bool active = slot < a.slots && a.slot_atom[slot] != NO_ATOM;
    const int points[3] = {int(a.grid_x), int(a.grid_y), int(a.grid_z)};
    const Support<N> at = support<N>(a.places[active ? slot : first_slot]);
    // the first slot of a block is never empty
    const u32 packed = __float_as_uint(a.places[first_slot].w), mask = (1u << GRID_BITS) - 1;
    const int first[3] = {int(packed & mask), int(packed >> GRID_BITS & mask), int(packed >> (2 * GRID_BITS))};
    int near[3];
#pragma unroll
    for (u32 d = 0; d < 3; ++d) near[d] = nearest(int(at.first[d]), first[d], points[d]);
    const SpreadBox box = spread_box<N>(near, active);
    // packed charges include the square root of Coulomb's constant; `inverse_root_coulomb` removes this factor
    const float charge = active ? a.packed[slot].w * a.inverse_root_coulomb * GRID_SCALE : 0.0f;
    const u32 plane = threadIdx.x / SPREAD_ATOMS, all = box.size[0] * box.size[1] * box.size[2];
    if (all > SPREAD_POINTS) {
        // if the atoms of the block of threads are far apart (in a sparse system, or at the end of the spatial order),
        // the box is too large for shared memory, and charges are added directly to global memory
        if (active)
            add_charges<N>(at, charge, plane, [&](u32 i, u32 j, u32 k, int part) {
                const u32 x = wrapped(at.first[0] + i, a.grid_x), y = wrapped(at.first[1] + j, a.grid_y);
                atomicAdd(&a.charge_grid[(x * a.grid_y + y) * a.grid_z + wrapped(at.first[2] + k, a.grid_z)], part);
            });
        return;
    }
    for (u32 point = threadIdx.x; point < all; point += blockDim.x) tile[point] = 0;
    __syncthreads();
    const u32 row = box.size[2], corner = ((near[0] - box.low[0]) * box.size[1] + near[1] - box.low[1]) * row + near[2] - box.low[2];
    if (active)
        add_charges<N>(at, charge, plane, [&](u32 i, u32 j, u32 k, int part) {
            atomicAdd(&tile[corner + (i * box.size[1] + j) * row + k], part);
        });
    __syncthreads();
    for (u32 point = threadIdx.x; point < all; point += blockDim.x) {
        const int sum = tile[point];
        if (sum == 0) continue;
        const u32 line = point / row, plane = line / box.size[1];
        const u32 x = absolute(first[0] + box.low[0] + int(plane), a.grid_x);
        const u32 y = absolute(first[1] + box.low[1] + int(line - plane * box.size[1]), a.grid_y);
        const u32 z = absolute(first[2] + box.low[2] + int(point - line * row), a.grid_z);
        atomicAdd(&a.charge_grid[(x * a.grid_y + y) * a.grid_z + z], sum);
    }
}

// Converts the charges on the mesh from fixed point to `f32`, and sets the fixed-point mesh to zero for the next
// step.
extern "C" __global__ void convert_grid(const Arguments a, const double) {
    const u32 point = thread_number();
    if (point >= a.grid_x * a.grid_y * a.grid_z) return;
    a.grid[point] = float(a.charge_grid[point]) * (1.0f / GRID_SCALE);
    a.charge_grid[point] = 0;
}

// Half of the influence function at one wave vector.
struct HalfInfluence {
    Vec3<float> wave;  // 1/nm
    float green;       // half of the influence function, kJ/mol/e²
    float virial;      // nm²; factor f in the virial E (δ − f m⊗m) of a wave vector with the energy E and the unit matrix δ

    __device__ HalfInfluence(const Arguments& a, const Lattice& cell, Vec3<float> wave, float moduli) : wave(wave) {
        const float squared = norm_squared(wave);
        // the inverse of `squared` is computed as the square of a reciprocal root, because the code of a division
        // contains a branch
        const float root = rsqrtf(squared), inverse = squared == 0.0f ? 0.0f : root * root;
        const float exponent = a.transforms.gaussian * squared;
        green = 0.5f * cell.coulomb_over_pi_volume * expf(-exponent) * inverse * moduli;
        virial = 2.0f * (1.0f + exponent) * inverse;
    }
};

// Influence function at an element of the spectrum, the mean for two wave vectors; the counterpart of
// `Influence::element`. The wave vectors are equal except at half of an even grid.
struct Influence {
    HalfInfluence halves[2];

    // influence function, kJ/mol/e²
    __device__ float green() const {
        return halves[0].green + halves[1].green;
    }
};

// Returns the wave number of index `k`, or zero at half of an even grid.
__device__ inline float signed_index(u32 k, u32 points) {
    return 2 * k < points ? float(k) : 2 * k == points ? 0.0f : float(k) - float(points);
}

// Returns the wave number at half of an even grid, which stands for both signs, or zero for other indices.
__device__ inline float half_index(u32 k, u32 points) {
    return 2 * k == points ? float(k) : 0.0f;
}

// Computes the influence function at an element of the spectrum; `moduli` is the product of the spline moduli along x,
// y and z.
__device__ inline Influence influence(const Arguments& a, const Lattice& cell, u32 x, u32 y, u32 z, float moduli) {
    const Vec3<float> row_a = vec3(cell.reciprocal[0], cell.reciprocal[1], cell.reciprocal[2]);
    const Vec3<float> row_b = vec3(0.0f, cell.reciprocal[3], cell.reciprocal[4]);
    const Vec3<float> row_c = vec3(0.0f, 0.0f, cell.reciprocal[5]);
    const Vec3<float> rest = row_a * signed_index(x, a.grid_x) + row_b * signed_index(y, a.grid_y) +
                             row_c * signed_index(z, a.grid_z);
    const Vec3<float> half = row_a * half_index(x, a.grid_x) + row_b * half_index(y, a.grid_y) +
                             row_c * half_index(z, a.grid_z);
    return {{HalfInfluence(a, cell, rest + half, moduli), HalfInfluence(a, cell, rest - half, moduli)}};
}

// Energy and virial of the wave vectors of one thread.
struct MeshSums {
    double energy;
    Tensor virial;

    // Adds the energy and the virial of an element of the spectrum; `value` is the transform of the charges.
    __device__ void add(const Arguments& a, const Influence& factor, u32 z, float2 value) {
        // half of the spectrum is stored, because the other half is the complex conjugate of the stored half; each
        // stored element counts twice, except in the planes z = 0 and z = grid_z/2, which contain the conjugates of
        // their own elements
        const double weight = (z == 0 || 2 * z == a.grid_z ? 0.5 : 1.0) *
                              (double(value.x) * value.x + double(value.y) * value.y);
#pragma unroll
        for (const HalfInfluence& half : factor.halves) {
            const double part = weight * half.green;
            const Vec3<double> wave = widened(half.wave);
            energy += part;
            virial.xx += part;
            virial.yy += part;
            virial.zz += part;
            add_outer(virial, wave, wave * (-part * half.virial));
        }
    }

    // Adds energy and virial to the totals in device memory. All lanes of a warp must call this function.
    __device__ void store(const Arguments& a) const {
        add_sum(a, SUM_RECIPROCAL, energy);
        add_tensor(a, SUM_VIRIAL, virial);
    }
};

// Multiplies the transform of the charges by the influence function, which gives the transform of the potential.
template <bool SUMS>
__device__ inline void solve_mesh(const Arguments& a) {
    const u32 point = thread_number(), depth = a.grid_z / 2 + 1, all = a.grid_x * a.grid_y * depth;
    if (point / WARP * WARP >= all) return;
    MeshSums sums = {};
    if (point < all) {
        const u32 z = point % depth, y = point / depth % a.grid_y, x = point / depth / a.grid_y;
        const float moduli = a.moduli[x] * a.moduli[a.grid_x + y] * a.moduli[a.grid_x + a.grid_y + z];
        const Influence factor = influence(a, *a.cell, x, y, z, moduli);
        const float2 value = a.spectrum[point];
        a.spectrum[point] = make_float2(value.x * factor.green(), value.y * factor.green());
        if (SUMS) sums.add(a, factor, z, value);
    }
    if (SUMS) sums.store(a);
}

extern "C" __global__ void solve(const Arguments a, const double) {
    solve_mesh<false>(a);
}
extern "C" __global__ void solve_sums(const Arguments a, const double) {
    solve_mesh<true>(a);
}

// Gathers forces from the potential φ on the mesh: F = −q Σ φ ∇w with the spline weights w.
template <int N>
__device__ inline void gather(const Arguments& a) {
    if (halted(a)) return;
    const SplineLane s = spline_lane<N>(a);
    const Support<N> at = support<N>(a.places[s.slot]);
    Vec3<float> slope = vec3(0.0f, 0.0f, 0.0f);
    if (s.active) {
        const u32 z = wrapped(at.first[2] + s.z, a.grid_z);
        const float value_z = element<N>(at.value[2], s.z), slope_z = element<N>(at.slope[2], s.z);
#pragma unroll
        for (u32 i = 0; i < N; ++i) {
            const u32 x = wrapped(at.first[0] + i, a.grid_x);
            Vec3<float> row = vec3(0.0f, 0.0f, 0.0f);
#pragma unroll
            for (u32 j = 0; j < N; ++j) {
                const u32 y = wrapped(at.first[1] + j, a.grid_y);
                const float potential = a.grid[(x * a.grid_y + y) * a.grid_z + z];
                row.x = fused(potential, at.value[1][j], row.x);
                row.y = fused(potential, at.slope[1][j], row.y);
            }
            row.z = row.x;
            slope = vec3(fused(row.x, at.slope[0][i] * value_z, slope.x), fused(row.y, at.value[0][i] * value_z, slope.y),
                         fused(row.z, at.value[0][i] * slope_z, slope.z));
        }
    }
    // the first lane of each atom sums over the N lanes of the atom
    Vec3<float> sum = slope;
    for (u32 k = 1; k < N; ++k) {
        const u32 from = (lane_number() + k) % WARP;
        sum = sum + vec3(__shfl_sync(ALL_LANES, slope.x, from), __shfl_sync(ALL_LANES, slope.y, from),
                         __shfl_sync(ALL_LANES, slope.z, from));
    }
    if (!s.active || s.z != 0) return;
    const Lattice& cell = *a.cell;
    const float per_a = sum.x * a.grid_x, per_b = sum.y * a.grid_y, per_c = sum.z * a.grid_z;
    const float* row = cell.reciprocal;
    const float charge = a.packed[s.slot].w * a.inverse_root_coulomb;
    add_force(a, s.slot, vec3(row[0] * per_a, row[1] * per_a + row[3] * per_b,
                              row[2] * per_a + row[4] * per_b + row[5] * per_c) * -charge);
}

extern "C" __global__ void __launch_bounds__(SPREAD_ATOMS * SPREAD_PLANES) spread4(const Arguments a, const double) {
    spread<4>(a);
}
extern "C" __global__ void __launch_bounds__(SPREAD_ATOMS * SPREAD_PLANES) spread5(const Arguments a, const double) {
    spread<5>(a);
}
extern "C" __global__ void __launch_bounds__(SPREAD_ATOMS * SPREAD_PLANES) spread6(const Arguments a, const double) {
    spread<6>(a);
}
extern "C" __global__ void __launch_bounds__(SPREAD_ATOMS * SPREAD_PLANES) spread8(const Arguments a, const double) {
    spread<8>(a);
}
extern "C" __global__ void gather4(const Arguments a, const double) {
    gather<4>(a);
}
extern "C" __global__ void gather5(const Arguments a, const double) {
    gather<5>(a);
}
extern "C" __global__ void gather6(const Arguments a, const double) {
    gather<6>(a);
}
extern "C" __global__ void gather8(const Arguments a, const double) {
    gather<8>(a);
}
