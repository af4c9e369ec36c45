/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/text/bytes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "sim/base/error.h"

#define CHUNK_BYTES (256 * 1024)
#define HEAD_BYTES 4096
#define MAX_LINE_BYTES 65536
#define BOMB_MIN_BYTES (64 * G_GINT64_CONSTANT (1048576))
#define TAR_BLOCK 512
#define TAR_NAME 100 /* bytes of a member's name, with a 0 behind it only where it is shorter */

struct _FabFileBytes {
  char *path, *name;
  FILE *file; /* NULL: the bytes of `memory` */
  const char *memory;
  gsize memory_size;
  guint8 *packed; /* what was read of a gzip stream */
  z_stream zip;
  gboolean is_zip, is_zip_done, is_input_done;
  guint64 packed_read, unpacked;
  char *chunk; /* unpacked bytes from `first` to `last` */
  gsize first, last;
  gboolean is_tar, is_begun;
  guint64 member_left, padding; /* of the tar member */
  guint64 at;
};

static FabFileBytes *
bytes_new (const char *path)
{
  FabFileBytes *self = g_new0 (FabFileBytes, 1);

  self->path = g_strdup (path);
  self->name = g_strdup (path);
  self->packed = g_malloc (CHUNK_BYTES);
  self->chunk = g_malloc (CHUNK_BYTES);
  return self;
}

FabFileBytes *
fab_file_bytes_open (const char *path, GError **error)
{
  FILE *file = fopen (path, "rb");
  FabFileBytes *self;

  if (file == NULL) {
    fab_throw (error, FAB_ERROR_IO, "%s: %s", path, g_strerror (errno));
    return NULL;
  }
  self = bytes_new (path);
  self->file = file;
  return self;
}

FabFileBytes *
fab_file_bytes_new (const char *name, const void *data, gsize size)
{
  FabFileBytes *self = bytes_new (name);

  self->memory = data;
  self->memory_size = size;
  return self;
}

void
fab_file_bytes_free (FabFileBytes *self)
{
  if (self == NULL)
    return;
  if (self->file != NULL)
    fclose (self->file);
  if (self->is_zip)
    inflateEnd (&self->zip);
  g_free (self->path);
  g_free (self->name);
  g_free (self->packed);
  g_free (self->chunk);
  g_free (self);
}

const char *
fab_file_bytes_name (const FabFileBytes *self)
{
  return self->name;
}

const char *
fab_file_bytes_path (const FabFileBytes *self)
{
  return self->file == NULL || self->is_zip || self->is_tar ? NULL : self->path;
}

guint64
fab_file_bytes_at (const FabFileBytes *self)
{
  return self->at;
}

/* Reads from the file or the memory. */
static gboolean
read_input (FabFileBytes *self, void *to, gsize size, gsize *n_read, GError **error)
{
  if (self->file == NULL) {
    *n_read = MIN (size, self->memory_size);
    memcpy (to, self->memory, *n_read);
    self->memory += *n_read;
    self->memory_size -= *n_read;
  } else {
    *n_read = fread (to, 1, size, self->file);
    if (*n_read < size && ferror (self->file))
      return fab_throw (error, FAB_ERROR_IO, "%s: byte %" G_GUINT64_FORMAT ": %s", self->path,
                        self->packed_read, g_strerror (errno));
  }
  self->packed_read += *n_read;
  self->is_input_done = *n_read < size;
  return TRUE;
}

static gboolean
check_zip (FabFileBytes *self, int code, GError **error)
{
  guint64 at = self->packed_read - self->zip.avail_in;

  if (code == Z_DATA_ERROR || code == Z_NEED_DICT)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s: byte %" G_GUINT64_FORMAT ": the gzip stream is damaged: %s", self->path, at,
                      self->zip.msg ? self->zip.msg : "it needs a dictionary");
  if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
    return fab_throw (error, FAB_ERROR_IO, "%s: byte %" G_GUINT64_FORMAT ": zlib fails with code %d",
                      self->path, at, code);
  if (self->unpacked > BOMB_MIN_BYTES && self->unpacked / FAB_FILE_MAX_EXPANSION > MAX (at, 1))
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s: byte %" G_GUINT64_FORMAT ": the gzip stream expands more than %d times, which no "
                      "trace does",
                      self->path, at, FAB_FILE_MAX_EXPANSION);
  return TRUE;
}

/* A gzip file may be several streams one after the other; zeros may follow. */
static void
end_zip (FabFileBytes *self)
{
  if (self->zip.avail_in >= 2 && self->zip.next_in[0] == 0x1f && self->zip.next_in[1] == 0x8b)
    inflateReset (&self->zip);
  else
    self->is_zip_done = TRUE;
}

static gboolean
unpack (FabFileBytes *self, GError **error)
{
  gsize room = CHUNK_BYTES - self->last, n_read = 0;
  int code;

  if (self->zip.avail_in == 0 && !self->is_input_done) {
    if (!read_input (self, self->packed, CHUNK_BYTES, &n_read, error))
      return FALSE;
    self->zip.next_in = self->packed;
    self->zip.avail_in = (uInt) n_read;
  }
  self->zip.next_out = (Bytef *) self->chunk + self->last;
  self->zip.avail_out = (uInt) room;
  code = inflate (&self->zip, Z_NO_FLUSH);
  self->last += room - self->zip.avail_out;
  self->unpacked += room - self->zip.avail_out;
  if (!check_zip (self, code, error))
    return FALSE;
  if (code == Z_STREAM_END)
    end_zip (self);
  else if (self->is_input_done && self->zip.avail_in == 0 && self->zip.avail_out == room)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s: byte %" G_GUINT64_FORMAT ": the gzip stream ends early; the file is cut",
                      self->path, self->packed_read);
  return TRUE;
}

static gboolean
is_at_end (const FabFileBytes *self)
{
  return self->is_zip ? self->is_zip_done : self->is_input_done;
}

/* Makes `least` bytes or all that are left lie in the chunk. */
static gboolean
fill (FabFileBytes *self, gsize least, GError **error)
{
  gsize n_read = 0;

  if (self->last - self->first >= least || is_at_end (self))
    return TRUE;
  memmove (self->chunk, self->chunk + self->first, self->last - self->first);
  self->last -= self->first;
  self->first = 0;
  while (self->last < least && !is_at_end (self)) {
    if (self->is_zip) {
      if (!unpack (self, error))
        return FALSE;
    } else {
      if (!read_input (self, self->chunk + self->last, CHUNK_BYTES - self->last, &n_read, error))
        return FALSE;
      self->last += n_read;
    }
  }
  return TRUE;
}

/* Finds out what the file is by its first bytes. */
static gboolean
begin (FabFileBytes *self, GError **error)
{
  self->is_begun = TRUE;
  if (!fill (self, 2, error))
    return FALSE;
  if (self->last >= 2 && memcmp (self->chunk, "\x1f\x8b", 2) == 0) {
    memcpy (self->packed, self->chunk, self->last);
    self->zip.next_in = self->packed;
    self->zip.avail_in = (uInt) self->last;
    self->last = 0;
    if (inflateInit2 (&self->zip, 15 + 16) != Z_OK)
      return fab_throw (error, FAB_ERROR_IO, "%s: zlib cannot start", self->path);
    self->is_zip = TRUE;
  }
  if (!fill (self, TAR_BLOCK, error))
    return FALSE;
  self->is_tar = self->last >= TAR_BLOCK && memcmp (self->chunk + 257, "ustar", 5) == 0;
  return TRUE;
}

/* Tar: https://www.gnu.org/software/tar/manual/html_node/Standard.html */

static gboolean
skip (FabFileBytes *self, guint64 size, GError **error)
{
  while (size > 0) {
    gsize part;

    if (!fill (self, 1, error))
      return FALSE;
    part = (gsize) MIN (size, self->last - self->first);
    if (part == 0)
      return fab_throw (error, FAB_ERROR_INPUT, "%s: the archive ends early; the file is cut", self->path);
    self->first += part;
    size -= part;
  }
  return TRUE;
}

static gboolean
read_header (FabFileBytes *self, char *name, char *type, GError **error)
{
  const char *block = self->chunk + self->first;
  guint64 size = 0;

  for (guint i = 124; i < 136 && block[i] != '\0' && block[i] != ' '; i++) {
    if (block[i] < '0' || block[i] > '7')
      return fab_throw (error, FAB_ERROR_INPUT, "%s: the archive has a damaged header", self->path);
    size = size * 8 + (guint64) (block[i] - '0');
  }
  memcpy (name, block, TAR_NAME);
  name[TAR_NAME] = '\0';
  *type = block[156];
  self->first += TAR_BLOCK;
  self->member_left = size;
  self->padding = (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK;
  return TRUE;
}

static gboolean
next_member (FabFileBytes *self, GError **error)
{
  char name[TAR_NAME + 1] = "", type = 0;

  while (TRUE) {
    g_autofree char *base = NULL;

    if (!skip (self, self->member_left + self->padding, error) || !fill (self, TAR_BLOCK, error))
      return FALSE;
    self->member_left = self->padding = 0;
    if (self->last - self->first < TAR_BLOCK || self->chunk[self->first] == '\0')
      return FALSE;
    if (!read_header (self, name, &type, error))
      return FALSE;
    base = g_path_get_basename (name);
    if ((type == '0' || type == '\0') && !g_str_has_prefix (base, "._"))
      break; /* other types: folders, links, attributes; "._": attributes of macOS */
  }
  g_free (self->name);
  self->name = g_strdup_printf ("%s:%s", self->path, name);
  self->at = 0;
  return TRUE;
}

gboolean
fab_file_bytes_peek (FabFileBytes *self, const char **data, gsize *size, GError **error)
{
  gsize least = self->is_tar ? (gsize) MIN (HEAD_BYTES, self->member_left) : HEAD_BYTES;

  *size = 0;
  if (!fill (self, least, error))
    return FALSE;
  *data = self->chunk + self->first;
  *size = self->last - self->first;
  if (self->is_tar) {
    if (*size < least)
      return fab_throw (error, FAB_ERROR_INPUT,
                        "%s: byte %" G_GUINT64_FORMAT ": the archive ends early; the file is cut", self->name,
                        self->at + *size);
    *size = (gsize) MIN (*size, self->member_left);
  }
  return TRUE;
}

void
fab_file_bytes_take (FabFileBytes *self, gsize size)
{
  self->first += size;
  self->at += size;
  if (self->is_tar)
    self->member_left -= size;
}

/* Programs of Windows begin a text in UTF-8 with this mark. */
static gboolean
skip_mark (FabFileBytes *self, GError **error)
{
  static const char mark[] = { '\xEF', '\xBB', '\xBF' };
  const char *data;
  gsize size;

  if (!fab_file_bytes_peek (self, &data, &size, error))
    return FALSE;
  if (size >= sizeof mark && memcmp (data, mark, sizeof mark) == 0)
    fab_file_bytes_take (self, sizeof mark);
  return TRUE;
}

gboolean
fab_file_bytes_next (FabFileBytes *self, GError **error)
{
  gboolean is_first = !self->is_begun;

  if (is_first && !begin (self, error))
    return FALSE;
  return (self->is_tar ? next_member (self, error) : is_first) && skip_mark (self, error);
}

gboolean
fab_file_bytes_line (FabFileBytes *self, GString *line, GError **error)
{
  const char *data, *end;
  gsize size;

  g_string_truncate (line, 0);
  while (TRUE) {
    if (!fab_file_bytes_peek (self, &data, &size, error))
      return FALSE;
    if (size == 0)
      return line->len > 0;
    end = memchr (data, '\n', size);
    g_string_append_len (line, data, end != NULL ? end - data : (gssize) size);
    if (line->len > MAX_LINE_BYTES)
      return fab_throw (error, FAB_ERROR_INPUT,
                        "%s: byte %" G_GUINT64_FORMAT ": a line is longer than 64 KiB", self->name, self->at);
    fab_file_bytes_take (self, end != NULL ? (gsize) (end - data) + 1 : size);
    if (end != NULL)
      break;
  }
  if (line->len > 0 && line->str[line->len - 1] == '\r')
    g_string_truncate (line, line->len - 1);
  return TRUE;
}
