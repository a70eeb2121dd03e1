/* Preloaded into the service: holds calls of SQLite back until the test releases them.
 *
 * A call takes the file $HOLD/read.N or $HOLD/sync.N, whatever N is, by renaming it to $HOLD/held.read.N, and waits until
 * that file is removed. Only reads from the offset $HOLD_FROM on are held. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static void hold(const char *call) {
    char free[4096], held[4096];
    for (int n = 0; n < 256; n++) {
        snprintf(free, sizeof free, "%s/%s.%d", getenv("HOLD"), call, n);
        snprintf(held, sizeof held, "%s/held.%s.%d", getenv("HOLD"), call, n);
        if (rename(free, held) == 0) {
            while (access(held, F_OK) == 0) usleep(1000);
            return;
        }
    }
}

ssize_t pread64(int file, void *buffer, size_t count, off64_t offset) {
    ssize_t (*next)(int, void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pread64");
    if (offset >= atoll(getenv("HOLD_FROM"))) hold("read");
    return next(file, buffer, count, offset);
}

int fdatasync(int file) {
    int (*next)(int) = dlsym(RTLD_NEXT, "fdatasync");
    hold("sync");
    return next(file);
}
