/* Loaded before the C library into a process that writes the file named by MD_TEST_RECORD: every write to it is also
 * appended to the file named by MD_TEST_LOG, as offset and length (two 64-bit numbers of this machine) and the bytes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef ssize_t (*pwrite_function)(int, const void *, size_t, off64_t);

static int is_recorded(int file)
{
    char link[64], path[4096];
    const char *wanted = getenv("MD_TEST_RECORD");
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (!wanted || length < 0)
        return 0;
    path[length] = 0;
    return strcmp(path, wanted) == 0;
}

static void record(const void *bytes, size_t length, off64_t offset)
{
    static int file = -1;
    uint64_t head[2] = {offset, length};
    if (file < 0)
        file = open(getenv("MD_TEST_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (write(file, head, sizeof head) != sizeof head || write(file, bytes, length) != (ssize_t)length)
        abort();
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset)
{
    static pwrite_function next;
    if (!next)
        next = (pwrite_function)dlsym(RTLD_NEXT, "pwrite64");
    ssize_t written = next(file, bytes, length, offset);
    if (written > 0 && is_recorded(file))
        record(bytes, written, offset);
    return written;
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset)
{
    return pwrite64(file, bytes, length, offset);
}
