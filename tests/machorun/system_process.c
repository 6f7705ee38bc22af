/*
 * system_process.c - processes. A program of Darwin's that is to be executed goes to the command in
 * MACHORUN_LAUNCHER, which exec.sh sets to itself; one of Linux's is executed as it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machorun.h"

extern char **environ;

static char ***our__NSGetEnviron(void) { return &environ; }

static int our__NSGetExecutablePath(char *out, uint32_t *room) {
  size_t needed = strlen(program_path()) + 1;
  bool fits = needed <= *room;
  if (fits) memcpy(out, program_path(), needed);
  *room = (uint32_t)needed;
  return fits ? 0 : -1;
}

static int our_issetugid(void) { return 0; }

/* ---- Programs. */

static bool is_darwin_program(const char *path) {
  uint32_t magic = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t got = read(fd, &magic, sizeof magic);
  close(fd);
  return got == sizeof magic && magic == MACHO_MAGIC;
}

static int our_execve(const char *path, char *const *argv, char *const *envp) {
  const char *launcher = getenv("MACHORUN_LAUNCHER");
  if (!launcher || !is_darwin_program(path)) return execve(path, argv, envp);
  int count = 0;
  while (argv[count]) count++;
  const char *with[count + 3];
  with[0] = launcher, with[1] = path;
  for (int i = 1; i <= count; i++) with[i + 1] = argv[i];
  if (count == 0) with[2] = NULL;
  return execve(launcher, (char *const *)with, envp);
}

/* In the status of a process that a signal has ended, the low bits are its number. */
static int shown_status(int status) { return WIFSIGNALED(status) ? (status & ~0x7f) | darwin_signal(WTERMSIG(status)) : status; }

static int our_wait4(int pid, int *status, int options, struct rusage *usage) {
  int found = 0, ended = wait4(pid, &found, options, usage);
  if (status && ended > 0) *status = shown_status(found);
  return ended;
}

static int our_waitpid(int pid, int *status, int options) { return our_wait4(pid, status, options, NULL); }

/* Darwin's list of actions is the address of a record that the system keeps. */
typedef posix_spawn_file_actions_t *actions;

static int our_posix_spawn_file_actions_init(actions *list) {
  *list = malloc(sizeof **list);
  return posix_spawn_file_actions_init(*list);
}

static int our_posix_spawn_file_actions_destroy(actions *list) {
  int error = posix_spawn_file_actions_destroy(*list);
  free(*list);
  return error;
}

static int our_posix_spawn_file_actions_addopen(actions *list, int fd, const char *path, int flags, uint16_t mode) {
  return posix_spawn_file_actions_addopen(*list, fd, path, linux_open_flags(flags), mode);
}

static int our_posix_spawn_file_actions_adddup2(actions *list, int fd, int to) { return posix_spawn_file_actions_adddup2(*list, fd, to); }
static int our_posix_spawn_file_actions_addclose(actions *list, int fd) { return posix_spawn_file_actions_addclose(*list, fd); }

static int our_posix_spawnp(int *pid, const char *file, const actions *list, const void *attributes, char *const *argv,
                            char *const *envp) {
  if (attributes) give_up("posix_spawn with attributes");
  return darwin_error(posix_spawnp(pid, file, list ? *list : NULL, NULL, argv, envp));
}

/* ---- Limits and usage. */

/* linux_limit names a limit of Darwin's; -1 for none. */
static int linux_limit(int which) {
  static const int limits[] = {RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_CORE, RLIMIT_AS, RLIMIT_MEMLOCK, RLIMIT_NPROC,
                               RLIMIT_NOFILE};
  which &= ~0x1000; /* a flag: by the letter of POSIX */
  return which >= 0 && which < (int)(sizeof limits / sizeof *limits) ? limits[which] : -1;
}

static int our_getrlimit(int which, struct rlimit *out) {
  struct rlimit found;
  if (linux_limit(which) < 0) return errno = EINVAL, -1;
  if (getrlimit((__rlimit_resource_t)linux_limit(which), &found) != 0) return -1;
  out->rlim_cur = found.rlim_cur > INT64_MAX ? INT64_MAX : found.rlim_cur;
  out->rlim_max = found.rlim_max > INT64_MAX ? INT64_MAX : found.rlim_max;
  return 0;
}

/* Limits stay as they are: the loader needs files and memory of its own. */
static int our_setrlimit(int which, const struct rlimit *limit) { return (void)which, (void)limit, 0; }

/* Darwin counts the resident size in bytes. */
static int our_getrusage(int who, struct rusage *out) {
  int failed = getrusage(who, out);
  if (!failed) out->ru_maxrss *= 1024;
  return failed;
}

static int our_proc_regionfilename(void) { return 0; } /* nothing is known about it */

const function process_functions[] = {
    OURS(_NSGetEnviron), OURS(_NSGetExecutablePath), OURS(issetugid), OUR_CALL(execve), OUR_CALL(wait4), OUR_CALL(waitpid),
    OURS(posix_spawn_file_actions_init), OURS(posix_spawn_file_actions_destroy), OURS(posix_spawn_file_actions_addopen),
    OURS(posix_spawn_file_actions_adddup2), OURS(posix_spawn_file_actions_addclose), OURS(posix_spawnp), OUR_CALL(getrlimit), OURS(setrlimit),
    OUR_CALL(getrusage), OURS(proc_regionfilename),
    SAME_CALL(fork), SAME(getpid), SAME(getppid), SAME(getuid), SAME(geteuid), SAME(getgid), SAME(getegid), SAME_CALL(setsid), SAME_CALL(setpgid),
    SAME(getpgid), SAME(getgroups), SAME(gethostname), SAME(system),
    END,
};
