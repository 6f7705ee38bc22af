/* system_machine.c - clocks, and what the system says about the machine: a Mac with an M1 on macOS 13. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "machorun.h"

static uint64_t nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t our_mach_absolute_time(void) { return nanoseconds(CLOCK_MONOTONIC); }

static int our_mach_timebase_info(uint32_t fraction[2]) {
  fraction[0] = fraction[1] = 1;
  return 0;
}

/* Darwin numbers its clocks differently from the second on. */
static clockid_t linux_clock(int clock) {
  switch (clock) {
    case 0: return CLOCK_REALTIME;
    case 12: return CLOCK_PROCESS_CPUTIME_ID;
    case 16: return CLOCK_THREAD_CPUTIME_ID;
    default: return CLOCK_MONOTONIC;
  }
}

static int our_clock_gettime(int clock, struct timespec *now) { return clock_gettime(linux_clock(clock), now); }
static uint64_t our_clock_gettime_nsec_np(int clock) { return nanoseconds(linux_clock(clock)); }

/* ---- The machine. */

typedef struct {
  const char *name;
  int path[2]; /* the older way to ask; those that have none get one of ours */
  int64_t value;
  const char *text; /* NULL: a number of size bytes */
  size_t size;
} fact;

enum { KERNEL = 1, HARDWARE = 6, OURS_ONLY = 1000, NAME_TO_PATH = 3 };

static fact facts[] = {
    {"hw.ncpu", {HARDWARE, 3}, 0, NULL, 4},
    {"hw.pagesize", {HARDWARE, 7}, DARWIN_PAGE, NULL, 4},
    {"hw.memsize", {HARDWARE, 24}, 0, NULL, 8},
    {"hw.logicalcpu", {OURS_ONLY, 0}, 0, NULL, 4},
    {"hw.physicalcpu", {OURS_ONLY, 1}, 0, NULL, 4},
    {"hw.optional.arm64", {OURS_ONLY, 2}, 1, NULL, 4},
    {"hw.optional.armv8_1_atomics", {OURS_ONLY, 3}, 1, NULL, 4},
    {"hw.optional.armv8_crc32", {OURS_ONLY, 4}, 1, NULL, 4},
    {"hw.optional.arm.FEAT_SHA512", {OURS_ONLY, 5}, 1, NULL, 4},
    {"hw.optional.armv8_2_sha512", {OURS_ONLY, 6}, 1, NULL, 4},
    {"sysctl.proc_translated", {OURS_ONLY, 7}, 0, NULL, 4},
    {"machdep.cpu.brand_string", {OURS_ONLY, 8}, 0, "Apple M1 (machorun)", 0},
    {"kern.osproductversion", {OURS_ONLY, 9}, 0, "13.6", 0},
    {"hw.model", {HARDWARE, 2}, 0, "machorun", 0},
    {"kern.ostype", {KERNEL, 1}, 0, "Darwin", 0},
    {"kern.osrelease", {KERNEL, 2}, 0, "22.6.0", 0},
    {"kern.osversion", {KERNEL, 65}, 0, "22G120", 0},
    {"kern.hostname", {KERNEL, 10}, 0, "machorun", 0},
};

enum { FACTS = sizeof facts / sizeof *facts };

__attribute__((constructor)) static void count_machine(void) {
  int64_t cores = sysconf(_SC_NPROCESSORS_ONLN);
  facts[0].value = facts[3].value = facts[4].value = cores;
  facts[2].value = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

static const fact *find_fact(const char *name, size_t length) {
  for (int i = 0; i < FACTS; i++)
    if (strlen(facts[i].name) == length && memcmp(facts[i].name, name, length) == 0) return &facts[i];
  return NULL;
}

static int answer(const void *from, size_t length, void *out, size_t *size) {
  if (out && *size < length) return errno = ENOMEM, -1;
  if (out) memcpy(out, from, length);
  *size = length;
  return 0;
}

static int answer_fact(const fact *f, void *out, size_t *size) {
  if (!f) return errno = ENOENT, -1;
  return f->text ? answer(f->text, strlen(f->text) + 1, out, size) : answer(&f->value, f->size, out, size);
}

/* our_sysctl also knows the path that turns a name into a path. */
static int our_sysctl(const int *path, unsigned depth, void *out, size_t *size, const char *new, size_t new_size) {
  if (depth == 2 && path[0] == 0 && path[1] == NAME_TO_PATH) {
    const fact *f = find_fact(new, new_size);
    return f ? answer(f->path, sizeof f->path, out, size) : (errno = ENOENT, -1);
  }
  for (int i = 0; i < FACTS && depth == 2; i++)
    if (memcmp(facts[i].path, path, sizeof facts[i].path) == 0) return answer_fact(&facts[i], out, size);
  return errno = ENOENT, -1;
}

static int our_sysctlbyname(const char *name, void *out, size_t *size, void *new, size_t new_size) {
  (void)new, (void)new_size;
  return answer_fact(find_fact(name, strlen(name)), out, size);
}

static long our_sysconf(int what) {
  switch (what) {
    case 29: return DARWIN_PAGE;
    case 57:
    case 58: return sysconf(_SC_NPROCESSORS_ONLN);
    default: return errno = EINVAL, -1;
  }
}

static int our_getpagesize(void) { return DARWIN_PAGE; }

/* Go's runtime asks for a date once, so that the part of the system which knows them is initialised. */
static void *our_xpc_date_create_from_current(void) { return NULL; }
static int our_notify_is_valid_token(int token) { return (void)token, 0; }

/* Defined so that a library which resolves names itself can be linked; it is not called here. */
static int our_res_9_ninit(void *state) { return (void)state, -1; }
static void our_CFRelease(const void *object) { (void)object; }

const function machine_functions[] = {
    OURS(mach_absolute_time), OURS(mach_timebase_info), OUR_CALL(clock_gettime), OURS(clock_gettime_nsec_np), OUR_CALL(sysctl), OUR_CALL(sysctlbyname),
    OUR_CALL(sysconf), OURS(getpagesize), OURS(xpc_date_create_from_current), OURS(notify_is_valid_token), OURS(res_9_ninit), OURS(CFRelease),
    SAME(time), SAME_CALL(nanosleep), SAME_CALL(usleep), SAME(sleep), SAME(gettimeofday), SAME(localtime_r), SAME(gmtime_r),
    END,
};
