// What every kernel needs: vectors, fixed-point sums, sums over a warp.
//
// All files of this folder are joined into one text, behind a part written by `src/backend/cuda/layout.rs`: number
// types, constants, and the structures that kernels share with the host. The same text compiles as host C++ for the tests.

// a b + c, rounded once. The compiler itself fuses nothing (`--fmad=false`): what it would fuse depends on what else a
// kernel computes, so that a step of which energies are wanted would move atoms by other bits than one of which they
// are not.
__device__ inline float fused(float a, float b, float c) {
    return fmaf(a, b, c);
}
__device__ inline double fused(double a, double b, double c) {
    return fma(a, b, c);
}

// Components along x, y, z; the twin of `src/vec3.rs`.
template <class T>
struct Vec3 {
    T x, y, z;
};

template <class T>
__device__ inline Vec3<T> vec3(T x, T y, T z) {
    return Vec3<T>{x, y, z};
}
template <class T>
__device__ inline Vec3<T> operator+(Vec3<T> a, Vec3<T> b) {
    return vec3(a.x + b.x, a.y + b.y, a.z + b.z);
}
template <class T>
__device__ inline Vec3<T> operator-(Vec3<T> a, Vec3<T> b) {
    return vec3(a.x - b.x, a.y - b.y, a.z - b.z);
}
template <class T>
__device__ inline Vec3<T> operator-(Vec3<T> a) {
    return vec3(-a.x, -a.y, -a.z);
}
template <class T>
__device__ inline Vec3<T> operator*(Vec3<T> a, T factor) {
    return vec3(a.x * factor, a.y * factor, a.z * factor);
}
template <class T>
__device__ inline T dot(Vec3<T> a, Vec3<T> b) {
    return fused(a.x, b.x, fused(a.y, b.y, a.z * b.z));
}
template <class T>
__device__ inline Vec3<T> fused(Vec3<T> a, T factor, Vec3<T> b) {
    return vec3(fused(a.x, factor, b.x), fused(a.y, factor, b.y), fused(a.z, factor, b.z));
}
// not fused, so that vectors along one line have none
template <class T>
__device__ inline Vec3<T> cross(Vec3<T> a, Vec3<T> b) {
    return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
template <class T>
__device__ inline T norm_squared(Vec3<T> a) {
    return dot(a, a);
}
template <class T, class U>
__device__ inline Vec3<T> converted(Vec3<U> a) {
    return vec3(T(a.x), T(a.y), T(a.z));
}
__device__ inline Vec3<float> rounded(Vec3<double> a) {
    return converted<float>(a);
}
__device__ inline Vec3<double> widened(Vec3<float> a) {
    return converted<double>(a);
}
__device__ inline Vec3<float> xyz(float4 a) {
    return vec3(a.x, a.y, a.z);
}

// Index of this thread in its launch, and of its warp.
__device__ inline u32 thread_number() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}
__device__ inline u32 lane_number() {
    return threadIdx.x % WARP;
}
__device__ inline u32 warp_number() {
    return thread_number() / WARP;
}

// The sum over all lanes of a warp, in every lane; always in the same order.
__device__ inline double warp_sum(double value) {
    for (u32 distance = WARP / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(ALL_LANES, value, distance);
    return value;
}

// The sum over all threads of a block, in every thread; always in the same order. Every thread must take part.
__device__ inline double block_sum(double of_thread) {
    __shared__ double of_warps[WARP];
    const double of_warp = warp_sum(of_thread);
    // the sum before this one has been read
    __syncthreads();
    if (lane_number() == 0) of_warps[threadIdx.x / WARP] = of_warp;
    __syncthreads();
    double sum = 0.0;
    for (u32 warp = 0; warp < blockDim.x / WARP; ++warp) sum += of_warps[warp];
    return sum;
}
__device__ inline Vec3<double> block_sum(Vec3<double> of_thread) {
    return vec3(block_sum(of_thread.x), block_sum(of_thread.y), block_sum(of_thread.z));
}

// Nothing moves any more: something has gone wrong, or a pair might be missing from the lists. Set before a step's forces
// or behind its couplings, so that a step is done as a whole or not at all.
__device__ inline bool halted(const Arguments& a) {
    return a.status->stopped != 0 || a.status->overdue != 0;
}

// Stops all motion where something has gone wrong. For one thread of a kernel no other of whose threads asks whether it is
// halted: blocks that begin before and after this would not agree.
__device__ inline void stop_after_fault(const Arguments& a) {
    if (a.status->overflow != NO_ATOM || a.status->failed[0] != NO_ATOM) a.status->stopped = STOPPED_BY_FAULT;
}

// Adds to a sum in fixed point: integers do not care in which order they are added. The scale is a power of two, so that
// only the last step rounds, in either precision.
template <class T>
__device__ inline void add_fixed(i64* sum, T value, T scale) {
    atomicAdd(reinterpret_cast<u64*>(sum), static_cast<u64>(static_cast<i64>(llrint(value * scale))));
}

// Adds what a warp has of one energy, kJ/mol; all lanes must take part.
__device__ inline void add_sum(const Arguments& a, u32 which, double of_lane) {
    const double sum = warp_sum(of_lane);
    if (lane_number() == 0 && sum != 0.0) add_fixed(&a.sums[which], sum, SUM_SCALE);
}

// One of the sums, kJ/mol.
__device__ inline double sum_of(const Arguments& a, u32 which) {
    return a.sums[which] * (1.0 / SUM_SCALE);
}

// A symmetric tensor: xx, xy, xz, yy, yz, zz.
struct Tensor {
    double xx, xy, xz, yy, yz, zz;
};

// Adds r⊗F, which summed over the atoms of a term is symmetric.
__device__ inline void add_outer(Tensor& sum, Vec3<double> r, Vec3<double> f) {
    sum.xx += r.x * f.x;
    sum.xy += r.x * f.y;
    sum.xz += r.x * f.z;
    sum.yy += r.y * f.y;
    sum.yz += r.y * f.z;
    sum.zz += r.z * f.z;
}

__device__ inline void add_tensor(const Arguments& a, u32 first, const Tensor& of_lane) {
    add_sum(a, first + 0, of_lane.xx);
    add_sum(a, first + 1, of_lane.xy);
    add_sum(a, first + 2, of_lane.xz);
    add_sum(a, first + 3, of_lane.yy);
    add_sum(a, first + 4, of_lane.yz);
    add_sum(a, first + 5, of_lane.zz);
}

// Adds a force (kJ/mol/nm) to the atom in a slot. Nothing is added where a component is larger than FORCE_LIMIT or no
// number: the atom is noted instead, and the next step will not move anything.
template <class T>
__device__ inline void add_force(const Arguments& a, u32 slot, Vec3<T> force) {
    const T limit = T(FORCE_LIMIT);
    // false for what is not a number
    const bool sane = fabs(force.x) < limit && fabs(force.y) < limit && fabs(force.z) < limit;
    if (!sane) {
        atomicMin(&a.status->overflow, a.slot_atom[slot]);
        return;
    }
    const T scale = T(FORCE_SCALE);
    add_fixed(&a.forces[slot], force.x, scale);
    add_fixed(&a.forces[slot + a.slots], force.y, scale);
    add_fixed(&a.forces[slot + 2 * a.slots], force.z, scale);
}

// The force on the atom in a slot, kJ/mol/nm.
__device__ inline Vec3<double> force_on(const Arguments& a, u32 slot) {
    const double unit = 1.0 / FORCE_SCALE;
    return vec3(a.forces[slot] * unit, a.forces[slot + a.slots] * unit, a.forces[slot + 2 * a.slots] * unit);
}
