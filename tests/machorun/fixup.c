/*
 * fixup.c - pointers of an image: those to itself move with it, those to others are bound. There are two
 * forms: opcodes for a small machine (up to macOS 11), and chains through the pointers themselves.
 */
#include <string.h>

#include "machorun.h"

uint64_t read_uleb(const uint8_t **p) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    uint8_t byte = *(*p)++;
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return value;
  }
}

int64_t read_sleb(const uint8_t **p) {
  int64_t value = 0;
  int shift = 0;
  uint8_t byte;
  do {
    byte = *(*p)++;
    value |= (int64_t)(byte & 0x7f) << shift;
    shift += 7;
  } while (byte & 0x80);
  if ((byte & 0x40) && shift < 64) value |= -((int64_t)1 << shift);
  return value;
}

/* What both machines of opcodes keep: where the next pointer is, and what it is bound to. */
typedef struct {
  const image *m;
  uint64_t *at; /* NULL before a segment is set */
  int ordinal;
  const char *symbol;
  bool weak;
  int64_t addend;
} machine;

static void move_to(machine *k, int index, uint64_t offset) {
  if (index >= k->m->segment_count) give_up("%s: fixups of segment %d, which it lacks", k->m->path, index);
  k->at = (uint64_t *)(k->m->base + k->m->segments[index].address + offset);
}

static void skip(machine *k, uint64_t distance) { k->at = (uint64_t *)((uint8_t *)k->at + distance); }

static void rebase_one(machine *k) { *k->at += (uint64_t)k->m->base; }

static void bind_one(machine *k) {
  uint64_t target = (uint64_t)import_find(k->m, k->ordinal, k->symbol, k->weak);
  *k->at = target ? target + (uint64_t)k->addend : 0;
}

/* repeat fixes count pointers, with a gap behind each. */
static void repeat(machine *k, uint64_t count, uint64_t gap, void (*fix)(machine *)) {
  for (; count > 0; count--) {
    fix(k);
    skip(k, sizeof *k->at + gap);
  }
}

enum { OPCODE = 0xf0, IMMEDIATE = 0x0f };

static void rebase_opcodes(const image *m) {
  machine k = {.m = m};
  const uint8_t *p = m->rebase.start, *end = p + m->rebase.size;
  while (p < end) {
    uint8_t now = *p & IMMEDIATE;
    uint64_t count;
    switch (*p++ & OPCODE) {
      case 0x00: return;                                               /* done */
      case 0x10: break;                                                /* type: there is only one, pointers */
      case 0x20: move_to(&k, now, read_uleb(&p)); break;               /* segment, offset */
      case 0x30: skip(&k, read_uleb(&p)); break;                       /* add */
      case 0x40: skip(&k, now * sizeof *k.at); break;                  /* add scaled */
      case 0x50: repeat(&k, now, 0, rebase_one); break;                /* times */
      case 0x60: repeat(&k, read_uleb(&p), 0, rebase_one); break;      /* times */
      case 0x70: repeat(&k, 1, read_uleb(&p), rebase_one); break;      /* once, add */
      case 0x80: count = read_uleb(&p), repeat(&k, count, read_uleb(&p), rebase_one); break;
      default: give_up("%s: rebase opcode %#x is unknown", m->path, p[-1]);
    }
  }
}

enum { IMPORT_WEAK = 1 };

/* bind_opcodes runs a list of bindings. Lazy ones, bound here as the others are, end each with a "done". */
static void bind_opcodes(const image *m, bytes list, bool lazy) {
  machine k = {.m = m};
  const uint8_t *p = list.start, *end = p + list.size;
  while (p < end) {
    uint8_t now = *p & IMMEDIATE;
    uint64_t count;
    switch (*p++ & OPCODE) {
      case 0x00:
        if (!lazy) return;
        break;
      case 0x10: k.ordinal = now; break;
      case 0x20: k.ordinal = (int)read_uleb(&p); break;
      case 0x30: k.ordinal = now ? (int8_t)(OPCODE | now) : 0; break; /* special ones are negative */
      case 0x40:                                                      /* name, flags */
        k.symbol = (const char *)p, k.weak = now & IMPORT_WEAK;
        p += strlen(k.symbol) + 1;
        break;
      case 0x50: break; /* type: there is only one, pointers */
      case 0x60: k.addend = read_sleb(&p); break;
      case 0x70: move_to(&k, now, read_uleb(&p)); break;
      case 0x80: skip(&k, read_uleb(&p)); break;
      case 0x90: repeat(&k, 1, 0, bind_one); break;
      case 0xa0: repeat(&k, 1, read_uleb(&p), bind_one); break;                        /* and add */
      case 0xb0: repeat(&k, 1, now * sizeof *k.at, bind_one); break;                   /* and add scaled */
      case 0xc0: count = read_uleb(&p), repeat(&k, count, read_uleb(&p), bind_one); break;
      default: give_up("%s: bind opcode %#x is unknown", m->path, p[-1]);
    }
  }
}

/* ---- Chains. */

/* An import of the table that chains refer to. */
typedef struct {
  int ordinal;
  bool weak;
  const char *symbol;
  int64_t addend;
} import;

/* Ordinals from the top of their range down are the special ones. */
static int ordinal_of(uint32_t value, uint32_t range) { return value > range - 16 ? (int)value - (int)range : (int)value; }

static import import_at(const image *m, uint32_t index) {
  const chain_header *h = (const void *)m->chains.start;
  const uint8_t *table = m->chains.start + h->imports;
  const char *names = (const char *)m->chains.start + h->symbols;
  if (index >= h->import_count) give_up("%s: import %u of %u", m->path, index, h->import_count);
  if (h->import_format == CHAIN_IMPORT_WIDE) {
    uint64_t word, addend;
    memcpy(&word, table + index * 16, sizeof word);
    memcpy(&addend, table + index * 16 + 8, sizeof addend);
    return (import){ordinal_of(word & 0xffff, 0x10000), word >> 16 & 1, names + (word >> 32), (int64_t)addend};
  }
  size_t stride = h->import_format == CHAIN_IMPORT_ADDEND ? 8 : 4;
  uint32_t word;
  int32_t addend = 0;
  memcpy(&word, table + index * stride, sizeof word);
  if (stride == 8) memcpy(&addend, table + index * stride + 4, sizeof addend);
  return (import){ordinal_of(word & 0xff, 0x100), word >> 8 & 1, names + (word >> 9), addend};
}

/* fix_link fixes one pointer of a chain and answers the distance to the next, in words of 4 bytes. */
static uint64_t fix_link(const image *m, uint64_t *at, uint16_t format) {
  uint64_t link = *at, next = link >> 51 & 0xfff;
  if (link >> 63) {
    import i = import_at(m, link & 0xffffff);
    uint64_t target = (uint64_t)import_find(m, i.ordinal, i.symbol, i.weak);
    *at = target ? target + (link >> 24 & 0xff) + (uint64_t)i.addend : 0;
    return next;
  }
  uint64_t target = link & 0xfffffffff, high = link >> 36 & 0xff;
  *at = (uint64_t)(format == CHAIN_OFFSET ? m->header : m->base) + target + (high << 56);
  return next;
}

static void fix_segment(const image *m, const chain_segment *s) {
  if (s->pointer_format != CHAIN_ADDRESS && s->pointer_format != CHAIN_OFFSET)
    give_up("%s: chained pointers of format %d", m->path, s->pointer_format);
  for (int page = 0; page < s->pages; page++) {
    if (s->starts[page] == CHAIN_NONE) continue;
    uint8_t *at = m->header + s->segment + (uint64_t)page * s->page_size + s->starts[page];
    for (uint64_t next = 1; next != 0; at += next * 4) next = fix_link(m, (uint64_t *)at, s->pointer_format);
  }
}

static void fix_chains(const image *m) {
  const chain_header *h = (const void *)m->chains.start;
  const chain_image *list = (const void *)(m->chains.start + h->starts);
  if (h->symbol_format != 0) give_up("%s: the names of its imports are compressed", m->path);
  for (uint32_t i = 0; i < list->segments; i++)
    if (list->offsets[i]) fix_segment(m, (const void *)((const char *)list + list->offsets[i]));
}

void fix_up(image *m) {
  if (m->chains.size) fix_chains(m);
  rebase_opcodes(m);
  bind_opcodes(m, m->bind, false);
  bind_opcodes(m, m->lazy_bind, true);
}
