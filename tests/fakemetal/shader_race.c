/*
 * shader_race.c - finds two threads of a threadgroup that use one byte of threadgroup memory, one of them to write it,
 * with no barrier between (FAKEMETAL_RACES=1).
 *
 * The order of fibers is random, but a race may give the right answer in most orders. Here each byte remembers who wrote
 * it last and the last two who read it, and when: the number of threadgroup barriers so far and, for threads of one SIMD
 * group, that of its barriers. SIMD-group functions order nothing: the specification gives them no effect on memory.
 */
#include <stdlib.h>

#include "shader_internal.h"

enum { BYTES = 64 << 10 }; /* more than threadgroup memory has; bytes that share an entry replace each other */

typedef struct {
  uint32_t thread, barriers, simd_barriers;
} use;

typedef struct {
  uint64_t address;
  use wrote, read[2];
} cell;

struct shader_races {
  cell cells[BYTES];
};

shader_races *shader_races_new(void) { return calloc(1, sizeof(shader_races)); }

void shader_races_free(shader_races *races) { free(races); }

/* conflicts reports whether an earlier use and one of now have no barrier between them. */
static bool conflicts(const use *before, const use *now) {
  if (before->barriers != now->barriers || before->thread == now->thread) return false;
  return before->thread / SHADER_SIMD != now->thread / SHADER_SIMD || before->simd_barriers == now->simd_barriers;
}

int64_t shader_race(shader_races *races, uint64_t address, uint64_t size, bool write, uint32_t thread, uint32_t barriers, uint32_t simd_barriers) {
  use now = {thread, barriers, simd_barriers};
  for (uint64_t a = address; a < address + size; a++) {
    cell *c = &races->cells[a % BYTES];
    if (c->address != a) *c = (cell){.address = a};
    if (conflicts(&c->wrote, &now)) return c->wrote.thread;
    for (int i = 0; write && i < 2; i++)
      if (conflicts(&c->read[i], &now)) return c->read[i].thread;
    if (write) c->wrote = now;
    if (write || (c->read[0].thread == thread && c->read[0].barriers == barriers && c->read[0].simd_barriers == simd_barriers)) continue;
    c->read[1] = c->read[0];
    c->read[0] = now;
  }
  return -1;
}
