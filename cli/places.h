/* SPDX-License-Identifier: Apache-2.0 */
/* places.h - where the program lies, and where it was configured to be installed.
 *
 * The program has no path of its build within it, so that the same bytes come out of every folder. The build directory
 * holds a file, fabricast.built, whose two lines are the paths of that directory and of the source tree.
 */
#pragma once

#include <glib.h>

extern const char fab_cli_prefix[];   /* absolute */
extern const char fab_cli_lib_dir[];  /* below the prefix, or absolute */
extern const char fab_cli_data_dir[]; /* absolute; holds catalog/, scenarios/ and measured/ */

/* Returns the directory of the running program, behind links. (transfer full) */
char *fab_cli_program_directory (void);

typedef struct {
  char *build;  /* the directory that fabricast.built names; NULL: there is no such file beside the program */
  char *source; /* the source tree that it names; NULL likewise */
  gboolean is_unmoved; /* the program lies in the directory `build` */
} FabCliBuild;

/* Returns what fabricast.built says beside the running program. */
FabCliBuild fab_cli_build (void);
void fab_cli_build_clear (FabCliBuild *build);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FabCliBuild, fab_cli_build_clear)
