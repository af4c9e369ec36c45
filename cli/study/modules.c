/* SPDX-License-Identifier: Apache-2.0 */
/* modules.c - where the shared modules of the program are. */
#include "cli/cli.h"

/* The absolute paths of $FABRICAST_PLUGINS, the build of a program that was only built, beside the program, where it
 * was configured to be. */
GPtrArray *
fab_cli_module_directories (const char *built)
{
  GPtrArray *directories = g_ptr_array_new_with_free_func (g_free);
  const char *plugins = g_getenv ("FABRICAST_PLUGINS");
  g_auto (GStrv) named = g_strsplit (plugins ? plugins : "", ":", -1);
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *directory = program ? g_path_get_dirname (program) : g_strdup (".");

  for (guint i = 0; named[i]; i++)
    if (g_path_is_absolute (named[i])) /* "." would be wherever the program is started */
      g_ptr_array_add (directories, g_strdup (named[i]));
  if (g_str_has_prefix (directory, FAB_BUILD_DIR))
    g_ptr_array_add (directories, g_build_filename (FAB_BUILD_DIR, built, NULL));
  g_ptr_array_add (directories, g_build_filename (directory, "..", FAB_LIB_DIR, "fabricast", NULL));
  g_ptr_array_add (directories, g_build_filename (FAB_PREFIX, FAB_LIB_DIR, "fabricast", NULL));
  g_ptr_array_add (directories, NULL);
  return directories;
}
