/*
 * thread.c - variables of threads. Each has a descriptor; compiled code calls the function in it, which
 * answers where the variable is for this thread. All of an image's lie in one block, made on first use.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "machorun.h"

/* thread.S: saves every register but x0, and calls thread_variable. */
extern void *thread_variable_thunk(void *descriptor);

void *thread_variable(const macho_thread_variable *v);

static image *images[MOST_IMAGES]; /* by key, from 1 */
static uint64_t image_count;
static _Thread_local uint8_t *blocks[MOST_IMAGES];
static pthread_key_t ended;

/* What destructors of other keys still use afterwards is made anew, and freed in the next round. */
static void free_blocks(void *unused) {
  (void)unused;
  for (uint64_t i = 0; i < image_count; i++) {
    free(blocks[i]);
    blocks[i] = NULL;
  }
}

static uint8_t *make_block(const image *m) {
  enum { ALIGNMENT = 64 };
  uint8_t *block = aligned_alloc(ALIGNMENT, (m->thread_size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  memcpy(block, m->thread_data, m->thread_size);
  pthread_setspecific(ended, block);
  return block;
}

void *thread_variable(const macho_thread_variable *v) {
  uint8_t **block = &blocks[v->key];
  if (!*block) *block = make_block(images[v->key]);
  return *block + v->offset;
}

/* set_up points the descriptors of a section at us. */
static void set_up(image *m, const macho_section *s) {
  macho_thread_variable *v = (void *)(m->base + s->address);
  for (uint64_t i = 0; i < s->size / sizeof *v; i++) v[i].thunk = thread_variable_thunk, v[i].key = m->thread_key;
}

void thread_variables(image *m) {
  if (!m->thread_size) return;
  if (image_count == 0) pthread_key_create(&ended, free_blocks);
  m->thread_key = image_count;
  images[image_count++] = m;
  const macho_header *h = (const void *)m->file.start;
  const macho_command *c = (const void *)(h + 1);
  for (uint32_t i = 0; i < h->commands; i++, c = (const void *)((const char *)c + c->size)) {
    const macho_segment *segment = (const void *)c;
    const macho_section *s = (const void *)(segment + 1);
    for (uint32_t k = 0; c->kind == LC_SEGMENT && k < segment->sections; k++, s++)
      if ((s->flags & SECTION_TYPE) == SECTION_THREAD_VARIABLES) set_up(m, s);
  }
}
