/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/places.h"

#include <glib/gstdio.h>

char *
fab_cli_program_directory (void)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);

  return program != NULL ? g_path_get_dirname (program) : g_strdup (".");
}

static gboolean
is_same_folder (const char *left, const char *right)
{
  GStatBuf a, b;

  return g_stat (left, &a) == 0 && g_stat (right, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

FabCliBuild
fab_cli_build (void)
{
  g_autofree char *directory = fab_cli_program_directory ();
  g_autofree char *path = g_build_filename (directory, "fabricast.built", NULL);
  g_autofree char *text = NULL;
  FabCliBuild build = { NULL, NULL, FALSE };

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return build;
  g_auto (GStrv) lines = g_strsplit (text, "\n", 3);
  if (g_strv_length (lines) < 2)
    return build;
  build.build = g_strdup (lines[0]);
  build.source = g_strdup (lines[1]);
  build.is_unmoved = is_same_folder (directory, build.build);
  return build;
}

void
fab_cli_build_clear (FabCliBuild *build)
{
  g_clear_pointer (&build->build, g_free);
  g_clear_pointer (&build->source, g_free);
}
