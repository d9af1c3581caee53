// SHAKE cluster: constraints between one center and N leaves, solved by SHAKE in matrix form in double precision; the
// counterpart of `src/engine/constraint/shake.rs`. The matrix of the old bonds is factored once.

// Inverse masses (1/amu) of the center and the leaves, and squared constraint lengths (nm²).
template <int N>
struct ShakeShape {
    double inverse_center, inverse_leaf[N], length_squared[N];
};

// Matrix A_ij = d_i·d_j (w_c + δ_ij w_i) of the bond vectors d_i, with the inverse masses w_c of the center and w_i of
// leaf i. The matrix is factored as L D Lᵀ: `lower` holds the unit lower triangle L, and `inverse_diagonal` holds 1/D.
template <int N>
struct Factored {
    double lower[N][N], inverse_diagonal[N];
};

template <int N>
__device__ inline Factored<N> factored(const ShakeShape<N>& shape, const Vec3<double>* bonds) {
    Factored<N> out;
#pragma unroll
    for (int j = 0; j < N; ++j) {
#pragma unroll
        for (int i = j; i < N; ++i) {
            double sum = dot(bonds[i], bonds[j]) * (shape.inverse_center + (i == j ? shape.inverse_leaf[i] : 0.0));
#pragma unroll
            for (int k = 0; k < j; ++k) sum -= out.lower[i][k] * out.lower[j][k] / out.inverse_diagonal[k];
            if (i == j)
                out.inverse_diagonal[j] = 1.0 / sum;
            else
                out.lower[i][j] = sum * out.inverse_diagonal[j];
        }
    }
    return out;
}

template <int N>
__device__ inline void solve(const Factored<N>& factored, double* b) {
#pragma unroll
    for (int i = 0; i < N; ++i)
#pragma unroll
        for (int k = 0; k < i; ++k) b[i] -= factored.lower[i][k] * b[k];
#pragma unroll
    for (int i = N - 1; i >= 0; --i) {
        b[i] *= factored.inverse_diagonal[i];
#pragma unroll
        for (int k = i + 1; k < N; ++k) b[i] -= factored.lower[k][i] * b[k];
    }
}

// Computes the displacements (nm) of the center (`change[0]`) and of the leaves from the multipliers.
template <int N>
__device__ inline void push(const ShakeShape<N>& shape, const Vec3<double>* bonds, const double* multipliers,
                            Vec3<double>* change) {
    change[0] = vec3(0.0, 0.0, 0.0);
#pragma unroll
    for (int i = 0; i < N; ++i) {
        const Vec3<double> force = bonds[i] * multipliers[i];
        change[0] = change[0] - force * shape.inverse_center;
        change[1 + i] = force * shape.inverse_leaf[i];
    }
}

// Computes the corrections of the new positions that satisfy the constraints. Returns −1 on success, otherwise the
// index of the leaf with the largest initial error. The position of the center comes first, then the positions of the
// leaves; `tolerance` is relative.
template <int N>
__device__ inline int shake(const ShakeShape<N>& shape, const Vec3<double>* old, const Vec3<double>* moved,
                            double tolerance, Vec3<double>* change) {
    Vec3<double> bonds[N], fresh[N];
    double multipliers[N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
        bonds[i] = old[1 + i] - old[0];
        fresh[i] = moved[1 + i] - moved[0];
        multipliers[i] = 0.0;
    }
    const Factored<N> matrix = factored<N>(shape, bonds);
    int worst = 0;
    double largest = 0.0;
    for (int iteration = 0; iteration <= SHAKE_ITERATIONS; ++iteration) {
        push<N>(shape, bonds, multipliers, change);
        double residual[N];
        bool converged = true;
#pragma unroll
        for (int i = 0; i < N; ++i) {
            const Vec3<double> current = fresh[i] + (change[1 + i] - change[0]);
            residual[i] = 0.5 * (shape.length_squared[i] - norm_squared(current));
            // the comparison is false if the residual is NaN
            converged = converged && fabs(residual[i]) <= tolerance * shape.length_squared[i];
            if (iteration == 0 && !(fabs(residual[i]) <= largest)) {
                largest = fabs(residual[i]);
                worst = i;
            }
        }
        if (converged) return -1;
        solve<N>(matrix, residual);
#pragma unroll
        for (int i = 0; i < N; ++i) multipliers[i] += residual[i];
    }
    return worst;
}

// Computes the corrections of velocities that make the time derivatives of all bond lengths zero. In all arrays the
// center comes first, followed by the leaves.
template <int N>
__device__ inline void shake_project(const ShakeShape<N>& shape, const Vec3<double>* positions,
                                     const Vec3<double>* velocities, Vec3<double>* change) {
    Vec3<double> bonds[N];
    double multipliers[N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
        bonds[i] = positions[1 + i] - positions[0];
        multipliers[i] = -dot(bonds[i], velocities[1 + i] - velocities[0]);
    }
    solve<N>(factored<N>(shape, bonds), multipliers);
    push<N>(shape, bonds, multipliers, change);
}
