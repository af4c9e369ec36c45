/* SPDX-License-Identifier: Apache-2.0 */
/* test_confine.c - what a confined process still can, tried in children, since there is no way back. */
#define _GNU_SOURCE /* syscall */
#include "tests/support/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/confine.h"

typedef struct {
  char *open_folder, *closed_folder; /* each holds `file` */
} Folders;

static int
setup (void **state)
{
  Folders *self = g_new0 (Folders, 1);

  self->open_folder = g_dir_make_tmp ("fab-confine-XXXXXX", NULL);
  self->closed_folder = g_dir_make_tmp ("fab-confine-XXXXXX", NULL);
  for (guint i = 0; i < 2; i++) {
    g_autofree char *path = g_build_filename (i == 0 ? self->open_folder : self->closed_folder, "file", NULL);

    g_file_set_contents (path, "text", -1, NULL);
  }
  *state = self;
  return 0;
}

static int
teardown (void **state)
{
  Folders *self = *state;

  for (guint i = 0; i < 2; i++) {
    char *folder = i == 0 ? self->open_folder : self->closed_folder;
    g_autofree char *path = g_build_filename (folder, "file", NULL);

    g_unlink (path);
    g_rmdir (folder);
    g_free (folder);
  }
  g_free (self);
  return 0;
}

enum { IS_CONFINED = 10, NO_LANDLOCK = 11 };

/* Opens a file in a child that is confined to the open folder. Returns the child's errno, 0 for none, or one of the
 * statuses above, where `path` is NULL. */
static int
tried (const Folders *self, const char *folder, const char *name, int flags)
{
  g_autofree char *path = folder != NULL ? g_build_filename (folder, name, NULL) : NULL;
  const char *const folders[] = { self->open_folder, NULL };
  int status;
  pid_t child = fork ();

  if (child == 0) {
    gboolean is_confined = fab_cli_confine (folders);

    if (path == NULL)
      _exit (is_confined ? IS_CONFINED : NO_LANDLOCK);
    _exit (open (path, flags, 0600) < 0 ? errno : 0);
  }
  assert_true (child > 0 && waitpid (child, &status, 0) == child && WIFEXITED (status));
  return WEXITSTATUS (status);
}

static gboolean
has_landlock (const Folders *self)
{
  return tried (self, NULL, NULL, 0) == IS_CONFINED;
}

static void
files_are_read_where_it_was_allowed (void **state)
{
  if (!has_landlock (*state))
    skip ();
  const Folders *self = *state;

  assert_int_equal (tried (self, self->open_folder, "file", O_RDONLY), 0);
  assert_int_equal (tried (self, self->closed_folder, "file", O_RDONLY), EACCES);
  assert_int_equal (tried (self, "/proc/self", "status", O_RDONLY), 0);
}

static void
nothing_is_written_anywhere (void **state)
{
  if (!has_landlock (*state))
    skip ();
  const Folders *self = *state;

  assert_int_equal (tried (self, self->open_folder, "file", O_WRONLY), EACCES);
  assert_int_equal (tried (self, self->open_folder, "other", O_WRONLY | O_CREAT), EACCES);
  assert_int_equal (tried (self, self->closed_folder, "other", O_WRONLY | O_CREAT), EACCES);
}

/* A parent may close the standard input: then descriptors begin with 0, which is one like others. */
static void
descriptors_may_begin_with_0 (void **state)
{
  const Folders *self = *state;
  const char *const folders[] = { self->open_folder, NULL };
  g_autofree char *path = g_build_filename (self->open_folder, "file", NULL),
                  *other = g_build_filename (self->closed_folder, "file", NULL);
  int status;

  if (!has_landlock (self))
    skip ();
  pid_t child = fork ();
  if (child == 0) {
    close (STDIN_FILENO);
    gboolean is_confined = fab_cli_confine (folders);

    _exit (!is_confined ? 1 : open (path, O_RDONLY) != 0 ? 2 : open (other, O_RDONLY) >= 0 ? 3 : IS_CONFINED);
  }
  assert_true (child > 0 && waitpid (child, &status, 0) == child && WIFEXITED (status));
  assert_int_equal (WEXITSTATUS (status), IS_CONFINED);
}

/* A program of the system can be read and not be executed. */
static void
nothing_is_executed (void **state)
{
  const Folders *self = *state;
  const char *const folders[] = { self->open_folder, NULL };
  int status;

  if (!has_landlock (self))
    skip ();
  pid_t child = fork ();
  if (child == 0) {
    fab_cli_confine (folders);
    execl ("/bin/true", "true", NULL);
    _exit (errno);
  }
  assert_true (waitpid (child, &status, 0) == child && WIFEXITED (status));
  assert_int_equal (WEXITSTATUS (status), EACCES);
}

/* Landlock refuses connections from its version 4 on (Linux 6.7). */
static gboolean
refuses_connections (void)
{
  return syscall (SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) >= 4;
}

/* Others reach a socket that listens; the confined process opens no connection itself. */
static void
no_connection_is_opened (void **state)
{
  const Folders *self = *state;
  const char *const folders[] = { self->open_folder, NULL };
  struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  socklen_t size = sizeof here;
  int listener = socket (AF_INET, SOCK_STREAM, 0), status;

  if (!has_landlock (self))
    skip ();
  assert_int_equal (bind (listener, (struct sockaddr *) &here, size), 0);
  assert_int_equal (listen (listener, 4), 0);
  assert_int_equal (getsockname (listener, (struct sockaddr *) &here, &size), 0);
  pid_t child = fork ();
  if (child == 0) {
    fab_cli_confine (folders);
    int visitor = accept (listener, NULL, NULL), own = socket (AF_INET, SOCK_STREAM, 0);

    _exit (visitor < 0 ? 1 : connect (own, (struct sockaddr *) &here, sizeof here) == 0 ? 2 : errno);
  }
  int visitor = socket (AF_INET, SOCK_STREAM, 0);
  assert_int_equal (connect (visitor, (struct sockaddr *) &here, sizeof here), 0);
  assert_true (waitpid (child, &status, 0) == child && WIFEXITED (status));
  assert_int_equal (WEXITSTATUS (status), refuses_connections () ? EACCES : 2);
  close (visitor);
  close (listener);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (files_are_read_where_it_was_allowed, setup, teardown),
    cmocka_unit_test_setup_teardown (nothing_is_written_anywhere, setup, teardown),
    cmocka_unit_test_setup_teardown (descriptors_may_begin_with_0, setup, teardown),
    cmocka_unit_test_setup_teardown (nothing_is_executed, setup, teardown),
    cmocka_unit_test_setup_teardown (no_connection_is_opened, setup, teardown),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
