/*
 * system.c - Darwin's system libraries as one table, and the numbers by which the two systems call the same
 * things: errors, signals, flags.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "machorun.h"

static const function *const tables[] = {
    dyld_functions, event_functions, file_functions, language_functions, memory_functions,
    process_functions, signal_functions, text_functions, thread_functions, machine_functions,
};

/* A function that is made at run time: loads two registers and jumps on. */
typedef struct {
  uint32_t code[4];
  const void *load, *jump;
} stub;

enum { MOST_STUBS = 4096 };

static stub *stubs;
static size_t stub_count;

__attribute__((constructor)) static void make_room(void) {
  const int all = PROT_READ | PROT_WRITE | PROT_EXEC;
  stubs = mmap(NULL, MOST_STUBS * sizeof *stubs, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void *make_stub(const uint32_t code[static 3], const void *load, const void *jump) {
  size_t index = __atomic_fetch_add(&stub_count, 1, __ATOMIC_RELAXED);
  if (stubs == MAP_FAILED || index >= MOST_STUBS) give_up("no room for stubs");
  stubs[index] = (stub){{code[0], code[1], code[2], 0}, load, jump};
  __builtin___clear_cache((char *)&stubs[index], (char *)&stubs[index + 1]);
  return &stubs[index];
}

/* What checked.S calls after a failure. */
void translate_error(void);

void translate_error(void) { errno = darwin_error(errno); }

static void *entry_of(const function *f) {
  static const uint32_t code[] = {0x58000090, 0x580000b1, 0xd61f0220}; /* ldr x16, load; ldr x17, jump; br x17 */
  return f->fails ? make_stub(code, f->address, (void *)checked_call) : f->address;
}

void *system_find(const char *name) {
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    for (const function *f = tables[i]; f->name; f++)
      if (strcmp(f->name, name) == 0) return entry_of(f);
  return NULL;
}

bool system_library(const char *path) {
  return strncmp(path, "/usr/lib/", 9) == 0 || strncmp(path, "/System/", 8) == 0;
}

static _Noreturn void missing(const char *name) { give_up("%s was called, which this loader lacks", name); }

void *system_missing(const char *name) {
  static const uint32_t code[] = {0x58000080, 0x580000b1, 0xd61f0220}; /* ldr x0, load; ldr x17, jump; br x17 */
  return make_stub(code, name, (void *)missing);
}

/* ---- Numbers. */

typedef struct {
  int darwin, linux;
} number;

/* Up to ERANGE only these two differ. */
static const number errors[] = {
    {35, EAGAIN}, {11, EDEADLK}, {36, EINPROGRESS}, {37, EALREADY}, {45, EOPNOTSUPP}, {60, ETIMEDOUT}, {62, ELOOP},
    {63, ENAMETOOLONG}, {66, ENOTEMPTY}, {78, ENOSYS}, {84, EOVERFLOW}, {85, ECANCELED}, {92, EILSEQ}, {77, ENOLCK},
};

static const number signals[] = {
    {1, SIGHUP}, {2, SIGINT}, {3, SIGQUIT}, {4, SIGILL}, {5, SIGTRAP}, {6, SIGABRT}, {8, SIGFPE}, {9, SIGKILL}, {10, SIGBUS},
    {11, SIGSEGV}, {12, SIGSYS}, {13, SIGPIPE}, {14, SIGALRM}, {15, SIGTERM}, {16, SIGURG}, {17, SIGSTOP}, {18, SIGTSTP},
    {19, SIGCONT}, {20, SIGCHLD}, {21, SIGTTIN}, {22, SIGTTOU}, {23, SIGIO}, {24, SIGXCPU}, {25, SIGXFSZ}, {26, SIGVTALRM},
    {27, SIGPROF}, {28, SIGWINCH}, {30, SIGUSR1}, {31, SIGUSR2},
};

#define COUNT(list) (sizeof list / sizeof *list)

static int to_darwin(const number *list, size_t count, int linux, int otherwise) {
  for (size_t i = 0; i < count; i++)
    if (list[i].linux == linux) return list[i].darwin;
  return otherwise;
}

static int to_linux(const number *list, size_t count, int darwin, int otherwise) {
  for (size_t i = 0; i < count; i++)
    if (list[i].darwin == darwin) return list[i].linux;
  return otherwise;
}

int darwin_error(int linux_error) { return to_darwin(errors, COUNT(errors), linux_error, linux_error); }
int linux_error(int darwin_error) { return to_linux(errors, COUNT(errors), darwin_error, darwin_error); }
int darwin_signal(int linux_signal) { return to_darwin(signals, COUNT(signals), linux_signal, 0); }
int linux_signal(int darwin_signal) { return to_linux(signals, COUNT(signals), darwin_signal, 0); }

int linux_open_flags(int darwin_flags) {
  static const number flags[] = {
      {0x4, O_NONBLOCK}, {0x8, O_APPEND}, {0x100, O_NOFOLLOW}, {0x200, O_CREAT}, {0x400, O_TRUNC}, {0x800, O_EXCL},
      {0x20000, O_NOCTTY}, {0x100000, O_DIRECTORY}, {0x1000000, O_CLOEXEC}, {0x80, O_SYNC},
  };
  int out = darwin_flags & O_ACCMODE;
  for (size_t i = 0; i < COUNT(flags); i++)
    if (darwin_flags & flags[i].darwin) out |= flags[i].linux;
  return out;
}
