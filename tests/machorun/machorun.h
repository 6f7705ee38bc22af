/*
 * machorun.h - what the files of the loader share.
 *
 * An image is a Mach-O file in memory: image.c maps it, fixup.c points its pointers at what they mean,
 * export.c finds its symbols, thread.c gives each thread its variables, dyld.c puts these together and
 * answers dlopen. What Darwin's system libraries would offer is a table of functions on glibc: system.c
 * and system_*.c.
 */
#ifndef MACHORUN_H
#define MACHORUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "macho.h"

enum { MOST_IMAGES = 16, MOST_SEGMENTS = 16, MOST_LIBRARIES = 32, MOST_INITIALISERS = 16, DARWIN_PAGE = 16384 };

typedef struct {
  const uint8_t *start;
  size_t size;
} bytes;

typedef struct {
  uint64_t address, size; /* as the file says: before it is moved */
  int protection;
  bool sealed; /* read-only once fixups are applied */
} segment;

typedef struct image {
  char *path;
  bytes file;
  uint8_t *base; /* where address 0 of the file has moved to; what the file calls A lies at base + A */
  uint8_t *header;
  size_t span; /* bytes from the header to the end of the last segment */
  segment segments[MOST_SEGMENTS];
  int segment_count;
  const char *libraries[MOST_LIBRARIES]; /* install names, in the order that ordinals count */
  struct image *loaded[MOST_LIBRARIES];  /* NULL: one of the system's */
  int library_count;
  const char *search[MOST_LIBRARIES];
  int search_count;
  bytes exports, rebase, bind, lazy_bind, chains;
  const macho_section *initialisers[MOST_INITIALISERS];
  int initialiser_count;
  uint8_t *thread_data; /* the first value of the variables of a thread */
  size_t thread_size;
  uint64_t thread_key;
  uint8_t *entry; /* of a program; NULL */
} image;

/* Ends the process: "machorun: ...", status 125. */
_Noreturn void give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether MACHORUN_TRACE asks for lines about what is loaded and what is missing. */
bool tracing(void);

/* ---- image.c */

/* Maps a file, writable, its code made fit for Linux. False where it is no image of this machine. */
bool image_map(image *m, const char *path);

/* Gives the segments the protection that the file asks for. */
void image_seal(const image *m);

/* ---- fixup.c */

/* Moves and binds every pointer of an image. */
void fix_up(image *m);

uint64_t read_uleb(const uint8_t **p);
int64_t read_sleb(const uint8_t **p);

/* ---- export.c */

/* The address of a symbol that an image exports, named as in the file, with its underscore; NULL. */
void *export_find(const image *m, const char *symbol);

/* ---- thread.c */

/* Makes the variables of threads of an image work. */
void thread_variables(image *m);

/* ---- dyld.c */

/* Loads a program and all that it needs, runs initialisers; ends the process where that fails. */
image *load_program(const char *path, int argc, char **argv, char **envp, char **apple);

/* What an import means. ordinal counts libraries from 1; see the constants. NULL only for weak ones. */
enum { ORDINAL_SELF = 0, ORDINAL_PROGRAM = -1, ORDINAL_ANY = -2, ORDINAL_WEAK = -3 };
void *import_find(const image *m, int ordinal, const char *symbol, bool weak);

/* The image in which an address lies; NULL. */
const image *image_at(const void *address);

/* The path of the program, for those who ask. */
const char *program_path(void);

/* ---- system.c */

typedef struct {
  const char *name;
  void *address;
  bool fails; /* answers -1 with a number in errno, which Darwin may call differently */
} function;

/* A function of Darwin's that glibc's serves as it is, and one that needs ours; each also for those that
 * may fail. */
#define SAME(name) {#name, (void *)name, false}
#define OURS(name) {#name, (void *)our_##name, false}
#define SAME_CALL(name) {#name, (void *)name, true}
#define OUR_CALL(name) {#name, (void *)our_##name, true}
#define DATA(name, where) {#name, (void *)(where), false}
#define END {NULL, NULL, false}

/* Each ends with a row of zeros. */
extern const function dyld_functions[], event_functions[], file_functions[], language_functions[], memory_functions[],
    process_functions[], signal_functions[], text_functions[], thread_functions[], machine_functions[];

/* The address of what Darwin's system libraries export, named as in C; NULL. */
void *system_find(const char *name);

/* A function that ends the process, saying which function is missing. */
void *system_missing(const char *name);

/* Whether a library is the system's, by its install name. */
bool system_library(const char *path);

/* Error numbers: Darwin's for Linux's and the other way round. */
int darwin_error(int linux_error);
int linux_error(int darwin_error);

/* Signals, 0 for one that the other system lacks. */
int darwin_signal(int linux_signal);
int linux_signal(int darwin_signal);

/* Flags of open. */
int linux_open_flags(int darwin_flags);

/* checked.S: calls the function in x16 and has its error number translated if it answers -1. */
extern void checked_call(void);

/* variadic.S: functions whose further arguments lie on the stack, whatever they are. */
extern void variadic_open(void), variadic_openat(void), variadic_fcntl(void), variadic_ioctl(void), variadic_printf(void),
    variadic_fprintf(void), variadic_sprintf(void), variadic_snprintf(void), variadic_sscanf(void);

#endif
