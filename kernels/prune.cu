// Pruning: copies the entries of the outer list that are within the inner radius to the inner list, chunk by chunk,
// without gaps. Each chunk becomes two inner lists, one for each half of its block of 32 atoms. An inner list contains
// only entries near its half of the block. An inner list for 16 i-atoms contains fewer pairs beyond the cutoff than a
// list for 32 i-atoms.

// Predicts the positions r + v t from the velocities v, where t is `time` (ps).
extern "C" __global__ void predict_positions(const Arguments a, const double time) {
    const u32 atom = thread_number();
    if (atom < a.atoms) a.positions[atom] = a.positions[atom] + a.velocities[atom] * time;
}

// Writes the entries of a chunk that are within the inner radius of one half of the block of i-atoms. Entries with
// excluded pairs come first, so that few groups need masks.
__device__ inline void write_half(const Arguments& a, u32 chunk, u32 half, const uint2 (&entries)[CHUNK_GROUPS],
                                  const u32 (&near)[CHUNK_GROUPS]) {
    const u32 lane = lane_number(), list = 2 * chunk + half, first = list * CHUNK_GROUPS * WARP, below = (1u << lane) - 1;
    u32 kept = 0, partial = 0;
#pragma unroll
    for (u32 group = 0; group < CHUNK_GROUPS; ++group) {
        const bool hit = (near[group] >> lane & 1u) != 0, whole = (entries[group].y >> half * HALF & ALL_OF_HALF) == ALL_OF_HALF;
        kept += __popc(near[group]);
        partial += __popc(__ballot_sync(ALL_LANES, hit && !whole));
    }
    u32 next = 0, next_whole = partial;
#pragma unroll
    for (u32 group = 0; group < CHUNK_GROUPS; ++group) {
        const u32 mask = entries[group].y >> half * HALF & ALL_OF_HALF;
        const bool hit = (near[group] >> lane & 1u) != 0;
        const u32 masked = __ballot_sync(ALL_LANES, hit && mask != ALL_OF_HALF), unmasked = near[group] & ~masked;
        const u32 place = mask == ALL_OF_HALF ? next_whole + __popc(unmasked & below) : next + __popc(masked & below);
        if (hit) a.inner[first + place] = make_uint2(entries[group].x, mask);
        next += __popc(masked);
        next_whole += __popc(unmasked);
    }
    const u32 groups = (kept + WARP - 1) / WARP;
    // the rest of the last group is filled with entries without pairs
    const u32 empty = CENTRAL_SHIFT << SLOT_BITS | (a.chunk_block[chunk] * WARP + lane);
    if (kept + lane < groups * WARP) a.inner[first + kept + lane] = make_uint2(empty, 0u);
    if (lane == 0) a.inner_groups[list] = groups;
}

extern "C" __global__ void prune(const Arguments a, const double) {
    __shared__ float4 atoms[SEARCH_WARPS][WARP];
    const u32 lane = lane_number(), warp = threadIdx.x / WARP, chunk = warp_number();
    if (chunk >= a.counts->chunks) return;
    const u32 block = a.chunk_block[chunk], first = chunk * CHUNK_GROUPS * WARP, found = a.outer_groups[chunk];
    const float4 origin = a.origins[block];
    const float radius2 = a.inner_radius * a.inner_radius;
    atoms[warp][lane] = a.packed[block * WARP + lane];
    __syncwarp();
    uint2 entries[CHUNK_GROUPS];
    u32 near[2][CHUNK_GROUPS];
#pragma unroll
    for (u32 group = 0; group < CHUNK_GROUPS; ++group) {
        entries[group] = group < found ? a.outer[first + group * WARP + lane] : make_uint2(0u, 0u);
        const uint2 entry = entries[group];
        const Vec3<float> at = entry.y != 0 ? seen_from(a, entry.x, origin) : vec3(NOWHERE, NOWHERE, NOWHERE);
#pragma unroll
        for (u32 half = 0; half < 2; ++half) {
            const bool pairs = (entry.y >> half * HALF & ALL_OF_HALF) != 0;
            near[half][group] =
                __ballot_sync(ALL_LANES, pairs && near_any<HALF>(atoms[warp] + half * HALF, at, radius2));
        }
    }
    write_half(a, chunk, 0, entries, near[0]);
    write_half(a, chunk, 1, entries, near[1]);
}
