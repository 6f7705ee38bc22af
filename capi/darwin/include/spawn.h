#ifndef PMPS_DARWIN_SPAWN_H
#define PMPS_DARWIN_SPAWN_H

#include <sys/types.h>

typedef void *posix_spawn_file_actions_t;
typedef void *posix_spawnattr_t;

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]);
int posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions);
int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *actions);
int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *actions, int file, const char *path, int flags,
                                     mode_t mode);
int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int file, int as);

#endif
