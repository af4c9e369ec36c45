/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/format.h"
#include "sim/base/error.h"
#include "sim/base/output.h"

static gboolean
fail (const char *path, GError **error)
{
  return fab_throw (error, FAB_ERROR_IO, "%s: %s", path, g_strerror (errno));
}

/* Takes away the mark with which programs of Windows begin a text in UTF-8. */
static void
drop_mark (char *text, gsize *size)
{
  if (*size < 3 || memcmp (text, "\xEF\xBB\xBF", 3) != 0)
    return;
  *size -= 3;
  memmove (text, text + 3, *size);
}

gboolean
fab_cli_read_file (const char *path, gsize limit_bytes, char **text, gsize *size, GError **error)
{
  FILE *file = strcmp (path, "-") == 0 ? stdin : fopen (path, "rb");
  g_autofree char *data = NULL;
  gboolean is_whole;

  if (file == NULL)
    return fail (path, error);
  data = g_malloc (limit_bytes + 1);
  *size = fread (data, 1, limit_bytes + 1, file);
  is_whole = !ferror (file);
  if (!is_whole)
    fail (path, error);
  if (file != stdin)
    fclose (file);
  if (!is_whole)
    return FALSE;
  if (*size > limit_bytes)
    return fab_throw (error, FAB_ERROR_INPUT, "%s: larger than %" G_GSIZE_FORMAT " MiB", path,
                      limit_bytes >> 20);
  drop_mark (data, size);
  data[*size] = '\0';
  *text = g_realloc (data, *size + 1);
  data = NULL;
  return TRUE;
}

/* The descriptor that a path is another name of; -1: none. */
static int
descriptor_of (const char *path)
{
  static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
  guint64 number;

  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    if (g_str_has_prefix (path, folders[i])
        && g_ascii_string_to_unsigned (path + strlen (folders[i]), 10, 0, G_MAXINT, &number, NULL))
      return (int) number;
  return strcmp (path, "/dev/stdin") == 0 ? STDIN_FILENO : -1;
}

/* Reads on to one byte more than any scenario and any text of a network may have. */
static void
copy_pipe (int pipe, FILE *to)
{
  char part[4096];
  gsize size = 0;

  for (gssize n = 1; n > 0 && size <= FAB_IMPORT_MAX_BYTES;) {
    n = read (pipe, part, sizeof part);
    size += n > 0 ? fwrite (part, 1, (gsize) n, to) : 0;
  }
}

void
fab_cli_keep_pipe (const char *path)
{
  int pipe = descriptor_of (path);
  struct stat state;
  FILE *file = pipe >= 0 && fstat (pipe, &state) == 0 && S_ISFIFO (state.st_mode) ? tmpfile () : NULL;

  if (file == NULL)
    return;
  copy_pipe (pipe, file);
  rewind (file);
  dup2 (fileno (file), pipe);
  fclose (file);
}

/* Also of files that are not there yet. */
static gboolean
is_same_file (const char *x, const char *y)
{
  g_autofree char *whole_x = g_canonicalize_filename (x, NULL), *whole_y = g_canonicalize_filename (y, NULL);
  GStatBuf of_x, of_y;

  if (g_stat (x, &of_x) != 0 || g_stat (y, &of_y) != 0)
    return strcmp (whole_x, whole_y) == 0;
  return S_ISREG (of_x.st_mode) && of_x.st_dev == of_y.st_dev && of_x.st_ino == of_y.st_ino;
}

/* Of a folder, all files are read. */
static gboolean
is_read (const char *out, const char *file)
{
  g_autofree char *folder = g_path_get_dirname (out), *real = realpath (folder, NULL),
                  *other = realpath (file, NULL);

  return is_same_file (out, file)
      || (g_file_test (out, G_FILE_TEST_IS_REGULAR) && g_file_test (file, G_FILE_TEST_IS_DIR)
          && g_strcmp0 (real, other) == 0);
}

gboolean
fab_cli_check_apart (const char *option, const char *out, char *const *files, GError **error)
{
  if (out == NULL || strcmp (out, "-") == 0)
    return TRUE;
  for (guint i = 0; files != NULL && files[i] != NULL; i++)
    if (strcmp (files[i], "-") != 0 && is_read (out, files[i]))
      return fab_throw (error, FAB_ERROR_INPUT,
                        "%s %s is a file that this command needs, and it would be lost: name another one",
                        option, out);
  return TRUE;
}

gboolean
fab_cli_check_out (const char *option, const char *out, char *const *files, GError **error)
{
  if (!fab_cli_check_apart (option, out, files, error))
    return FALSE;
  if (out == NULL || fab_output_check (out, error))
    return TRUE;
  g_prefix_error (error, "%s ", option);
  return FALSE;
}

gboolean
fab_cli_check_scenario_out (const char *option, const char *out, const FabScenario *scenario,
                            const char *other, GError **error)
{
  g_auto (GStrv) files = fab_scenario_files (scenario);
  char *more[] = { (char *) other, NULL };

  return fab_cli_check_apart (option, out, files, error) && fab_cli_check_out (option, out, more, error);
}

static gboolean
check_with (const char *file, GError **error)
{
  if (*file == '\0')
    return fab_throw (error, FAB_ERROR_INPUT, "--with: the name of a file is missing");
  if (g_access (file, R_OK) != 0)
    return fab_throw (error, FAB_ERROR_IO, "--with %s: %s", file, g_strerror (errno));
  if (g_file_test (file, G_FILE_TEST_IS_DIR))
    return fab_throw (error, FAB_ERROR_IO, "--with %s: %s", file, g_strerror (EISDIR));
  if (!g_utf8_validate (file, -1, NULL))
    return fab_throw (error, FAB_ERROR_INPUT, "--with %s: the name of a file must be UTF-8", file);
  return TRUE;
}

FabValue *
fab_cli_with (char **files, GError **error)
{
  g_autoptr (FabValue) list = fab_value_list ();

  for (guint i = 0; files[i] != NULL; i++) {
    if (!check_with (files[i], error))
      return NULL;
    fab_value_append (list, fab_value_text (files[i]));
  }
  return g_steal_pointer (&list);
}

static void
print_beside (const char *text)
{
  g_printerr ("%s", text);
}

void
fab_cli_keep_stdout (const char *out)
{
  if (g_strcmp0 (out, "-") == 0)
    g_set_print_handler (print_beside);
}

/* What cannot be written is noticed when the program ends (main.c). */
static gboolean
write_stdout (const char *text)
{
  fputs (text, stdout);
  return TRUE;
}

gboolean
fab_cli_write_file (const char *path, const char *text, GError **error)
{
  g_auto (FabOutput) file = { 0 };

  if (strcmp (path, "-") == 0)
    return write_stdout (text);
  if (!fab_output_open (&file, path, error))
    return FALSE;
  fab_output_write (&file, text);
  return fab_output_close (&file, error);
}
