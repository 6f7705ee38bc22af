/* export.c - the symbols that an image exports: a trie whose edges are pieces of names. */
#include <string.h>

#include "machorun.h"

/* child finds the edge of a node that the rest of a name begins with, and moves the name past it; NULL. */
static const uint8_t *child(const image *m, const uint8_t *edges, const char **rest) {
  const uint8_t *p = edges + 1;
  for (int left = *edges; left > 0; left--) {
    const char *piece = (const char *)p;
    size_t length = strlen(piece);
    p += length + 1;
    uint64_t offset = read_uleb(&p);
    if (strncmp(piece, *rest, length) != 0) continue;
    *rest += length;
    return offset < m->exports.size ? m->exports.start + offset : NULL;
  }
  return NULL;
}

enum { EXPORT_REEXPORT = 8, EXPORT_ABSOLUTE = 2 };

void *export_find(const image *m, const char *symbol) {
  const uint8_t *node = m->exports.size ? m->exports.start : NULL;
  while (node) {
    const uint8_t *p = node;
    uint64_t terminal = read_uleb(&p);
    if (*symbol == 0) {
      if (terminal == 0) return NULL;
      uint64_t flags = read_uleb(&p);
      if (flags & EXPORT_REEXPORT) give_up("%s re-exports a symbol; this loader knows no such thing", m->path);
      uint64_t value = read_uleb(&p);
      return (flags & 3) == EXPORT_ABSOLUTE ? (void *)value : m->header + value;
    }
    node = child(m, p + terminal, &symbol);
  }
  return NULL;
}
