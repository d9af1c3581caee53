// Emulation of the part of CUDA that the kernels use, on one processor thread. Without a GPU the emulation is the
// only check of the numbers that kernels compute. Blocks run one after another. The threads of a block run as fibers
// that switch only at collectives and barriers. The emulator detects errors that lock-step execution would hide:
// lanes that are at different collectives, and lanes that wait for lanes that have returned. The order of blocks and
// threads can be changed, and the results must not depend on this order. Shared memory is filled with NaN when a
// block begins.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <link.h>
#include <numeric>
#include <ucontext.h>
#include <vector>

// All symbols from here to the start of terms.cpp are hidden, because a process loads several copies of the library,
// and these copies must not share variables.
#pragma GCC visibility push(hidden)

#define __device__
#define __global__
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define __noinline__ __attribute__((noinline)) inline

struct float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct uint2 { unsigned x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct dim3 { unsigned x; };

inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }

namespace emulation {

constexpr unsigned LANES = 32;
constexpr size_t STACK = 128 * 1024;
enum Meeting { NONE, SHUFFLE, BALLOT, WARP_BARRIER, BLOCK_BARRIER };

// Saved execution point at which a fiber continues. The compiler's built-in jumps keep two registers and are several
// times faster than `longjmp`. A function that jumps must not be inlined into a function that saves an execution point,
// and the compiler must not analyse it (`noipa`), because other fibers change variables before the function that jumps
// returns.
using Place = void* [5];

// A barrier at which the threads of a warp or of a whole block exchange values. The values of one exchange stay valid
// during the next exchange.
struct Group {
    unsigned size, arrived, generation;
    Meeting at;
    unsigned long long values[2][LANES];
};

struct Fiber {
    Place context;
    ucontext_t start;
    std::vector<char> stack;
    bool started, done;
    // group and generation for whose end the fiber waits; null if it does not wait
    const Group* group;
    unsigned generation;
};

std::vector<Fiber> fibers;
// indices of the threads in the order in which they run
std::vector<unsigned> turns;
std::vector<Group> warps;
Group whole_block;
unsigned current, block_number, blocks, threads;
// dynamic shared memory of the launch, followed by guard bytes that must not change
std::vector<unsigned char> launched;
constexpr size_t GUARD = 64;
bool progress;
const char* fault;
Place scheduler;
void (*body)(const void*, double);
const void* arguments;
double parameter;

__attribute__((noipa)) void go_to(Place& place) { __builtin_longjmp(place, 1); }

inline void leave() { go_to(scheduler); }

__attribute__((noipa)) void wait() {
    if (!__builtin_setjmp(fibers[current].context)) leave();
}

inline void fail(const char* what) {
    fault = what;
    leave();
}

inline const unsigned long long* meet(Group& group, Meeting at, unsigned long long value) {
    if (group.arrived > 0 && group.at != at) fail("lanes meet at different collectives");
    group.at = at;
    const unsigned generation = group.generation;
    group.values[generation % 2][current % LANES] = value;
    progress = true;
    if (++group.arrived == group.size) {
        group.arrived = 0;
        ++group.generation;
    }
    Fiber& fiber = fibers[current];
    fiber.group = &group;
    fiber.generation = generation;
    while (group.generation == generation) wait();
    fiber.group = nullptr;
    return group.values[generation % 2];
}

inline Group& warp() { return warps[current / LANES]; }

template <class T>
inline unsigned long long bits_of(T value) {
    static_assert(sizeof(T) <= 8, "values of a shuffle have at most eight bytes");
    unsigned long long bits = 0;
    memcpy(&bits, &value, sizeof(T));
    return bits;
}

template <class T>
inline T value_of(unsigned long long bits) {
    T value;
    memcpy(&value, &bits, sizeof(T));
    return value;
}

// Runs the same thread of all blocks, one block after another. A fiber serves all blocks, because a new context costs
// two system calls.
inline void fiber_main() {
    for (;;) {
        body(arguments, parameter);
        fibers[current].done = true;
        progress = true;
        wait();
    }
}

// Returns the k-th of n indices, in one of three orders.
inline unsigned in_order(unsigned k, unsigned n, unsigned order) {
    if (order == 0) return k;
    if (order == 1) return n - 1 - k;
    // order 2: strides through the indices with a stride that has no common factor with n
    unsigned step = 7;
    while (std::gcd(n, step) > 1) ++step;
    return unsigned((unsigned long long)k * step % n);
}

// Memory segment that holds all variables in shared memory. Variables in shared memory are the only `thread_local`
// variables, so that the loader keeps them in one segment.
struct Piece {
    void* start;
    size_t size;
};
Piece shared_memory;
thread_local volatile char asked_for;

inline int find_shared(dl_phdr_info* library, size_t, void*) {
    const auto here = reinterpret_cast<size_t>(&find_shared);
    bool ours = false;
    size_t size = 0;
    for (unsigned k = 0; k < library->dlpi_phnum; ++k) {
        const auto& part = library->dlpi_phdr[k];
        if (part.p_type == PT_LOAD) ours |= here - (library->dlpi_addr + part.p_vaddr) < part.p_memsz;
        if (part.p_type == PT_TLS) size = part.p_memsz;
    }
    if (ours) shared_memory = {library->dlpi_tls_data, size};
    return ours;
}

inline void reset_block() {
    memset(shared_memory.start, 0xff, shared_memory.size);
    std::fill(launched.begin(), launched.end(), 0xff);
    for (auto& fiber : fibers) fiber.done = false;
    for (auto& group : warps) group = {LANES, 0, 0, NONE, {}};
    whole_block = {threads, 0, 0, NONE, {}};
}

inline void start_fiber(Fiber& fiber) {
    fiber.started = true;
    fiber.stack.resize(STACK);
    getcontext(&fiber.start);
    fiber.start.uc_stack.ss_sp = fiber.stack.data();
    fiber.start.uc_stack.ss_size = STACK;
    fiber.start.uc_link = nullptr;
    makecontext(&fiber.start, fiber_main, 0);
    setcontext(&fiber.start);
}

// Runs every thread of a block to its end, or to a fault.
inline void run_block() {
    static unsigned place, running;
    reset_block();
    do {
        progress = false;
        running = 0;
        for (place = 0; place < threads; ++place) {
            current = turns[place];
            const Fiber& fiber = fibers[current];
            if (fiber.done) continue;
            ++running;
            // resuming a fiber that cannot go on would cost two jumps
            if (fiber.group && fiber.group->generation == fiber.generation) continue;
            if (!__builtin_setjmp(scheduler)) {
                if (fibers[current].started) go_to(fibers[current].context);
                start_fiber(fibers[current]);
            }
            if (fault) return;
        }
        if (running > 0 && !progress) fault = "lanes wait for others that have returned";
    } while (running > 0 && !fault);
    for (size_t k = launched.size() - GUARD; k < launched.size(); ++k)
        if (launched[k] != 0xff) fault = "a write beyond the launch's shared memory";
}

inline const char* run(void (*kernel)(const void*, double), const void* a, double p, unsigned grid, unsigned size,
                       unsigned shared, unsigned order) {
    body = kernel;
    launched.resize(shared + GUARD);
    arguments = a;
    parameter = p;
    blocks = grid;
    threads = size;
    fault = nullptr;
    if (size % LANES != 0 || size > 1024 || size == 0) return "a block must have 32 to 1024 threads in whole warps";
    // this access makes the loader allocate the segment of this thread
    asked_for = 1;
    if (!dl_iterate_phdr(find_shared, nullptr) || !shared_memory.start) return "the shared-memory segment was not found";
    if (fibers.size() < size) fibers.resize(size);
    warps.resize(size / LANES);
    turns.resize(size);
    for (unsigned k = 0; k < size; ++k) turns[k] = in_order(k, size, order);
    for (unsigned k = 0; k < grid && !fault; ++k) {
        block_number = in_order(k, grid, order);
        run_block();
    }
    // after a fault, threads are in the middle of the kernel
    if (fault) fibers.clear();
    return fault;
}

}  // namespace emulation

#define threadIdx (dim3{emulation::current})
#define blockIdx (dim3{emulation::block_number})
#define blockDim (dim3{emulation::threads})
#define gridDim (dim3{emulation::blocks})

template <class T>
inline T __shfl_sync(unsigned, T value, unsigned from) {
    using namespace emulation;
    return value_of<T>(meet(warp(), SHUFFLE, bits_of(value))[from % LANES]);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, unsigned distance) {
    return __shfl_sync(mask, value, (emulation::current % emulation::LANES) ^ distance);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned distance) {
    const unsigned lane = emulation::current % emulation::LANES;
    return __shfl_sync(mask, value, lane >= distance ? lane - distance : lane);
}
inline unsigned __ballot_sync(unsigned, bool value) {
    using namespace emulation;
    const unsigned long long* values = meet(warp(), BALLOT, value);
    unsigned bits = 0;
    for (unsigned lane = 0; lane < LANES; ++lane) bits |= unsigned(values[lane] != 0) << lane;
    return bits;
}
inline bool __any_sync(unsigned mask, bool value) { return __ballot_sync(mask, value) != 0; }
inline void __syncwarp() { emulation::meet(emulation::warp(), emulation::WARP_BARRIER, 0); }
inline void __syncthreads() { emulation::meet(emulation::whole_block, emulation::BLOCK_BARRIER, 0); }

template <class T>
inline T atomicAdd(T* at, T value) {
    const T before = *at;
    *at = before + value;
    return before;
}
template <class T>
inline T atomicExch(T* at, T value) {
    const T before = *at;
    *at = value;
    return before;
}
template <class T>
inline T atomicMin(T* at, T value) {
    const T before = *at;
    if (value < before) *at = value;
    return before;
}
template <class T>
inline T atomicMax(T* at, T value) {
    const T before = *at;
    if (value > before) *at = value;
    return before;
}

inline float2* launched_memory() { return reinterpret_cast<float2*>(emulation::launched.data()); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline float __uint_as_float(unsigned bits) { return emulation::value_of<float>(bits); }
inline unsigned __float_as_uint(float value) { return unsigned(emulation::bits_of(value)); }
inline long long __double_as_longlong(double value) { return (long long)emulation::bits_of(value); }
using std::atan2;
using std::copysign;
using std::erf;
using std::exp;
using std::fabs;
using std::floor;
using std::rint;
using std::sqrt;
