/*
 * Lets one call to the system, or some in a row, fail on files below one directory. Preloaded (LD_PRELOAD) into a process.
 *
 *     FAIL_ROOT    the directory, an absolute path
 *     FAIL_AT      the number of the first call that fails, from 1; 0: none
 *     FAIL_COUNT   how many calls fail from there on: a disk that has room again afterwards
 *     FAIL_ERRNO   the error's number
 *     FAIL_REPORT  a file outside of that directory: each failed call is appended to it, and at the end the number of calls
 *
 * Counted are the calls that change files or names, and syncs. SQLite's -shm files are left out: they are an index.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char root[PATH_MAX];
static size_t root_length;
static long fail_at, fail_count;
static int fail_errno, report_fd = -1;
static atomic_long calls;

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("FAIL_ROOT");
    if (path == NULL) return;
    root_length = strlen(path);
    if (root_length >= sizeof root) _exit(99);
    memcpy(root, path, root_length + 1);
    fail_at = atol(getenv("FAIL_AT"));
    fail_count = atol(getenv("FAIL_COUNT"));
    fail_errno = atoi(getenv("FAIL_ERRNO"));
    report_fd = open(getenv("FAIL_REPORT"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (report_fd < 0) _exit(99);
}

__attribute__((destructor)) static void finish(void) {
    if (report_fd >= 0) dprintf(report_fd, "calls %ld\n", atomic_load(&calls));
}

static int is_watched(const char *path) {
    if (root_length == 0 || path == NULL || strncmp(path, root, root_length) != 0) return 0;
    size_t length = strlen(path);
    return length < 4 || strcmp(path + length - 4, "-shm") != 0;
}

/* Whether this call is to fail; errno is set then. */
static int fails(const char *name, const char *path) {
    if (!is_watched(path)) return 0;
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (fail_at == 0 || number < fail_at || number >= fail_at + fail_count) return 0;
    dprintf(report_fd, "failed %s .%s\n", name, path + root_length);
    errno = fail_errno;
    return 1;
}

static int fails_fd(const char *name, int fd) {
    char link[64], path[PATH_MAX];
    if (root_length == 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return fails(name, path);
}

ssize_t write(int fd, const void *bytes, size_t count) {
    return fails_fd("write", fd) ? -1 : syscall(SYS_write, fd, bytes, count);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    return fails_fd("pwrite", fd) ? -1 : syscall(SYS_pwrite64, fd, bytes, count, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) { return pwrite64(fd, bytes, count, offset); }

int fsync(int fd) { return fails_fd("fsync", fd) ? -1 : (int)syscall(SYS_fsync, fd); }

int fdatasync(int fd) { return fails_fd("fdatasync", fd) ? -1 : (int)syscall(SYS_fdatasync, fd); }

int ftruncate64(int fd, off64_t size) { return fails_fd("ftruncate", fd) ? -1 : (int)syscall(SYS_ftruncate, fd, size); }

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int unlink(const char *path) { return fails("unlink", path) ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0); }

int rename(const char *from, const char *to) {
    return fails("rename", to) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static int open_at(const char *path, int flags, mode_t mode) {
    /* A file that is there needs no room. */
    if ((flags & O_CREAT) != 0 && is_watched(path) && access(path, F_OK) != 0 && fails("open", path)) return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
    va_end(list);
    return open_at(path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
    va_end(list);
    return open_at(path, flags, mode);
}
