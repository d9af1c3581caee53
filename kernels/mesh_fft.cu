// Reciprocal sum in three kernels, which include the Fourier transforms. The kernels are used for meshes within their
// limits; with cuFFT the reciprocal sum takes eight kernels. `transform_planes` transforms the planes of constant x
// along z and y. `solve_lines` transforms the lines along x, multiplies them by the influence function, and transforms
// them back. `restore_planes` transforms the planes back. Latency limits the speed, so there are as few kernels,
// barriers and dependent loads as possible.
//
// A line of F·G numbers is transformed in place, in two stages with a barrier between them. A thread holds the F
// numbers of a transform of the first stage, or the G numbers of a transform of the second stage, in registers. The
// twiddle factors are applied when the numbers of the second stage are read. The rows y and y + grid_y/2 of a plane are
// the real and imaginary parts of one complex row. The stage after the transform along z reads the complex rows, and
// separates the transforms of the two real rows by symmetry. The first radix F of the y axis is even. The rows y and y
// + grid_y/2 therefore belong to the same transform of the first stage, and one thread reads both rows.

// A plane during the transforms: grid_y/2 rows of grid_z complex numbers in shared memory. The elements k and −k of a
// row first hold the transform of the complex row that combines two real rows. After the separation, the element k
// holds the value at k of the transform of one real row, and the element −k holds the value at k of the transform of
// the other real row. If k equals −k, the value of the second transform is stored at the end of the complex row.
struct Plane {
    const Arguments& a;
    const Transforms& t;
    u32 pitch, stride, x;
    float2 *rows, *roots_y, *roots_z;

    // Each row consists of `first` parts of `second` numbers. The distances between parts and between rows are odd, so
    // that neighbouring threads use different banks of shared memory.
    __device__ Plane(const Arguments& a, u32 first, u32 second)
        : a(a), t(a.transforms), pitch((first * (second | 1) + 2) | 1), stride(second | 1), x(blockIdx.x),
          rows(launched_memory()), roots_y(rows + t.half_y.value * pitch), roots_z(roots_y + a.grid_y) {}

    // Positions of the elements k and −k in a row.
    struct Places {
        u32 at, mirror;
        // whether k and −k are the same element
        bool same;
    };

    // Calls `work` for each index below `count` · `divisor` that this thread handles. The arguments of `work` are the
    // quotient and the remainder of the index divided by `divisor`.
    template <class Work>
    __device__ void each(u32 count, const Divisor& divisor, Work work) const {
        for (u32 item = threadIdx.x; item < count * divisor.value; item += blockDim.x) {
            const u32 quotient = __umulhi(item, divisor.reciprocal);
            work(quotient, item - quotient * divisor.value);
        }
    }

    __device__ float2* row(u32 y) const {
        return rows + y * pitch;
    }
};

// Table element that this thread copies from global to shared memory. A thread loads its element before the first stage
// and stores the element after the first stage. The thread therefore waits only once for the element and for the
// numbers of the first stage. A block has at least as many threads as an axis has points, so each thread copies at most
// one element.
template <class T>
struct TableEntry {
    T value;
    bool used;

    __device__ TableEntry(const T* table, u32 length) : value(), used(threadIdx.x < length) {
        if (used) value = table[threadIdx.x];
    }
    __device__ void store(T* table) const {
        if (used) table[threadIdx.x] = value;
    }
};

// Reads the numbers of a second stage, which are `step` apart, and multiplies them by the twiddle factors. Each number
// has the index `part` in the result of one transform of the first stage.
template <class R>
__device__ inline void read_twiddled(R, float2* values, const float2* from, u32 step, const float2* roots, u32 part) {
    values[0] = from[0];
#pragma unroll
    for (u32 n = 1; n < R::VALUE; ++n) values[n] = from[n * step] * roots[n * part];
}

// Transform of a plane from charges to the spectrum.
struct ForwardPlane : Plane {
    __device__ explicit ForwardPlane(const Arguments& a) : Plane(a, a.transforms.z.first, a.transforms.z.second) {}

    __device__ u32 place(u32 k) const {
        const u32 quotient = __umulhi(k, t.first_z.reciprocal);
        return stride * (k - quotient * t.first_z.value) + quotient;
    }
    __device__ Places places(u32 k) const {
        const bool same = k == 0 || 2 * k == a.grid_z;
        return {place(k), same ? stride * t.z.first + (k != 0) : place(a.grid_z - k), same};
    }

    // Sets the fixed-point charges of the plane to zero for the next step. If the number of points of a plane is a
    // multiple of four, each write clears four charges.
    __device__ void clear_charges() const {
        const u32 points = a.grid_y * a.grid_z;
        int* charges = a.charge_grid + x * points;
        if (points % 4 == 0) {
            int4* fours = reinterpret_cast<int4*>(charges);
            for (u32 k = threadIdx.x; k < points / 4; k += blockDim.x) fours[k] = make_int4(0, 0, 0, 0);
        } else {
            for (u32 k = threadIdx.x; k < points; k += blockDim.x) charges[k] = 0;
        }
    }
};

// First stage along z, which reads the charges and converts them from fixed point to `f32`.
struct ForwardZFirst : ForwardPlane {
    template <class R>
    __device__ void operator()(R radix) const {
        each(t.half_y.value, t.second_z, [&](u32 y, u32 n) {
            const int* charges = a.charge_grid + (x * a.grid_y + y) * a.grid_z + n;
            const u32 half = t.half_y.value * a.grid_z;
            // the sums and differences that separate the two rows need the factor ½
            const float scale = 0.5f / GRID_SCALE;
            float2 v[R::VALUE];
#pragma unroll
            for (u32 k = 0; k < R::VALUE; ++k)
                v[k] = make_float2(charges[t.z.second * k] * scale, charges[t.z.second * k + half] * scale);
            radix.transform(v);
            float2* to = row(y) + n;
#pragma unroll
            for (u32 k = 0; k < R::VALUE; ++k) to[stride * k] = v[k];
        });
    }
};

struct ForwardZSecond : ForwardPlane {
    template <class R>
    __device__ void operator()(R radix) const {
        each(t.z.first, t.half_y, [&](u32 k, u32 y) {
            float2 v[R::VALUE];
            float2* here = row(y) + stride * k;
            read_twiddled(radix, v, here, 1, roots_z, k);
            radix.transform(v);
#pragma unroll
            for (u32 n = 0; n < R::VALUE; ++n) here[n] = v[n];
        });
    }
};

// First stage along y, which separates the two real rows.
struct ForwardYFirst : ForwardPlane {
    template <class R>
    __device__ void operator()(R radix) const {
        constexpr u32 HALF = R::VALUE / 2;
        each(t.y.second, t.depth, [&](u32 n, u32 z) {
            const Places k = places(z);
            const u32 mirror = k.same ? k.at : k.mirror;
            float2 v[R::VALUE];
#pragma unroll
            for (u32 m = 0; m < HALF; ++m) {
                const float2* both = row(t.y.second * m + n);
                const float2 here = both[k.at], there = both[mirror];
                v[m] = make_float2(here.x + there.x, here.y - there.y);
                v[m + HALF] = make_float2(here.y + there.y, there.x - here.x);
            }
            radix.transform(v);
#pragma unroll
            for (u32 m = 0; m < HALF; ++m) {
                float2* both = row(t.y.second * m + n);
                both[k.at] = v[m];
                both[k.mirror] = v[m + HALF];
            }
        });
    }
};

struct ForwardYSecond : ForwardPlane {
    template <class R>
    __device__ void operator()(R radix) const {
        const u32 half = t.y.first / 2;
        each(t.y.first, t.depth, [&](u32 k, u32 z) {
            const Places places = this->places(z);
            const u32 place = k < half ? places.at : places.mirror;
            const float2* from = row(t.y.second * (k < half ? k : k - half)) + place;
            float2 v[R::VALUE];
            read_twiddled(radix, v, from, pitch, roots_y, k);
            radix.transform(v);
            float2* to = a.spectrum + (x * a.grid_y + k) * t.depth.value + z;
#pragma unroll
            for (u32 n = 0; n < R::VALUE; ++n) to[t.y.first * t.depth.value * n] = v[n];
        });
    }
};

extern "C" __global__ void __launch_bounds__(PLANE_THREADS, PLANE_BLOCKS) transform_planes(const Arguments a, const double) {
    const ForwardPlane plane(a);
    const TableEntry<float2> root_y(plane.t.y.roots, a.grid_y), root_z(plane.t.z.roots, a.grid_z);
    with_first(plane.t.z.first, ForwardZFirst{plane});
    root_y.store(plane.roots_y);
    root_z.store(plane.roots_z);
    __syncthreads();
    plane.clear_charges();
    with_second(plane.t.z.second, ForwardZSecond{plane});
    __syncthreads();
    with_even(plane.t.y.first, ForwardYFirst{plane});
    __syncthreads();
    with_second(plane.t.y.second, ForwardYSecond{plane});
}

// Transform of a plane from the spectrum to the potential. The stages are in reverse order, and real and imaginary
// parts are swapped.
struct InversePlane : Plane {
    __device__ explicit InversePlane(const Arguments& a) : Plane(a, a.transforms.z.second, a.transforms.z.first) {}

    __device__ u32 place(u32 k) const {
        const u32 quotient = __umulhi(k, t.first_z.reciprocal);
        return stride * quotient + (k - quotient * t.first_z.value);
    }
    __device__ Places places(u32 k) const {
        const bool same = k == 0 || 2 * k == a.grid_z;
        return {place(k), same ? stride * t.z.second + (k != 0) : place(a.grid_z - k), same};
    }
};

// First stage along y of the inverse transform, which reads the spectrum.
struct InverseYFirst : InversePlane {
    template <class R>
    __device__ void operator()(R radix) const {
        const u32 half = t.y.first / 2;
        each(t.y.first, t.depth, [&](u32 n, u32 z) {
            const float2* from = a.spectrum + (x * a.grid_y + n) * t.depth.value + z;
            float2 v[R::VALUE];
#pragma unroll
            for (u32 k = 0; k < R::VALUE; ++k) v[k] = swapped(from[t.y.first * t.depth.value * k]);
            radix.transform(v);
            const Places places = this->places(z);
            const u32 place = n < half ? places.at : places.mirror;
            float2* to = row(R::VALUE * (n < half ? n : n - half)) + place;
#pragma unroll
            for (u32 k = 0; k < R::VALUE; ++k) to[k * pitch] = v[k];
        });
    }
};

// Second stage along y of the inverse transform, which joins the two real rows again.
struct InverseYSecond : InversePlane {
    template <class R>
    __device__ void operator()(R radix) const {
        constexpr u32 HALF = R::VALUE / 2;
        each(t.y.second, t.depth, [&](u32 k, u32 z) {
            const Places places = this->places(z);
            float2 v[R::VALUE];
#pragma unroll
            for (u32 n = 0; n < HALF; ++n) {
                const float2* both = row(t.y.second * n + k);
                v[n] = n == 0 ? both[places.at] : both[places.at] * roots_y[n * k];
                v[n + HALF] = both[places.mirror] * roots_y[(n + HALF) * k];
            }
            radix.transform(v);
#pragma unroll
            for (u32 n = 0; n < HALF; ++n) {
                // elements of the transforms of two real rows, with real and imaginary parts swapped; where k equals
                // −k, the transforms are real except for rounding errors
                const float2 one = v[n], other = v[n + HALF];
                float2* both = row(t.y.second * n + k);
                both[places.at] = places.same ? make_float2(other.y, one.y) : make_float2(one.x + other.y, one.y - other.x);
                if (!places.same) both[places.mirror] = make_float2(other.y - one.x, one.y + other.x);
            }
        });
    }
};

struct InverseZFirst : InversePlane {
    template <class R>
    __device__ void operator()(R radix) const {
        each(t.z.first, t.half_y, [&](u32 n, u32 y) {
            float2* here = row(y) + n;
            float2 v[R::VALUE];
#pragma unroll
            for (u32 k = 0; k < R::VALUE; ++k) v[k] = here[stride * k];
            radix.transform(v);
#pragma unroll
            for (u32 k = 0; k < R::VALUE; ++k) here[stride * k] = v[k];
        });
    }
};

struct InverseZSecond : InversePlane {
    template <class R>
    __device__ void operator()(R radix) const {
        each(t.half_y.value, t.second_z, [&](u32 y, u32 k) {
            float2 v[R::VALUE];
            read_twiddled(radix, v, row(y) + stride * k, 1, roots_z, k);
            radix.transform(v);
            float* to = a.grid + (x * a.grid_y + y) * a.grid_z + k;
#pragma unroll
            for (u32 n = 0; n < R::VALUE; ++n) {
                to[t.z.second * n] = v[n].y;
                to[t.half_y.value * a.grid_z + t.z.second * n] = v[n].x;
            }
        });
    }
};

extern "C" __global__ void __launch_bounds__(PLANE_THREADS, PLANE_BLOCKS) restore_planes(const Arguments a, const double) {
    const InversePlane plane(a);
    const TableEntry<float2> root_y(plane.t.y.roots, a.grid_y), root_z(plane.t.z.roots, a.grid_z);
    with_second(plane.t.y.second, InverseYFirst{plane});
    root_y.store(plane.roots_y);
    root_z.store(plane.roots_z);
    __syncthreads();
    with_even(plane.t.y.first, InverseYSecond{plane});
    __syncthreads();
    with_second(plane.t.z.second, InverseZFirst{plane});
    __syncthreads();
    with_first(plane.t.z.first, InverseZSecond{plane});
}

// Lines along x, LINES per block of threads. A thread handles one part of a line in each stage.
struct Lines {
    const Arguments& a;
    const Transforms& t;
    u32 lines, line, part;
    float2 *values, *roots;
    float* moduli;

    __device__ explicit Lines(const Arguments& a)
        : a(a), t(a.transforms), lines(t.lines), line(blockIdx.x * LINES + threadIdx.x % LINES),
          part(threadIdx.x / LINES), values(launched_memory() + threadIdx.x % LINES),
          roots(launched_memory() + a.grid_x * LINES), moduli(reinterpret_cast<float*>(roots + a.grid_x)) {}
};

struct ForwardLines : Lines {
    template <class R>
    __device__ void operator()(R radix) const {
        if (line >= lines || part >= t.x.second) return;
        const float2* from = a.spectrum + part * lines + line;
        float2 v[R::VALUE];
#pragma unroll
        for (u32 k = 0; k < R::VALUE; ++k) v[k] = from[t.x.second * lines * k];
        radix.transform(v);
#pragma unroll
        for (u32 k = 0; k < R::VALUE; ++k) values[(t.x.second * k + part) * LINES] = v[k];
    }
};

// Second stage along x, multiplication by the influence function, and first stage of the inverse.
template <bool SUMS>
struct SolveStage : Lines {
    const Lattice& cell;
    u32 y, z;
    float moduli_y, moduli_z;
    MeshSums& sums;

    template <class R>
    __device__ void operator()(R radix) const {
        if (line >= lines || part >= t.x.first) return;
        float2 v[R::VALUE];
        float2* here = values + t.x.second * part * LINES;
        read_twiddled(radix, v, here, LINES, roots, part);
        radix.transform(v);
        const float moduli_yz = moduli_y * moduli_z;
#pragma unroll
        for (u32 n = 0; n < R::VALUE; ++n) {
            const u32 x = part + t.x.first * n;
            const Influence factor = influence(a, cell, x, y, z, moduli[x] * moduli_yz);
            if (SUMS) sums.add(a, factor, z, v[n]);
            v[n] = make_float2(v[n].y * factor.green(), v[n].x * factor.green());
        }
        radix.transform(v);
#pragma unroll
        for (u32 n = 0; n < R::VALUE; ++n) here[n * LINES] = v[n];
    }
};

struct InverseLines : Lines {
    template <class R>
    __device__ void operator()(R radix) const {
        if (line >= lines || part >= t.x.second) return;
        float2 v[R::VALUE];
        read_twiddled(radix, v, values + part * LINES, t.x.second * LINES, roots, part);
        radix.transform(v);
        float2* to = a.spectrum + part * lines + line;
#pragma unroll
        for (u32 k = 0; k < R::VALUE; ++k) to[t.x.second * lines * k] = swapped(v[k]);
    }
};

template <bool SUMS>
__device__ inline void solve_on_lines(const Arguments& a) {
    const Lines lines(a);
    // table elements are loaded before the numbers of the lines, so that the thread waits only once for all loads
    const TableEntry<float2> root(lines.t.x.roots, a.grid_x);
    const TableEntry<float> modulus(a.moduli, a.grid_x);
    const Lattice cell = *a.cell;
    const u32 y = lines.line < lines.lines ? __umulhi(lines.line, lines.t.depth.reciprocal) : 0;
    const u32 z = lines.line < lines.lines ? lines.line - y * lines.t.depth.value : 0;
    const float moduli_y = a.moduli[a.grid_x + y], moduli_z = a.moduli[a.grid_x + a.grid_y + z];
    with_first(lines.t.x.first, ForwardLines{lines});
    root.store(lines.roots);
    modulus.store(lines.moduli);
    __syncthreads();
    MeshSums sums = {};
    with_second(lines.t.x.second, SolveStage<SUMS>{lines, cell, y, z, moduli_y, moduli_z, sums});
    __syncthreads();
    with_first(lines.t.x.first, InverseLines{lines});
    if (SUMS) sums.store(a);
}

extern "C" __global__ void __launch_bounds__(LINE_THREADS) solve_lines(const Arguments a, const double) {
    solve_on_lines<false>(a);
}
extern "C" __global__ void __launch_bounds__(LINE_THREADS) solve_lines_sums(const Arguments a, const double) {
    solve_on_lines<true>(a);
}
