// Forces between the atoms of the inner list: one warp per chunk, tiles of 32 × 32 pairs.

// A tile of 32 j-atoms in shared memory: positions and charges, Lennard-Jones parameters, and masks of the i-atoms that
// each interacts with. Stored twice in a row, so that 32 atoms from any start are contiguous.
struct JTile {
    float4 sites[2 * WARP];
    float2 lj[2 * WARP];
    u32 masks[2 * WARP];
};

// The i-atom of a lane in registers, with its accumulators.
struct IAtom {
    float4 site;
    float2 lj;
    Vec3<float> force;
    float energy_lj, energy_coulomb;
};

// All pairs of a tile: in turn t lane l computes the pair with j-atom (l + t) mod 32, and the force accumulators of the
// j-atoms rotate through the warp by shuffles; after 32 turns lane l has the force on j-atom l. MASKED where some pair
// does not interact.
template <int RULE, bool SUMS, bool MORE, bool MASKED>
__device__ inline Vec3<float> tile_forces(const Arguments& a, const JTile& tile, IAtom& i) {
    const u32 lane = lane_number(), next = (lane + 1) % WARP;
    Vec3<float> force_j = vec3(0.0f, 0.0f, 0.0f);
#pragma unroll 4
    for (u32 turn = 0; turn < WARP; ++turn) {
        const float4 j = tile.sites[lane + turn];
        const Vec3<float> d = xyz(i.site) - xyz(j);
        const bool interact = !MASKED || (tile.masks[lane + turn] >> lane & 1u) != 0;
        const PairTerm term = pair_term<RULE, SUMS, MORE>(a, norm_squared(d), i.site.w * j.w, i.lj,
                                                          tile.lj[lane + turn], interact);
        i.force = fused(d, term.force, i.force);
        force_j = fused(d, -term.force, force_j);
        if (SUMS) {
            i.energy_lj += term.lj;
            i.energy_coulomb += term.coulomb;
        }
        force_j = vec3(__shfl_sync(ALL_LANES, force_j.x, next), __shfl_sync(ALL_LANES, force_j.y, next),
                       __shfl_sync(ALL_LANES, force_j.z, next));
    }
    return force_j;
}

// Forces of one chunk: lane l keeps i-atom l of the block, and the warp loops over the j-tiles.
template <int RULE, bool SUMS, bool MORE>
__device__ inline void pair_forces_of_chunk(const Arguments& a, u32 chunk, JTile& tile) {
    const u32 lane = lane_number(), block = a.chunk_block[chunk], slot_i = block * WARP + lane;
    const float4 origin = a.origins[block];
    IAtom i = {a.packed[slot_i], a.slot_lj[slot_i], vec3(0.0f, 0.0f, 0.0f), 0.0f, 0.0f};
    double energy_lj = 0.0, energy_coulomb = 0.0;
    Tensor virial = {};
    const u32 groups = a.inner_groups[chunk];
    for (u32 number = 0; number < groups; ++number) {
        const uint2 entry = a.inner[(chunk * CHUNK_GROUPS + number) * WARP + lane];
        const u32 slot_j = entry.x & SLOT_MASK;
        const Vec3<float> home = seen_from(a, entry.x, origin);
        // all lanes have read the previous tile
        __syncwarp();
        tile.sites[lane] = tile.sites[lane + WARP] = make_float4(home.x, home.y, home.z, a.packed[slot_j].w);
        tile.lj[lane] = tile.lj[lane + WARP] = a.slot_lj[slot_j];
        tile.masks[lane] = tile.masks[lane + WARP] = entry.y;
        __syncwarp();
        const Vec3<float> force = __any_sync(ALL_LANES, entry.y != ALL_LANES)
                                      ? tile_forces<RULE, SUMS, MORE, true>(a, tile, i)
                                      : tile_forces<RULE, SUMS, MORE, false>(a, tile, i);
        if (entry.y != 0) add_force(a, slot_j, force);
        if (SUMS) {
            energy_lj += i.energy_lj;
            energy_coulomb += i.energy_coulomb;
            i.energy_lj = i.energy_coulomb = 0.0f;
            add_outer(virial, widened(home), widened(force));
        }
    }
    if (a.slot_atom[slot_i] != NO_ATOM) add_force(a, slot_i, i.force);
    if (SUMS) {
        add_outer(virial, widened(xyz(i.site)), widened(i.force));
        add_sum(a, SUM_LJ, energy_lj);
        add_sum(a, SUM_COULOMB, energy_coulomb);
        add_tensor(a, SUM_VIRIAL, virial);
    }
}

template <int RULE, bool SUMS>
__device__ inline void pair_forces(const Arguments& a) {
    __shared__ JTile tiles[SEARCH_WARPS];
    JTile& tile = tiles[threadIdx.x / WARP];
    const u32 chunk = warp_number();
    if (chunk >= a.counts->chunks || halted(a)) return;
    if (a.coulomb_force.more_pairs == 0 && (!SUMS || a.coulomb_energy.more_pairs == 0))
        pair_forces_of_chunk<RULE, SUMS, false>(a, chunk, tile);
    else
        pair_forces_of_chunk<RULE, SUMS, true>(a, chunk, tile);
}

extern "C" __global__ void __launch_bounds__(SEARCH_WARPS * WARP, PAIR_BLOCKS) pair_geometric(const Arguments a, const double) {
    pair_forces<RULE_GEOMETRIC, false>(a);
}
extern "C" __global__ void pair_geometric_sums(const Arguments a, const double) {
    pair_forces<RULE_GEOMETRIC, true>(a);
}
extern "C" __global__ void __launch_bounds__(SEARCH_WARPS * WARP, PAIR_BLOCKS) pair_lorentz_berthelot(const Arguments a, const double) {
    pair_forces<RULE_LORENTZ_BERTHELOT, false>(a);
}
extern "C" __global__ void pair_lorentz_berthelot_sums(const Arguments a, const double) {
    pair_forces<RULE_LORENTZ_BERTHELOT, true>(a);
}
extern "C" __global__ void __launch_bounds__(SEARCH_WARPS * WARP, PAIR_BLOCKS) pair_type_table(const Arguments a, const double) {
    pair_forces<RULE_TYPE_TABLE, false>(a);
}
extern "C" __global__ void pair_type_table_sums(const Arguments a, const double) {
    pair_forces<RULE_TYPE_TABLE, true>(a);
}
