// Packed positions: the `f32` offset of each atom from the origin of its block, and the conversion to the origin of
// another block.

// Returns the position of the atom of a list entry relative to the origin of another block (nm). Origins and the high
// parts of lattice shifts are multiples of ORIGIN_QUANTUM, so that sums and differences of these numbers are exact; the
// low parts are small.
__device__ inline Vec3<float> seen_from(const Arguments& a, u32 entry, float4 origin) {
    const u32 slot = entry & SLOT_MASK, shift = entry >> SLOT_BITS;
    const float4 offset = a.packed[slot], there = a.origins[slot / WARP];
    const float4 high = a.shifts[2 * shift], low = a.shifts[2 * shift + 1];
    return (xyz(offset) + xyz(low)) + ((xyz(there) - xyz(origin)) + xyz(high));
}
