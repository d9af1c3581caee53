// Nonbonded interaction of one pair of atoms. Coulomb functions are 1/r or 1/r³ minus the square of a polynomial in
// r², as in `src/engine/pair/root_polynomial.rs`. Lennard-Jones parameters follow a combination rule, as in
// `src/engine/backend/cpu/pair_lj.rs`. Switching functions are those of `src/engine/term/lj_switch.rs`.

// Force over distance f/r in kJ/mol/nm², and energies in kJ/mol.
struct PairTerm {
    float force, coulomb, lj;
};

// Returns `singular` minus the square of the polynomial Σ c_k u^k with the coefficients c_k of `p` and u = center − r².
// The template parameter MORE means that there are more coefficients than those in `first`.
template <bool MORE>
__device__ inline float less_square(const RootPolynomial& p, float r2, float singular) {
    const float u = p.center - r2;
    float sum = p.first[FIRST_TERMS - 1];
    if (MORE) {
        float above = 0.0f;
        for (u32 k = 0; k < p.more_terms; ++k) above = fused(above, u, p.more[k]);
        sum = fused(above, u, sum);
    }
#pragma unroll
    for (int k = FIRST_TERMS - 2; k >= 0; --k) sum = fused(sum, u, p.first[k]);
    return fused(-sum, sum, singular);
}

// Returns f r (force times distance) and the energy of a pair with a force switch. The arguments are the parameters
// 6·c6 and 12·c12, the distance r, the power r⁻⁶, and the product f r without the switch.
template <bool SUMS>
__device__ inline PairTerm force_switched(const LjSwitch& s, float r, float six_c6, float twelve_c12, float power6,
                                          float force) {
    const float t = fmaxf(r - s.from, 0.0f), t2 = t * t;
    const float added =
        fused(twelve_c12, fused(s.cube[1], t, s.square[1]), -(six_c6 * fused(s.cube[0], t, s.square[0])));
    PairTerm term = {fused(t2 * r, added, force), 0.0f, 0.0f};
    if (SUMS) {
        const float t3 = t2 * t, third = 1.0f / 3.0f;
        const float less6 = fused(t3, fused(0.25f * s.cube[0], t, third * s.square[0]), s.shift[0]);
        const float less12 = fused(t3, fused(0.25f * s.cube[1], t, third * s.square[1]), s.shift[1]);
        term.lj = twelve_c12 * (power6 * power6 * (1.0f / 12.0f) - less12) - six_c6 * (power6 * (1.0f / 6.0f) - less6);
    }
    return term;
}

// Returns f r (force times distance) and the energy of a pair with a potential switch. The arguments are the parameters
// 6·c6 and 12·c12, the distance r, the power r⁻⁶, and the product f r without the switch.
__device__ inline PairTerm potential_switched(const LjSwitch& s, float r, float six_c6, float twelve_c12, float power6,
                                              float force) {
    const float x = fmaxf((r - s.from) * s.inverse_width, 0.0f), y = 1.0f - x, y2 = y * y;
    // powers of y = 1 − x avoid the cancellation that powers of the reduced distance x cause near the cutoff, x = 1
    const float factor = y2 * y * fused(fused(6.0f, y, -15.0f), y, 10.0f);
    const float slope = s.slope * r * (x * x) * y2;
    const float energy = power6 * fused(twelve_c12 * (1.0f / 12.0f), power6, six_c6 * (-1.0f / 6.0f));
    return {fused(factor, force, slope * energy), 0.0f, factor * energy};
}

// Returns f r (force times distance) and the energy of the Lennard-Jones interaction. With a potential shift, the
// energy at the cutoff is subtracted. `i` and `j` are the Lennard-Jones parameters of the two atoms, in the form that
// the combination rule RULE needs.
template <int RULE, bool SUMS>
__device__ inline PairTerm lj_pair(const Arguments& a, float r, float inverse_r2, float2 i, float2 j) {
    if (RULE == RULE_LORENTZ_BERTHELOT) {
        const float sigma = i.x + j.x, epsilon48 = i.y * j.y, sigma2 = sigma * sigma;
        const float ratio2 = sigma2 * inverse_r2, power6 = ratio2 * ratio2 * ratio2;
        const float force = epsilon48 * power6 * (power6 - 0.5f);
        if (!SUMS) return {force, 0.0f, 0.0f};
        const float end6 = sigma2 * sigma2 * sigma2 * a.lj_shift;
        return {force, 0.0f, epsilon48 * (1.0f / 12.0f) * ((power6 * power6 - end6 * end6) - (power6 - end6))};
    }
    float six_c6 = i.x * j.x, twelve_c12 = i.y * j.y;
    if (RULE >= RULE_TYPE_TABLE) {
        const float2 entry = a.type_table[__float_as_uint(i.x) + __float_as_uint(j.y)];
        six_c6 = entry.x;
        twelve_c12 = entry.y;
    }
    const float power6 = inverse_r2 * inverse_r2 * inverse_r2;
    const float force = power6 * fused(twelve_c12, power6, -six_c6);
    if (RULE == RULE_FORCE_SWITCH) return force_switched<SUMS>(a.lj_switch, r, six_c6, twelve_c12, power6, force);
    if (RULE == RULE_POTENTIAL_SWITCH) return potential_switched(a.lj_switch, r, six_c6, twelve_c12, power6, force);
    if (!SUMS) return {force, 0.0f, 0.0f};
    const float end6 = a.lj_shift;
    return {force, 0.0f,
            twelve_c12 * (1.0f / 12.0f) * (power6 * power6 - end6 * end6) - six_c6 * (1.0f / 6.0f) * (power6 - end6)};
}

// Returns the force and the energies of two atoms at a squared distance r2 (nm²); all values are zero if the atoms do
// not interact. `charge_product` is in kJ nm/mol. The code has no branches: some of the 32 pairs of a warp are nearly
// always within a cutoff, so a branch would save no time.
template <int RULE, bool SUMS, bool MORE>
__device__ inline PairTerm pair_term(const Arguments& a, float r2, float charge_product, float2 lj_i, float2 lj_j,
                                     bool interact) {
    const bool electric = interact && r2 < a.coulomb_cutoff2, dispersive = interact && r2 < a.lj_cutoff2;
    // the distance of overlapping atoms is clamped from below
    const float raised = fmaxf(r2, a.lowest_r2);
    const float inverse_r = rsqrtf(raised), inverse_r2 = inverse_r * inverse_r;
    const float field = less_square<MORE>(a.coulomb_force, raised, inverse_r2 * inverse_r);
    const PairTerm lj = lj_pair<RULE, SUMS>(a, raised * inverse_r, inverse_r2, lj_i, lj_j);
    // beyond a cutoff the products may be NaN; the conditional selects zero, because a NaN multiplied by zero is still
    // NaN
    const float coulomb_force = electric ? charge_product * field : 0.0f;
    PairTerm sum = {dispersive ? fused(lj.force, inverse_r2, coulomb_force) : coulomb_force, 0.0f, 0.0f};
    if (SUMS) {
        const float potential = less_square<MORE>(a.coulomb_energy, raised, inverse_r);
        sum.coulomb = electric ? charge_product * potential : 0.0f;
        sum.lj = dispersive ? lj.lj : 0.0f;
    }
    return sum;
}
