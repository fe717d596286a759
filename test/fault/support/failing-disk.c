/*
 * A disk that fails when told to, for a process that was started with LD_PRELOAD (Linux with glibc).
 *
 * LARES_DISK_FAULTS names a control file. While it exists each of its lines is a rule:
 *
 *     <operations> <error> <from> <part of the path>
 *
 * operations: names joined by ",", of write, sync, truncate, open, rename, mkdir, link, unlink; "*" is all.
 *             "open" is opening for writing only; "read" (opening and reading) is only meant when it is named.
 * error:      ENOSPC, EIO, EROFS, EDQUOT, EMFILE, EACCES, or SHORT: every write takes half of what it is given.
 * from:       the first matching call that fails, counted from 1 since the rules were written.
 *
 * What fails is noted in <control file>.log, a line each, so that a test can see that it happened.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_RULES 16
#define SHORT_WRITE -1

struct rule {
  char operations[128];
  int error;
  long from;
  long seen;
  char part[512];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rule rules[MAX_RULES];
static int rule_count;
static struct timespec rules_time;
static ino_t rules_inode;

static int error_named(const char *name) {
  if (strcmp(name, "ENOSPC") == 0) return ENOSPC;
  if (strcmp(name, "EIO") == 0) return EIO;
  if (strcmp(name, "EROFS") == 0) return EROFS;
  if (strcmp(name, "EDQUOT") == 0) return EDQUOT;
  if (strcmp(name, "EMFILE") == 0) return EMFILE;
  if (strcmp(name, "EACCES") == 0) return EACCES;
  if (strcmp(name, "SHORT") == 0) return SHORT_WRITE;
  return 0;
}

/* Only system calls of its own here: the names below are replaced. */
static void read_rules(const char *control, const struct stat *found) {
  char text[8192];
  int file = syscall(SYS_openat, AT_FDCWD, control, O_RDONLY | O_CLOEXEC);
  rule_count = 0;
  if (file < 0) return;
  long length = syscall(SYS_read, file, text, sizeof text - 1);
  syscall(SYS_close, file);
  text[length < 0 ? 0 : length] = 0;
  char *rest = text;
  for (char *line; rule_count < MAX_RULES && (line = strsep(&rest, "\n")) != NULL;) {
    struct rule *rule = &rules[rule_count];
    char error[16];
    if (sscanf(line, "%127s %15s %ld %511[^\n]", rule->operations, error, &rule->from, rule->part) != 4) continue;
    rule->error = error_named(error);
    rule->seen = 0;
    if (rule->error != 0) rule_count++;
  }
  rules_time = found->st_mtim;
  rules_inode = found->st_ino;
}

static int concerns(const struct rule *rule, const char *operation, const char *path) {
  if (strstr(path, rule->part) == NULL) return 0;
  if (strcmp(rule->operations, "*") == 0) return strcmp(operation, "read") != 0;
  size_t length = strlen(operation);
  for (const char *at = rule->operations; (at = strstr(at, operation)) != NULL; at += length)
    if ((at == rule->operations || at[-1] == ',') && (at[length] == 0 || at[length] == ',')) return 1;
  return 0;
}

static void note(const char *control, const char *operation, const char *path) {
  char name[4200], line[4200];
  snprintf(name, sizeof name, "%s.log", control);
  int file = syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  int length = snprintf(line, sizeof line, "%s %s\n", operation, path);
  syscall(SYS_write, file, line, length);
  syscall(SYS_close, file);
}

/* A full disk takes no new name, but opens what is there and lets go of everything. */
static int can_mean(int error, const char *operation, const char *path) {
  struct stat found;
  int is_full = error == ENOSPC || error == EDQUOT;
  if (is_full && strcmp(operation, "unlink") == 0) return 0;
  if (strcmp(operation, "mkdir") == 0 || (is_full && strcmp(operation, "open") == 0))
    return syscall(SYS_newfstatat, AT_FDCWD, path, &found, AT_SYMLINK_NOFOLLOW) != 0;
  if (error == EMFILE) return strcmp(operation, "open") == 0 || strcmp(operation, "read") == 0;
  if (error == EROFS) return strcmp(operation, "write") != 0 && strcmp(operation, "sync") != 0;
  return 1;
}

/* 0: go on. Else what to fail with. */
static int fault(const char *operation, const char *path) {
  const char *control = getenv("LARES_DISK_FAULTS");
  struct stat found;
  int error = 0;
  if (control == NULL || syscall(SYS_newfstatat, AT_FDCWD, control, &found, 0) != 0) return 0;
  pthread_mutex_lock(&lock);
  if (found.st_ino != rules_inode || found.st_mtim.tv_sec != rules_time.tv_sec ||
      found.st_mtim.tv_nsec != rules_time.tv_nsec)
    read_rules(control, &found);
  for (int index = 0; index < rule_count && error == 0; index++)
    if (concerns(&rules[index], operation, path) && can_mean(rules[index].error, operation, path) &&
        ++rules[index].seen >= rules[index].from) error = rules[index].error;
  if (error != 0) note(control, operation, path);
  pthread_mutex_unlock(&lock);
  return error;
}

static int fault_of_descriptor(const char *operation, int descriptor) {
  char link[64], path[4096];
  if (getenv("LARES_DISK_FAULTS") == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return path[0] == '/' ? fault(operation, path) : 0;
}

/* A path may name a held folder, as /proc/self/fd/7/name: rules speak of where that is. */
static int fault_of_path(const char *operation, const char *path) {
  char whole[8192], folder[4096], link[64];
  int descriptor, used = 0;
  if (getenv("LARES_DISK_FAULTS") == NULL) return 0;
  if (sscanf(path, "/proc/self/fd/%d%n", &descriptor, &used) == 1 && used > 0) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, folder, sizeof folder - 1);
    if (length > 0) {
      folder[length] = 0;
      snprintf(whole, sizeof whole, "%s%s", folder, path + used);
      return fault(operation, whole);
    }
  }
  return fault(operation, path);
}

#define NEXT(name) static __typeof__(name) *next; if (next == NULL) next = dlsym(RTLD_NEXT, #name)
#define FAIL_IF(found) do { int failed = (found); if (failed > 0) { errno = failed; return -1; } } while (0)
#define HALF(size) ((size) > 1 ? (size) / 2 : (size))

ssize_t write(int descriptor, const void *bytes, size_t size) {
  NEXT(write);
  int found = fault_of_descriptor("write", descriptor);
  if (found > 0) { errno = found; return -1; }
  return next(descriptor, bytes, found == SHORT_WRITE ? HALF(size) : size);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t offset) {
  NEXT(pwrite64);
  int found = fault_of_descriptor("write", descriptor);
  if (found > 0) { errno = found; return -1; }
  return next(descriptor, bytes, found == SHORT_WRITE ? HALF(size) : size, offset);
}

/* Without large files in its name where a library was built without: the same call. */
ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset) {
  return pwrite64(descriptor, bytes, size, offset);
}

/* The C library's own writing does not come by the calls above. */
size_t fwrite(const void *bytes, size_t size, size_t count, FILE *stream) {
  NEXT(fwrite);
  int found = fault_of_descriptor("write", fileno(stream));
  if (found > 0) { errno = found; return 0; }
  return next(bytes, size, found == SHORT_WRITE ? HALF(count) : count, stream);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  NEXT(writev);
  int found = fault_of_descriptor("write", descriptor);
  if (found > 0) { errno = found; return -1; }
  if (found == SHORT_WRITE && count > 0) {
    NEXT(write);
    return next(descriptor, parts[0].iov_base, HALF(parts[0].iov_len));
  }
  return next(descriptor, parts, count);
}

ssize_t pwritev64(int descriptor, const struct iovec *parts, int count, off64_t offset) {
  NEXT(pwritev64);
  int found = fault_of_descriptor("write", descriptor);
  if (found > 0) { errno = found; return -1; }
  return next(descriptor, parts, found == SHORT_WRITE ? 1 : count, offset);
}

int fsync(int descriptor) {
  NEXT(fsync);
  FAIL_IF(fault_of_descriptor("sync", descriptor));
  return next(descriptor);
}

int fdatasync(int descriptor) {
  NEXT(fdatasync);
  FAIL_IF(fault_of_descriptor("sync", descriptor));
  return next(descriptor);
}

int ftruncate64(int descriptor, off64_t size) {
  NEXT(ftruncate64);
  FAIL_IF(fault_of_descriptor("truncate", descriptor));
  return next(descriptor, size);
}

int ftruncate(int descriptor, off_t size) {
  return ftruncate64(descriptor, size);
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
  NEXT(fallocate);
  FAIL_IF(fault_of_descriptor("truncate", descriptor));
  return next(descriptor, mode, offset, length);
}

int rename(const char *from, const char *to) {
  NEXT(rename);
  FAIL_IF(fault_of_path("rename", to));
  return next(from, to);
}

int mkdir(const char *path, mode_t mode) {
  NEXT(mkdir);
  FAIL_IF(fault_of_path("mkdir", path));
  return next(path, mode);
}

int link(const char *from, const char *to) {
  NEXT(link);
  FAIL_IF(fault_of_path("link", to));
  return next(from, to);
}

int unlink(const char *path) {
  NEXT(unlink);
  FAIL_IF(fault_of_path("unlink", path));
  return next(path);
}

static int opening(const char *path, int flags) {
  int writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0;
  return fault_of_path(writes ? "open" : "read", path);
}

#define OPEN_LIKE(name)                                   \
  int name(const char *path, int flags, ...) {            \
    NEXT(name);                                           \
    mode_t mode = 0;                                      \
    if (flags & (O_CREAT | O_TMPFILE)) {                  \
      va_list rest;                                       \
      va_start(rest, flags);                              \
      mode = va_arg(rest, mode_t);                        \
      va_end(rest);                                       \
    }                                                     \
    FAIL_IF(opening(path, flags));                        \
    return next(path, flags, mode);                       \
  }

OPEN_LIKE(open)
OPEN_LIKE(open64)
