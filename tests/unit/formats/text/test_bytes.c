/* SPDX-License-Identifier: Apache-2.0 */
/* test_bytes.c - the bytes of a file come out as they went in: plain, packed, in an archive; what is cut is refused. */
#include "tests/support/test.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

#include "formats/text/bytes.h"

/* Bytes that differ from place to place, so that none can be taken for another. */
static GByteArray *
some_bytes (gsize size)
{
  GByteArray *bytes = g_byte_array_sized_new ((guint) size);
  guint32 state = 1;

  for (gsize i = 0; i < size; i++) {
    guint8 byte = (guint8) ("0123456789abcdef"[(state = state * 1664525 + 1013904223) >> 28]);

    g_byte_array_append (bytes, &byte, 1);
  }
  return bytes;
}

static void
append_zip (GByteArray *to, const void *data, gsize size)
{
  g_autoptr (GZlibCompressor) zip = g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, 6);
  GConverterResult result;
  gsize at = 0;

  do {
    guint8 packed[65536];
    gsize n_read, n_written;

    result = g_converter_convert (G_CONVERTER (zip), (const char *) data + at, size - at, packed,
                                  sizeof packed, G_CONVERTER_INPUT_AT_END, &n_read, &n_written, NULL);
    assert_int_not_equal (result, G_CONVERTER_ERROR);
    at += n_read;
    g_byte_array_append (to, packed, (guint) n_written);
  } while (result != G_CONVERTER_FINISHED);
}

/* The size has as many octal digits as are asked for, 12 fill the field. */
static void
append_member (GByteArray *to, const char *name, char type, const void *data, gsize size, int n_digits)
{
  guint8 header[512] = { 0 };
  char digits[16];

  memcpy (header, name, MIN (strlen (name), 100));
  g_snprintf (digits, sizeof digits, "%0*" G_GINT64_MODIFIER "o", n_digits, (guint64) size);
  memcpy (header + 124, digits, (gsize) n_digits);
  memcpy (header + 136, "77777777777", 11); /* the time, which the size does not go into */
  header[156] = (guint8) type;
  memcpy (header + 257, "ustar", 5);
  g_byte_array_append (to, header, sizeof header);
  g_byte_array_append (to, data, (guint) size);
  g_byte_array_set_size (to, (to->len + 511) / 512 * 512);
}

/* Reads the rest of the present file, `most` bytes at a time, and checks where it is. */
static GByteArray *
read_rest (FabFileBytes *bytes, gsize most)
{
  GByteArray *all = g_byte_array_new ();
  const char *data;
  gsize size;

  while (TRUE) {
    assert_int_equal (fab_file_bytes_at (bytes), all->len);
    assert_true (fab_file_bytes_peek (bytes, &data, &size, NULL));
    if (size == 0)
      return all;
    size = MIN (size, most);
    g_byte_array_append (all, (const guint8 *) data, (guint) size);
    fab_file_bytes_take (bytes, size);
  }
}

static void
assert_rest (FabFileBytes *bytes, gsize most, const GByteArray *wanted)
{
  g_autoptr (GByteArray) found = read_rest (bytes, most);

  assert_int_equal (found->len, wanted->len);
  assert_memory_equal (found->data, wanted->data, wanted->len);
}

static const gsize sizes[] = { 1,    2,    3,      511,    512,    513,    4095,
                               4096, 4097, 262143, 262144, 262145, 266240, 700001 };

static void
bytes_come_out_as_they_went_in (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint form = 0; form < 4; form++) {
      g_autoptr (GByteArray) bytes = some_bytes (sizes[i]), file = g_byte_array_new ();
      gsize half = sizes[i] / 2;

      if (form == 0)
        g_byte_array_append (file, bytes->data, bytes->len);
      if (form == 1 || form == 2) {
        append_zip (file, bytes->data, form == 1 ? sizes[i] : half);
        if (form == 2) /* a second stream, and zeros behind it */
          append_zip (file, bytes->data + half, sizes[i] - half);
        g_byte_array_set_size (file, file->len + (form == 2 ? 1000 : 0));
      }
      if (form == 3)
        append_member (file, "a/one.txt", '0', bytes->data, bytes->len, 11);
      for (guint step = 0; step < 3; step++) {
        g_autoptr (FabFileBytes) read = fab_file_bytes_new ("here", file->data, file->len);
        g_autoptr (GError) error = NULL;

        assert_true (fab_file_bytes_next (read, NULL));
        assert_string_equal (fab_file_bytes_name (read), form == 3 ? "here:a/one.txt" : "here");
        assert_null (fab_file_bytes_path (read));
        assert_rest (read, step == 0 ? G_MAXSIZE : step == 1 ? 4096 : 1013, bytes);
        assert_false (fab_file_bytes_next (read, &error));
        assert_null (error);
      }
    }
}

/* Until fewer are left, at least 4096 bytes are seen at once. */
static void
enough_bytes_are_seen_at_once (G_GNUC_UNUSED void **state)
{
  g_autoptr (GByteArray) bytes = some_bytes (700001), packed = g_byte_array_new (),
                         archive = g_byte_array_new ();

  append_zip (packed, bytes->data, bytes->len);
  append_member (archive, "x", '0', bytes->data, bytes->len, 11);
  for (guint form = 0; form < 3; form++) {
    const GByteArray *file = form == 0 ? bytes : form == 1 ? packed : archive;
    g_autoptr (FabFileBytes) read = fab_file_bytes_new ("here", file->data, file->len);
    gsize at = 0, size;
    const char *data;

    assert_true (fab_file_bytes_next (read, NULL));
    for (; at < bytes->len; at += 3000) {
      assert_true (fab_file_bytes_peek (read, &data, &size, NULL));
      assert_true (size >= MIN (4096, bytes->len - at) && size <= bytes->len - at);
      assert_memory_equal (data, bytes->data + at, MIN (size, 4096));
      fab_file_bytes_take (read, MIN (3000, size));
    }
  }
}

/* An archive has folders, links, notes of its own and attributes of macOS beside files; names fill their field, and
 * sizes theirs. */
static void
files_of_an_archive_follow_one_another (G_GNUC_UNUSED void **state)
{
  g_autofree char *longest = g_strnfill (100, 'n');
  g_autoptr (GByteArray) large = some_bytes (600000), archive = g_byte_array_new (),
                         packed = g_byte_array_new ();
  static const char zeros[1024];

  append_member (archive, "folder", '5', "", 0, 11);
  append_member (archive, "first", '0', "one", 3, 11);
  append_member (archive, "link", '2', "", 0, 11);
  append_member (archive, "pax", 'x', "attributes", 10, 11);
  append_member (archive, "folder/._first", '0', "of macOS", 8, 11);
  append_member (archive, "empty", '0', "", 0, 11);
  append_member (archive, longest, '\0', large->data, large->len, 7);
  append_member (archive, "last", '0', "two", 3, 12);
  g_byte_array_append (archive, (const guint8 *) zeros, sizeof zeros);
  append_member (archive, "behind the end", '0', "three", 5, 11);
  append_zip (packed, archive->data, archive->len);
  for (guint is_packed = 0; is_packed < 2; is_packed++)
    for (guint is_read = 0; is_read < 2; is_read++) {
      const GByteArray *file = is_packed ? packed : archive;
      g_autoptr (FabFileBytes) read = fab_file_bytes_new ("a.tar", file->data, file->len);
      g_autoptr (GByteArray) one = g_byte_array_new (), two = g_byte_array_new (), none = g_byte_array_new ();
      g_autofree char *name = g_strconcat ("a.tar:", longest, NULL);
      g_autoptr (GError) error = NULL;

      g_byte_array_append (one, (const guint8 *) "one", 3);
      g_byte_array_append (two, (const guint8 *) "two", 3);
      assert_true (fab_file_bytes_next (read, NULL));
      assert_string_equal (fab_file_bytes_name (read), "a.tar:first");
      if (is_read)
        assert_rest (read, 2, one);
      assert_true (fab_file_bytes_next (read, NULL));
      assert_string_equal (fab_file_bytes_name (read), "a.tar:empty");
      assert_rest (read, 2, none);
      assert_true (fab_file_bytes_next (read, NULL));
      assert_string_equal (fab_file_bytes_name (read), name);
      if (is_read)
        assert_rest (read, 5000, large);
      assert_true (fab_file_bytes_next (read, NULL));
      assert_string_equal (fab_file_bytes_name (read), "a.tar:last");
      assert_int_equal (fab_file_bytes_at (read), 0);
      assert_rest (read, 3, two);
      for (guint again = 0; again < 4; again++) /* the end stays the end */
        assert_false (fab_file_bytes_next (read, &error));
      assert_null (error);
    }
}

/* Reads all files to the end; the message of the first mistake, NULL where there is none. (transfer full) */
static char *
mistake_of (const GByteArray *file)
{
  g_autoptr (FabFileBytes) read = fab_file_bytes_new ("f", file->data, file->len);
  g_autoptr (GError) error = NULL;
  const char *data;
  gsize size = 0;

  while (fab_file_bytes_next (read, &error))
    do {
      if (!fab_file_bytes_peek (read, &data, &size, &error))
        return g_strdup (error->message);
      fab_file_bytes_take (read, size);
    } while (size > 0);
  return error != NULL ? g_strdup (error->message) : NULL;
}

static void
what_is_cut_or_damaged_is_refused (G_GNUC_UNUSED void **state)
{
  g_autoptr (GByteArray) bytes = some_bytes (300000), packed = g_byte_array_new (),
                         archive = g_byte_array_new ();
  static const guint packed_cuts[] = { 3, 9, 20, 5000, 0 }; /* 0: all but the last byte */

  append_zip (packed, bytes->data, bytes->len);
  append_member (archive, "x", '0', bytes->data, 100000, 11);
  for (guint i = 0; i < G_N_ELEMENTS (packed_cuts); i++) {
    guint size = packed_cuts[i] > 0 ? packed_cuts[i] : packed->len - 1;
    g_autoptr (GByteArray) cut = g_byte_array_new ();
    g_autofree char *wanted = g_strdup_printf ("f: byte %u: the gzip stream ends early; the file is cut",
                                               size);

    g_byte_array_append (cut, packed->data, size);
    g_autofree char *found = mistake_of (cut);
    assert_string_equal (found, wanted);
  }
  /* the sum of the bytes, which stands in the eight bytes at the end with their number */
  packed->data[packed->len - 8] ^= 1;
  g_autofree char *damaged = mistake_of (packed);
  g_autofree char *said = g_strdup_printf ("f: byte %u: the gzip stream is damaged: incorrect data check",
                                           packed->len - 4);
  assert_string_equal (damaged, said);

  g_autofree char *whole = mistake_of (archive);
  assert_null (whole);
  static const guint cuts[] = { 513, 50000, 512 + 100000 - 1 };
  for (guint i = 0; i < G_N_ELEMENTS (cuts); i++) {
    g_autoptr (GByteArray) cut = g_byte_array_new ();
    g_autofree char *wanted = g_strdup_printf ("f:x: byte %u: the archive ends early; the file is cut",
                                               cuts[i] - 512);

    g_byte_array_append (cut, archive->data, cuts[i]);
    g_autofree char *found = mistake_of (cut);
    assert_true (g_str_has_suffix (found, "the archive ends early; the file is cut"));
    if (cuts[i] - 512 < 4096 || cuts[i] == 512 + 100000 - 1)
      assert_true (g_str_has_prefix (found, "f:x: byte "));
    if (cuts[i] - 512 < 4096)
      assert_string_equal (found, wanted);
  }
  /* the file is there, and what fills its last block is not */
  g_autoptr (GByteArray) unfilled = g_byte_array_new ();
  g_byte_array_append (unfilled, archive->data, 512 + 100000);
  g_autofree char *padding = mistake_of (unfilled);
  assert_string_equal (padding, "f: the archive ends early; the file is cut");
  static const char wrong[] = { '8', '/', 'a', -1 };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GByteArray) other = g_byte_array_new ();

    append_member (other, "x", '0', "abc", 3, 11);
    other->data[124 + 4] = (guint8) wrong[i];
    g_autofree char *header = mistake_of (other);
    assert_string_equal (header, "f: the archive has a damaged header");
  }
}

/* Zeros become a thousandth of their size; up to 64 MiB nobody is harmed, and never by what is packed as traces are. */
static void
what_expands_without_end_is_refused (G_GNUC_UNUSED void **state)
{
  for (guint is_larger = 0; is_larger < 2; is_larger++) {
    gsize size = ((gsize) 64 << 20) + is_larger;
    g_autofree char *zeros = g_malloc0 (size);
    g_autoptr (GByteArray) packed = g_byte_array_new ();

    append_zip (packed, zeros, size);
    g_autofree char *found = mistake_of (packed);
    if (is_larger)
      assert_true (
          g_str_has_suffix (found, ": the gzip stream expands more than 200 times, which no trace does"));
    else
      assert_null (found);
  }
  g_autoptr (GByteArray) mixed = some_bytes (800000), packed = g_byte_array_new ();
  guint n = mixed->len;

  g_byte_array_set_size (mixed, n + (64 << 20));
  memset (mixed->data + n, 0, 64 << 20);
  append_zip (packed, mixed->data, mixed->len);
  assert_true (packed->len > mixed->len / 200);
  g_autofree char *none = mistake_of (packed);
  assert_null (none);
}

static void
lines_end_in_every_way (G_GNUC_UNUSED void **state)
{
  static const char text[] = "one\r\n\ntwo\nthree\rfour\n\r\nlast";
  static const char *const lines[] = { "one", "", "two", "three\rfour", "", "last" };
  g_autoptr (FabFileBytes) read = fab_file_bytes_new ("here", text, strlen (text));
  g_autoptr (GString) line = g_string_new ("before");
  g_autoptr (GError) error = NULL;

  assert_true (fab_file_bytes_next (read, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    assert_true (fab_file_bytes_line (read, line, NULL));
    assert_string_equal (line->str, lines[i]);
  }
  assert_false (fab_file_bytes_line (read, line, &error));
  assert_null (error);
}

/* Lines of every length up to the longest, over the ends of chunks; `at` counts their ends too. */
static void
a_line_has_64_kib (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) text = g_string_new (NULL), line = g_string_new (NULL);
  static const gsize lengths[] = { 65536, 1, 65535, 0, 4097, 65536, 65536, 4095, 65536 };
  gsize at = 0;

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++) {
    for (gsize k = 0; k < lengths[i]; k++)
      g_string_append_c (text, (char) ('a' + (i + k) % 26));
    g_string_append_c (text, '\n');
  }
  g_autoptr (FabFileBytes) read = fab_file_bytes_new ("here", text->str, text->len);
  assert_true (fab_file_bytes_next (read, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++) {
    assert_int_equal (fab_file_bytes_at (read), at);
    assert_true (fab_file_bytes_line (read, line, NULL));
    assert_int_equal (line->len, lengths[i]);
    assert_memory_equal (line->str, text->str + at, lengths[i]);
    at += lengths[i] + 1;
  }
  g_autofree char *long_text = g_strnfill (65537, 'x'),
                  *second = g_strconcat ("first\n", long_text, "\n", NULL);
  g_autoptr (FabFileBytes) longer = fab_file_bytes_new ("here", second, strlen (second));
  g_autoptr (GError) error = NULL;
  assert_true (fab_file_bytes_next (longer, NULL) && fab_file_bytes_line (longer, line, NULL));
  assert_false (fab_file_bytes_line (longer, line, &error));
  assert_string_equal (error->message, "here: byte 6: a line is longer than 64 KiB");
}

/* A file that is neither packed nor an archive has a path, which another program can open. */
static void
files_are_opened_by_their_path (G_GNUC_UNUSED void **state)
{
  g_autofree char *path = NULL, *nowhere = NULL;
  gint fd = g_file_open_tmp ("bytes-XXXXXX", &path, NULL);

  assert_true (fd >= 0);
  g_close (fd, NULL);
  for (guint form = 0; form < 4; form++) {
    g_autoptr (GByteArray) bytes = some_bytes (form == 3 ? 0 : 300000), file = g_byte_array_new ();

    if (form == 1)
      append_zip (file, bytes->data, bytes->len);
    else if (form == 2)
      append_member (file, "x", '0', bytes->data, bytes->len, 11);
    else
      g_byte_array_append (file, bytes->data, bytes->len);
    assert_true (g_file_set_contents (path, (const char *) file->data, file->len, NULL));
    g_autoptr (FabFileBytes) read = fab_file_bytes_open (path, NULL);
    assert_true (fab_file_bytes_next (read, NULL));
    if (form == 0 || form == 3)
      assert_string_equal (fab_file_bytes_path (read), path);
    else
      assert_null (fab_file_bytes_path (read));
    assert_rest (read, 10000, bytes);
  }
  g_remove (path);
  g_autoptr (FabFileBytes) folder = fab_file_bytes_open (g_get_tmp_dir (), NULL);
  g_autoptr (GError) error = NULL, unread = NULL;
  g_autofree char *is_folder = g_strdup_printf ("%s: byte 0: Is a directory", g_get_tmp_dir ());

  assert_false (fab_file_bytes_next (folder, &unread));
  assert_string_equal (unread->message, is_folder);
  assert_null (fab_file_bytes_open (path, &error));
  nowhere = g_strdup_printf ("%s: No such file or directory", path);
  assert_string_equal (error->message, nowhere);
}

/* Each text may begin with the mark of UTF-8, which counts as read. What only begins like it is text. */
static void
the_mark_of_utf8_is_passed (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *written, *read;
  } cases[] = { { "\xEF\xBB\xBFsubmit", "submit" }, { "\xEF\xBB\xBF", "" }, { "\xEF\xBB", "\xEF\xBB" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint form = 0; form < 3; form++) {
      const char *written = cases[i].written;
      g_autoptr (GByteArray) file = g_byte_array_new ();
      g_autoptr (GString) line = g_string_new (NULL);

      if (form == 1)
        append_zip (file, written, strlen (written));
      for (guint k = 0; k < 2 && form == 2; k++)
        append_member (file, "x", '0', written, strlen (written), 11);
      if (form == 0)
        g_byte_array_append (file, (const guint8 *) written, (guint) strlen (written));
      g_autoptr (FabFileBytes) bytes = fab_file_bytes_new ("x", file->data, file->len);
      for (guint k = 0; k < (form == 2 ? 2 : 1); k++) {
        assert_true (fab_file_bytes_next (bytes, NULL));
        assert_int_equal (fab_file_bytes_at (bytes), strlen (written) - strlen (cases[i].read));
        assert_true (fab_file_bytes_line (bytes, line, NULL) == (*cases[i].read != '\0'));
        assert_string_equal (line->str, cases[i].read);
      }
      assert_false (fab_file_bytes_next (bytes, NULL));
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (bytes_come_out_as_they_went_in),
    cmocka_unit_test (enough_bytes_are_seen_at_once),
    cmocka_unit_test (files_of_an_archive_follow_one_another),
    cmocka_unit_test (what_is_cut_or_damaged_is_refused),
    cmocka_unit_test (what_expands_without_end_is_refused),
    cmocka_unit_test (lines_end_in_every_way),
    cmocka_unit_test (a_line_has_64_kib),
    cmocka_unit_test (the_mark_of_utf8_is_passed),
    cmocka_unit_test (files_are_opened_by_their_path),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
