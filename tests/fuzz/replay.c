/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - what the suite does with the inputs that were kept: `fuzz_replay TARGET FOLDER` gives each file of the
 * folder to the target, in the order of their names, and ends as the target does.
 *
 * FUZZ_TARGETS lists the targets: "T (yaml) T (frame)". Each is compiled with its own name in place of libFuzzer's.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/target.h"

#define T(name) int fuzz_##name (const guint8 *data, gsize size);
FUZZ_TARGETS
#undef T

static const struct {
  const char *name;
  int (*take) (const guint8 *data, gsize size);
} targets[] = {
#define T(name) { #name, fuzz_##name },
  FUZZ_TARGETS
#undef T
};

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static GPtrArray *
list_files (const char *folder)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) directory = g_dir_open (folder, 0, NULL);
  const char *name;

  while (directory != NULL && (name = g_dir_read_name (directory)) != NULL)
    g_ptr_array_add (files, g_build_filename (folder, name, NULL));
  g_ptr_array_sort (files, compare_names);
  return files;
}

static void
take_file (int (*take) (const guint8 *data, gsize size), const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  gsize size = 0;

  if (!g_file_get_contents (path, &text, &size, &error))
    g_error ("%s", error->message);
  g_printerr ("%s\n", path);
  /* In memory of exactly its size, so that reading behind its end is found; never NULL, as with libFuzzer. */
  guint8 *data = malloc (size);

  memcpy (data, text, size);
  take (data, size);
  free (data);
}

int
main (int argc, char **argv)
{
  g_autoptr (GPtrArray) files = argc == 3 ? list_files (argv[2]) : NULL;
  gboolean is_found = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (targets) && files != NULL; i++) {
    if (strcmp (targets[i].name, argv[1]) != 0)
      continue;
    is_found = TRUE;
    for (guint file = 0; file < files->len; file++)
      take_file (targets[i].take, g_ptr_array_index (files, file));
  }
  if (!is_found || files->len == 0)
    g_error ("usage: fuzz_replay TARGET FOLDER, of a folder with inputs");
  g_print ("%u inputs\n", files->len);
  return 0;
}
