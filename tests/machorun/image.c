/* image.c - a Mach-O file in memory: its segments, what its load commands say, its code made fit. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machorun.h"

static bool map_file(image *m, const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat status;
  void *at = MAP_FAILED;
  if (fstat(fd, &status) == 0 && status.st_size >= (off_t)sizeof(macho_header))
    at = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (at == MAP_FAILED) return false;
  m->file = (bytes){at, status.st_size};
  const macho_header *h = at;
  if (h->magic == MACHO_MAGIC && h->cpu == CPU_ARM64 && (h->kind == FILE_PROGRAM || h->kind == FILE_LIBRARY)) return true;
  munmap(at, status.st_size);
  return false;
}

static const macho_command *next_command(const macho_command *c) { return (const void *)((const char *)c + c->size); }

/* each_command calls a function for every load command of a kind; ANY_KIND for all. */
enum { ANY_KIND = 0 };

static void each_command(image *m, uint32_t kind, void (*visit)(image *, const macho_command *)) {
  const macho_header *h = (const void *)m->file.start;
  const macho_command *c = (const void *)(h + 1);
  for (uint32_t i = 0; i < h->commands; i++, c = next_command(c))
    if (kind == ANY_KIND || c->kind == kind) visit(m, c);
}

/* The zero page of a program must not be accessed, and debug sections are not needed: neither is mapped. */
static bool is_mapped(const macho_segment *s) { return s->protection != 0; }

static void note_segment(image *m, const macho_command *c) {
  const macho_segment *s = (const void *)c;
  if (m->segment_count == MOST_SEGMENTS) give_up("%s has more than %d segments", m->path, MOST_SEGMENTS);
  if (s->file_size && s->file_offset % DARWIN_PAGE)
    give_up("%s: segment %.16s does not begin on a page of %d", m->path, s->name, DARWIN_PAGE);
  m->segments[m->segment_count++] = (segment){s->address, s->size, s->protection, s->flags & SEGMENT_READ_ONLY};
}

/* reserve finds room for all segments, aligned to Darwin's pages, and sets base and header. */
static void reserve(image *m) {
  uint64_t low = UINT64_MAX, high = 0;
  for (int i = 0; i < m->segment_count; i++) {
    const segment *s = &m->segments[i];
    if (s->protection == 0) continue;
    if (s->address < low) low = s->address;
    if (s->address + s->size > high) high = s->address + s->size;
  }
  m->span = (high - low + DARWIN_PAGE - 1) / DARWIN_PAGE * DARWIN_PAGE;
  uint8_t *room = mmap(NULL, m->span + DARWIN_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) give_up("no room for %s", m->path);
  m->header = (uint8_t *)(((uintptr_t)room + DARWIN_PAGE - 1) / DARWIN_PAGE * DARWIN_PAGE);
  m->base = m->header - low;
}

static void fill_segment(image *m, const macho_command *c) {
  const macho_segment *s = (const void *)c;
  if (!is_mapped(s)) return;
  if (s->file_offset + s->file_size > m->file.size) give_up("%s: segment %.16s is cut off", m->path, s->name);
  mprotect(m->base + s->address, s->size, PROT_READ | PROT_WRITE);
  memcpy(m->base + s->address, m->file.start + s->file_offset, s->file_size);
}

/* fit_code makes the code ask Linux's register for the thread where it asks Darwin's, which user code
 * cannot set here: `mrs xN, TPIDRRO_EL0` becomes `mrs xN, TPIDR_EL0`. */
static void fit_code(uint8_t *code, uint64_t size) {
  enum { ASK_DARWIN = 0xd53bd060, ASK_LINUX = 0xd53bd040, REGISTER = 31 };
  for (uint64_t i = 0; i + 4 <= size; i += 4) {
    uint32_t *word = (uint32_t *)(code + i);
    if ((*word & ~(uint32_t)REGISTER) == ASK_DARWIN) *word = ASK_LINUX | (*word & REGISTER);
  }
}

static void note_section(image *m, const macho_section *s) {
  uint32_t type = s->flags & SECTION_TYPE;
  if (s->flags & SECTION_CODE) fit_code(m->base + s->address, s->size);
  if (type == SECTION_INITIALISERS || type == SECTION_INITIALISER_OFFSETS) {
    if (m->initialiser_count == MOST_INITIALISERS) give_up("%s has too many sections of initialisers", m->path);
    m->initialisers[m->initialiser_count++] = s;
  }
  if (type == SECTION_THREAD_DATA || type == SECTION_THREAD_ZERO) {
    if (!m->thread_data) m->thread_data = m->base + s->address;
    m->thread_size = m->base + s->address + s->size - m->thread_data;
  }
}

static void note_sections(image *m, const macho_command *c) {
  const macho_segment *s = (const void *)c;
  const macho_section *section = (const void *)(s + 1);
  for (uint32_t i = 0; is_mapped(s) && i < s->sections; i++) note_section(m, section + i);
}

static bytes piece(const image *m, macho_piece p) {
  if ((uint64_t)p.offset + p.size > m->file.size) give_up("%s: its link information is cut off", m->path);
  return (bytes){m->file.start + p.offset, p.size};
}

static void note_text(const char **list, int *count, const macho_command *c) {
  if (*count == MOST_LIBRARIES) give_up("more than %d libraries or search paths", MOST_LIBRARIES);
  list[(*count)++] = (const char *)c + ((const macho_text *)c)->text;
}

static void note_command(image *m, const macho_command *c) {
  const macho_opcodes *o = (const void *)c;
  switch (c->kind) {
    case LC_LOAD_LIBRARY:
    case LC_LOAD_WEAK_LIBRARY:
    case LC_REEXPORT_LIBRARY: note_text(m->libraries, &m->library_count, c); break;
    case LC_SEARCH_PATH: note_text(m->search, &m->search_count, c); break;
    case LC_MAIN: m->entry = m->header + ((const macho_main *)c)->offset; break;
    case LC_EXPORT_TRIE: m->exports = piece(m, ((const macho_data *)c)->data); break;
    case LC_FIXUP_CHAINS: m->chains = piece(m, ((const macho_data *)c)->data); break;
    case LC_FIXUP_OPCODES:
    case LC_FIXUP_OPCODES_ONLY:
      m->rebase = piece(m, o->rebase), m->bind = piece(m, o->bind), m->lazy_bind = piece(m, o->lazy_bind);
      m->exports = piece(m, o->exports);
      break;
  }
}

bool image_map(image *m, const char *path) {
  *m = (image){.path = strdup(path)};
  if (!map_file(m, path)) {
    free(m->path);
    return false;
  }
  each_command(m, LC_SEGMENT, note_segment);
  reserve(m);
  each_command(m, LC_SEGMENT, fill_segment);
  each_command(m, LC_SEGMENT, note_sections);
  each_command(m, ANY_KIND, note_command);
  return true;
}

void image_seal(const image *m) {
  for (int i = 0; i < m->segment_count; i++) {
    const segment *s = &m->segments[i];
    if (s->protection == 0) continue;
    int protection = s->sealed ? s->protection & ~PROT_WRITE : s->protection;
    mprotect(m->base + s->address, s->size, protection);
    if (protection & PROT_EXEC) __builtin___clear_cache((char *)m->base + s->address, (char *)m->base + s->address + s->size);
  }
}
