// Discrete Fourier transforms X_k = Σ x_n e^{−2πi nk/N} of N numbers, with N small enough for the registers of one
// thread. The transform of a line of F·G numbers has two stages: transforms of F numbers, then transforms of G numbers.
// The transform of a line of F·G numbers works in place: the input number with the index n = G n₁ + n₂ and the output
// number with the index k = k₁ + F k₂ share memory. For the inverse transform, real and imaginary parts are swapped
// before and after the forward transform.

// Power series of the cosine (first = 0) or the sine (first = 1), for |x| ≤ π.
__device__ constexpr double circular_series(double x, int first) {
    double term = first == 0 ? 1.0 : x, sum = term;
    // the last term is below 10⁻¹⁶
    for (int n = first + 1; n < 32; n += 2) {
        term *= -x * x / (n * (n + 1));
        sum += term;
    }
    return sum;
}

// Cosines and sines of the multiples of 2π/N.
template <int N>
struct Circle {
    float cosine[N], sine[N];

    __device__ constexpr Circle() : cosine(), sine() {
        for (int k = 0; k < N; ++k) {
            const double angle = 2.0 * 3.14159265358979323846 * (2 * k <= N ? k : k - N) / N;
            cosine[k] = float(circular_series(angle, 0));
            sine[k] = float(circular_series(angle, 1));
        }
    }
};

__device__ inline float2 operator+(float2 a, float2 b) {
    return make_float2(a.x + b.x, a.y + b.y);
}
__device__ inline float2 operator-(float2 a, float2 b) {
    return make_float2(a.x - b.x, a.y - b.y);
}
__device__ inline float2 swapped(float2 a) {
    return make_float2(a.y, a.x);
}
// Returns the product of two complex numbers.
__device__ inline float2 operator*(float2 a, float2 b) {
    return make_float2(fused(a.x, b.x, -(a.y * b.y)), fused(a.x, b.y, a.y * b.x));
}

// Transform of an odd number N of values, in which the values n and N − n are combined.
template <int N>
struct Dft {
    static __device__ inline void apply(float2* v) {
        constexpr Circle<N> circle;
        constexpr int PAIRS = (N - 1) / 2;
        const float2 zeroth = v[0];
        float2 sums[PAIRS], differences[PAIRS];
#pragma unroll
        for (int n = 1; n <= PAIRS; ++n) {
            sums[n - 1] = v[n] + v[N - n];
            differences[n - 1] = v[n] - v[N - n];
            v[0] = v[0] + sums[n - 1];
        }
#pragma unroll
        for (int k = 1; k <= PAIRS; ++k) {
            float2 even = zeroth, odd = make_float2(0.0f, 0.0f);
#pragma unroll
            for (int n = 1; n <= PAIRS; ++n) {
                const float cosine = circle.cosine[n * k % N], sine = circle.sine[n * k % N];
                even = make_float2(fused(sums[n - 1].x, cosine, even.x), fused(sums[n - 1].y, cosine, even.y));
                const float2 difference = differences[n - 1];
                odd = n == 1 ? make_float2(difference.x * sine, difference.y * sine)
                             : make_float2(fused(difference.x, sine, odd.x), fused(difference.y, sine, odd.y));
            }
            v[k] = make_float2(even.x + odd.y, even.y - odd.x);
            v[N - k] = make_float2(even.x - odd.y, even.y + odd.x);
        }
    }
};

template <>
struct Dft<2> {
    static __device__ inline void apply(float2* v) {
        const float2 first = v[0];
        v[0] = first + v[1];
        v[1] = first - v[1];
    }
};

template <>
struct Dft<4> {
    static __device__ inline void apply(float2* v) {
        const float2 sum = v[0] + v[2], difference = v[0] - v[2], odd_sum = v[1] + v[3], odd = v[1] - v[3];
        v[0] = sum + odd_sum;
        v[1] = make_float2(difference.x + odd.y, difference.y - odd.x);
        v[2] = sum - odd_sum;
        v[3] = make_float2(difference.x - odd.y, difference.y + odd.x);
    }
};

template <>
struct Dft<8> {
    static __device__ inline void apply(float2* v) {
        const float root = 0.707106781f;
        float2 low[4], high[4];
#pragma unroll
        for (int n = 0; n < 4; ++n) {
            low[n] = v[n] + v[n + 4];
            high[n] = v[n] - v[n + 4];
        }
        high[1] = make_float2((high[1].x + high[1].y) * root, (high[1].y - high[1].x) * root);
        high[2] = make_float2(high[2].y, -high[2].x);
        high[3] = make_float2((high[3].y - high[3].x) * root, (high[3].x + high[3].y) * -root);
        Dft<4>::apply(low);
        Dft<4>::apply(high);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            v[2 * k] = low[k];
            v[2 * k + 1] = high[k];
        }
    }
};

// Transform of P² values: transforms of P values, twiddle factors, then transforms of P values again.
template <int P>
struct Square {
    static __device__ inline void apply(float2* v) {
        constexpr Circle<P * P> circle;
        float2 columns[P][P];
#pragma unroll
        for (int n = 0; n < P; ++n) {
#pragma unroll
            for (int m = 0; m < P; ++m) columns[n][m] = v[P * m + n];
            Dft<P>::apply(columns[n]);
#pragma unroll
            for (int k = 1; k < P; ++k)
                if (n > 0) columns[n][k] = columns[n][k] * make_float2(circle.cosine[n * k], -circle.sine[n * k]);
        }
#pragma unroll
        for (int k = 0; k < P; ++k) {
            float2 row[P];
#pragma unroll
            for (int n = 0; n < P; ++n) row[n] = columns[n][k];
            Dft<P>::apply(row);
#pragma unroll
            for (int m = 0; m < P; ++m) v[k + P * m] = row[m];
        }
    }
};

// Transform of P·Q values, where P and Q have no common factor, so that no twiddle factors are needed between the
// transforms of P and of Q values (I. J. Good, J. R. Stat. Soc. B 20, 361 (1958)).
template <int P, int Q>
struct PrimeFactors {
    static __device__ inline void apply(float2* v) {
        float2 rows[P][Q];
#pragma unroll
        for (int q = 0; q < Q; ++q) {
            float2 column[P];
#pragma unroll
            for (int p = 0; p < P; ++p) column[p] = v[(Q * p + P * q) % (P * Q)];
            Dft<P>::apply(column);
#pragma unroll
            for (int p = 0; p < P; ++p) rows[p][q] = column[p];
        }
#pragma unroll
        for (int p = 0; p < P; ++p) Dft<Q>::apply(rows[p]);
#pragma unroll
        for (int k = 0; k < P * Q; ++k) v[k] = rows[k % P][k % Q];
    }
};

template <>
struct Dft<9> : Square<3> {};
template <>
struct Dft<16> : Square<4> {};
template <>
struct Dft<6> : PrimeFactors<2, 3> {};
template <>
struct Dft<10> : PrimeFactors<2, 5> {};
template <>
struct Dft<12> : PrimeFactors<4, 3> {};
template <>
struct Dft<14> : PrimeFactors<2, 7> {};

template <int N>
struct Radix {
    static constexpr u32 VALUE = N;

    __device__ inline void transform(float2* values) const {
        Dft<N>::apply(values);
    }
};

// Calls `work` with an object of the type `Radix<R>` for the radix R. `with_even` accepts even first radices,
// `with_first` accepts all first radices, and `with_second` accepts all second radices. The lists on the host are
// `FIRST_RADICES` and `SECOND_RADICES`.
template <class Work>
__device__ inline void with_even(u32 radix, Work work) {
    switch (radix) {
        case 4: return work(Radix<4>());
        case 6: return work(Radix<6>());
        case 8: return work(Radix<8>());
        case 10: return work(Radix<10>());
        case 12: return work(Radix<12>());
        case 14: return work(Radix<14>());
        default: return work(Radix<16>());
    }
}
template <class Work>
__device__ inline void with_first(u32 radix, Work work) {
    switch (radix) {
        case 3: return work(Radix<3>());
        case 5: return work(Radix<5>());
        default: return with_even(radix, work);
    }
}
template <class Work>
__device__ inline void with_second(u32 radix, Work work) {
    switch (radix) {
        case 3: return work(Radix<3>());
        case 4: return work(Radix<4>());
        case 5: return work(Radix<5>());
        case 6: return work(Radix<6>());
        case 7: return work(Radix<7>());
        case 8: return work(Radix<8>());
        case 9: return work(Radix<9>());
        default: return work(Radix<10>());
    }
}
