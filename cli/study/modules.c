/* SPDX-License-Identifier: Apache-2.0 */
/* modules.c - where the shared modules of the program are. */
#include "cli/cli.h"
#include "cli/places.h"

/* The absolute paths of $FABRICAST_PLUGINS, the build of a program that was only built, beside the program, where it
 * was configured to be. */
GPtrArray *
fab_cli_module_directories (const char *built)
{
  GPtrArray *directories = g_ptr_array_new_with_free_func (g_free);
  const char *plugins = g_getenv ("FABRICAST_PLUGINS");
  g_auto (GStrv) named = g_strsplit (plugins ? plugins : "", ":", -1);
  g_autofree char *directory = fab_cli_program_directory ();
  g_auto (FabCliBuild) build = fab_cli_build ();

  for (guint i = 0; named[i]; i++)
    if (g_path_is_absolute (named[i])) /* "." would be wherever the program is started */
      g_ptr_array_add (directories, g_strdup (named[i]));
  if (build.is_unmoved)
    g_ptr_array_add (directories, g_build_filename (build.build, built, NULL));
  g_ptr_array_add (directories, g_build_filename (directory, "..", fab_cli_lib_dir, "fabricast", NULL));
  g_ptr_array_add (directories, g_build_filename (fab_cli_prefix, fab_cli_lib_dir, "fabricast", NULL));
  g_ptr_array_add (directories, NULL);
  return directories;
}
