/*
 * system_event.c - kqueue, as far as Go's runtime needs it to sleep and be woken: one user event a queue.
 * Files and pipes are refused, after which Go reads them with threads.
 */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "machorun.h"

typedef struct {
  uintptr_t what;
  int16_t filter;
  uint16_t flags;
  uint32_t detail;
  int64_t data;
  void *user;
} event;

enum { READABLE = -1, WRITABLE = -2, USER = -10, TRIGGER = 0x01000000, MOST_QUEUES = 64 };

static struct {
  int fd; /* of an eventfd: its count is how often the queue was woken */
  event wake;
} queues[MOST_QUEUES];

static int our_kqueue(void) {
  int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd >= MOST_QUEUES) give_up("kqueue %d", fd);
  if (fd >= 0) queues[fd].fd = fd;
  return fd;
}

static int change(int fd, const event *e) {
  uint64_t one = 1;
  if (e->filter == READABLE || e->filter == WRITABLE) return errno = EINVAL, -1;
  if (e->filter != USER) return 0;
  if (!(e->detail & TRIGGER)) queues[fd].wake = *e;
  if (e->detail & TRIGGER && write(fd, &one, sizeof one) < 0 && errno != EAGAIN) return -1;
  return 0;
}

static int wait_for(int fd, event *out, const struct timespec *timeout) {
  struct pollfd p = {fd, POLLIN, 0};
  int ready = ppoll(&p, 1, timeout, NULL);
  if (ready <= 0) return ready;
  uint64_t count;
  if (read(fd, &count, sizeof count) < 0) return 0; /* another thread was woken */
  *out = queues[fd].wake;
  return 1;
}

static int our_kevent(int fd, const event *changes, int change_count, event *out, int room, const struct timespec *timeout) {
  for (int i = 0; i < change_count; i++)
    if (change(fd, &changes[i]) != 0) return -1;
  return room > 0 ? wait_for(fd, out, timeout) : 0;
}

const function event_functions[] = {OUR_CALL(kqueue), OUR_CALL(kevent), END};
