/*
 * A shim between a program and the C library, loaded with LD_PRELOAD. It makes one call on a matching path go wrong.
 *
 * FAULT_PATH    parts of paths, with | between them; calls on other paths are left alone
 * FAULT_CALL    open, write, fsync, rename, unlink or mkdir
 * FAULT_NTH     which of them, from 1; default 1
 * FAULT_LASTS   set: that one and all after it
 * FAULT_ERRNO   the error it reports
 * FAULT_SHORT   write: only so many bytes are written, and the call says so
 * FAULT_KILL    with FAULT_SHORT: the process is killed after them
 * FAULT_STOP    the process is stopped just before it
 * FAULT_LIE     it reports success and does nothing
 * FAULT_BUDGET  write: bytes there is room for on matching paths; then short writes, then ENOSPC
 * FAULT_STATFS  the number that statfs gives as the file system's type
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

static char part[4096], wanted[32];
static int nth, lasts, error, lie, kills, stops, seen;
static long cut, budget, magic;

static long number(const char *name, long missing) {
  const char *value = getenv(name);
  return value ? strtol(value, NULL, 0) : missing;
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAULT_PATH"), *call = getenv("FAULT_CALL");
  if (path) snprintf(part, sizeof part, "%s", path);
  if (call) snprintf(wanted, sizeof wanted, "%s", call);
  nth = number("FAULT_NTH", 1);
  lasts = number("FAULT_LASTS", 0);
  error = number("FAULT_ERRNO", 0);
  lie = number("FAULT_LIE", 0);
  kills = number("FAULT_KILL", 0);
  stops = number("FAULT_STOP", 0);
  cut = number("FAULT_SHORT", -1);
  budget = number("FAULT_BUDGET", -1);
  magic = number("FAULT_STATFS", 0);
  /* Not for the programs that this one starts. */
  unsetenv("LD_PRELOAD");
}

static int on_path(const char *path) {
  char parts[4096], *rest = parts, *one;
  if (!path) return 0;
  strcpy(parts, part);
  while ((one = strsep(&rest, "|")) != NULL)
    if (strstr(path, one) != NULL) return 1;
  return 0;
}

static int on_file(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return on_path(path);
}

static int is_it(const char *call, int matches) {
  if (!matches || strcmp(call, wanted) != 0) return 0;
  seen++;
  if (seen != nth && !(lasts && seen > nth)) return 0;
  if (stops) kill(getpid(), SIGSTOP);
  return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAIL(call, matches)                 \
  if (is_it(call, matches)) {               \
    if (lie) return 0;                      \
    if (error) { errno = error; return -1; } \
    if (kills) kill(getpid(), SIGKILL);     \
  }

static ssize_t limited(size_t count) {
  if (budget == 0) { errno = ENOSPC; return -1; }
  return (long)count > budget ? budget : (ssize_t)count;
}

static ssize_t planned(int fd, size_t count) {
  if (!on_file(fd)) return count;
  if (budget >= 0 && strcmp(wanted, "") == 0) {
    ssize_t room = limited(count);
    if (room > 0) budget -= room;
    return room;
  }
  if (!is_it("write", 1)) return count;
  if (error) { errno = error; return -1; }
  if (lie) return -2;
  return cut >= 0 && cut < (long)count ? cut : (ssize_t)count;
}

ssize_t write(int fd, const void *bytes, size_t count) {
  int before = seen;
  ssize_t plan = planned(fd, count);
  if (plan == -2) return count;
  if (plan == -1) return -1;
  ssize_t done = plan == 0 ? 0 : REAL(write)(fd, bytes, plan);
  if (kills && seen > before && seen >= nth) kill(getpid(), SIGKILL);
  return done;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  int before = seen;
  ssize_t plan = planned(fd, count);
  if (plan == -2) return count;
  if (plan == -1) return -1;
  ssize_t done = plan == 0 ? 0 : REAL(pwrite64)(fd, bytes, plan, at);
  if (kills && seen > before && seen >= nth) kill(getpid(), SIGKILL);
  return done;
}

int fsync(int fd) { FAIL("fsync", on_file(fd)) return REAL(fsync)(fd); }
int fdatasync(int fd) { FAIL("fsync", on_file(fd)) return REAL(fdatasync)(fd); }
int rename(const char *from, const char *to) { FAIL("rename", on_path(to)) return REAL(rename)(from, to); }
int unlink(const char *path) { FAIL("unlink", on_path(path)) return REAL(unlink)(path); }
int mkdir(const char *path, mode_t mode) { FAIL("mkdir", on_path(path)) return REAL(mkdir)(path, mode); }

#define OPEN(name)                           \
  int name(const char *path, int flags, ...) { \
    va_list rest;                             \
    va_start(rest, flags);                    \
    mode_t mode = va_arg(rest, mode_t);       \
    va_end(rest);                             \
    FAIL("open", on_path(path))               \
    return REAL(name)(path, flags, mode);     \
  }
OPEN(open64)
OPEN(open)

#define STATFS(name, kind)                                            \
  int name(const char *path, struct kind *out) {                      \
    int done = REAL(name)(path, out);                                 \
    if (done == 0 && magic && on_path(path)) out->f_type = magic;     \
    return done;                                                      \
  }
STATFS(statfs64, statfs64)
STATFS(statfs, statfs)
