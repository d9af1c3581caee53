// Terms of `kernels/term.cuh`, and splines, as functions of plain numbers, for comparison with the Rust versions.

#pragma GCC visibility pop

namespace {

Vec3<float> vector(const float* in) { return vec3(in[0], in[1], in[2]); }

void put(float*& out, Vec3<float> v) {
    *out++ = v.x;
    *out++ = v.y;
    *out++ = v.z;
}

template <int N>
void put(float* out, const Term<float, N>& term) {
    for (int k = 0; k < N; ++k) put(out, term.force[k]);
    *out = term.energy;
}

// Input: the displacements of a term of N atoms, then its P parameters.
template <int N, int P, class Formula>
void put_formula(const float* in, float* out, Formula formula) {
    Vec3<float> displacements[N - 1];
    float parameters[P];
    for (int k = 0; k < N - 1; ++k) displacements[k] = vector(in + 3 * k);
    for (int k = 0; k < P; ++k) parameters[k] = in[3 * (N - 1) + k];
    put(out, formula(displacements, parameters));
}

template <int N>
void put_spline(const float* in, float* out) {
    spline<float, N>(in[0], out, out + N);
}

}  // namespace

extern "C" {

void term_distance(const float* in, float* out) {
    const Vec3<float> displacements[1] = {vector(in)};
    const float parameters[2] = {in[3], in[4]};
    const Term<float, 2> term = bond(displacements, parameters);
    put(out, term.force[0]);
    *out = term.energy;
}

void term_bend(const float* in, float* out) {
    put_formula<3, 2>(in, out, [](const auto& d, const auto& p) { return angle(d, p); });
}

void term_periodic(const float* in, float* out) {
    put_formula<4, 4>(in, out, [](const auto& d, const auto& p) { return torsion(d, p); });
}

void term_ryckaert_bellemans(const float* in, float* out) {
    put_formula<4, 6>(in, out, [](const auto& d, const auto& p) { return ryckaert_bellemans(d, p); });
}

void term_harmonic_dihedral(const float* in, float* out) {
    put_formula<4, 2>(in, out, [](const auto& d, const auto& p) { return harmonic_improper(d, p); });
}

void term_pair(const float* in, float* out) {
    const Pair14<float> term = pair14(vector(in), in[3], in[4], in[5]);
    put(out, term.force);
    out[0] = term.coulomb;
    out[1] = term.lj;
}

void term_map(const float* in, float* out) {
    const Vec3<float> ij = vector(in), kj = vector(in + 3), lk = vector(in + 6), ml = vector(in + 9);
    const Vec3<float> first[3] = {ij, kj, lk}, second[3] = {-kj, lk, ml};
    const Dihedral<float> phi = dihedral(first), psi = dihedral(second);
    const Surface<float> at = cmap(in + 12, in[28], in[29], in[30]);
    put(out, turned(phi, at.slope_phi, 0.0f));
    put(out + 12, turned(psi, at.slope_psi, at.energy));
}

// input: charge product q, squared distance r², Ewald parameter α
void term_excluded(const float* in, float* out) {
    const Radial<float> term = ewald_excluded(in[0], in[1], inverse_norm(in[1]), in[2]);
    out[0] = term.force;
    out[1] = term.energy;
}

// input: `kept`, `along` and `across` of `Rescaling`, kinetic energy
void rescaling_factor_f64(const double* in, double* out) { *out = rescaling_factor({in[0], in[1], in[2]}, in[3]); }

// input: low and high words of the seed, low and high words of the step, index of the atom
void normals_f64(const double* in, double* out) {
    const Refreshment refreshment = {{u32(in[0]), u32(in[1])}, {u32(in[2]), u32(in[3])}, {0, 0}, 0.0, 0.0};
    const Vec3<double> numbers = normals(refreshment, u32(in[4]));
    out[0] = numbers.x;
    out[1] = numbers.y;
    out[2] = numbers.z;
}

// input: the fields of `Relaxation` (rate, pressure, thermal energy, noise, whether stochastic, number of directions),
// then the measured pressure and the volume
void length_factor_f64(const double* in, double* out) {
    *out = length_factor({in[0], in[1], in[2], in[3], in[4] != 0.0, u32(in[5])}, in[6], in[7]);
}

// input: list radius, cutoff, scale factor of lengths, squared displacement
void may_miss_f64(const double* in, double* out) { *out = may_miss(in[0], in[1], in[2], in[3]); }

// input: six components of the inertia tensor, three components of the angular momentum
void angular_velocity_f64(const double* in, double* out) {
    const Vec3<double> omega =
        angular_velocity({in[0], in[1], in[2], in[3], in[4], in[5]}, vec3(in[6], in[7], in[8]));
    out[0] = omega.x;
    out[1] = omega.y;
    out[2] = omega.z;
}

void spline_4(const float* in, float* out) { put_spline<4>(in, out); }
void spline_5(const float* in, float* out) { put_spline<5>(in, out); }
void spline_6(const float* in, float* out) { put_spline<6>(in, out); }
void spline_8(const float* in, float* out) { put_spline<8>(in, out); }

}  // extern "C"
