/*
 * loader.c - the loader itself: what a program of Darwin's relies on, by Darwin's calling convention.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int failed;

static void expect(bool right, const char *what) {
  printf("%s %s\n", right ? "ok" : "FAIL", what);
  failed += !right;
}

/* ---- Arguments behind the named ones. */

static int format(char *to, const char *text, ...) {
  va_list list;
  va_start(list, text);
  int length = vsnprintf(to, 100, text, list);
  va_end(list);
  return length;
}

static void variadic(void) {
  char text[100];
  int a = 0;
  double b = 0;
  snprintf(text, sizeof text, "%d %s %.2f %lld %c", 1, "two", 3.25, 4ll << 40, '5');
  expect(strcmp(text, "1 two 3.25 4398046511104 5") == 0, "snprintf takes its arguments from the stack");
  format(text, "%s %.1f %d", "a", 2.5, 3);
  expect(strcmp(text, "a 2.5 3") == 0, "a list of arguments is passed on");
  expect(sscanf("12 3.5", "%d %lf", &a, &b) == 2 && a == 12 && b == 3.5, "sscanf stores through its arguments");
}

/* ---- Variables of threads. */

static _Thread_local int counter = 7;
static _Thread_local char zeros[100];

static void *count(void *seen) {
  *(int *)seen = counter == 7 && zeros[99] == 0;
  counter = 9, zeros[99] = 1;
  return NULL;
}

static void thread_variables(void) {
  int fresh[4] = {0};
  counter = 8, zeros[99] = 2;
  for (int i = 0; i < 4; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, count, &fresh[i]);
    pthread_join(thread, NULL);
  }
  expect(fresh[0] && fresh[1] && fresh[2] && fresh[3], "each thread begins with the first values");
  expect(counter == 8 && zeros[99] == 2, "and changes no other image's");
}

static int destroyed;
static void destroy(void *value) { destroyed += *(int *)value; }

static void *keep(void *key) {
  static int two = 2;
  pthread_setspecific(*(pthread_key_t *)key, &two);
  return NULL;
}

static void keys(void) {
  pthread_key_t key;
  pthread_t thread;
  pthread_key_create(&key, destroy);
  pthread_create(&thread, NULL, keep, &key);
  pthread_join(thread, NULL);
  expect(destroyed == 2 && !pthread_getspecific(key), "the value of a key is destroyed with its thread");
}

/* ---- Locks. */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static void *take_turns(void *mine) {
  for (int i = 0; i < 1000; i++) {
    pthread_mutex_lock(&lock);
    while (turn % 2 != *(int *)mine) pthread_cond_wait(&changed, &lock);
    turn++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static void locks(void) {
  pthread_t threads[2];
  int numbers[] = {0, 1};
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, take_turns, &numbers[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  expect(turn == 2000, "two threads take turns");
  struct timespec past = {1, 0};
  pthread_mutex_lock(&lock);
  expect(pthread_cond_timedwait(&changed, &lock, &past) == ETIMEDOUT, "a wait that is over says so in Darwin's number");
  pthread_mutex_unlock(&lock);
}

/* ---- Errors. */

static void errors(void) {
  int *where = &errno, ends[2];
  errno = 0;
  expect(open("/nowhere/at all", O_RDONLY) == -1 && *where == ENOENT, "errno stays where it is");
  expect(pipe(ends) == 0, "pipe");
  fcntl(ends[0], 4 /* F_SETFL */, 4 /* O_NONBLOCK */);
  char byte;
  expect(read(ends[0], &byte, 1) == -1 && *where == EAGAIN && EAGAIN == 35, "an error number is Darwin's");
  expect(strstr(strerror(EAGAIN), "unavailable") != NULL, "and has its text");
}

/* ---- Signals. The first words of Darwin's record are the number, an error and a code; the address is the
 * fourth word of eight bytes. */

static volatile int seen_signal;
static void *volatile seen_address;
static int *volatile somewhere;

static void on_signal(int number, siginfo_t *info, void *context) {
  (void)context;
  seen_signal = number;
  seen_address = ((void **)info)[3];
  if (number == 11 && somewhere) mprotect(somewhere, 16384, PROT_READ | PROT_WRITE);
}

static void signals(void) {
  struct sigaction action = {.sa_mask = 0, .sa_flags = 0x40 /* SA_SIGINFO */};
  action.sa_sigaction = on_signal;
  sigaction(30 /* SIGUSR1 */, &action, NULL);
  raise(30);
  expect(seen_signal == 30, "a signal has Darwin's number");
  sigaction(11 /* SIGSEGV */, &action, NULL);
  somewhere = mmap(NULL, 16384, PROT_READ, MAP_PRIVATE | MAP_ANON, -1, 0);
  expect((unsigned long)somewhere % 16384 == 0, "pages have Darwin's size");
  *somewhere = 1; /* is made writable, and tried again */
  expect(seen_signal == 11 && seen_address == somewhere && *somewhere == 1, "a fault has its address and goes on");
}

/* end_by ends the process by a signal, as Go's runtime does after a fault that is not Go's. */
static void end_by(int number) {
  struct sigaction plain = {.sa_mask = 0};
  sigaction(number, &plain, NULL);
  raise(number);
}

static void last_fault(void) {
  char said[300] = "", *own;
  int ends[2], status = 0;
  struct sigaction action = {.sa_mask = 0};
  action.sa_handler = end_by;
  volatile int *nowhere = (int *)0x1234;
  pipe(ends);
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    sigaction(11, &action, NULL);
    *nowhere = 1;
    _exit(0);
  }
  waitpid(child, &status, 0);
  read(ends[0], said, sizeof said - 1);
  own = strstr(said, "machorun: signal 11 for address 0x1234, by the code at 0x");
  expect(WIFSIGNALED(status) && WTERMSIG(status) == 11 && own && strstr(own, "/loader"), "a fault that ends the process is described");
}

/* ---- Pages. What is mapped in parts of pages is surrounded by allocations of the C library, which are pages of
 * Linux's, a quarter as large. */

enum { PIECES = 200, PIECE = 100, ALLOCATION = 33 * 4096 };

static void pages(void) {
  char *pieces[PIECES], *allocations[PIECES];
  for (int i = 0; i < PIECES; i++) {
    pieces[i] = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    allocations[i] = malloc(ALLOCATION);
    memset(allocations[i], 1, ALLOCATION);
  }
  for (int i = 0; i < PIECES; i++) mprotect(pieces[i], PIECE, PROT_NONE);
  for (int i = 0; i < PIECES; i++) memset(allocations[i], 2, ALLOCATION);
  for (int i = 0; i < PIECES; i++) munmap(pieces[i], PIECE);
  int kept = 0;
  for (int i = 0; i < PIECES; i++) kept += allocations[i][0] == 2 && allocations[i][ALLOCATION - 1] == 2;
  for (int i = 0; i < PIECES; i++) free(allocations[i]);
  expect(kept == PIECES, "a part of a page is released without its neighbours");
}

/* ---- Libraries. */

static int prepared;
__attribute__((constructor)) static void prepare(void) { prepared = 1; }

static void libraries(void) {
  double (*square_root)(double) = NULL;
  void *system = dlopen("/usr/lib/libSystem.B.dylib", RTLD_NOW);
  if (system) *(void **)&square_root = dlsym(system, "sqrt");
  expect(square_root && square_root(9) == 3, "the system's library has its functions");
  expect(!dlsym(system, "no such function") && strstr(dlerror(), "no such function"), "what is missing is named");
  expect(!dlopen("/System/Library/Frameworks/Metal.framework/Metal", RTLD_NOW) && dlerror(), "there is no framework here");
  expect(prepared, "initialisers have run before main");
}

int main(void) {
  variadic();
  thread_variables();
  keys();
  locks();
  errors();
  pages();
  last_fault();
  signals();
  libraries();
  return failed != 0;
}
