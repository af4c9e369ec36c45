/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/error.h"

static gboolean
fail (const char *path, GError **error)
{
  return fab_throw (error, FAB_ERROR_IO, "%s: %s", path, g_strerror (errno));
}

gboolean
fab_cli_read_file (const char *path, gsize limit_bytes, char **text, gsize *size, GError **error)
{
  FILE *file = strcmp (path, "-") == 0 ? stdin : fopen (path, "rb");
  g_autofree char *data = NULL;
  gboolean is_whole;

  if (file == NULL)
    return fail (path, error);
  data = g_malloc (limit_bytes + 2);
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
  data[*size] = '\0';
  *text = g_realloc (data, *size + 1);
  data = NULL;
  return TRUE;
}

gboolean
fab_cli_is_database (const char *path)
{
  static const char magic[] = "SQLite format 3";
  char head[sizeof magic] = "";
  FILE *file = strcmp (path, "-") != 0 && g_file_test (path, G_FILE_TEST_IS_REGULAR) ? fopen (path, "rb")
                                                                                     : NULL;
  gsize n = file ? fread (head, 1, sizeof head, file) : 0;

  if (file)
    fclose (file);
  return n == sizeof head && memcmp (head, magic, sizeof magic) == 0;
}

gboolean
fab_cli_check_out (const char *out, char *const *files, GError **error)
{
  GStatBuf target, file;

  if (out == NULL || g_stat (out, &target) != 0 || !S_ISREG (target.st_mode))
    return TRUE;
  for (guint i = 0; files[i]; i++)
    if (strcmp (files[i], "-") != 0 && g_stat (files[i], &file) == 0 && file.st_dev == target.st_dev
        && file.st_ino == target.st_ino)
      return fab_throw (error, FAB_ERROR_INPUT,
                        "--out %s is a file that is read, and would be lost: name another one", out);
  return TRUE;
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

static gboolean
write_through (const char *path, const char *text, GError **error)
{
  FILE *file = fopen (path, "wb");
  gboolean is_written;

  if (file == NULL)
    return fail (path, error);
  is_written = fputs (text, file) != EOF;
  is_written = fclose (file) == 0 && is_written;
  return is_written || fail (path, error);
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
  if (strcmp (path, "-") == 0)
    return write_stdout (text);
  g_autofree char *target = g_file_test (path, G_FILE_TEST_IS_SYMLINK) ? realpath (path, NULL) : NULL;
  const char *file = target ? target : path;
  g_autoptr (GError) cause = NULL;

  if (g_file_test (file, G_FILE_TEST_EXISTS) && !g_file_test (file, G_FILE_TEST_IS_REGULAR))
    return write_through (file, text, error);
  if (fab_cli_is_database (file))
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s holds measurements or runs, which would be lost: name another file", path);
  if (!g_file_set_contents (file, text, -1, &cause))
    return fab_throw (error, FAB_ERROR_IO, "%s", cause->message);
  return TRUE;
}
