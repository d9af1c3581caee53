// Potential functions: forces and energy of one term. Each function is the counterpart of the function of the same
// name in `src/engine/term/`.
//
// Forces are in kJ/mol/nm. Displacements are minimum images. If T is float, displacements were computed in double
// precision and rounded.

// Forces on the N atoms of a term, and the energy of the term.
template <class T, int N>
struct Term {
    Vec3<T> force[N];
    T energy;
};

// Ratio f/r of force and distance, and the energy. The force on atom i is f/r · (r_i − r_j).
template <class T>
struct Radial {
    T force, energy;
};

// Returns 1/√x, or zero for x = 0, so that the unit vector of a zero vector is zero.
template <class T>
__device__ inline T inverse_norm(T squared) {
    return squared < T(1e-30) ? T(0) : T(1) / sqrt(squared);
}

// E = ½ k (r − r₀)²; parameters r₀, k.
template <class T>
__device__ inline Term<T, 2> bond(const Vec3<T> (&displacements)[1], const T (&parameters)[2]) {
    const T length = parameters[0], force_constant = parameters[1];
    const T squared = norm_squared(displacements[0]);
    const T inverse = inverse_norm(squared);
    const T stretch = squared * inverse - length;
    const T tension = force_constant * stretch;
    const Vec3<T> force = displacements[0] * (-(tension * inverse));
    return {{force, -force}, T(0.5) * tension * stretch};
}

// E = ½ k (θ − θ₀)² with the angle θ between u = r_i − r_j and v = r_k − r_j; parameters θ₀, k.
template <class T>
__device__ inline Term<T, 3> angle(const Vec3<T> (&displacements)[2], const T (&parameters)[2]) {
    const Vec3<T> u = displacements[0], v = displacements[1];
    const T equilibrium = parameters[0], force_constant = parameters[1];
    const Vec3<T> normal = cross(u, v);
    const T squared = norm_squared(normal);
    const T inverse = inverse_norm(squared);
    const Vec3<T> direction = normal * inverse;
    const T deviation = atan2(squared * inverse, dot(u, v)) - equilibrium;
    const T torque = force_constant * deviation;
    const T inverse_u = inverse_norm(norm_squared(u)), inverse_v = inverse_norm(norm_squared(v));
    const Vec3<T> force_i = cross(u, direction) * (-(torque * inverse_u * inverse_u));
    const Vec3<T> force_k = cross(v, direction) * (torque * inverse_v * inverse_v);
    return {{force_i, -(force_i + force_k), force_k}, T(0.5) * torque * deviation};
}

// The dihedral angle φ of the atoms i-j-k-l and its gradient.
template <class T>
struct Dihedral {
    T cosine, sine;
    Vec3<T> gradient[4];
};

// Smallest squared norm (nm⁴) of the cross product of two consecutive bond vectors. Below this limit three of the atoms
// count as collinear, and the dihedral angle φ is undefined.
constexpr double COLLINEAR = 1e-18;

// Computes φ and its gradient from ij = r_i − r_j, kj = r_k − r_j and lk = r_l − r_k (Blondel & Karplus 1996).
template <class T>
__device__ inline Dihedral<T> dihedral(const Vec3<T> (&displacements)[3]) {
    const Vec3<T> ij = displacements[0], kj = displacements[1], lk = displacements[2];
    const Vec3<T> g = -kj, a = cross(ij, g), b = cross(lk, g);
    const T a2 = norm_squared(a), b2 = norm_squared(b);
    const T inverse_a2 = a2 < T(COLLINEAR) ? T(0) : T(1) / a2;
    const T inverse_b2 = b2 < T(COLLINEAR) ? T(0) : T(1) / b2;
    const T inverse_ab = sqrt(inverse_a2 * inverse_b2);
    const T g2 = norm_squared(g), inverse_g = inverse_norm(g2), length_g = g2 * inverse_g;
    const Vec3<T> toward_i = a * (-(length_g * inverse_a2)), toward_l = b * (length_g * inverse_b2);
    const Vec3<T> along = a * (dot(ij, g) * inverse_a2 * inverse_g) - b * (dot(lk, g) * inverse_b2 * inverse_g);
    return {inverse_ab > T(0) ? dot(a, b) * inverse_ab : T(1),
            -(length_g * dot(ij, b) * inverse_ab),
            {toward_i, along - toward_i, -(along + toward_l), toward_l}};
}

// Returns the forces and the energy of a dihedral term, where `slope` is dE/dφ.
template <class T>
__device__ inline Term<T, 4> turned(const Dihedral<T>& d, T slope, T energy) {
    return {{d.gradient[0] * -slope, d.gradient[1] * -slope, d.gradient[2] * -slope, d.gradient[3] * -slope}, energy};
}

// E = k (1 + cos(nφ − φ₀)); parameters n (a whole number up to 7), cos φ₀, sin φ₀, k.
template <class T>
__device__ inline Term<T, 4> torsion(const Vec3<T> (&displacements)[3], const T (&parameters)[4]) {
    const Dihedral<T> d = dihedral(displacements);
    const T periodicity = parameters[0], cosine_phase = parameters[1], sine_phase = parameters[2];
    const T force_constant = parameters[3];
    // computes (cos φ + i sin φ)ⁿ from the binary digits of n: each digit squares the result, and a digit 1 then
    // multiplies the result by cos φ + i sin φ
    T re = T(1), im = T(0);
    const int n = int(periodicity);
    for (int digit = 4; digit > 0; digit /= 2) {
        const T square = re * re - im * im;
        im = T(2) * re * im;
        re = square;
        if (n & digit) {
            const T turned_re = re * d.cosine - im * d.sine;
            im = re * d.sine + im * d.cosine;
            re = turned_re;
        }
    }
    const T energy = force_constant * (T(1) + re * cosine_phase + im * sine_phase);
    return turned(d, force_constant * periodicity * (re * sine_phase - im * cosine_phase), energy);
}

// E = Σ C_n cosⁿ ψ with ψ = φ − π; parameters C₀ to C₅.
template <class T>
__device__ inline Term<T, 4> ryckaert_bellemans(const Vec3<T> (&displacements)[3], const T (&coefficients)[6]) {
    const Dihedral<T> d = dihedral(displacements);
    const T cosine = -d.cosine;
    T energy = T(0), slope = T(0);
    for (int n = 5; n >= 0; --n) {
        slope = slope * cosine + energy;
        energy = energy * cosine + coefficients[n];
    }
    return turned(d, slope * d.sine, energy);
}

// E = ½ k (φ − φ₀)² with the difference φ − φ₀ wrapped to [−π, π]; parameters φ₀, k.
template <class T>
__device__ inline Term<T, 4> harmonic_improper(const Vec3<T> (&displacements)[3], const T (&parameters)[2]) {
    const Dihedral<T> d = dihedral(displacements);
    const T equilibrium = parameters[0], force_constant = parameters[1];
    const T turn = T(6.283185307179586);
    const T difference = atan2(d.sine, d.cosine) - equilibrium;
    const T deviation = difference - turn * rint(difference / turn);
    const T torque = force_constant * deviation;
    return turned(d, torque, T(0.5) * torque * deviation);
}

// E(φ, ψ) = Σ a_mn uᵐ vⁿ in one grid square of a correction map (CMAP). The coefficient a_mn has the index 4m + n, and
// (u, v) is the position within the square.
template <class T>
struct Surface {
    T energy, slope_phi, slope_psi;
};

template <class T>
__device__ inline Surface<T> cmap(const T* coefficients, T u, T v, T steps_per_radian) {
    T energy = T(0), slope_u = T(0), slope_v = T(0);
    for (int m = 3; m >= 0; --m) {
        const T* row = coefficients + 4 * m;
        const T value = ((row[3] * v + row[2]) * v + row[1]) * v + row[0];
        const T slope = (T(3) * row[3] * v + T(2) * row[2]) * v + row[1];
        slope_u = slope_u * u + energy;
        slope_v = slope_v * u + slope;
        energy = energy * u + value;
    }
    return {energy, slope_u * steps_per_radian, slope_v * steps_per_radian};
}

// E = q_i q_j/r, computed from 1/r.
template <class T>
__device__ inline Radial<T> coulomb(T charge_product, T inverse_r) {
    const T energy = charge_product * inverse_r;
    return {energy * inverse_r * inverse_r, energy};
}

// E = c12/r¹² − c6/r⁶, computed from 1/r².
template <class T>
__device__ inline Radial<T> lennard_jones(T inverse_r2, T c6, T c12) {
    const T inverse_r6 = inverse_r2 * inverse_r2 * inverse_r2;
    const T attraction = c6 * inverse_r6, repulsion = c12 * inverse_r6 * inverse_r6;
    return {(T(12) * repulsion - T(6) * attraction) * inverse_r2, repulsion - attraction};
}

// Limit of (αr)² below which erf(αr)/(αr) is computed from a power series. Above the limit cancellation in the force
// magnifies rounding errors by 1/(αr)². The first omitted term of the series, RANGE^SERIES_TERMS/7!, is below the
// rounding error of float and of double.
template <class T>
struct Series {
    static constexpr double RANGE = sizeof(T) == sizeof(float) ? 0.25 : 1e-2;
};
constexpr int SERIES_TERMS = 7;

// E = −q_i q_j erf(αr)/r: removes an excluded pair from the reciprocal sum.
template <class T>
__device__ inline Radial<T> ewald_excluded(T charge_product, T r2, T inverse_r, T alpha) {
    const T two_over_root_pi = T(1.1283791670955126);
    const T x2 = alpha * alpha * r2;
    T potential, field;
    if (x2 < T(Series<T>::RANGE)) {
        // `value` is erf(x)/x = 2/√π Σ (−x²)ⁿ/(n!·(2n+1)) with x = αr, and `slope` is the derivative of `value` with
        // respect to x²; the factor 2α² converts this derivative to (1/r) d/dr
        T value = T(0), slope = T(0), factorial = T(720);
        for (int n = SERIES_TERMS - 1; n >= 0; --n) {
            slope = slope * x2 + value;
            value = value * x2 + (n % 2 == 0 ? two_over_root_pi : -two_over_root_pi) / (factorial * T(2 * n + 1));
            factorial /= T(n > 0 ? n : 1);
        }
        potential = alpha * value;
        field = T(2) * alpha * alpha * alpha * slope;
    } else {
        potential = erf(alpha * r2 * inverse_r) * inverse_r;
        field = (two_over_root_pi * alpha * exp(-x2) - potential) * inverse_r * inverse_r;
    }
    return {charge_product * field, -(charge_product * potential)};
}

// Scaled 1-4 pair: plain Coulomb and Lennard-Jones interactions without a cutoff. The returned force is the force on
// atom i.
template <class T>
struct Pair14 {
    Vec3<T> force;
    T coulomb, lj;
};

template <class T>
__device__ inline Pair14<T> pair14(Vec3<T> displacement, T charge_product, T c6, T c12) {
    const T inverse_r = inverse_norm(norm_squared(displacement));
    const Radial<T> electric = coulomb(charge_product, inverse_r);
    const Radial<T> dispersive = lennard_jones(inverse_r * inverse_r, c6, c12);
    return {displacement * (electric.force + dispersive.force), electric.energy, dispersive.energy};
}
