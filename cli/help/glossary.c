/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help/glossary.h"

#include <string.h>

#include "cli/help/data.h"
#include "sim/base/json.h"
#include "sim/base/nearest.h"

#define PAGE_FOLDER "docs/reference/" /* of the page that fab_glossary_markdown writes */

enum { LIST_COLUMNS = 100 };

struct _FabGlossary {
  FabYamlDoc *doc;
  GPtrArray *groups; /* char, not owned */
  GArray *terms;     /* FabGlossaryTerm, group by group */
};

static FabGlossaryTerm
read_term (const FabYamlNode *item, const char *group)
{
  return (FabGlossaryTerm){ .name = fab_help_text (item, "name"),
                            .also = fab_help_text (item, "also"),
                            .text = fab_help_text (item, "text"),
                            .shows = fab_help_text (item, "shows"),
                            .see = fab_help_text (item, "see"),
                            .page = fab_help_text (item, "page"),
                            .group = group };
}

FabGlossary *
fab_glossary_new (void)
{
  FabGlossary *self = g_new0 (FabGlossary, 1);

  self->doc = fab_help_data ("glossary.yaml");
  self->groups = g_ptr_array_new ();
  self->terms = g_array_new (FALSE, FALSE, sizeof (FabGlossaryTerm));
  const FabYamlNode *root = fab_yaml_doc_root (self->doc);
  for (guint g = 0; g < root->n; g++) {
    g_ptr_array_add (self->groups, (gpointer) root->keys[g]->text);
    for (guint i = 0; i < root->values[g]->n; i++) {
      FabGlossaryTerm term = read_term (root->values[g]->values[i], root->keys[g]->text);

      g_array_append_val (self->terms, term);
    }
  }
  return self;
}

void
fab_glossary_free (FabGlossary *self)
{
  if (self == NULL)
    return;
  fab_yaml_doc_free (self->doc);
  g_ptr_array_unref (self->groups);
  g_array_unref (self->terms);
  g_free (self);
}

static const FabGlossaryTerm *
term_at (const FabGlossary *self, guint i)
{
  return &g_array_index (self->terms, FabGlossaryTerm, i);
}

/* Lower case, with every separator as one dash: "all_reduce" and "All reduce" are "all-reduce". (transfer full) */
static char *
key_of (const char *name)
{
  return g_strdelimit (g_utf8_strdown (name, -1), " _/", '-');
}

static gboolean
is_named (const FabGlossaryTerm *term, const char *key)
{
  g_auto (GStrv) others = g_strsplit (term->also != NULL ? term->also : "", ", ", -1);
  g_autofree char *own = key_of (term->name);
  gboolean is_same = strcmp (own, key) == 0;

  for (guint i = 0; others[i] != NULL && !is_same; i++) {
    g_autofree char *other = key_of (others[i]);
    is_same = strcmp (other, key) == 0;
  }
  return is_same;
}

static int
compare_terms (gconstpointer a, gconstpointer b)
{
  const FabGlossaryTerm *const *left = a, *const *right = b;
  int order = g_ascii_strcasecmp ((*left)->name, (*right)->name);

  return order != 0 ? order : strcmp ((*left)->name, (*right)->name);
}

GPtrArray *
fab_glossary_sorted (const FabGlossary *self)
{
  GPtrArray *terms = g_ptr_array_new ();

  for (guint i = 0; i < self->terms->len; i++)
    g_ptr_array_add (terms, (gpointer) term_at (self, i));
  g_ptr_array_sort (terms, compare_terms);
  return terms;
}

const FabGlossaryTerm *
fab_glossary_find (const FabGlossary *self, const char *name)
{
  g_autofree char *key = key_of (name);

  for (guint i = 0; i < self->terms->len; i++)
    if (is_named (term_at (self, i), key))
      return term_at (self, i);
  return NULL;
}

const char *
fab_glossary_nearest (const FabGlossary *self, const char *name)
{
  g_autoptr (GPtrArray) terms = fab_glossary_sorted (self);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *small = g_utf8_strdown (name, -1);

  for (guint i = 0; i < terms->len; i++) {
    const FabGlossaryTerm *term = terms->pdata[i];
    g_auto (GStrv) others = g_strsplit (term->also != NULL ? term->also : "", ", ", -1);

    g_ptr_array_add (names, g_utf8_strdown (term->name, -1));
    for (guint k = 0; others[k] != NULL; k++)
      g_ptr_array_add (names, g_utf8_strdown (others[k], -1));
  }
  g_ptr_array_add (names, NULL);
  const char *nearest = fab_nearest (small, (const char *const *) names->pdata);
  return nearest != NULL ? fab_glossary_find (self, nearest)->name : NULL;
}

/* --- for a person --- */

char *
fab_glossary_entry (const FabGlossaryTerm *term)
{
  GString *out = g_string_new (term->name);

  if (term->also != NULL)
    g_string_append_printf (out, " (%s)", term->also);
  g_string_append_printf (out, "\n\n%s\n\n%s\n", term->text, term->shows);
  if (term->see != NULL)
    g_string_append_printf (out, "\nSee also: %s.\n", term->see);
  if (term->page != NULL)
    g_string_append_printf (out, "\nMore: %s\n", term->page);
  return g_string_free (out, FALSE);
}

/* Appends the names of a group below its heading, in lines of a readable length. */
static void
append_group (GString *out, const char *group, const GPtrArray *terms)
{
  gsize line = out->len;

  g_string_append_printf (out, "  %-12s ", group);
  for (guint i = 0, n = 0; i < terms->len; i++) {
    const FabGlossaryTerm *term = terms->pdata[i];

    if (strcmp (term->group, group) != 0)
      continue;
    if (n++ > 0)
      g_string_append (out, ", ");
    if (out->len - line + strlen (term->name) > LIST_COLUMNS) {
      g_string_truncate (out, out->len - 1);
      line = out->len + 1;
      g_string_append_printf (out, "\n%15s", "");
    }
    g_string_append (out, term->name);
  }
  g_string_append_c (out, '\n');
}

char *
fab_glossary_list (const FabGlossary *self)
{
  g_autoptr (GPtrArray) terms = fab_glossary_sorted (self);
  GString *out = g_string_new (NULL);

  for (guint g = 0; g < self->groups->len; g++)
    append_group (out, g_ptr_array_index (self->groups, g), terms);
  return g_string_free (out, FALSE);
}

/* --- for programs and pages --- */

static void
add_texts (FabJson *json, const char *key, const char *joined)
{
  g_auto (GStrv) texts = g_strsplit (joined != NULL ? joined : "", ", ", -1);

  fab_json_add_texts (json, key, (const char *const *) texts);
}

char *
fab_glossary_json (const FabGlossary *self)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_autoptr (GPtrArray) terms = fab_glossary_sorted (self);

  fab_json_begin_array (json, NULL);
  for (guint i = 0; i < terms->len; i++) {
    const FabGlossaryTerm *term = terms->pdata[i];

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", term->name);
    add_texts (json, "also", term->also);
    fab_json_add_text (json, "group", term->group);
    fab_json_add_text (json, "text", term->text);
    fab_json_add_text (json, "shows", term->shows);
    add_texts (json, "see", term->see);
    fab_json_add_text (json, "page", term->page);
    fab_json_end (json);
  }
  fab_json_end (json);
  return fab_json_finish (json);
}

/* The anchor that a heading gets on a page: small letters, dashes for blanks, and no other marks. (transfer full) */
static char *
anchor_of (const char *name)
{
  GString *out = g_string_new (NULL);

  for (const char *p = name; *p != '\0'; p++)
    if (g_ascii_isalnum (*p) || *p == '-' || *p == ' ')
      g_string_append_c (out, *p == ' ' ? '-' : g_ascii_tolower (*p));
  return g_string_free (out, FALSE);
}

/* The way from the folder of the page to another one. (transfer full) */
static char *
link_to (const char *page)
{
  GString *out = g_string_new (NULL);
  gsize shared = 0;

  for (gsize i = 0; PAGE_FOLDER[i] != '\0' && page[i] == PAGE_FOLDER[i]; i++)
    shared = page[i] == '/' ? i + 1 : shared;
  for (const char *p = &PAGE_FOLDER[shared]; *p != '\0'; p++)
    if (*p == '/')
      g_string_append (out, "../");
  g_string_append (out, page + shared);
  return g_string_free (out, FALSE);
}

static void
append_links (GString *out, const char *see)
{
  g_auto (GStrv) names = g_strsplit (see, ", ", -1);

  g_string_append (out, "See also: ");
  for (guint i = 0; names[i] != NULL; i++) {
    g_autofree char *anchor = anchor_of (names[i]);
    g_string_append_printf (out, "%s[%s](#%s)", i > 0 ? ", " : "", names[i], anchor);
  }
  g_string_append (out, ".\n\n");
}

static void
append_markdown (GString *out, const FabGlossaryTerm *term)
{
  g_string_append_printf (out, "### %s\n\n", term->name);
  if (term->also != NULL)
    g_string_append_printf (out, "Other names: %s.\n\n", term->also);
  g_string_append_printf (out, "%s\n\nIn Fabricast: %s\n\n", term->text, term->shows);
  if (term->page != NULL) {
    g_autofree char *link = link_to (term->page);
    g_string_append_printf (out, "More: [%s](%s)\n\n", link, link);
  }
  if (term->see != NULL)
    append_links (out, term->see);
}

char *
fab_glossary_markdown (const FabGlossary *self)
{
  g_autoptr (GPtrArray) terms = fab_glossary_sorted (self);
  GString *out = g_string_new (
      "# Glossary\n\n"
      "For everyone: what the words of Fabricast and of the field mean, and where each shows. Rates are those of one\n"
      "direction; GB is 1e9 bytes, GiB is 2^30 bytes. `fabricast help glossary TERM` prints an entry, and\n"
      "`fabricast describe glossary --format markdown` writes this page.\n\n");

  for (guint g = 0; g < self->groups->len; g++) {
    const char *group = g_ptr_array_index (self->groups, g);

    g_string_append_printf (out, "## %s\n\n", group);
    for (guint i = 0; i < terms->len; i++)
      if (strcmp (((const FabGlossaryTerm *) terms->pdata[i])->group, group) == 0)
        append_markdown (out, terms->pdata[i]);
  }
  g_string_truncate (out, out->len - 1);
  return g_string_free (out, FALSE);
}
