// Partial velocity refreshment by a thermostat, the counterpart of `src/engine/ensemble/refreshment.rs` and
// `src/engine/backend/refresh.rs`. The random numbers equal those of `src/engine/rng` bit for bit, because the
// computation uses only sums, products, quotients and square roots, which are rounded in the same way on CPU and GPU.

// Random number generator Philox4x32 with ten rounds.
__device__ inline void philox(u32 (&counter)[4], u32 key_low, u32 key_high) {
    for (int round = 0; round < 10; ++round) {
        const u64 a = u64(0xD2511F53u) * counter[0], b = u64(0xCD9E8D57u) * counter[2];
        counter[0] = u32(b >> 32) ^ counter[1] ^ key_low;
        counter[2] = u32(a >> 32) ^ counter[3] ^ key_high;
        counter[1] = u32(b);
        counter[3] = u32(a);
        key_low += 0x9E3779B9u;
        key_high += 0xBB67AE85u;
    }
}

// Returns the natural logarithm of a floating-point number x = 2ᵉ m with √½ ≤ m < √2, from the series of 2
// artanh((m−1)/(m+1)). The number x must be positive and not subnormal.
__device__ inline float noise_ln(float x) {
    const int shifted = int(__float_as_uint(x) - __float_as_uint(0.5f * 1.41421356237309504880f)), exponent = shifted >> 23;
    const float mantissa = __uint_as_float(__float_as_uint(x) - (u32(exponent) << 23));
    const float s = (mantissa - 1.0f) / (mantissa + 1.0f), square = s * s;
    const float series = ((square * (1.0f / 9.0f) + 1.0f / 7.0f) * square + 1.0f / 5.0f) * square + 1.0f / 3.0f;
    return float(exponent) * 0.693147180559945309417f + 2.0f * (s + s * square * series);
}

// Returns the sine of an angle of at most π/4, from the Taylor series.
__device__ inline float noise_sin(float x) {
    const float square = x * x;
    const float series = ((square * (1.0f / 362880.0f) - 1.0f / 5040.0f) * square + 1.0f / 120.0f) * square - 1.0f / 6.0f;
    return x + x * square * series;
}
__device__ inline float noise_cos(float x) {
    const float square = x * x;
    const float series = ((square * (1.0f / 40320.0f) - 1.0f / 720.0f) * square + 1.0f / 24.0f) * square - 0.5f;
    return 1.0f + square * series;
}

// Returns two independent normal random numbers from two random words, by the Box–Muller transformation.
__device__ inline float2 box_muller(u32 radius, u32 angle) {
    const float uniform = (float(radius) + 0.5f) * (1.0f / 4294967296.0f);
    const float length = sqrtf(-2.0f * noise_ln(uniform));
    // two bits choose the quadrant, and thirty bits choose the angle in the quadrant
    const float within = float(int(angle & 0x3fffffffu) - 0x20000000) * (1.57079632679489661923f / 1073741824.0f);
    const float sine = noise_sin(within), cosine = noise_cos(within), sign = angle >> 31 == 0 ? length : -length;
    const bool turned = (angle & 0x40000000u) != 0;
    return make_float2(sign * (turned ? -sine : cosine), sign * (turned ? cosine : sine));
}

// Returns three independent normal random numbers for an atom.
__device__ inline Vec3<double> normals(const Refreshment& refreshment, u32 atom) {
    u32 words[4] = {atom, refreshment.step[0], refreshment.step[1], PURPOSE_NOISE << 24};
    philox(words, refreshment.seed[0], refreshment.seed[1]);
    const float2 xy = box_muller(words[0], words[1]);
    return vec3(double(xy.x), double(xy.y), double(box_muller(words[2], words[3]).x));
}

// Returns the change of a velocity v, −(1−α) v + √((1−α²) kT/m) R, where α is the fraction of v that is kept, and R
// holds standard normal random numbers.
__device__ inline Vec3<double> renewal(const Refreshment& refreshment, u32 atom, double mass, Vec3<double> velocity) {
    return velocity * refreshment.lost + normals(refreshment, atom) * sqrt(refreshment.variance * (1.0 / mass));
}

// Adds the sum over a warp to the work of velocity refreshments, kJ/mol. All lanes must call this function.
__device__ inline void add_refreshment_work(const Arguments& a, double of_lane) {
    const double sum = warp_sum(of_lane);
    if (lane_number() == 0 && sum != 0.0) add_fixed(&a.status->refreshment_work, sum, SUM_SCALE);
}

// Prepares the next velocity refreshment, after one step is integrated and before the next step is integrated. Only one
// thread may call this function. Repeated calls have no further effect. Kernels that refresh velocities read `step` but
// set `next_step`, so that blocks that start late read the same step as blocks that start early.
__device__ inline void begin_refreshment(const Arguments& a) {
    Status& status = *a.status;
    status.refreshment.step[0] = status.refreshment.next_step[0];
    status.refreshment.step[1] = status.refreshment.next_step[1];
    status.thermostat_work += status.refreshment_work * (1.0 / SUM_SCALE);
    status.refreshment_work = 0;
}

// Schedules the next refreshment for the next step; the host may change this schedule later. Only one thread may call
// this function.
__device__ inline void end_refreshment(const Arguments& a) {
    Refreshment& refreshment = a.status->refreshment;
    refreshment.next_step[0] = refreshment.step[0] + 1;
    refreshment.next_step[1] = refreshment.step[1] + (refreshment.step[0] + 1 == 0 ? 1 : 0);
}

// Refreshes the velocities of an update group in the middle of a drift, and satisfies the constraints at the end of the
// drift. The function adds the change of the kinetic energy to `work`. The `unconstrained` positions of the group are
// the positions after the whole drift. Returns −1 on success, otherwise the index of the leaf whose constraint failed.
template <class Kind>
__device__ inline int renew(const Arguments& a, const Kind& kind, double timestep, UpdateGroup<Kind::SIZE>& group,
                            Vec3<double> (&velocity)[Kind::SIZE], double& work) {
    const Refreshment refreshment = a.status->refreshment;
    const double half = 0.5 * timestep;
    for (int k = 0; k < Kind::SIZE; ++k) {
        const double mass = a.masses[group.atoms[k]];
        work -= 0.5 * mass * norm_squared(velocity[k]);
        const Vec3<double> change = renewal(refreshment, group.atoms[k], mass, velocity[k]);
        velocity[k] = velocity[k] + change;
        group.unconstrained[k] = group.unconstrained[k] + change * half;
    }
    const int failed = finish_drift(a, kind, half, group, velocity);
    if (failed >= 0) return failed;
    for (int k = 0; k < Kind::SIZE; ++k) work += 0.5 * a.masses[group.atoms[k]] * norm_squared(velocity[k]);
    return -1;
}
