/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/error.h"

static gboolean
fail (const char *path, int code, GError **error)
{
  return fab_throw (error, FAB_ERROR_IO, "%s: %s", path, g_strerror (code));
}

gboolean
fab_is_database (const char *path)
{
  /* How a database, its write-ahead log and its journal begin (sqlite.org/fileformat2.html). */
  static const struct {
    const char *bytes;
    gsize n;
  } magic[] = {
    { "SQLite format 3", 16 },
    { "\x37\x7f\x06\x82", 4 },
    { "\x37\x7f\x06\x83", 4 },
    { "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8 },
  };
  char head[16] = "";
  FILE *file = strcmp (path, "-") != 0 && g_file_test (path, G_FILE_TEST_IS_REGULAR) ? fopen (path, "rb")
                                                                                     : NULL;
  gsize n = file ? fread (head, 1, sizeof head, file) : 0;
  gboolean is_found = FALSE;

  if (file)
    fclose (file);
  for (guint i = 0; i < G_N_ELEMENTS (magic); i++)
    is_found |= n >= magic[i].n && memcmp (head, magic[i].bytes, magic[i].n) == 0;
  return is_found;
}

/* Of what is there already. */
static gboolean
check_file (const char *path, GError **error)
{
  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    return fail (path, EISDIR, error);
  return !fab_is_database (path)
      || fab_throw (error, FAB_ERROR_INPUT,
                    "%s holds measurements or runs, which would be lost: name another file", path);
}

gboolean
fab_output_check (const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);

  if (strcmp (path, "-") == 0)
    return TRUE;
  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return check_file (path, error) && (g_access (path, W_OK) == 0 || fail (path, errno, error));
  if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    return fab_throw (error, FAB_ERROR_IO, "%s: there is no directory '%s'", path, folder);
  return g_access (folder, W_OK | X_OK) == 0 || fail (path, errno, error);
}

/* A plain file, or one that is not there yet: beside it, under another name, until all is written. */
static gboolean
open_part (FabOutput *self, GError **error)
{
  int descriptor;

  self->part = g_strconcat (self->path, ".XXXXXX", NULL);
  descriptor = g_mkstemp_full (self->part, O_WRONLY, 0666);
  if (descriptor < 0)
    return fail (self->path, errno, error);
  self->stream = fdopen (descriptor, "wb");
  return TRUE;
}

gboolean
fab_output_open (FabOutput *self, const char *path, GError **error)
{
  gboolean is_link = g_file_test (path, G_FILE_TEST_IS_SYMLINK);

  *self = (FabOutput){ .path = is_link ? realpath (path, NULL) : NULL };
  if (self->path == NULL)
    self->path = g_strdup (path);
  if (strcmp (path, "-") == 0) {
    self->stream = stdout;
    return TRUE;
  }
  if (!check_file (path, error))
    return FALSE;
  if (!g_file_test (self->path, G_FILE_TEST_EXISTS) || g_file_test (self->path, G_FILE_TEST_IS_REGULAR))
    return open_part (self, error);
  self->stream = fopen (self->path, "wb"); /* a device or a pipe */
  return self->stream != NULL || fail (path, errno, error);
}

static void
clear (FabOutput *self)
{
  g_free (self->path);
  g_free (self->part);
  *self = (FabOutput){ 0 };
}

void
fab_output_abandon (FabOutput *self)
{
  if (self->stream && self->stream != stdout)
    fclose (self->stream);
  if (self->part)
    g_unlink (self->part);
  clear (self);
}

gboolean
fab_output_close (FabOutput *self, GError **error)
{
  int code = self->code;

  if (fflush (self->stream) != 0 || (self->part && fsync (fileno (self->stream)) != 0))
    code = code != 0 ? code : errno;
  if (self->stream != stdout && fclose (self->stream) != 0)
    code = code != 0 ? code : errno;
  self->stream = NULL;
  if (code == 0 && self->part && g_rename (self->part, self->path) != 0)
    code = errno;
  if (code != 0) {
    fail (self->path, code, error);
    fab_output_abandon (self);
    return FALSE;
  }
  clear (self);
  return TRUE;
}

void
fab_output_write_bytes (FabOutput *self, gconstpointer data, gsize size)
{
  if (fwrite (data, 1, size, self->stream) < size && self->code == 0)
    self->code = errno;
}

void
fab_output_write (FabOutput *self, const char *text)
{
  fab_output_write_bytes (self, text, strlen (text));
}
