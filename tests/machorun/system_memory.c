/* system_memory.c - pages. They are 16 KiB on Darwin: addresses that are handed out are as aligned, and every range
 * is whole pages of that size, mapped as it will be released. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "machorun.h"

enum { SHARED = 0x1, FIXED = 0x10, ANONYMOUS = 0x1000 };

static int linux_flags(int flags) {
  return (flags & SHARED ? MAP_SHARED : MAP_PRIVATE) | (flags & FIXED ? MAP_FIXED : 0) | (flags & ANONYMOUS ? MAP_ANONYMOUS : 0) |
         MAP_NORESERVE;
}

static uintptr_t up(uintptr_t address) { return (address + DARWIN_PAGE - 1) & ~(uintptr_t)(DARWIN_PAGE - 1); }

/* reserve finds whole pages of Darwin's in the address space, near an address if there is room. */
static void *reserve(void *near, size_t size) {
  size_t all = size + DARWIN_PAGE;
  char *room = mmap(near, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return room;
  char *start = (char *)up((uintptr_t)room), *end = (char *)up((uintptr_t)start + size);
  if (start > room) munmap(room, start - room);
  if (room + all > end) munmap(end, room + all - end);
  return start;
}

static void *our_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
  int to = linux_flags(flags);
  size = up(size); /* as munmap and mprotect take it: what lies behind has another owner */
  if (flags & ANONYMOUS) fd = -1;
  if (!(flags & FIXED) && size > 0) {
    address = reserve(address, size);
    if (address == MAP_FAILED) return address;
    to |= MAP_FIXED;
  }
  return mmap(address, size, protection, to, fd, offset);
}

/* Darwin maps, releases and protects whole pages, of which the last may be asked for in part. */
static int our_munmap(void *address, size_t size) { return munmap(address, size ? up(size) : 0); }
static int our_mprotect(void *address, size_t size, int protection) { return mprotect(address, up(size), protection); }

/* Advice by which memory may lose its contents; other advice is only advice. */
static int our_madvise(void *address, size_t size, int advice) {
  enum { FREE = 5, FREE_REUSABLE = 7 };
  if (advice != FREE && advice != FREE_REUSABLE) return 0;
  return madvise(address, size, MADV_DONTNEED);
}

static int our_mlock(const void *address, size_t size) { return (void)address, (void)size, 0; }

static void *our_valloc(size_t size) { return aligned_alloc(DARWIN_PAGE, up(size)); }

static void our_arc4random_buf(void *to, size_t size) {
  for (char *p = to; size > 0;) {
    ssize_t got = getrandom(p, size, 0);
    if (got > 0) p += got, size -= (size_t)got;
  }
}

/* Go's profiler asks the kernel for a map of the memory; it takes no for an answer. */
static int our_mach_vm_region(void) { return 1; }
static unsigned task_self = 1;

const function memory_functions[] = {
    OUR_CALL(mmap), OUR_CALL(munmap), OUR_CALL(mprotect), OUR_CALL(madvise), OURS(mlock), OURS(valloc), OURS(arc4random_buf), OURS(mach_vm_region),
    DATA(mach_task_self_, &task_self), SAME_CALL(getentropy),
    END,
};
