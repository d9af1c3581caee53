// Pruning: copies the entries of the outer list within the inner radius to the inner list, chunk by chunk, compacted.

// Positions predicted from the velocities, r + v t.
extern "C" __global__ void predict_positions(const Arguments a, const double time) {
    const u32 atom = thread_number();
    if (atom < a.atoms) a.positions[atom] = a.positions[atom] + a.velocities[atom] * time;
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
    u32 kept = 0;
    for (u32 group = 0; group < found; ++group) {
        const uint2 entry = a.outer[first + group * WARP + lane];
        const bool near = entry.y != 0 && near_any(atoms[warp], seen_from(a, entry.x, origin), radius2);
        const u32 hits = __ballot_sync(ALL_LANES, near);
        if (near) a.inner[first + kept + __popc(hits & ((1u << lane) - 1))] = entry;
        kept += __popc(hits);
    }
    const u32 groups = (kept + WARP - 1) / WARP;
    // fill up the last group with entries without pairs
    if (kept + lane < groups * WARP)
        a.inner[first + kept + lane] = make_uint2(CENTRAL_SHIFT << SLOT_BITS | (block * WARP + lane), 0u);
    if (lane == 0) a.inner_groups[chunk] = groups;
}
