/*
 * errors.c - error objects. They live in C, so that one can be read and freed where Go cannot be
 * entered. A handle is a tag, the generation of its entry and the entry's index; entries are recycled
 * and never given back, so that a stale or invented handle is recognised without touching memory that
 * is not ours.
 *
 * Making and freeing take a lock; reading takes none, and therefore works in a forked child even if
 * another thread was inside when the process forked.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

enum { CHUNK = 256, CHUNKS = 256 };

#define TAG ((uint64_t)0xF << 60) /* handles of objects that live in Go have smaller ones */

struct pmps_error {
  _Atomic uint64_t generation; /* odd while in use */
  pmps_code code;
  char *message;
  uint32_t next; /* entry below in the stack of free ones */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct pmps_error *) chunks[CHUNKS];
static uint32_t made;      /* entries that exist */
static uint32_t free_list; /* index + 1 of the first free entry; 0: none */
static int64_t live;

static char forked_text[] =
    "[fork] this process was forked after libpaddlemps was loaded; want exec or spawn to start a worker";
static char exhausted_text[] = "[error] there is no memory or room for another error object; want errors to be freed";

/* Static errors have the indices after the last chunk, and generation 1 for ever. */
enum { FORKED_INDEX = CHUNK * CHUNKS, EXHAUSTED_INDEX };
static struct pmps_error forked_error = {1, PMPS_FORKED, forked_text, 0};
static struct pmps_error exhausted_error = {1, PMPS_OUT_OF_MEMORY, exhausted_text, 0};

static fault to_handle(uint32_t index, uint64_t generation) { return TAG | (generation & 0xFFFFFFFF) << 28 | index; }

fault error_forked(void) { return to_handle(FORKED_INDEX, 1); }

/* The entry with an index; NULL where there is none. */
static struct pmps_error *entry(uint32_t index) {
  if (index == FORKED_INDEX) return &forked_error;
  if (index == EXHAUSTED_INDEX) return &exhausted_error;
  if (index >= FORKED_INDEX) return NULL;
  struct pmps_error *chunk = atomic_load(&chunks[index / CHUNK]);
  return chunk ? &chunk[index % CHUNK] : NULL;
}

/* The object of a handle; NULL for what is null, stale or foreign. */
static struct pmps_error *find(fault handle) {
  if (handle >> 60 != TAG >> 60) return NULL;
  struct pmps_error *e = entry(handle & 0xFFFFFFF);
  if (!e) return NULL;
  uint64_t generation = atomic_load(&e->generation);
  return generation % 2 == 1 && to_handle(handle & 0xFFFFFFF, generation) == handle ? e : NULL;
}

/* Takes a free entry; EXHAUSTED_INDEX where there is none. The lock is held. */
static uint32_t take(void) {
  if (free_list) {
    uint32_t index = free_list - 1;
    free_list = entry(index)->next;
    return index;
  }
  if (made == CHUNK * CHUNKS) return EXHAUSTED_INDEX;
  if (made % CHUNK == 0) {
    struct pmps_error *chunk = calloc(CHUNK, sizeof *chunk);
    if (!chunk) return EXHAUSTED_INDEX;
    atomic_store(&chunks[made / CHUNK], chunk);
  }
  return made++;
}

fault error_new(int32_t code, const char *message, size_t size) {
  char *copy = malloc(size + 1);
  if (!copy) return to_handle(EXHAUSTED_INDEX, 1);
  if (size) memcpy(copy, message, size);
  copy[size] = 0;

  pthread_mutex_lock(&lock);
  uint32_t index = take();
  struct pmps_error *e = entry(index);
  if (index != EXHAUSTED_INDEX) {
    e->code = (pmps_code)code;
    e->message = copy;
    atomic_fetch_add(&e->generation, 1);
    live++;
    copy = NULL;
  }
  fault handle = to_handle(index, atomic_load(&e->generation));
  pthread_mutex_unlock(&lock);
  free(copy);
  return handle;
}

/* Frees the error of a handle; ignores one that is null, stale, foreign or of a static error. Takes the lock. */
static void release(fault handle) {
  pthread_mutex_lock(&lock);
  struct pmps_error *e = find(handle);
  uint32_t index = handle & 0xFFFFFFF;
  if (e && index < FORKED_INDEX) {
    atomic_fetch_add(&e->generation, 1);
    free(e->message);
    e->message = NULL;
    e->next = free_list;
    free_list = index + 1;
    live--;
  }
  pthread_mutex_unlock(&lock);
}

int64_t error_count(void) {
  pthread_mutex_lock(&lock);
  int64_t n = live;
  pthread_mutex_unlock(&lock);
  return n;
}

/* ---- This thread's last failure of the fast family. The key's destructor frees one that the thread has not
 * taken with pmps_fast_error. */

static pthread_key_t last;

static void free_last(void *kept) {
  if (!in_child) release((fault)(uintptr_t)kept);
}

__attribute__((constructor)) static void make_key(void) { pthread_key_create(&last, free_last); }

/* Replaces this thread's error, and hands the previous one over, owned. */
static fault swap_last(fault next) {
  fault kept = (fault)(uintptr_t)pthread_getspecific(last);
  pthread_setspecific(last, (void *)(uintptr_t)next);
  return kept;
}

void error_keep(fault error) { release(swap_last(error)); }

pmps_error *pmps_fast_error(void) { return (pmps_error *)(uintptr_t)(in_child ? error_forked() : swap_last(0)); }

/* ---- Public */

pmps_code pmps_error_code(const pmps_error *error) {
  struct pmps_error *e = find((fault)(uintptr_t)error);
  return e ? e->code : PMPS_OK;
}

const char *pmps_error_message(const pmps_error *error) {
  struct pmps_error *e = find((fault)(uintptr_t)error);
  return e ? e->message : "";
}

void pmps_error_free(pmps_error *error) {
  if (!in_child) release((fault)(uintptr_t)error);
}

const char *pmps_code_name(pmps_code code) {
  static const char *const names[] = {
      [PMPS_OK] = "OK",
      [PMPS_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
      [PMPS_TYPE_MISMATCH] = "TYPE_MISMATCH",
      [PMPS_INDEX_OUT_OF_RANGE] = "INDEX_OUT_OF_RANGE",
      [PMPS_OUT_OF_MEMORY] = "OUT_OF_MEMORY",
      [PMPS_UNSUPPORTED] = "UNSUPPORTED",
      [PMPS_UNAVAILABLE] = "UNAVAILABLE",
      [PMPS_DEVICE_FAILED] = "DEVICE_FAILED",
      [PMPS_INVALID_HANDLE] = "INVALID_HANDLE",
      [PMPS_FORKED] = "FORKED",
      [PMPS_INTERNAL] = "INTERNAL",
      [PMPS_NOT_FOUND] = "NOT_FOUND",
      [PMPS_ARITHMETIC] = "ARITHMETIC",
      [PMPS_BUSY] = "BUSY",
      [PMPS_SYNTAX] = "SYNTAX",
      [PMPS_TRACED] = "TRACED",
      [PMPS_CANCELLED] = "CANCELLED",
  };
  size_t i = (size_t)(int64_t)code;
  return i < sizeof names / sizeof *names ? names[i] : "UNKNOWN";
}
