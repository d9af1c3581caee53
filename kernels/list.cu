// Pair search: one warp finds the atoms within the list radius of a block of 32 atoms.
//
// A list entry is an atom j in a lattice image, and a mask of the i-atoms of the block with which atom j interacts.
// Entries form groups of 32. A chunk consists of up to CHUNK_GROUPS groups. The force kernel uses two warps for each
// chunk, one for each half of the block. The position of a chunk in memory depends on timing, but the contents of
// chunks do not. The pairs between two different blocks are listed by exactly one of the two blocks: see `lists`.

// Entries that a warp has found but not written yet, in shared memory.
struct EntryBuffer {
    u32 entry[2 * WARP], mask[2 * WARP];
};

// State of a searching warp: the i-block, and the chunk that the warp fills. All lanes of the warp hold the same
// values.
struct Searcher {
    u32 block, chunk, groups, found;
};

// Returns true if `block` lists its pairs with `other` in the given image. The pairs between two different blocks are
// listed by one of the two blocks, so that each block lists about half of its partners. The pairs of a block with its
// own periodic image are listed for only one of the two opposite lattice shifts.
__device__ inline bool lists(u32 block, u32 other, int na, int nb, int nc) {
    if (block == other) return na != 0 ? na > 0 : nb != 0 ? nb > 0 : nc >= 0;
    return (block + other) % 2 == 1 ? block < other : block > other;
}

// Returns the squared distance of two boxes, given by their corners, or of a box and a point.
__device__ inline float gap_squared(Vec3<float> low, Vec3<float> high, Vec3<float> other_low, Vec3<float> other_high) {
    const float x = fmaxf(fmaxf(other_low.x - high.x, low.x - other_high.x), 0.0f);
    const float y = fmaxf(fmaxf(other_low.y - high.y, low.y - other_high.y), 0.0f);
    const float z = fmaxf(fmaxf(other_low.z - high.z, low.z - other_high.z), 0.0f);
    return x * x + y * y + z * z;
}

// Returns true if the position `at` is closer than √`radius2` to at least one of N atoms, whose offsets are in `atoms`.
template <u32 N>
__device__ inline bool near_any(const float4* atoms, Vec3<float> at, float radius2) {
    for (u32 i = 0; i < N; ++i)
        if (norm_squared(xyz(atoms[i]) - at) < radius2) return true;
    return false;
}

// Returns the mask of the atoms of a block with which atom j interacts.
__device__ inline u32 interacting(const Arguments& a, u32 block, u32 slot_j, bool home) {
    // within a block only pairs i < j are listed
    u32 mask = home && slot_j / WARP == block ? (1u << slot_j % WARP) - 1 : ALL_LANES;
    const u32 atom = a.slot_atom[slot_j];
    for (u32 k = a.exclusion_starts[atom]; k < a.exclusion_starts[atom + 1]; ++k) {
        const u32 partner = a.atom_slot[a.exclusions[k]];
        if (partner / WARP == block) mask &= ~(1u << partner % WARP);
    }
    return mask;
}

// Writes one group of entries. Lanes with an index of `count` or more write an empty entry, which has no pairs.
__device__ inline void write_group(const Arguments& a, Searcher& searcher, const EntryBuffer& buffer, u32 count) {
    const u32 lane = lane_number();
    if (searcher.groups % CHUNK_GROUPS == 0) {
        u32 chunk = 0;
        if (lane == 0) chunk = atomicAdd(&a.counts->chunks_found, 1u);
        searcher.chunk = __shfl_sync(ALL_LANES, chunk, 0);
        searcher.groups = 0;
    }
    if (searcher.chunk < a.chunk_capacity) {
        const bool used = lane < count;
        const u32 empty = CENTRAL_SHIFT << SLOT_BITS | (searcher.block * WARP + lane);
        a.outer[(searcher.chunk * CHUNK_GROUPS + searcher.groups) * WARP + lane] =
            make_uint2(used ? buffer.entry[lane] : empty, used ? buffer.mask[lane] : 0u);
        if (lane == 0) {
            a.chunk_block[searcher.chunk] = searcher.block;
            a.outer_groups[searcher.chunk] = searcher.groups + 1;
        }
    }
    ++searcher.groups;
}

// Appends the entries of the lanes that have found an atom, and writes a group as soon as 32 entries are complete.
__device__ inline void append(const Arguments& a, Searcher& searcher, EntryBuffer& buffer, bool hit, u32 entry,
                              u32 mask) {
    const u32 lane = lane_number(), hits = __ballot_sync(ALL_LANES, hit);
    if (hits == 0) return;
    if (hit) {
        const u32 place = searcher.found + __popc(hits & ((1u << lane) - 1));
        buffer.entry[place] = entry;
        buffer.mask[place] = mask;
    }
    searcher.found += __popc(hits);
    __syncwarp();
    if (searcher.found >= WARP) {
        write_group(a, searcher, buffer, WARP);
        searcher.found -= WARP;
        const u32 rest_entry = buffer.entry[WARP + lane], rest_mask = buffer.mask[WARP + lane];
        __syncwarp();
        if (lane < searcher.found) {
            buffer.entry[lane] = rest_entry;
            buffer.mask[lane] = rest_mask;
        }
        __syncwarp();
    }
}

// A lattice image of the block for which pairs are searched.
struct Image {
    int na, nb, nc;
    u32 shift;
    bool home;
    Vec3<float> low, high;
    float reach2;
};

// Returns true if the image is within the list radius of the box with index `number` in `boxes`.
__device__ inline bool reaches(const Image& image, const float4* boxes, u32 number) {
    return gap_squared(image.low, image.high, xyz(boxes[2 * number]), xyz(boxes[2 * number + 1])) < image.reach2;
}

// Finds all atoms within the list radius in one region, which consists of the 32 blocks that begin with block `base`.
__device__ inline void search_region(const Arguments& a, Searcher& searcher, EntryBuffer& buffer, const float4* atoms,
                                     const Image& image, u32 base) {
    const u32 lane = lane_number(), block = searcher.block, candidate = base + lane;
    const float4 origin = a.origins[block];
    const bool near = candidate < a.blocks && lists(block, candidate, image.na, image.nb, image.nc) &&
                      reaches(image, a.bounds, candidate);
    for (u32 rest = __ballot_sync(ALL_LANES, near); rest != 0; rest &= rest - 1) {
        const u32 slot = (base + __ffs(int(rest)) - 1) * WARP + lane;
        const u32 entry = image.shift << SLOT_BITS | slot;
        bool hit = a.slot_atom[slot] != NO_ATOM;
        if (hit) hit = near_any<WARP>(atoms, seen_from(a, entry, origin), a.outer_radius * a.outer_radius);
        const u32 mask = hit ? interacting(a, block, slot, image.home) : 0u;
        append(a, searcher, buffer, hit && mask != 0, entry, mask);
    }
}

// Finds all atoms within the list radius of one lattice image of the block. The search tests whole regions of 32 blocks
// first, because nearly all blocks of a large system are beyond the list radius.
__device__ inline void search_image(const Arguments& a, Searcher& searcher, EntryBuffer& buffer, const float4* atoms,
                                    int na, int nb, int nc) {
    const u32 block = searcher.block, shift = shift_number(na, nb, nc), regions = (a.blocks + WARP - 1) / WARP;
    const Vec3<float> moved = xyz(a.shifts[2 * shift]) + xyz(a.shifts[2 * shift + 1]);
    // the margin covers the rounding of box corners to f32
    const float reach = a.outer_radius + BOUNDS_ROUNDING;
    const Image image = {na, nb, nc, shift, na == 0 && nb == 0 && nc == 0, xyz(a.bounds[2 * block]) - moved,
                         xyz(a.bounds[2 * block + 1]) - moved, reach * reach};
    for (u32 first = 0; first < regions; first += WARP) {
        const u32 region = first + lane_number();
        const bool near = region < regions && reaches(image, a.regions, region);
        for (u32 rest = __ballot_sync(ALL_LANES, near); rest != 0; rest &= rest - 1)
            search_region(a, searcher, buffer, atoms, image, (first + __ffs(int(rest)) - 1) * WARP);
    }
}

// Lattice images that a box overlaps: the first and the last along each lattice vector.
struct Images {
    int first[3], last[3];
};

__device__ inline Images images_in_reach(const Arguments& a, u32 block) {
    const Lattice cell = *a.cell;
    if (!cell.periodic) return {{0, 0, 0}, {0, 0, 0}};
    const Vec3<double> low = widened(xyz(a.bounds[2 * block])), high = widened(xyz(a.bounds[2 * block + 1]));
    double first[3] = {1e300, 1e300, 1e300}, last[3] = {-1e300, -1e300, -1e300};
    for (u32 corner = 0; corner < 8; ++corner) {
        const Vec3<double> r =
            vec3(corner & 1 ? high.x : low.x, corner & 2 ? high.y : low.y, corner & 4 ? high.z : low.z);
        const Vec3<double> s = to_fractional(cell, r);
        const double along[3] = {s.x, s.y, s.z};
        for (u32 k = 0; k < 3; ++k) {
            first[k] = fmin(first[k], along[k]);
            last[k] = fmax(last[k], along[k]);
        }
    }
    Images images;
    for (u32 k = 0; k < 3; ++k) {
        const double margin = (a.outer_radius + BOUNDS_ROUNDING) * cell.inverse_width[k];
        images.first[k] = int(fmax(floor(first[k] - margin), -2.0));
        images.last[k] = int(fmin(floor(last[k] + margin), 2.0));
    }
    return images;
}

extern "C" __global__ void search(const Arguments a, const double) {
    __shared__ EntryBuffer buffers[SEARCH_WARPS];
    __shared__ float4 atoms[SEARCH_WARPS][WARP];
    const u32 lane = lane_number(), warp = threadIdx.x / WARP;
    if (warp_number() >= a.blocks) return;
    Searcher searcher = {warp_number(), 0, 0, 0};
    atoms[warp][lane] = a.packed[searcher.block * WARP + lane];
    __syncwarp();
    const Images images = images_in_reach(a, searcher.block);
    for (int na = images.first[0]; na <= images.last[0]; ++na)
        for (int nb = images.first[1]; nb <= images.last[1]; ++nb)
            for (int nc = images.first[2]; nc <= images.last[2]; ++nc)
                search_image(a, searcher, buffers[warp], atoms[warp], na, nb, nc);
    if (searcher.found > 0) write_group(a, searcher, buffers[warp], searcher.found);
}

// Stores the number of chunks after the search. If the search needed more chunks than fit, the host allocates larger
// lists and searches again.
extern "C" __global__ void close_search(const Arguments a, const double) {
    const u32 found = a.counts->chunks_found;
    a.counts->chunks = found < a.chunk_capacity ? found : a.chunk_capacity;
}
