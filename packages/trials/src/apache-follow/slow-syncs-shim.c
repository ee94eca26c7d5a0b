/*
 * Makes syncs of files slow. Preloaded (LD_PRELOAD) into a process.
 *
 *     SLOW_SYNCS   a file with lines "PREFIX MILLISECONDS", read at each sync: files whose name begins with a prefix
 *                  take that much longer. It may be missing, and be replaced at any time.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void wait_for(int fd) {
    const char *control = getenv("SLOW_SYNCS");
    if (control == NULL) return;
    FILE *lines = fopen(control, "re");
    if (lines == NULL) return;
    char link[64], path[PATH_MAX], prefix[64];
    long ms, longest = 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length > 0) {
        path[length] = 0;
        const char *slash = strrchr(path, '/');
        const char *name = slash == NULL ? path : slash + 1;
        while (fscanf(lines, "%63s %ld", prefix, &ms) == 2)
            if (strncmp(name, prefix, strlen(prefix)) == 0 && ms > longest) longest = ms;
    }
    fclose(lines);
    struct timespec left = {longest / 1000, longest % 1000 * 1000000};
    while (longest > 0 && nanosleep(&left, &left) != 0) {
    }
}

int fsync(int fd) {
    wait_for(fd);
    return syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
    wait_for(fd);
    return syscall(SYS_fdatasync, fd);
}
