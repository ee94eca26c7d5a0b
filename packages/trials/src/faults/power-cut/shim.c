/*
 * Records what a process does to the files below one directory, so that the disk can be rebuilt as a power cut at any
 * moment would have left it. Preloaded (LD_PRELOAD) into the server; changes nothing that the server sees.
 *
 *     RECORD_ROOT   the directory, an absolute path
 *     RECORD_LOG    the file that records are appended to, outside that directory
 *     RECORD_SYNC_DELAY_US  how much longer each sync takes, as on a slow disk
 *     RECORD_BREAK  "no-sync": syncs are recorded as if they had never been asked for (to see the test fail)
 *
 * A record: u32 length of what follows | u8 kind | u8 flag | u16 0 | i32 descriptor | i64 offset or size |
 * u64 begun ns | u64 ended ns | u32 length of path | u32 length of bytes | path | bytes. Times are CLOCK_MONOTONIC. A name or size change is
 * recorded under the lock that also orders it against other records; a sync takes its times outside of the lock, so that
 * writes go on meanwhile. SQLite's -shm files are left out: they are an index that is rebuilt at start.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum kind { STARTED = 1, OPENED, CLOSED, WROTE, RESIZED, SYNCED, RENAMED, REMOVED, MADE_FOLDER, LINKED };
enum { FD_MAX = 65536, PATH_BYTES = 4096 };

static char root[PATH_BYTES];
static size_t root_length;
static int log_fd = -1;
static int ignores_sync;
static long sync_delay_us;
/* Which file a descriptor was opened for. libuv closes by a bare system call, so a number may change hands unseen. */
static struct { unsigned char is_open; dev_t device; ino_t inode; } watched[FD_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fail(const char *what) {
    dprintf(2, "recording shim: %s: %s\n", what, strerror(errno));
    _exit(99);
}

struct entry {
    enum kind kind;
    int flag, fd;
    int64_t offset;
    uint64_t begun, ended;
    const char *path;
    const void *bytes;
    size_t size;
};

/* Called with the lock held, so that records lie in the log in the order in which they took effect. */
static void record(struct entry e) {
    if (log_fd < 0) return;
    int saved = errno;
    uint32_t path_length = e.path ? (uint32_t)strlen(e.path) : 0;
    unsigned char head[44];
    uint32_t length = sizeof head - 4 + path_length + (uint32_t)e.size;
    memset(head, 0, sizeof head);
    memcpy(head, &length, 4);
    head[4] = (unsigned char)e.kind;
    head[5] = (unsigned char)e.flag;
    int32_t fd = e.fd;
    memcpy(head + 8, &fd, 4);
    memcpy(head + 12, &e.offset, 8);
    memcpy(head + 20, &e.begun, 8);
    memcpy(head + 28, &e.ended, 8);
    memcpy(head + 36, &path_length, 4);
    uint32_t size = (uint32_t)e.size;
    memcpy(head + 40, &size, 4);
    struct iovec parts[3] = {{head, sizeof head}, {(void *)e.path, path_length}, {(void *)e.bytes, e.size}};
    size_t total = sizeof head + path_length + e.size;
    ssize_t done = syscall(SYS_writev, log_fd, parts, 3);
    if (done < 0 || (size_t)done != total) fail("cannot append to the log");
    errno = saved;
}

__attribute__((constructor)) static void start(void) {
    const char *directory = getenv("RECORD_ROOT"), *log = getenv("RECORD_LOG"), *broken = getenv("RECORD_BREAK");
    if (!directory || !log) return;
    snprintf(root, sizeof root, "%s", directory);
    root_length = strlen(root);
    const char *delay = getenv("RECORD_SYNC_DELAY_US");
    sync_delay_us = delay ? atol(delay) : 0;
    ignores_sync = broken && strcmp(broken, "no-sync") == 0;
    log_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log_fd < 0) fail("cannot open the log");
    /* Out of the way of descriptor numbers that the program may expect to be low. */
    int high = fcntl(log_fd, F_DUPFD_CLOEXEC, 900);
    if (high >= 0) {
        syscall(SYS_close, log_fd);
        log_fd = high;
    }
    uint64_t t = now();
    pthread_mutex_lock(&lock);
    record((struct entry){.kind = STARTED, .begun = t, .ended = t});
    pthread_mutex_unlock(&lock);
}

static int ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* The absolute, normalised form of a path; 0 where it does not lie below the root. */
static int below_root(int folder, const char *path, char out[PATH_BYTES]) {
    char full[PATH_BYTES], base[PATH_BYTES];
    if (log_fd < 0 || !path) return 0;
    if (path[0] == '/') snprintf(full, sizeof full, "%s", path);
    else {
        if (folder == AT_FDCWD) {
            if (!getcwd(base, sizeof base)) return 0;
        } else {
            char link[64];
            snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
            ssize_t n = syscall(SYS_readlink, link, base, sizeof base - 1);
            if (n < 0) return 0;
            base[n] = 0;
        }
        if (snprintf(full, sizeof full, "%s/%s", base, path) >= (int)sizeof full) return 0;
    }
    /* Dots and doubled slashes. */
    size_t length = 0;
    char *rest = NULL;
    for (char *part = strtok_r(full, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
        if (strcmp(part, ".") == 0) continue;
        if (strcmp(part, "..") == 0) {
            while (length > 0 && out[--length] != '/') {}
            continue;
        }
        length += (size_t)snprintf(out + length, PATH_BYTES - length, "/%s", part);
    }
    out[length] = 0;
    if (strncmp(out, root, root_length) != 0 || (out[root_length] != '/' && out[root_length] != 0)) return 0;
    return !ends_with(out, "-shm");
}

static int is_watched(int fd) {
    if (fd < 0 || fd >= FD_MAX || !watched[fd].is_open) return 0;
    int saved = errno;
    struct stat status;
    if (fstat(fd, &status) != 0 || status.st_dev != watched[fd].device || status.st_ino != watched[fd].inode)
        watched[fd].is_open = 0;
    errno = saved;
    return watched[fd].is_open;
}

/* ---- opening and closing ---- */

static int open_and_record(int folder, const char *path, int flags, mode_t mode) {
    char full[PATH_BYTES];
    if (!below_root(folder, path, full)) return (int)syscall(SYS_openat, folder, path, flags, mode);
    pthread_mutex_lock(&lock);
    uint64_t begun = now();
    int existed = syscall(SYS_faccessat, folder, path, F_OK, 0) == 0;
    int fd = (int)syscall(SYS_openat, folder, path, flags, mode);
    int saved = errno;
    if (fd >= FD_MAX) fail("too many descriptors");
    if (fd >= 0) {
        struct stat status;
        if (fstat(fd, &status) != 0) fail("a file that was just opened has no status");
        watched[fd].device = status.st_dev;
        watched[fd].inode = status.st_ino;
        watched[fd].is_open = 1;
        record((struct entry){.kind = OPENED, .flag = !existed, .fd = fd, .begun = begun, .ended = now(), .path = full});
        if (existed && (flags & O_TRUNC) && (flags & O_ACCMODE) != O_RDONLY)
            record((struct entry){.kind = RESIZED, .fd = fd, .offset = 0, .begun = begun, .ended = now()});
    }
    pthread_mutex_unlock(&lock);
    errno = saved;
    return fd;
}

#define MODE_OF(flags)                                 \
    mode_t mode = 0;                                   \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {           \
        va_list arguments;                             \
        va_start(arguments, flags);                    \
        mode = va_arg(arguments, mode_t);              \
        va_end(arguments);                             \
    }

int open(const char *path, int flags, ...) { MODE_OF(flags) return open_and_record(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE_OF(flags) return open_and_record(AT_FDCWD, path, flags | O_LARGEFILE, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE_OF(flags) return open_and_record(folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { MODE_OF(flags) return open_and_record(folder, path, flags | O_LARGEFILE, mode); }
int creat(const char *path, mode_t mode) { return open_and_record(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return open_and_record(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

int close(int fd) {
    if (fd == log_fd && fd >= 0) return 0;
    if (!is_watched(fd)) return (int)syscall(SYS_close, fd);
    pthread_mutex_lock(&lock);
    uint64_t t = now();
    watched[fd].is_open = 0;
    record((struct entry){.kind = CLOSED, .fd = fd, .begun = t, .ended = t});
    int result = (int)syscall(SYS_close, fd);
    pthread_mutex_unlock(&lock);
    return result;
}

/* ---- writing ---- */

static ssize_t write_and_record(int fd, const struct iovec *parts, int count, int64_t offset) {
    pthread_mutex_lock(&lock);
    uint64_t begun = now();
    ssize_t done = offset < 0 ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, offset, 0);
    int saved = errno;
    if (done > 0) {
        int64_t at = offset < 0 ? syscall(SYS_lseek, fd, 0, SEEK_CUR) - done : offset;
        size_t left = (size_t)done;
        for (int i = 0; i < count && left > 0; i++) {
            size_t size = parts[i].iov_len < left ? parts[i].iov_len : left;
            if (size > 0)
                record((struct entry){.kind = WROTE, .fd = fd, .offset = at, .begun = begun, .ended = now(),
                                      .bytes = parts[i].iov_base, .size = size});
            at += (int64_t)size;
            left -= size;
        }
    }
    pthread_mutex_unlock(&lock);
    errno = saved;
    return done;
}

ssize_t write(int fd, const void *bytes, size_t size) {
    if (!is_watched(fd)) return syscall(SYS_write, fd, bytes, size);
    struct iovec part = {(void *)bytes, size};
    return write_and_record(fd, &part, 1, -1);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (!is_watched(fd)) return syscall(SYS_writev, fd, parts, count);
    return write_and_record(fd, parts, count, -1);
}
static ssize_t positioned(int fd, const void *bytes, size_t size, int64_t offset) {
    if (!is_watched(fd)) return syscall(SYS_pwrite64, fd, bytes, size, offset);
    struct iovec part = {(void *)bytes, size};
    return write_and_record(fd, &part, 1, offset);
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) { return positioned(fd, bytes, size, offset); }
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset) { return positioned(fd, bytes, size, offset); }
static ssize_t positioned_parts(int fd, const struct iovec *parts, int count, int64_t offset) {
    if (!is_watched(fd)) return syscall(SYS_pwritev, fd, parts, count, offset, 0);
    return write_and_record(fd, parts, count, offset);
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) { return positioned_parts(fd, parts, count, offset); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) { return positioned_parts(fd, parts, count, offset); }

/* Ways to write that are not recorded: a caller that starts to use one must be noticed. */
ssize_t copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t size, unsigned flags) {
    if (is_watched(to)) fail("copy_file_range is not recorded");
    return syscall(SYS_copy_file_range, from, from_offset, to, to_offset, size, flags);
}

static int resize_and_record(int fd, int64_t size) {
    pthread_mutex_lock(&lock);
    uint64_t begun = now();
    int result = (int)syscall(SYS_ftruncate, fd, size);
    if (result == 0) record((struct entry){.kind = RESIZED, .fd = fd, .offset = size, .begun = begun, .ended = now()});
    pthread_mutex_unlock(&lock);
    return result;
}
int ftruncate(int fd, off_t size) { return is_watched(fd) ? resize_and_record(fd, size) : (int)syscall(SYS_ftruncate, fd, size); }
int ftruncate64(int fd, off64_t size) { return is_watched(fd) ? resize_and_record(fd, size) : (int)syscall(SYS_ftruncate, fd, size); }

static int allocate_and_record(int fd, int mode, int64_t offset, int64_t size) {
    pthread_mutex_lock(&lock);
    uint64_t begun = now();
    int result = (int)syscall(SYS_fallocate, fd, mode, offset, size);
    struct stat status;
    if (result == 0 && mode == 0 && fstat(fd, &status) == 0)
        record((struct entry){.kind = RESIZED, .fd = fd, .offset = status.st_size, .begun = begun, .ended = now()});
    pthread_mutex_unlock(&lock);
    return result;
}
int fallocate(int fd, int mode, off_t offset, off_t size) {
    return is_watched(fd) ? allocate_and_record(fd, mode, offset, size) : (int)syscall(SYS_fallocate, fd, mode, offset, size);
}
int fallocate64(int fd, int mode, off64_t offset, off64_t size) {
    return is_watched(fd) ? allocate_and_record(fd, mode, offset, size) : (int)syscall(SYS_fallocate, fd, mode, offset, size);
}
static int posix_allocate(int fd, int64_t offset, int64_t size) {
    int result = is_watched(fd) ? allocate_and_record(fd, 0, offset, size) : (int)syscall(SYS_fallocate, fd, 0, offset, size);
    return result == 0 ? 0 : errno;
}
int posix_fallocate(int fd, off_t offset, off_t size) { return posix_allocate(fd, offset, size); }
int posix_fallocate64(int fd, off64_t offset, off64_t size) { return posix_allocate(fd, offset, size); }

/* ---- syncing ---- */

static int sync_and_record(int fd, long call) {
    uint64_t begun = now();
    if (sync_delay_us > 0) usleep((useconds_t)sync_delay_us);
    int result = (int)syscall(call, fd);
    if (result != 0 || ignores_sync) return result;
    pthread_mutex_lock(&lock);
    record((struct entry){.kind = SYNCED, .fd = fd, .begun = begun, .ended = now()});
    pthread_mutex_unlock(&lock);
    return result;
}
int fsync(int fd) { return is_watched(fd) ? sync_and_record(fd, SYS_fsync) : (int)syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return is_watched(fd) ? sync_and_record(fd, SYS_fdatasync) : (int)syscall(SYS_fdatasync, fd); }

/* ---- names ---- */

static int rename_and_record(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    char old[PATH_BYTES], new[PATH_BYTES];
    int leaves = below_root(from_folder, from, old), enters = below_root(to_folder, to, new);
    if (!leaves && !enters) return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
    if (leaves != enters || flags != 0) fail("a rename across the recorded directory");
    pthread_mutex_lock(&lock);
    uint64_t begun = now();
    int result = (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
    if (result == 0)
        record((struct entry){.kind = RENAMED, .begun = begun, .ended = now(), .path = old, .bytes = new, .size = strlen(new)});
    pthread_mutex_unlock(&lock);
    return result;
}
int rename(const char *from, const char *to) { return rename_and_record(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int from_folder, const char *from, int to_folder, const char *to) { return rename_and_record(from_folder, from, to_folder, to, 0); }
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) { return rename_and_record(from_folder, from, to_folder, to, flags); }

static int remove_and_record(int folder, const char *path, int flags) {
    char full[PATH_BYTES];
    if (!below_root(folder, path, full)) return (int)syscall(SYS_unlinkat, folder, path, flags);
    pthread_mutex_lock(&lock);
    uint64_t begun = now();
    int result = (int)syscall(SYS_unlinkat, folder, path, flags);
    if (result == 0) record((struct entry){.kind = REMOVED, .begun = begun, .ended = now(), .path = full});
    pthread_mutex_unlock(&lock);
    return result;
}
int unlink(const char *path) { return remove_and_record(AT_FDCWD, path, 0); }
int unlinkat(int folder, const char *path, int flags) { return remove_and_record(folder, path, flags); }
int rmdir(const char *path) { return remove_and_record(AT_FDCWD, path, AT_REMOVEDIR); }
/* Node's rmSync: libc's own remove does not come by unlink. */
int remove(const char *path) {
    int result = remove_and_record(AT_FDCWD, path, 0);
    return result == 0 || errno != EISDIR ? result : remove_and_record(AT_FDCWD, path, AT_REMOVEDIR);
}

static int make_folder_and_record(int folder, const char *path, mode_t mode) {
    char full[PATH_BYTES];
    if (!below_root(folder, path, full)) return (int)syscall(SYS_mkdirat, folder, path, mode);
    pthread_mutex_lock(&lock);
    uint64_t begun = now();
    int result = (int)syscall(SYS_mkdirat, folder, path, mode);
    if (result == 0) record((struct entry){.kind = MADE_FOLDER, .begun = begun, .ended = now(), .path = full});
    pthread_mutex_unlock(&lock);
    return result;
}
int mkdir(const char *path, mode_t mode) { return make_folder_and_record(AT_FDCWD, path, mode); }
int mkdirat(int folder, const char *path, mode_t mode) { return make_folder_and_record(folder, path, mode); }
char *mkdtemp(char *template) {
    char *suffix = template + strlen(template) - 6;
    for (unsigned number = (unsigned)now() % 1000000; ; number = (number + 1) % 1000000) {
        char digits[16];
        snprintf(digits, sizeof digits, "%06u", number);
        memcpy(suffix, digits, 6);
        if (make_folder_and_record(AT_FDCWD, template, 0700) == 0) return template;
        if (errno != EEXIST) return NULL;
    }
}

int link(const char *from, const char *to) {
    char old[PATH_BYTES], new[PATH_BYTES];
    if (below_root(AT_FDCWD, to, new)) {
        if (!below_root(AT_FDCWD, from, old)) fail("a link into the recorded directory");
        pthread_mutex_lock(&lock);
        uint64_t begun = now();
        int result = (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
        if (result == 0)
            record((struct entry){.kind = LINKED, .begun = begun, .ended = now(), .path = old, .bytes = new, .size = strlen(new)});
        pthread_mutex_unlock(&lock);
        return result;
    }
    return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}
