/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h - a new folder for the files of a test program, in which nothing is left: folder_make and folder_remove are
 * the setup and the teardown of its group. */
#pragma once

#include <glib/gstdio.h>

#include "tests/support/test.h"

static char *folder;

static inline int
folder_make (G_GNUC_UNUSED void **state)
{
  folder = g_dir_make_tmp ("fab-folder-XXXXXX", NULL);
  return folder != NULL ? 0 : -1;
}

/* Fails when a test left something. */
static inline int
folder_remove (G_GNUC_UNUSED void **state)
{
  int status = g_rmdir (folder);

  g_free (folder);
  return status;
}

/* (transfer full) */
static inline char *
folder_path (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

static inline void
assert_content (const char *path, const char *wanted)
{
  g_autofree char *text = NULL;

  assert_true (g_file_get_contents (path, &text, NULL, NULL));
  assert_string_equal (text, wanted);
}
