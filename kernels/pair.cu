// Forces between the atoms of the inner list: one warp per chunk, tiles of 32 × 32 pairs.

// Forces of one chunk. Lane l keeps atom l of the block of i-atoms; 32 j-atoms of a group travel around the warp with
// the forces on them, so that after 32 turns every pair has met and every force is home.
template <int RULE, bool SUMS>
__device__ inline void pair_forces_of_chunk(const Arguments& a, u32 chunk) {
    const u32 lane = lane_number(), block = a.chunk_block[chunk], slot_i = block * WARP + lane;
    const float4 i = a.packed[slot_i];
    const float2 lj_i = a.slot_lj[slot_i];
    const float4 origin_i = a.origins[block];
    Vec3<float> force_i = vec3(0.0f, 0.0f, 0.0f);
    double energy_lj = 0.0, energy_coulomb = 0.0;
    Tensor virial = {};
    const u32 groups = a.inner_groups[chunk];
    for (u32 group = 0; group < groups; ++group) {
        const uint2 entry = a.inner[(chunk * CHUNK_GROUPS + group) * WARP + lane];
        const u32 slot_j = entry.x & SLOT_MASK;
        const bool masked = __any_sync(ALL_LANES, entry.y != ALL_LANES);
        Vec3<float> at = seen_from(a, entry.x, origin_i);
        const Vec3<float> home = at;
        float charge = a.packed[slot_j].w;
        float2 lj_j = a.slot_lj[slot_j];
        u32 mask = entry.y;
        Vec3<float> force_j = vec3(0.0f, 0.0f, 0.0f);
        float lj_of_group = 0.0f, coulomb_of_group = 0.0f;
        for (u32 turn = 0; turn < WARP; ++turn) {
            const Vec3<float> d = xyz(i) - at;
            const float r2 = norm_squared(d);
            const bool meets = r2 < a.largest_cutoff2 && (!masked || (mask >> lane & 1u));
            if (meets) {
                const PairTerm term = pair_term<RULE, SUMS>(a, r2, i.w * charge, lj_i, lj_j);
                const Vec3<float> force = d * term.force;
                force_i = force_i + force;
                force_j = force_j - force;
                if (SUMS) {
                    lj_of_group += term.lj;
                    coulomb_of_group += term.coulomb;
                }
            }
            const u32 next = (lane + 1) % WARP;
            at = vec3(__shfl_sync(ALL_LANES, at.x, next), __shfl_sync(ALL_LANES, at.y, next),
                      __shfl_sync(ALL_LANES, at.z, next));
            charge = __shfl_sync(ALL_LANES, charge, next);
            lj_j.x = __shfl_sync(ALL_LANES, lj_j.x, next);
            if (RULE != RULE_TYPE_TABLE) lj_j.y = __shfl_sync(ALL_LANES, lj_j.y, next);
            if (masked) mask = __shfl_sync(ALL_LANES, mask, next);
            force_j = vec3(__shfl_sync(ALL_LANES, force_j.x, next), __shfl_sync(ALL_LANES, force_j.y, next),
                           __shfl_sync(ALL_LANES, force_j.z, next));
        }
        if (entry.y != 0) add_force(a, slot_j, force_j);
        if (SUMS) {
            energy_lj += lj_of_group;
            energy_coulomb += coulomb_of_group;
            add_outer(virial, widened(home), widened(force_j));
        }
    }
    if (a.slot_atom[slot_i] != NO_ATOM) add_force(a, slot_i, force_i);
    if (SUMS) {
        add_outer(virial, widened(xyz(i)), widened(force_i));
        add_sum(a, SUM_LJ, energy_lj);
        add_sum(a, SUM_COULOMB, energy_coulomb);
        add_tensor(a, SUM_VIRIAL, virial);
    }
}

template <int RULE, bool SUMS>
__device__ inline void pair_forces(const Arguments& a) {
    if (halted(a)) return;
    const u32 chunks = a.counts->chunks;
    for (u32 chunk = warp_number(); chunk < chunks; chunk += warps_in_launch())
        pair_forces_of_chunk<RULE, SUMS>(a, chunk);
}

extern "C" __global__ void pair_geometric(const Arguments a, const double) {
    pair_forces<RULE_GEOMETRIC, false>(a);
}
extern "C" __global__ void pair_geometric_sums(const Arguments a, const double) {
    pair_forces<RULE_GEOMETRIC, true>(a);
}
extern "C" __global__ void pair_lorentz_berthelot(const Arguments a, const double) {
    pair_forces<RULE_LORENTZ_BERTHELOT, false>(a);
}
extern "C" __global__ void pair_lorentz_berthelot_sums(const Arguments a, const double) {
    pair_forces<RULE_LORENTZ_BERTHELOT, true>(a);
}
extern "C" __global__ void pair_type_table(const Arguments a, const double) {
    pair_forces<RULE_TYPE_TABLE, false>(a);
}
extern "C" __global__ void pair_type_table_sums(const Arguments a, const double) {
    pair_forces<RULE_TYPE_TABLE, true>(a);
}
