// Spatial sorting of atoms into slots, with 32 neighbouring atoms per block. Columns along the third lattice vector,
// traversed alternately up and down, are cut into thin slices. A counting sort assigns atoms to slices. The atoms of
// a slice are ordered by index, so that the result never depends on timing.

// Returns the index of the bin that contains a fractional coordinate, if the range from 0 to 1 is divided into `bins`
// equal bins.
__device__ inline u32 bin_of(double s, u32 bins) {
    const int bin = int(floor(s * bins));
    return u32(bin < 0 ? 0 : bin >= int(bins) ? int(bins) - 1 : bin);
}

// Returns the index of the slice that contains a position. Slices are numbered along the traversal.
__device__ inline u32 slice_number(const Arguments& a, const Lattice& cell, Vec3<double> wrapped) {
    const Vec3<double> s = cell.periodic
                               ? to_fractional(cell, wrapped)
                               : vec3((wrapped.x - a.frame_low[0]) * a.frame_inverse[0],
                                      (wrapped.y - a.frame_low[1]) * a.frame_inverse[1],
                                      (wrapped.z - a.frame_low[2]) * a.frame_inverse[2]);
    const u32 x = bin_of(s.x, a.columns_x), y = bin_of(s.y, a.columns_y), z = bin_of(s.z, a.slices);
    const u32 column = x * a.columns_y + (x % 2 == 0 ? y : a.columns_y - 1 - y);
    return column * a.slices + (column % 2 == 0 ? z : a.slices - 1 - z);
}

// Counts the atoms of each slice. The counts must have been set to zero.
extern "C" __global__ void sort_count(const Arguments a, const double) {
    const u32 atom = thread_number();
    if (atom >= a.atoms) return;
    const Lattice cell = *a.cell;
    int4 image;
    const u32 slice = slice_number(a, cell, wrap(cell, a.positions[atom], image));
    a.atom_images[atom] = image;
    a.atom_slice[atom] = slice;
    atomicAdd(&a.slice_starts[slice], 1u);
}

// Exclusive prefix sum of the counts, by one block of threads. The block processes one tile of counts after another.
// The counts of a tile are summed first within each warp, then over the warps.
extern "C" __global__ void __launch_bounds__(SCAN_THREADS) sort_scan(const Arguments a, const double) {
    __shared__ u32 warp_totals[WARP];
    const u32 lane = lane_number(), warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    const u32 all = a.columns_x * a.columns_y * a.slices;
    u32 before_tile = 0;
    for (u32 tile = 0; tile < all; tile += blockDim.x) {
        const u32 slice = tile + threadIdx.x;
        const u32 count = slice < all ? a.slice_starts[slice] : 0;
        u32 sum = count;
        for (u32 distance = 1; distance < WARP; distance *= 2) {
            const u32 left = __shfl_up_sync(ALL_LANES, sum, distance);
            if (lane >= distance) sum += left;
        }
        if (lane == WARP - 1) warp_totals[warp] = sum;
        __syncthreads();
        u32 before_warp = 0, total = 0;
        for (u32 other = 0; other < warps; ++other) {
            if (other < warp) before_warp += warp_totals[other];
            total += warp_totals[other];
        }
        if (slice < all) a.slice_starts[slice] = before_tile + before_warp + sum - count;
        before_tile += total;
        __syncthreads();
    }
    if (threadIdx.x == 0) a.slice_starts[all] = before_tile;
}

// Puts atoms into the slots of their slice, in any order. `slice_filled` must have been set to zero.
extern "C" __global__ void sort_fill(const Arguments a, const double) {
    const u32 atom = thread_number();
    if (atom >= a.atoms) return;
    const u32 slice = a.atom_slice[atom];
    a.slot_atom[a.slice_starts[slice] + atomicAdd(&a.slice_filled[slice], 1u)] = atom;
}

// Sorts the few atoms of each slice by insertion.
extern "C" __global__ void sort_order(const Arguments a, const double) {
    const u32 slice = thread_number();
    if (slice >= a.columns_x * a.columns_y * a.slices) return;
    const u32 first = a.slice_starts[slice], end = a.slice_starts[slice + 1];
    for (u32 next = first + 1; next < end; ++next) {
        const u32 atom = a.slot_atom[next];
        u32 to = next;
        for (; to > first && a.slot_atom[to - 1] > atom; --to) a.slot_atom[to] = a.slot_atom[to - 1];
        a.slot_atom[to] = atom;
    }
}

__device__ inline double warp_min(double value) {
    for (u32 distance = WARP / 2; distance > 0; distance /= 2)
        value = fmin(value, __shfl_xor_sync(ALL_LANES, value, distance));
    return value;
}

// Returns the middle of a range, rounded to a multiple of ORIGIN_QUANTUM.
__device__ inline float quantised_middle(double low, double high) {
    return float(rint(0.5 * (low + high) / ORIGIN_QUANTUM) * ORIGIN_QUANTUM);
}

// A box, given by its lowest and its highest corner.
struct Box {
    Vec3<double> low, high;
};

// Returns the smallest box that contains the boxes of all lanes.
__device__ inline Box warp_box(const Box& box) {
    return {vec3(warp_min(box.low.x), warp_min(box.low.y), warp_min(box.low.z)),
            vec3(-warp_min(-box.high.x), -warp_min(-box.high.y), -warp_min(-box.high.z))};
}

__device__ inline void store_box(float4* boxes, u32 number, const Box& box) {
    boxes[2 * number] = make_float4(float(box.low.x), float(box.low.y), float(box.low.z), 0.0f);
    boxes[2 * number + 1] = make_float4(float(box.high.x), float(box.high.y), float(box.high.z), 0.0f);
}

// Computes the lattice image and the Lennard-Jones parameters of each slot, and the bounding boxes of blocks and
// regions. One block of threads handles each region of 32 blocks of atoms, with one warp per block of atoms.
extern "C" __global__ void __launch_bounds__(WARP * WARP) sort_finish(const Arguments a, const double) {
    __shared__ float4 boxes[2 * WARP];
    const u32 slot = thread_number(), block = warp_number(), warp = threadIdx.x / WARP, lane = lane_number();
    // an empty box
    const double far = 1e30;
    Box box = {vec3(far, far, far), vec3(-far, -far, -far)};
    float2 lj = make_float2(a.empty_lj[0], a.empty_lj[1]);
    int4 image = make_int4(0, 0, 0, 0);
    if (slot < a.atoms) {
        const u32 atom = a.slot_atom[slot];
        image = a.atom_images[atom];
        box.low = box.high = a.positions[atom] - lattice_shift(*a.cell, image.x, image.y, image.z);
        lj = a.lj[atom];
        a.atom_slot[atom] = slot;
    } else if (slot < a.slots) {
        a.slot_atom[slot] = NO_ATOM;
    }
    if (slot < a.slots) {
        a.images[slot] = image;
        a.slot_lj[slot] = lj;
    }
    box = warp_box(box);
    if (lane == 0) store_box(boxes, warp, box);
    if (lane == 0 && block < a.blocks) {
        a.origins[block] = make_float4(quantised_middle(box.low.x, box.high.x), quantised_middle(box.low.y, box.high.y),
                                       quantised_middle(box.low.z, box.high.z), 0.0f);
        store_box(a.bounds, block, box);
    }
    __syncthreads();
    if (warp > 0) return;
    // the box of a region is computed from the rounded boxes of its blocks, so that every block is inside its region
    box = warp_box({widened(xyz(boxes[2 * lane])), widened(xyz(boxes[2 * lane + 1]))});
    if (lane == 0) store_box(a.regions, blockIdx.x, box);
}
