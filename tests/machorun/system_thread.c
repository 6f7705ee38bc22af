/*
 * system_thread.c - pthreads. Darwin's objects begin with a signature, behind which glibc's fit: all of its
 * static initialisers are zeros. A condition has no room for that, only for the address of one.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "machorun.h"

/* What Darwin's mutex, condition, once and read-write lock all look like. */
typedef struct {
  long signature;
  union {
    pthread_mutex_t mutex;
    pthread_rwlock_t lock;
    pthread_once_t once;
    pthread_cond_t *condition; /* NULL: not used yet */
  };
} object;

_Static_assert(sizeof(long) + sizeof(pthread_mutex_t) <= 64, "room of Darwin's mutex");
_Static_assert(sizeof(long) + sizeof(pthread_rwlock_t) <= 200, "room of Darwin's read-write lock");
_Static_assert(sizeof(pthread_attr_t) <= 64, "room of Darwin's attributes");

/* ---- Mutexes, conditions. */

static int our_pthread_mutexattr_settype(pthread_mutexattr_t *attr, int type) {
  static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE};
  if (type < 0 || type > 2) return EINVAL;
  return pthread_mutexattr_settype(attr, types[type]);
}

static int our_pthread_mutex_init(object *o, const pthread_mutexattr_t *attr) { return pthread_mutex_init(&o->mutex, attr); }
static int our_pthread_mutex_destroy(object *o) { return pthread_mutex_destroy(&o->mutex); }
static int our_pthread_mutex_lock(object *o) { return darwin_error(pthread_mutex_lock(&o->mutex)); }
static int our_pthread_mutex_trylock(object *o) { return pthread_mutex_trylock(&o->mutex); }
static int our_pthread_mutex_unlock(object *o) { return pthread_mutex_unlock(&o->mutex); }

static int our_pthread_rwlock_init(object *o, const void *attr) { return (void)attr, pthread_rwlock_init(&o->lock, NULL); }
static int our_pthread_rwlock_destroy(object *o) { return pthread_rwlock_destroy(&o->lock); }
static int our_pthread_rwlock_rdlock(object *o) { return darwin_error(pthread_rwlock_rdlock(&o->lock)); }
static int our_pthread_rwlock_wrlock(object *o) { return darwin_error(pthread_rwlock_wrlock(&o->lock)); }
static int our_pthread_rwlock_unlock(object *o) { return pthread_rwlock_unlock(&o->lock); }

static pthread_cond_t *condition(object *o) {
  pthread_cond_t *found = __atomic_load_n(&o->condition, __ATOMIC_ACQUIRE);
  if (found) return found;
  pthread_cond_t *fresh = malloc(sizeof *fresh);
  pthread_cond_init(fresh, NULL);
  if (__atomic_compare_exchange_n(&o->condition, &found, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return fresh;
  free(fresh);
  return found;
}

static int our_pthread_cond_init(object *o, const void *attr) {
  (void)attr;
  o->condition = NULL;
  return 0;
}

static int our_pthread_cond_destroy(object *o) {
  if (o->condition) pthread_cond_destroy(o->condition);
  free(o->condition);
  return 0;
}

static int our_pthread_cond_signal(object *o) { return pthread_cond_signal(condition(o)); }
static int our_pthread_cond_broadcast(object *o) { return pthread_cond_broadcast(condition(o)); }
static int our_pthread_cond_wait(object *o, object *mutex) { return pthread_cond_wait(condition(o), &mutex->mutex); }

static int our_pthread_cond_timedwait(object *o, object *mutex, const struct timespec *until) {
  return darwin_error(pthread_cond_clockwait(condition(o), &mutex->mutex, CLOCK_REALTIME, until));
}

static int our_pthread_cond_timedwait_relative_np(object *o, object *mutex, const struct timespec *time) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += time->tv_sec, until.tv_nsec += time->tv_nsec;
  if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
  return darwin_error(pthread_cond_clockwait(condition(o), &mutex->mutex, CLOCK_MONOTONIC, &until));
}

static int our_pthread_once(object *o, void (*run)(void)) { return pthread_once(&o->once, run); }

/* ---- Threads. */

static int our_pthread_attr_setdetachstate(pthread_attr_t *attr, int state) {
  return pthread_attr_setdetachstate(attr, state == 2 ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
}

/* glibc keeps a thread's variables on its stack too, hence the least. */
static int our_pthread_attr_setstacksize(pthread_attr_t *attr, size_t size) {
  enum { LEAST = 1 << 16 };
  return pthread_attr_setstacksize(attr, size < LEAST ? LEAST : size);
}

static int our_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *argument) {
  return darwin_error(pthread_create(thread, attr, run, argument));
}

/* Darwin's address of a stack is its upper end. */
static void stack_of(pthread_t thread, void **end, size_t *size) {
  pthread_attr_t attr;
  void *start;
  pthread_getattr_np(thread, &attr);
  pthread_attr_getstack(&attr, &start, size);
  pthread_attr_destroy(&attr);
  *end = (char *)start + *size;
}

static void *our_pthread_get_stackaddr_np(pthread_t thread) {
  void *end;
  size_t size;
  stack_of(thread, &end, &size);
  return end;
}

static size_t our_pthread_get_stacksize_np(pthread_t thread) {
  void *end;
  size_t size;
  stack_of(thread, &end, &size);
  return size;
}

static int our_pthread_threadid_np(pthread_t thread, uint64_t *id) {
  if (thread && thread != pthread_self()) return EINVAL;
  *id = (uint64_t)syscall(SYS_gettid);
  return 0;
}

static int our_pthread_setname_np(const char *name) { return pthread_setname_np(pthread_self(), name); }
static int our_pthread_main_np(void) { return getpid() == (pid_t)syscall(SYS_gettid); }

/* Go's runtime asks for thread 0 when the one that it means has just gone. */
static int our_pthread_kill(pthread_t thread, int signal) {
  int known = linux_signal(signal);
  if (signal != 0 && known == 0) return EINVAL;
  return thread ? pthread_kill(thread, known) : ESRCH;
}

/* ---- Keys. Go's runtime finds the slot of a key of its own by looking for a value at the thread register,
 * within the first 512 words: there our table of values lies, among the few variables of threads here. */

enum { KEYS = 256 };

static _Thread_local void *values[KEYS];
static void (*destroy[KEYS])(void *);
static unsigned long key_count;
static pthread_mutex_t keys = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t ended;

static void destroy_values(void *unused) {
  (void)unused;
  for (unsigned long i = 0; i < key_count; i++) {
    void *value = values[i];
    values[i] = NULL;
    if (value && destroy[i]) destroy[i](value);
  }
}

static int our_pthread_key_create(unsigned long *key, void (*end)(void *)) {
  pthread_mutex_lock(&keys);
  if (key_count == 0) pthread_key_create(&ended, destroy_values);
  if (key_count == KEYS) give_up("more than %d keys", KEYS);
  destroy[key_count] = end;
  *key = key_count++;
  pthread_mutex_unlock(&keys);
  return 0;
}

static int our_pthread_key_delete(unsigned long key) { return destroy[key] = NULL, 0; }

static int our_pthread_setspecific(unsigned long key, void *value) {
  values[key] = value;
  return pthread_setspecific(ended, values);
}

static void *our_pthread_getspecific(unsigned long key) { return values[key]; }

__attribute__((constructor)) static void check_place(void) {
  if ((char *)&values[KEYS] - (char *)__builtin_thread_pointer() > 512 * (long)sizeof *values)
    give_up("the values of keys lie too far from the thread register");
}

const function thread_functions[] = {
    OURS(pthread_mutexattr_settype), OURS(pthread_mutex_init), OURS(pthread_mutex_destroy), OURS(pthread_mutex_lock),
    OURS(pthread_mutex_trylock), OURS(pthread_mutex_unlock), OURS(pthread_rwlock_init), OURS(pthread_rwlock_destroy),
    OURS(pthread_rwlock_rdlock), OURS(pthread_rwlock_wrlock), OURS(pthread_rwlock_unlock), OURS(pthread_cond_init),
    OURS(pthread_cond_destroy), OURS(pthread_cond_signal), OURS(pthread_cond_broadcast), OURS(pthread_cond_wait),
    OURS(pthread_cond_timedwait), OURS(pthread_cond_timedwait_relative_np), OURS(pthread_once), OURS(pthread_attr_setdetachstate),
    OURS(pthread_attr_setstacksize), OURS(pthread_create), OURS(pthread_get_stackaddr_np), OURS(pthread_get_stacksize_np),
    OURS(pthread_threadid_np), OURS(pthread_setname_np), OURS(pthread_main_np), OURS(pthread_kill), OURS(pthread_key_create),
    OURS(pthread_key_delete), OURS(pthread_setspecific), OURS(pthread_getspecific),
    SAME(pthread_mutexattr_init), SAME(pthread_mutexattr_destroy), SAME(pthread_attr_init), SAME(pthread_attr_destroy),
    SAME(pthread_attr_getstacksize), SAME(pthread_join), SAME(pthread_detach), SAME(pthread_self), SAME(pthread_equal),
    SAME(pthread_exit), SAME(pthread_atfork), SAME(sched_yield),
    DATA(_tlv_bootstrap, give_up), /* each descriptor is pointed elsewhere before it is called */
    END,
};
