/* check.c - see check.h. A child is a fresh run of this program, so that the library reads the
 * environment anew and its threads are there; CHECK_RUNNER is the emulator that runs it, if any. */
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern void objc_msgSend(void);
void (*message)(void) = objc_msgSend;
#if defined(__x86_64__)
extern void objc_msgSend_stret(void);
void (*message_stret)(void) = objc_msgSend_stret;
#else
void (*message_stret)(void) = objc_msgSend;
#endif

static int failed;
static int row; /* of the misuses, in the order of the calls */

int failures(void) { return failed; }

void expect(bool right, const char *name) {
  if (getenv("CHECK_ROW")) return;
  printf("%s fakemetal %s\n", right ? "ok" : "FAIL", name);
  failed += !right;
}

/* child runs this program again for one row, and gives back its status and what it printed. */
static int child(const char *environment, char *said, size_t room) {
  int pipes[2];
  char number[16];
  snprintf(number, sizeof number, "%d", row);
  fflush(stdout);
  if (pipe(pipes) != 0) abort();
  pid_t pid = fork();
  if (pid == 0) {
    dup2(pipes[1], 2);
    close(pipes[0]);
    setenv("CHECK_ROW", number, 1);
    for (char *one = strtok(strdup(environment ? environment : ""), " "); one; one = strtok(NULL, " ")) putenv(one);
    const char *runner = getenv("CHECK_RUNNER");
    char self[4096] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) > 0 && runner) execl(runner, runner, self, (char *)NULL);
    execl(self, self, (char *)NULL);
    _exit(127);
  }
  close(pipes[1]);
  size_t n = 0;
  for (ssize_t got; n + 1 < room && (got = read(pipes[0], said + n, room - 1 - n)) > 0;) n += (size_t)got;
  said[n] = 0;
  close(pipes[0]);
  int status;
  waitpid(pid, &status, 0);
  return status;
}

/* mine says whether this process is the child for the row that comes now, and runs it then. */
static void run_row(void (*body)(void)) {
  const char *wanted = getenv("CHECK_ROW");
  row++;
  if (!wanted || atoi(wanted) != row) return;
  void *pool = objc_autoreleasePoolPush();
  body();
  objc_autoreleasePoolPop(pool);
  exit(0);
}

static void verdict(bool right, const char *name, const char *said) {
  printf("%s fakemetal %s\n", right ? "ok" : "FAIL", name);
  if (!right) printf("    it said: %s\n", said[0] ? said : "nothing");
  failed += !right;
}

void misused(const char *name, const char *environment, const char *want, void (*body)(void)) {
  char said[4096];
  run_row(body);
  if (getenv("CHECK_ROW")) return;
  int status = child(environment, said, sizeof said);
  verdict(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && strstr(said, want), name, said);
}

void lives(const char *name, const char *environment, void (*body)(void)) {
  char said[4096];
  run_row(body);
  if (getenv("CHECK_ROW")) return;
  int status = child(environment, said, sizeof said);
  verdict(WIFEXITED(status) && WEXITSTATUS(status) == 0, name, said);
}
