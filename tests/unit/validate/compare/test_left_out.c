/* SPDX-License-Identifier: Apache-2.0 */
/* test_left_out.c - families that are left out: every constant that rests on their tables is put back. Whoever adds one
 * adds a line to validate/left-out.yaml. */
#include "validate/compare/left_out.h"

#include <glib/gstdio.h>

#include "models/models.h"
#include "sim/scenario/catalog_params.h"
#include "tests/support/test.h"

#define CATALOG FAB_SOURCE_DIR "/models/catalog"
#define MEASURED FAB_SOURCE_DIR "/validate/measured"
#define FAMILIES FAB_SOURCE_DIR "/validate/left-out.yaml"
#define LIBRARY FAB_SOURCE_DIR "/models/library/nccl"

typedef struct {
  FabCatalog *catalog;
  FabMeasured *measured;
  FabLeftOut *families;
} Fixture;

static int
setup (void **state)
{
  Fixture *f = g_new0 (Fixture, 1);
  g_autoptr (GError) error = NULL;

  *state = f;
  f->catalog = fab_catalog_load (CATALOG, &fab_models, &error);
  f->measured = f->catalog ? fab_measured_load (MEASURED, f->catalog, &fab_models, &error) : NULL;
  f->families = f->measured ? fab_left_out_load (FAMILIES, f->catalog, f->measured, &fab_models, &error)
                            : NULL;
  if (error != NULL)
    print_error ("%s\n", error->message);
  return f->families ? 0 : -1;
}

static int
teardown (void **state)
{
  Fixture *f = *state;

  fab_left_out_free (f->families);
  fab_measured_free (f->measured);
  fab_catalog_free (f->catalog);
  g_free (f);
  return 0;
}

static FabLeftOut *
parse (const Fixture *f, const char *text, GError **error)
{
  g_autofree char *path = NULL;
  int file = g_file_open_tmp ("fab-left-out-XXXXXX.yaml", &path, NULL);
  FabLeftOut *families;

  assert_true (file >= 0 && g_close (file, NULL));
  assert_true (g_file_set_contents (path, text, -1, NULL));
  families = fab_left_out_load (path, f->catalog, f->measured, &fab_models, error);
  g_unlink (path);
  return families;
}

/* Numbers of another entry, cleared ones, a nested one; all else stays, also in the shipped entry. */
static void
test_put_back (void **state)
{
  const Fixture *f = *state;
  g_autoptr (GError) error = NULL;
  g_autoptr (FabLeftOut) families = parse (
      f,
      "families:\n  - interconnect: InfiniBand HDR\n    put_back:\n"
      "      - {section: links, entry: ib-hdr, keys: collective_fraction kernel.achievable}\n"
      "      - {section: links, entry: ib-hdr, as: ib-ndr, keys: copy}\n"
      "      - {section: generations, entry: hopper, as: ampere}\n",
      &error);
  const FabLinkSpec *hdr = fab_catalog_link (f->catalog, "ib-hdr"),
                    *ndr = fab_catalog_link (f->catalog, "ib-ndr");

  if (error != NULL)
    fail_msg ("%s", error->message);
  g_autoptr (FabLeftOutCatalog) without = fab_left_out_catalog (
      families, fab_left_out_find (families, "InfiniBand HDR"));
  const FabLinkSpec *put = fab_catalog_link (fab_left_out_catalog_get (without), "ib-hdr");
  const FabGeneration *hopper = fab_catalog_generation (fab_left_out_catalog_get (without), "hopper"),
                      *ampere = fab_catalog_generation (f->catalog, "ampere");

  assert_true (hdr->collective_fraction > 0 && put->collective_fraction <= 0);
  assert_true (put->kernel.achievable_fraction <= 0);
  assert_int_equal (put->kernel.payload_bytes, hdr->kernel.payload_bytes);
  assert_memory_equal (&put->copy, &ndr->copy, sizeof put->copy);
  assert_int_equal (put->signalling_bytes_per_s, hdr->signalling_bytes_per_s);
  assert_string_equal (hopper->name, "hopper");
  assert_int_equal (hopper->issue_ps, ampere->issue_ps);
  assert_null (fab_left_out_find (families, "RoCE 100"));
}

static void
test_refused (void **state)
{
  static const struct {
    const char *text, *part;
  } cases[] = {
    { "{section: link, entry: ib-hdr, keys: copy}", "no section 'link'" },
    { "{section: links, entry: ib-hdz, keys: copy}", "links has no 'ib-hdz'" },
    { "{section: links, entry: ib-hdr, as: ib-hdz}", "links has no 'ib-hdz'" },
    { "{section: links, entry: ib-hdr, keys: copy.speed}", "no key 'copy.speed'" },
    { "{section: links, entry: ib-hdr}", "say the `keys`" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf (
        "families:\n  - interconnect: InfiniBand HDR\n    put_back: [%s]\n", cases[i].text);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabLeftOut) families = parse (*state, text, &error);

    assert_null (families);
    if (strstr (error->message, cases[i].part) == NULL)
      fail_msg ("'%s' is not in:\n%s", cases[i].part, error->message);
  }
}

/* --- what sources name --- */

/* A name of a table in a text, by itself: "x_8" is not in "x_8_b". */
static gboolean
names_table (const char *text, const char *name)
{
  gsize length = strlen (name);

  for (const char *at = text; (at = strstr (at, name)) != NULL; at++)
    if ((at == text || !(g_ascii_isalnum (at[-1]) || at[-1] == '_'))
        && !(g_ascii_isalnum (at[length]) || at[length] == '_'))
      return TRUE;
  return FALSE;
}

/* Whether `key` of the entry gets another value: all do, or it does, or a table that it is in. */
static gboolean
is_put_back (const FabLeftOutSpec *family, const char *section, const char *entry, const char *key)
{
  const FabPutBackSpec *put_back = family->put_back.data;

  for (guint i = 0; i < family->put_back.n; i++) {
    g_auto (GStrv) keys = g_strsplit (put_back[i].keys != NULL ? put_back[i].keys : "", " ", -1);

    if (strcmp (put_back[i].section, section) != 0 || strcmp (put_back[i].entry, entry) != 0)
      continue;
    if (put_back[i].keys == NULL)
      return TRUE;
    for (guint k = 0; keys[k] != NULL; k++)
      if (g_str_has_prefix (keys[k], key) || *key == '\0')
        return TRUE;
  }
  return FALSE;
}

typedef struct {
  const FabMeasuredTable *table;
  const FabLeftOutSpec *family;
  const char *section, *entry;
  GString *problems;
} Check;

/* The texts of an entry that say where its numbers come from. A table in it with a `source` of its own is a key that
 * has to be put back; the entry's own source says nothing of keys, and `x_source` is of key x. */
static void
check_sources (const Check *self, const FabParam *rows, const char *struct_, const char *key)
{
  for (; rows->key != NULL; rows++) {
    const char *field = struct_ + rows->offset;
    g_autofree char *of = g_str_has_suffix (rows->key, "_source")
                            ? g_strndup (rows->key, strlen (rows->key) - strlen ("_source"))
                            : g_strdup (key);

    if (rows->type == FAB_PARAM_TABLE)
      check_sources (self, rows->table, field, *key == '\0' ? rows->key : key);
    else if (rows->type == FAB_PARAM_TEXT && g_str_has_suffix (rows->key, "source")
             && *(char *const *) field != NULL && names_table (*(char *const *) field, self->table->name)
             && !is_put_back (self->family, self->section, self->entry, of))
      g_string_append_printf (self->problems, "%s: %s %s %s names %s and is not put back\n",
                              self->family->interconnect, self->section, self->entry, of, self->table->name);
  }
}

static gboolean
is_kept (const FabLeftOutSpec *family, const char *file)
{
  g_auto (GStrv) kept = g_strsplit (family->kept != NULL ? family->kept : "", " ", -1);

  return g_strv_contains ((const char *const *) kept, file);
}

/* Entries whose sources name the table; a node's says which machine was measured, and sets no number. */
static void
check_entries (const Fixture *f, const FabMeasuredTable *table, const FabLeftOutSpec *family,
               GString *problems)
{
  for (guint section = 0; fab_catalog_params[section].key != NULL; section++) {
    g_autofree const char **names = fab_catalog_names (f->catalog, (FabCatalogSection) section);

    for (guint i = 0; section != FAB_SECTION_NODES && names[i] != NULL; i++) {
      Check check = { table, family, fab_catalog_params[section].key, names[i], problems };

      check_sources (&check, fab_catalog_params[section].table,
                     fab_catalog_entry (f->catalog, (FabCatalogSection) section, names[i]), "");
    }
  }
}

static void
check_code (const FabMeasuredTable *table, const FabLeftOutSpec *family, GString *problems)
{
  g_autoptr (GDir) directory = g_dir_open (LIBRARY, 0, NULL);

  for (const char *file; (file = g_dir_read_name (directory)) != NULL;) {
    g_autofree char *path = g_build_filename (LIBRARY, file, NULL), *text = NULL;

    assert_true (g_file_get_contents (path, &text, NULL, NULL));
    if (names_table (text, table->name) && !is_kept (family, file))
      g_string_append_printf (problems, "%s: %s names %s and is not in `kept`\n", family->interconnect, file,
                              table->name);
  }
}

static void
test_all_is_put_back (void **state)
{
  const Fixture *f = *state;
  g_autoptr (GString) problems = g_string_new (NULL);

  for (guint i = 0; i < fab_measured_n_tables (f->measured); i++) {
    const FabMeasuredTable *table = fab_measured_table (f->measured, i);
    const FabLeftOutSpec *family = fab_left_out_find (f->families, table->spec->interconnect);

    if (family == NULL) {
      g_string_append_printf (problems, "%s: the family of %s is not listed\n", table->spec->interconnect,
                              table->name);
      continue;
    }
    check_entries (f, table, family, problems);
    check_code (table, family, problems);
  }
  if (problems->len > 0)
    fail_msg ("%s", problems->str);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_put_back),
    cmocka_unit_test (test_refused),
    cmocka_unit_test (test_all_is_put_back),
  };

  return cmocka_run_group_tests_name ("left_out", tests, setup, teardown);
}
