// Forces between the atoms of the inner list. One warp handles one half of the block of a chunk, in tiles of 16 × 32
// pairs. The same kernels also compute bonded terms.

// Tile of 32 j-atoms in shared memory: positions and charges, Lennard-Jones parameters, and for each j-atom the mask of
// the i-atoms with which it interacts. The tile is stored twice, one copy after the other, so that any 32 cyclically
// consecutive atoms are contiguous in memory.
struct JTile {
    float4 sites[2 * WARP];
    float2 lj[2 * WARP];
    u32 masks[2 * WARP];
};

// The i-atom of a lane in registers, with the sums of its force.
struct IAtom {
    float4 site;
    float2 lj;
    Vec3<float> force;
    float energy_lj, energy_coulomb;
};

__device__ inline Vec3<float> from_lane(Vec3<float> value, u32 lane) {
    return vec3(__shfl_sync(ALL_LANES, value.x, lane), __shfl_sync(ALL_LANES, value.y, lane),
                __shfl_sync(ALL_LANES, value.z, lane));
}

// Computes all pairs of a tile. Lanes l and l + 16 have i-atom l of the half block. In turn t, lane l computes the pair
// with j-atom (l + t) mod 32, and the force accumulators of the j-atoms rotate through the warp by shuffles. After 16
// turns lane l has the force on j-atom (l + 16) mod 32. With a last shuffle lane l returns the force on j-atom l. The
// template parameter MASKED means that at least one pair of the tile does not interact.
template <int RULE, bool SUMS, bool MORE, bool MASKED>
__device__ inline Vec3<float> tile_forces(const Arguments& a, const JTile& tile, IAtom& i) {
    const u32 lane = lane_number(), next = (lane + 1) % WARP;
    Vec3<float> force_j = vec3(0.0f, 0.0f, 0.0f);
#pragma unroll 4
    for (u32 turn = 0; turn < HALF; ++turn) {
        const float4 j = tile.sites[lane + turn];
        const Vec3<float> d = xyz(i.site) - xyz(j);
        const bool interact = !MASKED || (tile.masks[lane + turn] >> lane % HALF & 1u) != 0;
        const PairTerm term = pair_term<RULE, SUMS, MORE>(a, norm_squared(d), i.site.w * j.w, i.lj,
                                                          tile.lj[lane + turn], interact);
        i.force = fused(d, term.force, i.force);
        force_j = fused(d, -term.force, force_j);
        if (SUMS) {
            i.energy_lj += term.lj;
            i.energy_coulomb += term.coulomb;
        }
        force_j = from_lane(force_j, next);
    }
    return from_lane(force_j, lane ^ HALF);
}

// Computes the forces of one half of a chunk: the warp keeps the i-atoms and loops over the j-tiles.
template <int RULE, bool SUMS, bool MORE>
__device__ inline void pair_forces_of_half(const Arguments& a, u32 chunk, u32 half, JTile& tile) {
    const u32 lane = lane_number(), block = a.chunk_block[chunk], slot_i = block * WARP + half * HALF + lane % HALF;
    const u32 list = 2 * chunk + half, first = list * CHUNK_GROUPS * WARP, groups = a.inner_groups[list];
    const float4 origin = a.origins[block];
    IAtom i = {a.packed[slot_i], a.slot_lj[slot_i], vec3(0.0f, 0.0f, 0.0f), 0.0f, 0.0f};
    double energy_lj = 0.0, energy_coulomb = 0.0;
    Tensor virial = {};
    for (u32 number = 0; number < groups; ++number) {
        const uint2 entry = a.inner[first + number * WARP + lane];
        const u32 slot_j = entry.x & SLOT_MASK;
        const Vec3<float> home = seen_from(a, entry.x, origin);
        // wait until all lanes have read the previous tile
        __syncwarp();
        // an entry without pairs gets a position beyond the cutoff, so that the tile needs no mask for this entry
        const bool nowhere = entry.y == 0 && a.largest_cutoff2 < NOWHERE * NOWHERE;
        const float x = nowhere ? NOWHERE : home.x;
        tile.sites[lane] = tile.sites[lane + WARP] = make_float4(x, home.y, home.z, a.packed[slot_j].w);
        tile.lj[lane] = tile.lj[lane + WARP] = a.slot_lj[slot_j];
        tile.masks[lane] = tile.masks[lane + WARP] = entry.y;
        __syncwarp();
        const Vec3<float> force = __any_sync(ALL_LANES, entry.y != ALL_OF_HALF && !nowhere)
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
    // sum over the two lanes of an i-atom
    const Vec3<float> force = i.force + from_lane(i.force, lane ^ HALF);
    const bool counts = lane < HALF && a.slot_atom[slot_i] != NO_ATOM;
    if (counts) add_force(a, slot_i, force);
    if (SUMS) {
        if (counts) add_outer(virial, widened(xyz(i.site)), widened(force));
        add_sum(a, SUM_LJ, energy_lj);
        add_sum(a, SUM_COULOMB, energy_coulomb);
        add_tensor(a, SUM_VIRIAL, virial);
    }
}

// Computes pairs and bonded terms. Blocks of threads with bonded terms are distributed among the first quarter of the
// blocks with pairs. Bonded terms wait for memory while pairs compute, so the two kinds of work overlap. In separate
// kernels bonded terms would delay the pairs.
template <int RULE, bool SUMS>
__device__ inline void pair_forces(const Arguments& a) {
    __shared__ JTile tiles[SEARCH_WARPS];
    if (thread_number() == 0) {
        stop_after_fault(a);
        begin_refreshment(a);
    }
    const u32 terms = bonded_blocks(a), every = terms == 0 ? gridDim.x : (gridDim.x - terms) / (4 * terms) + 1;
    const u32 number = blockIdx.x / every;
    if (blockIdx.x % every == 0 && number < terms) return bonded_forces<SUMS>(a, number);
    const u32 before = number < terms ? number + 1 : terms;
    const u32 warp = (blockIdx.x - before) * SEARCH_WARPS + threadIdx.x / WARP, chunk = warp / 2, half = warp % 2;
    if (chunk >= a.counts->chunks || halted(a)) return;
    JTile& tile = tiles[threadIdx.x / WARP];
    // steps with sums of energies and virial are few; a single instantiation for these steps saves compilation time
    if constexpr (!SUMS)
        if (a.coulomb_force.more_terms == 0) return pair_forces_of_half<RULE, SUMS, false>(a, chunk, half, tile);
    pair_forces_of_half<RULE, SUMS, true>(a, chunk, half, tile);
}

// Defines two kernels for a Lennard-Jones rule (combination rule or switching function): the first kernel computes only
// forces, and the second kernel computes forces, energies and virial.
#define PAIR_KERNELS(NAME, RULE) \
    extern "C" __global__ void __launch_bounds__(SEARCH_WARPS * WARP, PAIR_BLOCKS) pair_##NAME(const Arguments a, const double) { \
        pair_forces<RULE, false>(a); \
    } \
    extern "C" __global__ void pair_##NAME##_sums(const Arguments a, const double) { pair_forces<RULE, true>(a); }

PAIR_KERNELS(geometric, RULE_GEOMETRIC)
PAIR_KERNELS(lorentz_berthelot, RULE_LORENTZ_BERTHELOT)
PAIR_KERNELS(type_table, RULE_TYPE_TABLE)
PAIR_KERNELS(force_switch, RULE_FORCE_SWITCH)
PAIR_KERNELS(potential_switch, RULE_POTENTIAL_SWITCH)
