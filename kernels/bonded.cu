// Bonded terms, 1-4 pairs and the correction of excluded pairs in one launch: a thread per term, warps of one kind.
//
// Displacements are formed in double precision. Bonds, stiff enough to show the rounding, and the few correction maps stay
// in it, as in `src/backend/cpu/bonded.rs`.

// r_i − r_j, nearest image.
__device__ inline Vec3<double> between(const Arguments& a, const Lattice& cell, u32 i, u32 j) {
    return minimum_image(cell, a.positions[i] - a.positions[j]);
}

// What a lane has to add to the sums.
struct BondedSums {
    double energy, second_energy;
    Tensor virial;
};

// A force on i and its opposite on j, with d = r_i − r_j.
__device__ inline void add_pair(const Arguments& a, const u32* atoms, Vec3<double> d, Vec3<double> force,
                                BondedSums& sums) {
    add_force(a, a.atom_slot[atoms[0]], force);
    add_force(a, a.atom_slot[atoms[1]], -force);
    add_outer(sums.virial, d, force);
}

// Displacements along a chain of four atoms: i − j, k − j, l − k.
struct Chain {
    Vec3<double> ij, kj, lk;
};

__device__ inline Chain chain(const Arguments& a, const Lattice& cell, const u32* atoms) {
    return {between(a, cell, atoms[0], atoms[1]), between(a, cell, atoms[2], atoms[1]),
            between(a, cell, atoms[3], atoms[2])};
}

template <class T>
__device__ inline void add_chain(const Arguments& a, const u32* atoms, const Chain& along, const Term<T, 4>& term,
                                 BondedSums& sums) {
    for (u32 k = 0; k < 4; ++k) add_force(a, a.atom_slot[atoms[k]], term.force[k]);
    auto wide = [&](u32 k) { return vec3(double(term.force[k].x), double(term.force[k].y), double(term.force[k].z)); };
    add_outer(sums.virial, along.ij, wide(0));
    add_outer(sums.virial, along.kj, wide(2));
    add_outer(sums.virial, along.kj + along.lk, wide(3));
}

__device__ inline void add_bond(const Arguments& a, const Lattice& cell, const BondTerm& t, BondedSums& sums) {
    const Vec3<double> d = between(a, cell, t.atoms[0], t.atoms[1]);
    const Term<double, 1> term = bond(d, t.length, t.force_constant);
    sums.energy += term.energy;
    add_pair(a, t.atoms, d, term.force[0], sums);
}

__device__ inline void add_angle(const Arguments& a, const Lattice& cell, const AngleTerm& t, BondedSums& sums) {
    const Vec3<double> u = between(a, cell, t.atoms[0], t.atoms[1]), v = between(a, cell, t.atoms[2], t.atoms[1]);
    const Term<float, 3> term = angle(rounded(u), rounded(v), t.angle, t.force_constant);
    sums.energy += term.energy;
    for (u32 k = 0; k < 3; ++k) add_force(a, a.atom_slot[t.atoms[k]], term.force[k]);
    add_outer(sums.virial, u, widened(term.force[0]));
    add_outer(sums.virial, v, widened(term.force[2]));
}

__device__ inline void add_torsion(const Arguments& a, const Lattice& cell, const TorsionTerm& t, BondedSums& sums) {
    const Chain along = chain(a, cell, t.atoms);
    const Dihedral<float> phi = dihedral(rounded(along.ij), rounded(along.kj), rounded(along.lk));
    const Term<float, 4> term = torsion(phi, t.periodicity, t.cosine_phase, t.sine_phase, t.force_constant);
    sums.energy += term.energy;
    add_chain(a, t.atoms, along, term, sums);
}

__device__ inline void add_improper(const Arguments& a, const Lattice& cell, const ImproperTerm& t, BondedSums& sums) {
    const Chain along = chain(a, cell, t.atoms);
    const Dihedral<float> phi = dihedral(rounded(along.ij), rounded(along.kj), rounded(along.lk));
    const Term<float, 4> term = harmonic_improper(phi, t.angle, t.force_constant);
    sums.energy += term.energy;
    add_chain(a, t.atoms, along, term, sums);
}

// The step of a map in which an angle lies, and the place in it, as `CmapTable::patch` finds them.
__device__ inline u32 map_step(double angle, u32 size, double& place) {
    const double pi = 3.141592653589793;
    place = (angle + pi) * (size / (2.0 * pi));
    const double corner = floor(place);
    place -= corner;
    return u32(corner < 0.0 ? 0.0 : corner) % size;
}

__device__ inline void add_cmap(const Arguments& a, const Lattice& cell, const CmapTerm& t, BondedSums& sums) {
    const Chain first = chain(a, cell, t.atoms), second = chain(a, cell, t.atoms + 4);
    const Dihedral<double> phi = dihedral(first.ij, first.kj, first.lk);
    const Dihedral<double> psi = dihedral(second.ij, second.kj, second.lk);
    double u, v;
    const u32 i = map_step(atan2(phi.sine, phi.cosine), t.size, u), j = map_step(atan2(psi.sine, psi.cosine), t.size, v);
    const double* patch = a.cmap_patches + 16 * (t.first_patch + i * t.size + j);
    const Surface<double> at = cmap(patch, u, v, t.size / 6.283185307179586);
    sums.energy += at.energy;
    add_chain(a, t.atoms, first, turned(phi, at.slope_phi, 0.0), sums);
    add_chain(a, t.atoms + 4, second, turned(psi, at.slope_psi, 0.0), sums);
}

__device__ inline void add_pair14(const Arguments& a, const Lattice& cell, const Pair14Term& t, BondedSums& sums) {
    const Vec3<double> d = between(a, cell, t.atoms[0], t.atoms[1]);
    const Pair14<float> term = pair14(rounded(d), t.charge_product, t.c6, t.c12);
    sums.energy += term.lj;
    sums.second_energy += term.coulomb;
    add_pair(a, t.atoms, d, widened(term.force), sums);
}

// What the reciprocal sum counts for an excluded pair, taken out again.
__device__ inline void add_excluded(const Arguments& a, const Lattice& cell, const ExcludedTerm& t, BondedSums& sums) {
    const Vec3<double> d = between(a, cell, t.atoms[0], t.atoms[1]);
    const Vec3<float> near = rounded(d);
    const float r2 = norm_squared(near);
    const Radial<float> term = ewald_excluded(t.charge_product, r2, inverse_norm(r2), a.alpha);
    sums.energy += term.energy;
    add_pair(a, t.atoms, d, widened(near * term.force), sums);
}

// The kind of terms that a warp works on. Kinds begin at whole warps.
__device__ inline u32 kind_of(const Arguments& a, u32 thread) {
    u32 kind = 0;
    while (kind + 1 < BONDED_KINDS && thread >= a.bonded_starts[kind + 1]) ++kind;
    return kind;
}

template <bool SUMS>
__device__ inline void bonded_forces(const Arguments& a) {
    const u32 thread = thread_number();
    if (thread / WARP * WARP >= a.bonded_starts[BONDED_KINDS] || halted(a)) return;
    const u32 kind = kind_of(a, thread), index = thread - a.bonded_starts[kind];
    const Lattice cell = *a.cell;
    BondedSums sums = {};
    if (index < a.bonded_counts[kind]) {
        if (kind == KIND_BOND) add_bond(a, cell, a.bonds[index], sums);
        if (kind == KIND_UREY_BRADLEY) add_bond(a, cell, a.urey_bradleys[index], sums);
        if (kind == KIND_ANGLE) add_angle(a, cell, a.angles[index], sums);
        if (kind == KIND_PROPER) add_torsion(a, cell, a.propers[index], sums);
        if (kind == KIND_IMPROPER) add_torsion(a, cell, a.impropers[index], sums);
        if (kind == KIND_HARMONIC_IMPROPER) add_improper(a, cell, a.harmonic_impropers[index], sums);
        if (kind == KIND_CMAP) add_cmap(a, cell, a.cmaps[index], sums);
        if (kind == KIND_PAIR14) add_pair14(a, cell, a.pairs14[index], sums);
        if (kind == KIND_EXCLUDED) add_excluded(a, cell, a.excluded[index], sums);
    }
    if (!SUMS) return;
    add_sum(a, kind, sums.energy);
    if (kind == KIND_PAIR14) add_sum(a, SUM_COULOMB_14, sums.second_energy);
    add_tensor(a, SUM_VIRIAL, sums.virial);
}

extern "C" __global__ void bonded(const Arguments a, const double) {
    bonded_forces<false>(a);
}
extern "C" __global__ void bonded_sums(const Arguments a, const double) {
    bonded_forces<true>(a);
}
