/* SPDX-License-Identifier: Apache-2.0 */
/* confine.c - the three system calls of Landlock (man landlock(7)), for which the C library has no functions. */
#define _GNU_SOURCE /* O_PATH */
#include "cli/confine.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Rights that headers before Linux 6.7 lack (include/uapi/linux/landlock.h). */
#define RIGHT_REFER (1ULL << 13)    /* since version 2 */
#define RIGHT_TRUNCATE (1ULL << 14) /* since version 3 */
#define RIGHT_CONNECT (1ULL << 1)   /* of the network, since version 4 */

#define RIGHTS_OF_READERS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define RIGHTS_OF_VERSION_1 ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1) /* the last of the first thirteen */

typedef struct {
  guint64 files, network;
} Rights;

/* Programs, libraries, settings of the resolver, and what the kernel tells of the machine. */
static const char *const folders_of_the_system[] = { "/usr",  "/lib", "/lib64", "/etc",
                                                     "/proc", "/sys", "/dev",   NULL };

/* Returns all rights that this kernel can take away; none: it has no Landlock. */
static Rights
known_rights (void)
{
  long version = syscall (SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

  if (version < 1)
    return (Rights){ 0 };
  return (Rights){ .files = RIGHTS_OF_VERSION_1 | (version >= 2 ? RIGHT_REFER : 0)
                          | (version >= 3 ? RIGHT_TRUNCATE : 0),
                   .network = version >= 4 ? RIGHT_CONNECT : 0 };
}

/* Folders that are not there need no rule. */
static gboolean
allow_reading (int rules, const char *const *folders)
{
  for (guint i = 0; folders[i] != NULL; i++) {
    struct landlock_path_beneath_attr rule = { .allowed_access = RIGHTS_OF_READERS,
                                               .parent_fd = open (folders[i], O_PATH | O_CLOEXEC) };

    if (rule.parent_fd < 0)
      continue;
    long status = syscall (SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close (rule.parent_fd);
    if (status != 0)
      return FALSE;
  }
  return TRUE;
}

gboolean
fab_cli_confine (const char *const *folders)
{
  Rights rights = known_rights ();
  gsize size = rights.network != 0 ? sizeof rights : sizeof rights.files;
  int rules = rights.files != 0 ? (int) syscall (SYS_landlock_create_ruleset, &rights, size, 0) : -1;

  if (rules < 0)
    return FALSE;
  g_thread_pool_stop_unused_threads ();
  gboolean is_confined = allow_reading (rules, folders_of_the_system) && allow_reading (rules, folders)
                      && prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                      && syscall (SYS_landlock_restrict_self, rules, 0) == 0;
  close (rules);
  return is_confined;
}
