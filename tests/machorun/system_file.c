/* system_file.c - files and folders: names of flags, and what a file and an entry of a folder look like. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "machorun.h"

typedef struct {
  int32_t device;
  uint16_t mode, links;
  uint64_t number;
  uint32_t uid, gid;
  int32_t special, padding;
  struct timespec accessed, modified, changed, born;
  int64_t size, blocks;
  int32_t block_size;
  uint32_t flags, generation, spare[5];
} darwin_stat;

_Static_assert(sizeof(darwin_stat) == 144, "sys/stat.h says so");

static int show(const struct stat *s, int failed, darwin_stat *out) {
  if (failed) return failed;
  *out = (darwin_stat){
      .device = (int32_t)s->st_dev, .mode = (uint16_t)s->st_mode, .links = (uint16_t)s->st_nlink, .number = s->st_ino, .uid = s->st_uid,
      .gid = s->st_gid, .special = (int32_t)s->st_rdev, .accessed = s->st_atim, .modified = s->st_mtim, .changed = s->st_ctim,
      .born = s->st_ctim, .size = s->st_size, .blocks = s->st_blocks, .block_size = (int32_t)s->st_blksize};
  return 0;
}

/* The working folder, and a flag of each of the *at functions. */
enum { HERE = -2, NO_FOLLOW = 0x20, FOLDER = 0x80 };

static int folder(int fd) { return fd == HERE ? AT_FDCWD : fd; }

static int at_flags(int flags) { return (flags & NO_FOLLOW ? AT_SYMLINK_NOFOLLOW : 0) | (flags & FOLDER ? AT_REMOVEDIR : 0); }

static int our_fstatat(int fd, const char *path, darwin_stat *out, int flags) {
  struct stat s;
  return show(&s, fstatat(folder(fd), path, &s, at_flags(flags)), out);
}

static int our_stat(const char *path, darwin_stat *out) { return our_fstatat(HERE, path, out, 0); }
static int our_lstat(const char *path, darwin_stat *out) { return our_fstatat(HERE, path, out, NO_FOLLOW); }

static int our_fstat(int fd, darwin_stat *out) {
  struct stat s;
  return show(&s, fstat(fd, &s), out);
}

static int our_unlinkat(int fd, const char *path, int flags) { return unlinkat(folder(fd), path, at_flags(flags)); }
static int our_mkdirat(int fd, const char *path, uint16_t mode) { return mkdirat(folder(fd), path, mode); }
static ssize_t our_readlinkat(int fd, const char *path, char *out, size_t size) { return readlinkat(folder(fd), path, out, size); }
static int our_renameat(int a, const char *from, int b, const char *to) { return renameat(folder(a), from, folder(b), to); }
/* A time may be the present one, or one that stays: in nanoseconds, -1 and -2. */
static struct timespec linux_time(struct timespec t) {
  if (t.tv_nsec == -1) t.tv_nsec = UTIME_NOW;
  if (t.tv_nsec == -2) t.tv_nsec = UTIME_OMIT;
  return t;
}

static int our_utimensat(int fd, const char *path, const struct timespec *times, int flags) {
  if (!times) return utimensat(folder(fd), path, NULL, at_flags(flags));
  struct timespec both[] = {linux_time(times[0]), linux_time(times[1])};
  return utimensat(folder(fd), path, both, at_flags(flags));
}

/* Microseconds have four bytes there. */
struct darwin_timeval {
  int64_t seconds;
  int32_t microseconds;
};

static int our_utimes(const char *path, const struct darwin_timeval *times) {
  if (!times) return utimes(path, NULL);
  struct timeval both[] = {{times[0].seconds, times[0].microseconds}, {times[1].seconds, times[1].microseconds}};
  return utimes(path, both);
}

static int our_faccessat(int fd, const char *path, int mode, int flags) { return (void)flags, faccessat(folder(fd), path, mode, 0); }

/* ---- What variadic.S calls. checked.S would hide the stack from it, so these look after errno themselves. */

static long checked(int result) {
  if (result == -1) errno = darwin_error(errno);
  return result;
}

long stacked_open(const char *path, int flags, const long *stack);
long stacked_openat(int fd, const char *path, int flags, const long *stack);
long stacked_fcntl(int fd, int command, const long *stack);
long stacked_ioctl(int fd, unsigned long request, const long *stack);

long stacked_open(const char *path, int flags, const long *stack) {
  return checked(open(path, linux_open_flags(flags), (mode_t)*stack));
}

long stacked_openat(int fd, const char *path, int flags, const long *stack) {
  return checked(openat(folder(fd), path, linux_open_flags(flags), (mode_t)*stack));
}

static int darwin_status_flags(int flags) {
  return (flags & O_ACCMODE) | (flags & O_NONBLOCK ? 0x4 : 0) | (flags & O_APPEND ? 0x8 : 0);
}

static int path_of(int fd, char *out) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, out, PATH_MAX - 1);
  if (length < 0) return -1;
  out[length] = 0;
  return 0;
}

static int control(int fd, int command, const long *stack) {
  enum { FULL_SYNC = 51, PATH = 50, DUPLICATE_CLOSED = 67 };
  switch (command) {
    case F_GETFL: {
      int flags = fcntl(fd, F_GETFL);
      return flags < 0 ? flags : darwin_status_flags(flags);
    }
    case F_SETFL: return fcntl(fd, F_SETFL, linux_open_flags((int)*stack));
    case F_DUPFD:
    case F_GETFD:
    case F_SETFD: return fcntl(fd, command, (int)*stack); /* up to 4 the commands have the same numbers */
    case DUPLICATE_CLOSED: return fcntl(fd, F_DUPFD_CLOEXEC, (int)*stack);
    case FULL_SYNC: return fsync(fd);
    case PATH: return path_of(fd, (char *)*stack);
    default: return errno = EINVAL, -1;
  }
}

long stacked_fcntl(int fd, int command, const long *stack) { return checked(control(fd, command, stack)); }

/* Nothing here is a terminal. */
long stacked_ioctl(int fd, unsigned long request, const long *stack) { return (void)fd, (void)request, (void)stack, errno = ENOTTY, -1; }

/* ---- Folders. */

typedef struct {
  uint64_t number, seek;
  uint16_t size, name_length;
  uint8_t type;
  char name[1024];
} darwin_entry;

static void show_entry(const struct dirent *e, darwin_entry *out) {
  *out = (darwin_entry){.number = e->d_ino, .size = sizeof *out, .name_length = (uint16_t)strlen(e->d_name), .type = e->d_type};
  strcpy(out->name, e->d_name);
}

static int our_readdir_r(DIR *from, darwin_entry *out, darwin_entry **result) {
  errno = 0;
  const struct dirent *e = readdir(from);
  *result = e ? out : NULL;
  if (e) show_entry(e, out);
  return e ? 0 : darwin_error(errno);
}

static darwin_entry *our_readdir(DIR *from) {
  static _Thread_local darwin_entry *entry;
  if (!entry) entry = malloc(sizeof *entry);
  darwin_entry *result;
  return our_readdir_r(from, entry, &result) == 0 ? result : NULL;
}

const function file_functions[] = {
    OUR_CALL(stat), OUR_CALL(lstat), OUR_CALL(fstat), OUR_CALL(fstatat), OUR_CALL(unlinkat), OUR_CALL(mkdirat), OUR_CALL(readlinkat), OUR_CALL(renameat), OUR_CALL(faccessat), OUR_CALL(utimensat), OUR_CALL(utimes),
    OURS(readdir_r), OURS(readdir), DATA(open, variadic_open), DATA(openat, variadic_openat), DATA(fcntl, variadic_fcntl),
    DATA(ioctl, variadic_ioctl),
    SAME_CALL(read), SAME_CALL(write), SAME_CALL(pread), SAME_CALL(pwrite), SAME_CALL(close), SAME_CALL(lseek), SAME_CALL(dup), SAME_CALL(dup2), SAME_CALL(pipe), SAME_CALL(fsync),
    SAME_CALL(ftruncate), SAME_CALL(truncate), SAME_CALL(flock), SAME_CALL(isatty), SAME_CALL(access), SAME_CALL(chdir), SAME_CALL(fchdir), SAME(getcwd), SAME_CALL(chmod),
    SAME_CALL(fchmod), SAME_CALL(mkdir), SAME_CALL(rmdir), SAME_CALL(unlink), SAME_CALL(rename), SAME_CALL(link), SAME_CALL(symlink), SAME_CALL(readlink), SAME(realpath),
    SAME(umask), SAME_CALL(mkstemp), SAME(mkdtemp), SAME(opendir), SAME(fdopendir), SAME(closedir), SAME(rewinddir), SAME(sync),
    END,
};
