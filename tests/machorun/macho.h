/*
 * macho.h - what of the Mach-O format the loader reads: Apple's mach-o/loader.h and mach-o/fixup-chains.h
 * say what the fields mean. Everything is little-endian and as aligned as it is on arm64.
 */
#ifndef MACHORUN_MACHO_H
#define MACHORUN_MACHO_H

#include <stdint.h>

enum { MACHO_MAGIC = 0xfeedfacf, CPU_ARM64 = 0x0100000c, FILE_PROGRAM = 2, FILE_LIBRARY = 6 };

typedef struct {
  uint32_t magic, cpu, subtype, kind, commands, command_bytes, flags, reserved;
} macho_header;

/* Load commands; those that the loader must understand have the high bit set. */
enum {
  LC_SEGMENT = 0x19,
  LC_LOAD_LIBRARY = 0xc,
  LC_LOAD_WEAK_LIBRARY = 0x80000018,
  LC_REEXPORT_LIBRARY = 0x8000001f,
  LC_SEARCH_PATH = 0x8000001c,
  LC_FIXUP_OPCODES = 0x22,
  LC_FIXUP_OPCODES_ONLY = 0x80000022,
  LC_MAIN = 0x80000028,
  LC_EXPORT_TRIE = 0x80000033,
  LC_FIXUP_CHAINS = 0x80000034,
};

typedef struct {
  uint32_t kind, size;
} macho_command;

typedef struct {
  macho_command command;
  char name[16];
  uint64_t address, size, file_offset, file_size;
  uint32_t most_protection, protection, sections, flags;
} macho_segment;

enum { SEGMENT_READ_ONLY = 0x10 }; /* of flags: no more writes once fixups are applied */

typedef struct {
  char name[16], segment[16];
  uint64_t address, size;
  uint32_t offset, alignment, relocations, relocation_count, flags, reserved[3];
} macho_section;

enum { SECTION_TYPE = 0xff, SECTION_CODE = 0x80000400 }; /* masks of flags */

enum {
  SECTION_INITIALISERS = 0x9,
  SECTION_THREAD_DATA = 0x11,
  SECTION_THREAD_ZERO = 0x12,
  SECTION_THREAD_VARIABLES = 0x13,
  SECTION_INITIALISER_OFFSETS = 0x16,
};

/* A command that holds a text: of a library its install name, of a search path that path. */
typedef struct {
  macho_command command;
  uint32_t text; /* offset from the command */
} macho_text;

typedef struct {
  macho_command command;
  uint64_t offset; /* of the entry from the header */
} macho_main;

/* A piece of the file. */
typedef struct {
  uint32_t offset, size;
} macho_piece;

typedef struct {
  macho_command command;
  macho_piece rebase, bind, weak_bind, lazy_bind, exports;
} macho_opcodes;

typedef struct {
  macho_command command;
  macho_piece data;
} macho_data;

/* The variable of a thread: code calls thunk with the descriptor's address and gets the variable's. */
typedef struct {
  void *(*thunk)(void *);
  uint64_t key, offset;
} macho_thread_variable;

/* ---- Chains of fixups. */

typedef struct {
  uint32_t version, starts, imports, symbols, import_count, import_format, symbol_format;
} chain_header;

typedef struct {
  uint32_t segments, offsets[]; /* of a chain_segment each, from here; 0 for none */
} chain_image;

typedef struct {
  uint32_t size;
  uint16_t page_size, pointer_format;
  uint64_t segment; /* its offset from the header */
  uint32_t most_pointer;
  uint16_t pages, starts[]; /* where the chain of a page begins; CHAIN_NONE */
} chain_segment;

enum { CHAIN_NONE = 0xffff, CHAIN_ADDRESS = 2, CHAIN_OFFSET = 6, CHAIN_IMPORT = 1, CHAIN_IMPORT_ADDEND = 2, CHAIN_IMPORT_WIDE = 3 };

#endif
