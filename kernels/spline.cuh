// Cardinal B-splines, the counterpart of `src/engine/pme/spline.rs`.

// Raises the order of spline values from n − 1 to n, in place.
template <class T>
__device__ inline void raise(T* value, int n, T fraction) {
    const T scale = T(1) / T(n - 1);
    value[n - 1] = scale * fraction * value[n - 2];
    for (int j = n - 2; j >= 1; --j)
        value[j] = scale * fused(fraction + T(n - 1 - j), value[j - 1], (T(j + 1) - fraction) * value[j]);
    value[0] = scale * (T(1) - fraction) * value[0];
}

// Computes the N weights of the spline M_N and their derivatives for a particle with the grid coordinate g +
// `fraction`, where g is an integer. Element j of both arrays belongs to grid point g + j.
template <class T, int N>
__device__ inline void spline(T fraction, T* value, T* derivative) {
    value[0] = T(1) - fraction;
    value[1] = fraction;
#pragma unroll
    for (int n = 3; n < N; ++n) raise(value, n, fraction);
    derivative[0] = -value[0];
#pragma unroll
    for (int j = 1; j < N - 1; ++j) derivative[j] = value[j - 1] - value[j];
    derivative[N - 1] = value[N - 2];
    raise(value, N, fraction);
}
