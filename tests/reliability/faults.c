// Preloaded into a process: counts the system calls that change files below a folder, and lets one of them fail.
//
// A seccomp filter turns every such call, whichever library makes it, into SIGSYS; the handler makes the call in the
// kernel's place, by the one instruction that the filter lets through. Calls that change files below the folder are
// counted, made one after another, and written to a journal in that order. Syncs are only written down: what a disk
// holds after a loss of power follows from the journal.
//
// Environment: FAULT_BELOW the folder, free of links; FAULT_JOURNAL the file for the journal; FAULT_AT the number of the
// call at which FAULT_KIND happens: "kill" before the call, "torn" in the middle of it (only writes are counted), "term"
// (SIGTERM, then the call), or an error number that the call returns, with FAULT_LASTING also every later one. A disk
// without space (ENOSPC) takes half of the first write, and lets files be removed and synced.
//
// A line of the journal: kind, inode, offset, length, path, second path, between tabs; behind a write's line its bytes.
// The line of a fault ends in "fault".

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>

#ifndef __x86_64__
#error "the registers and numbers of system calls here are those of x86-64"
#endif

enum { PATH = 4096, KILL = -1, TORN = -2, TERM = -3, UNKNOWN = 99 };

// The system call itself; its instruction ends at direct_return.
long direct(long number, long a, long b, long c, long d, long e, long f);
extern const char direct_return[];
__asm__(".text\n.globl direct\ndirect:\n"
        "mov %rdi, %rax\nmov %rsi, %rdi\nmov %rdx, %rsi\nmov %rcx, %rdx\nmov %r8, %r10\nmov %r9, %r8\n"
        "mov 8(%rsp), %r9\nsyscall\n.globl direct_return\ndirect_return:\nret\n");
#define CALL(number, a, b, c, d) direct(number, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

static char below[PATH];
static long fault_at, lasting, fault, count, journal;
static char busy; // a spin lock around counted calls

struct change {
    const char *kind; // NULL where nothing below the folder changes
    long inode, offset, length;
    char path[PATH + 300], other[PATH + 300];
};

static void stop(const char *why) {
    CALL(SYS_write, 2, why, strlen(why), 0);
    CALL(SYS_exit_group, UNKNOWN, 0, 0, 0);
}

static int is_below(const char *path) {
    size_t length = strlen(below);
    return strncmp(path, below, length) == 0 && path[length] == '/';
}

static void read_link(long fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%ld", fd);
    long length = CALL(SYS_readlink, link, path, PATH - 1, 0);
    path[length < 0 ? 0 : length] = 0;
}

// True for an open file below the folder: its path, inode and size.
static int is_open_below(long fd, struct change *c) {
    struct stat s;
    read_link(fd, c->path);
    if (!is_below(c->path) || CALL(SYS_fstat, fd, &s, 0, 0) < 0) return 0;
    c->inode = s.st_ino;
    c->offset = s.st_size;
    return 1;
}

// True for a name below the folder: its path, free of links but for the last part.
static int is_named_below(long folder, const char *name, char *path) {
    char parent[PATH];
    const char *slash = strrchr(name, '/');
    size_t length = slash == name ? 1 : slash ? (size_t)(slash - name) : 0;
    if (length >= PATH) return 0;
    memcpy(parent, name, length);
    strcpy(parent + length, length ? "" : ".");
    long fd = CALL(SYS_openat, folder, parent, O_PATH | O_CLOEXEC, 0);
    if (fd < 0) return 0;
    read_link(fd, path);
    CALL(SYS_close, fd, 0, 0, 0);
    snprintf(path + strlen(path), 300, "/%s", slash ? slash + 1 : name);
    return is_below(path);
}

// Older calls in terms of newer ones; of several pieces of a write the first.
static long in_new_terms(long number, long *a) {
    const long cwd = AT_FDCWD;
    switch (number) {
    case SYS_open: return a[3] = a[2], a[2] = a[1], a[1] = a[0], a[0] = cwd, SYS_openat;
    case SYS_creat: return a[3] = a[1], a[2] = O_CREAT | O_TRUNC | O_WRONLY, a[1] = a[0], a[0] = cwd, SYS_openat;
    case SYS_rename: return a[3] = a[1], a[1] = a[0], a[0] = a[2] = cwd, a[4] = 0, SYS_renameat2;
    case SYS_renameat: return a[4] = 0, SYS_renameat2;
    case SYS_link: return a[3] = a[1], a[1] = a[0], a[0] = a[2] = cwd, a[4] = 0, SYS_linkat;
    case SYS_unlink: return a[1] = a[0], a[0] = cwd, a[2] = 0, SYS_unlinkat;
    case SYS_rmdir: return a[1] = a[0], a[0] = cwd, a[2] = AT_REMOVEDIR, SYS_unlinkat;
    case SYS_symlink: return a[2] = a[1], a[1] = cwd, SYS_symlinkat;
    case SYS_mkdir: return a[2] = a[1], a[1] = a[0], a[0] = cwd, SYS_mkdirat;
    case SYS_fdatasync: return SYS_fsync;
    case SYS_writev:
    case SYS_pwritev: {
        const struct iovec *v = (const struct iovec *)a[1], *end = v + a[2];
        while (v + 1 < end && v->iov_len == 0) v++;
        return a[1] = (long)v->iov_base, a[2] = v->iov_len, number == SYS_writev ? SYS_write : SYS_pwrite64;
    }
    }
    return number;
}

static int exists(long folder, const char *name) {
    struct stat s;
    return CALL(SYS_newfstatat, folder, name, &s, AT_SYMLINK_NOFOLLOW) == 0;
}

// What a call in new terms is about to change; nothing where it must fail because a name is missing or taken.
static void understand(long number, const long *a, struct change *c) {
    const char *name = (const char *)a[1], *other = (const char *)(number == SYS_symlinkat ? a[2] : a[3]);
    c->kind = NULL, c->inode = c->offset = c->length = 0, c->path[0] = c->other[0] = 0;
    switch (number) {
    case SYS_write:
    case SYS_pwrite64:
        if (!is_open_below(a[0], c)) return;
        c->kind = "write", c->length = a[2];
        if (number == SYS_pwrite64) c->offset = a[3];
        else if (!(CALL(SYS_fcntl, a[0], F_GETFL, 0, 0) & O_APPEND)) c->offset = CALL(SYS_lseek, a[0], 0, SEEK_CUR, 0);
        return;
    case SYS_openat: // opening changes nothing where a file is there and keeps its contents
        if (!(a[2] & (O_CREAT | O_TRUNC)) || !is_named_below(a[0], name, c->path)) return;
        if (!exists(a[0], name)) c->kind = "create";
        else if (a[2] & O_TRUNC) c->kind = "truncate";
        return;
    case SYS_ftruncate:
        if (is_open_below(a[0], c)) c->kind = "truncate", c->length = a[1];
        return;
    case SYS_fsync:
        if (is_open_below(a[0], c)) c->kind = "sync";
        return;
    case SYS_renameat2:
    case SYS_linkat:
        if (a[4] & ~RENAME_NOREPLACE) stop("faults.c: flags of a rename or link that are not known\n");
        if (number == SYS_linkat && exists(a[2], other)) return;
        is_named_below(a[0], name, c->path);
        if (is_named_below(a[2], other, c->other)) c->kind = number == SYS_linkat ? "link" : "rename";
        return;
    case SYS_unlinkat:
        if (exists(a[0], name) && is_named_below(a[0], name, c->path)) c->kind = a[2] & AT_REMOVEDIR ? "rmdir" : "unlink";
        return;
    case SYS_symlinkat:
        if (exists(a[1], other) || !is_named_below(a[1], other, c->other)) return;
        c->kind = "symlink";
        snprintf(c->path, PATH, "%s", (const char *)a[0]);
        return;
    case SYS_mkdirat:
        if (!exists(a[0], name) && is_named_below(a[0], name, c->path)) c->kind = "mkdir";
        return;
    case SYS_mmap:
        if (a[3] & MAP_SHARED && a[2] & PROT_WRITE && is_open_below(a[4], c)) break;
        return;
    case SYS_truncate:
        if (is_named_below(AT_FDCWD, (const char *)a[0], c->path)) break;
        return;
    default:
        if (!is_open_below(a[0], c)) return;
    }
    stop("faults.c: a way to change a file that is not known\n");
}

static void note(const struct change *c, const char *bytes, const char *end) {
    char line[3 * PATH];
    int n = snprintf(line, sizeof line, "%s\t%ld\t%ld\t%ld\t%s\t%s%s\n", c->kind, c->inode, c->offset, c->length, c->path,
                     c->other, end);
    CALL(SYS_write, journal, line, n, 0);
    for (long done = 0; bytes && done < c->length;)
        done += CALL(SYS_write, journal, bytes + done, c->length - done, 0);
}

// Makes a counted call, or the fault in its place.
static long change(long number, const long *a, struct change *c) {
    struct stat s;
    const int writes = strcmp(c->kind, "write") == 0, syncs = strcmp(c->kind, "sync") == 0;
    count += fault != TORN || writes;
    if (count == fault_at || (lasting && count > fault_at)) {
        struct change none = *c;
        none.length = 0;
        long half = 0;
        if (writes && count == fault_at && (fault == TORN || fault == ENOSPC)) {
            half = c->length = direct(number, a[0], a[1], a[2] / 2, a[3], 0, 0);
            note(c, (const char *)a[1], "");
        }
        note(&none, NULL, "fault");
        if (fault == KILL || fault == TORN) CALL(SYS_kill, CALL(SYS_getpid, 0, 0, 0, 0), SIGKILL, 0, 0);
        if (fault == TERM) CALL(SYS_kill, CALL(SYS_getpid, 0, 0, 0, 0), SIGTERM, 0, 0);
        if (half > 0) return half;
        if (fault > 0 && !(fault == ENOSPC && (syncs || strcmp(c->kind, "unlink") == 0))) return -fault;
    }
    long result = syncs ? 0 : direct(number, a[0], a[1], a[2], a[3], a[4], 0);
    if (result < 0) return result;
    if (writes) c->length = result;
    if (number == SYS_openat && CALL(SYS_fstat, result, &s, 0, 0) == 0) c->inode = s.st_ino;
    note(c, writes ? (const char *)a[1] : NULL, "");
    return result;
}

static void on_call(int signal, siginfo_t *info, void *context) {
    (void)signal;
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    long a[6] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};
    long number = in_new_terms(info->si_syscall, a);
    struct change c;
    while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) CALL(SYS_sched_yield, 0, 0, 0, 0);
    understand(number, a, &c);
    if (c.kind) r[REG_RAX] = change(number, a, &c);
    __atomic_clear(&busy, __ATOMIC_RELEASE);
    if (!c.kind) r[REG_RAX] = direct(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static const int CHANGING[] = {SYS_write, SYS_pwrite64, SYS_writev, SYS_pwritev, SYS_open, SYS_openat, SYS_creat, SYS_ftruncate,
    SYS_truncate, SYS_fallocate, SYS_fsync, SYS_fdatasync, SYS_rename, SYS_renameat, SYS_renameat2, SYS_link, SYS_linkat,
    SYS_unlink, SYS_unlinkat, SYS_rmdir, SYS_symlink, SYS_symlinkat, SYS_mkdir, SYS_mkdirat, SYS_mmap};
// Reported as missing, so that programs use the others.
static const int ABSENT[] = {SYS_copy_file_range, SYS_sendfile, SYS_splice, SYS_pwritev2, SYS_openat2, SYS_io_uring_setup};

static void install_filter(void) {
    enum { CHANGE = sizeof CHANGING / sizeof *CHANGING, GONE = sizeof ABSENT / sizeof *ABSENT };
    struct sock_filter f[CHANGE + GONE + 8];
    unsigned n = 0, end = CHANGE + GONE + 1; // "allow", "absent", then the look at the instruction
    const uint64_t allowed = (uint64_t)direct_return;
#define LOAD(offset) (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define EQUAL(value, yes, no) (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define RETURN(what) (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what)
    f[n++] = LOAD(offsetof(struct seccomp_data, nr));
    for (int i = 0; i < CHANGE; i++, n++) f[n] = EQUAL(CHANGING[i], end + 1 - n, 0);
    for (int i = 0; i < GONE; i++, n++) f[n] = EQUAL(ABSENT[i], end - n, 0);
    f[n++] = RETURN(SECCOMP_RET_ALLOW);
    f[n++] = RETURN(SECCOMP_RET_ERRNO | ENOSYS);
    f[n++] = LOAD(offsetof(struct seccomp_data, instruction_pointer));
    f[n++] = EQUAL((uint32_t)allowed, 0, 2);
    f[n++] = LOAD(offsetof(struct seccomp_data, instruction_pointer) + 4);
    f[n++] = EQUAL((uint32_t)(allowed >> 32), 1, 0);
    f[n++] = RETURN(SECCOMP_RET_TRAP);
    f[n++] = RETURN(SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {n, f};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        stop("faults.c: this system does not allow a seccomp filter\n");
}

__attribute__((constructor)) static void start(void) {
    const char *folder = getenv("FAULT_BELOW"), *to = getenv("FAULT_JOURNAL"), *at = getenv("FAULT_AT"), *kind = getenv("FAULT_KIND");
    if (!folder || !to) return;
    snprintf(below, sizeof below, "%s", folder);
    journal = CALL(SYS_open, to, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600, 0);
    if (journal < 0) stop("faults.c: no journal can be written\n");
    fault_at = at ? atol(at) : 0;
    lasting = getenv("FAULT_LASTING") != NULL;
    if (kind) fault = !strcmp(kind, "kill") ? KILL : !strcmp(kind, "torn") ? TORN : !strcmp(kind, "term") ? TERM : atol(kind);
    struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO};
    sigfillset(&action.sa_mask);
    sigaction(SIGSYS, &action, NULL);
    install_filter();
}
