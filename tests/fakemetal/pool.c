/*
 * pool.c - autorelease pools: a stack of objects for each thread, cut by the tokens of its pools.
 *
 * Apple lets objects without a pool leak, and pools that are popped out of order take others with
 * them; here both end the process.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "objc.h"

/* A token names its thread and its place, and never comes again. */
enum { SERIAL_BITS = 40 };

typedef struct {
  uint64_t token;
  size_t first; /* of its objects */
} pool;

typedef struct {
  uint64_t thread, serial;
  pool *pools;
  id *objects;
  size_t pool_count, pool_room, count, room;
} stack;

static __thread stack mine;
static _Atomic uint64_t threads;
static pthread_key_t at_exit;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *grow(void *items, size_t *room, size_t size) {
  *room = *room ? *room * 2 : 64;
  return realloc(items, *room * size);
}

static void thread_ends(void *unused) {
  (void)unused;
  free(mine.pools), free(mine.objects);
  mine = (stack){0};
}

static void make_key(void) { pthread_key_create(&at_exit, thread_ends); }

void *pool_push(void) {
  if (mine.thread == 0) {
    mine.thread = atomic_fetch_add(&threads, 1) + 1;
    pthread_once(&once, make_key);
    pthread_setspecific(at_exit, &mine);
  }
  if (mine.pool_count == mine.pool_room) mine.pools = grow(mine.pools, &mine.pool_room, sizeof *mine.pools);
  uint64_t token = mine.thread << SERIAL_BITS | ++mine.serial;
  mine.pools[mine.pool_count++] = (pool){token, mine.count};
  return (void *)(uintptr_t)token;
}

static _Noreturn void wrong_pop(uint64_t token) {
  if (token >> SERIAL_BITS != mine.thread) misuse("the pool belongs to another thread");
  for (size_t i = 0; i < mine.pool_count; i++)
    if (mine.pools[i].token == token) misuse("%zu pools opened later are still open", mine.pool_count - 1 - i);
  misuse("the pool is closed already");
}

void pool_pop(void *given) {
  uint64_t token = (uint64_t)(uintptr_t)given;
  if (mine.pool_count == 0 || mine.pools[mine.pool_count - 1].token != token) wrong_pop(token);
  size_t first = mine.pools[mine.pool_count - 1].first;
  while (mine.count > first) release(mine.objects[--mine.count]);
  mine.pool_count--;
}

id autorelease(id object) {
  if (!object) return object;
  if (!is_live(object)) misuse("what is autoreleased has been released for the last time");
  if (mine.pool_count == 0) misuse("an object of class %s is autoreleased on a thread without a pool", class_title(object));
  if (mine.count == mine.room) mine.objects = grow(mine.objects, &mine.room, sizeof *mine.objects);
  mine.objects[mine.count++] = object;
  return object;
}

FAKEMETAL_API void *objc_autoreleasePoolPush(void) {
  doing("objc_autoreleasePoolPush");
  return pool_push();
}

FAKEMETAL_API void objc_autoreleasePoolPop(void *token) {
  doing("objc_autoreleasePoolPop");
  pool_pop(token);
}
