// Bonded terms, 1-4 pairs, the correction of excluded pairs, and position restraints. Each thread computes one term,
// and all threads of a warp compute terms of the same kind. The macro `BONDED_LISTS_TABLE` has one row for each kind of
// term in the table of `src/engine/system/bonded.rs`.
//
// Displacements are computed in double precision. Bonds, whose stiff force constants amplify rounding errors, and the
// few correction maps (CMAP) are also computed in double precision, as in `src/engine/backend/cpu/bonded.rs`.

// Returns the displacement r_i − r_j to the nearest periodic image.
__device__ inline Vec3<double> between(const Arguments& a, const Lattice& cell, u32 i, u32 j) {
    return minimum_image(cell, a.positions[i] - a.positions[j]);
}

// Contribution of one lane to the energies and the virial.
struct BondedSums {
    double energy, second_energy;
    Tensor virial;
    Vec3<double> torque;  // Σ r×F of position restraints
};

// Adds `force` to atom i and −`force` to atom j, and adds the virial of the pair; `d` is the vector r_i − r_j.
__device__ inline void add_pair(const Arguments& a, const u32* atoms, Vec3<double> d, Vec3<double> force,
                                BondedSums& sums) {
    add_force(a, a.atom_slot[atoms[0]], force);
    add_force(a, a.atom_slot[atoms[1]], -force);
    add_outer(sums.virial, d, force);
}

// Computes the displacements of a term of N atoms: r_i − r_j, r_k − r_j, r_l − r_k.
template <int N>
__device__ inline void displacements(const Arguments& a, const Lattice& cell, const u32* atoms, Vec3<double> (&d)[N - 1]) {
    d[0] = between(a, cell, atoms[0], atoms[1]);
    if constexpr (N > 2) d[1] = between(a, cell, atoms[2], atoms[1]);
    if constexpr (N > 3) d[2] = between(a, cell, atoms[3], atoms[2]);
}

// Adds the forces and the virial of a term. The virial is computed with positions relative to the second atom.
template <class T, int N>
__device__ inline void add_forces(const Arguments& a, const u32* atoms, const Vec3<double> (&d)[N - 1],
                                  const Term<T, N>& term, BondedSums& sums) {
    for (u32 k = 0; k < N; ++k) add_force(a, a.atom_slot[atoms[k]], term.force[k]);
    add_outer(sums.virial, d[0], converted<double>(term.force[0]));
    if constexpr (N > 2) add_outer(sums.virial, d[1], converted<double>(term.force[2]));
    if constexpr (N > 3) add_outer(sums.virial, d[1] + d[2], converted<double>(term.force[3]));
}

// Computes a term of the table of bonded terms with the given formula, and adds the forces, energy and virial of the
// term.
template <class T, int N, int P, class Formula>
__device__ inline void add_term(const Arguments& a, const Lattice& cell, const Bonded<T, N, P>& t, Formula formula,
                                BondedSums& sums) {
    Vec3<double> exact[N - 1];
    displacements<N>(a, cell, t.atoms, exact);
    Vec3<T> d[N - 1];
    for (int k = 0; k < N - 1; ++k) d[k] = converted<T>(exact[k]);
    const Term<T, N> term = formula(d, t.parameters);
    sums.energy += term.energy;
    add_forces<T, N>(a, t.atoms, exact, term, sums);
}

// Returns the grid interval of a correction map (CMAP) that contains an angle, and the position within the interval, as
// `CmapTable::patch` does.
__device__ inline u32 map_step(double angle, u32 size, double& place) {
    const double pi = 3.141592653589793;
    place = (angle + pi) * (size / (2.0 * pi));
    const double corner = floor(place);
    place -= corner;
    return u32(corner < 0.0 ? 0.0 : corner) % size;
}

__device__ inline void add_cmap(const Arguments& a, const Lattice& cell, const CmapTerm& t, BondedSums& sums) {
    Vec3<double> first[3], second[3];
    displacements<4>(a, cell, t.atoms, first);
    displacements<4>(a, cell, t.atoms + 4, second);
    const Dihedral<double> phi = dihedral(first), psi = dihedral(second);
    double u, v;
    const u32 i = map_step(atan2(phi.sine, phi.cosine), t.size, u), j = map_step(atan2(psi.sine, psi.cosine), t.size, v);
    const double* patch = a.cmap_patches + 16 * (t.first_patch + i * t.size + j);
    const Surface<double> at = cmap(patch, u, v, t.size / 6.283185307179586);
    sums.energy += at.energy;
    add_forces<double, 4>(a, t.atoms, first, turned(phi, at.slope_phi, 0.0), sums);
    add_forces<double, 4>(a, t.atoms + 4, second, turned(psi, at.slope_psi, 0.0), sums);
}

__device__ inline void add_pair14(const Arguments& a, const Lattice& cell, const Pair14Term& t, BondedSums& sums) {
    const Vec3<double> d = between(a, cell, t.atoms[0], t.atoms[1]);
    const Pair14<float> term = pair14(rounded(d), t.charge_product, t.c6, t.c12);
    sums.energy += term.lj;
    sums.second_energy += term.coulomb;
    add_pair(a, t.atoms, d, widened(term.force), sums);
}

// Ewald correction of an excluded pair: subtracts the contribution of the pair to the reciprocal sum. Many excluded
// pairs have the same distance, as in rigid water. In `f32` the energies of all pairs with the same distance would have
// the same rounding error, and the errors would add up, so energies are in double precision.
template <bool SUMS>
__device__ inline void add_excluded(const Arguments& a, const Lattice& cell, const ExcludedTerm& t, BondedSums& sums) {
    const Vec3<double> d = between(a, cell, t.atoms[0], t.atoms[1]);
    const Vec3<float> near = rounded(d);
    const float r2 = norm_squared(near);
    const Radial<float> term = ewald_excluded(float(t.charge_product), r2, inverse_norm(r2), a.alpha);
    if (SUMS) {
        const double exact = norm_squared(d);
        sums.energy += ewald_excluded(t.charge_product, exact, inverse_norm(exact), a.exact_alpha).energy;
    }
    add_pair(a, t.atoms, d, widened(near * term.force), sums);
}

__device__ inline void add_position(const Arguments& a, const Lattice& cell, const RestrainedAtom& t, BondedSums& sums) {
    const RestraintSet& set = a.restraint_sets[t.set];
    const Vec3<double> shift = cell.periodic ? lattice_shift(cell, t.image[0], t.image[1], t.image[2]) : vec3(0.0, 0.0, 0.0);
    const Vec3<double> position = a.positions[t.atom] - shift;
    const Held at = held(set, cell, position, vec3(t.reference[0], t.reference[1], t.reference[2]));
    add_force(a, a.atom_slot[t.atom], at.force);
    sums.energy += set.force_constant * at.half_square;
    add_outer(sums.virial, at.arm, at.force);
    sums.torque = sums.torque + cross(at.arm, at.force);
    // the slope dE/dk is needed only if the force constant k depends on time, which requires a schedule of several
    // points
    if (set.points > 1) add_fixed(&a.restraint_slopes[t.set], at.half_square, FORCE_SCALE);
}

// Defines a type for the formula of each kind of bonded terms.
#define DEFINE(KIND, LIST, FORMULA) \
    struct Formula##KIND { \
        template <class D, class P> \
        __device__ auto operator()(const D& displacements, const P& parameters) const { \
            return FORMULA(displacements, parameters); \
        } \
    };
BONDED_LISTS_TABLE(DEFINE)
#undef DEFINE

// Returns the kind of terms that a warp computes. The index of the first thread of each kind of terms is a multiple of
// the warp size.
__device__ inline u32 kind_of(const Arguments& a, u32 thread) {
    u32 kind = 0;
    while (kind + 1 < BONDED_KINDS && thread >= a.bonded_starts[kind + 1]) ++kind;
    return kind;
}

// Returns the number of blocks of threads for all bonded terms.
__device__ inline u32 bonded_blocks(const Arguments& a) {
    return (a.bonded_starts[BONDED_KINDS] + blockDim.x - 1) / blockDim.x;
}

// Computes the bonded terms of block `block`, which is less than `bonded_blocks`.
template <bool SUMS>
__device__ inline void bonded_forces(const Arguments& a, u32 block) {
    const u32 thread = block * blockDim.x + threadIdx.x;
    if (thread / WARP * WARP >= a.bonded_starts[BONDED_KINDS] || halted(a)) return;
    const u32 kind = kind_of(a, thread), index = thread - a.bonded_starts[kind];
    const Lattice cell = *a.cell;
    BondedSums sums = {};
    if (index < a.bonded_counts[kind]) {
#define ADD(KIND, LIST, FORMULA) \
    if (kind == KIND) add_term(a, cell, a.bonded.LIST[index], Formula##KIND(), sums);
        BONDED_LISTS_TABLE(ADD)
#undef ADD
        if (kind == KIND_CMAP) add_cmap(a, cell, a.cmaps[index], sums);
        if (kind == KIND_PAIR14) add_pair14(a, cell, a.pairs14[index], sums);
        if (kind == KIND_EXCLUDED) add_excluded<SUMS>(a, cell, a.excluded[index], sums);
        if (kind == KIND_POSITION) add_position(a, cell, a.restrained_atoms[index], sums);
    }
    if (!SUMS) return;
    add_sum(a, kind, sums.energy);
    if (kind == KIND_PAIR14) add_sum(a, SUM_COULOMB_14, sums.second_energy);
    add_tensor(a, SUM_VIRIAL, sums.virial);
    if (kind != KIND_POSITION) return;
    add_sum(a, SUM_RESTRAINT_TORQUE + 0, sums.torque.x);
    add_sum(a, SUM_RESTRAINT_TORQUE + 1, sums.torque.y);
    add_sum(a, SUM_RESTRAINT_TORQUE + 2, sums.torque.z);
}
