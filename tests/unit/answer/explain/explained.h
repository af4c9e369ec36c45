/* SPDX-License-Identifier: Apache-2.0 */
/* explained.h - explanations of a scenario from text, and the scenario as it was played beside them. */
#pragma once

#include "tests/support/test.h"

#include "answer/explain/explain.h"
#include "models/models.h"
#include "sim/run/run.h"
#include "tests/support/play.h"

typedef struct {
  Play *play; /* to its end */
  FabStudy *study;
  FabExplanation *out;
} Explained;

/* What is explained: a figure, "run", or a collective as "collective NAME". */
static inline Explained
explained (const FabCatalog *catalog, const char *yaml, const char *what)
{
  g_autoptr (GError) error = NULL;
  Explained self = { .play = play_new (catalog, yaml, NULL) };

  while (fab_simulation_step (self.play->simulation)) {}
  self.study = fab_study_of ("t", self.play->scenario, catalog, &fab_models);
  if (g_str_has_prefix (what, "collective "))
    self.out = fab_explain_collective (self.study, what + strlen ("collective "), &error);
  else
    self.out = strcmp (what, "run") == 0 ? fab_explain_run (self.study, &error)
                                         : fab_explain_figure (self.study, fab_figure_find (what), &error);
  if (self.out == NULL)
    fail_msg ("%s of %s: %s", what, yaml, error->message);
  return self;
}

static inline void
explained_clear (Explained *self)
{
  fab_explanation_free (self->out);
  fab_study_free (self->study);
  play_free (self->play);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Explained, explained_clear)

/* The first statement of that name; NULL: there is none. */
static inline const FabStatement *
explained_find (const Explained *self, const char *name)
{
  for (guint i = 0; i < self->out->statements->len; i++) {
    const FabStatement *statement = g_ptr_array_index (self->out->statements, i);

    if (strcmp (statement->name, name) == 0)
      return statement;
  }
  return NULL;
}

/* A term of a statement; NAN: it has none of that name. */
static inline double
explained_term (const FabStatement *statement, const char *name)
{
  for (guint i = 0; statement != NULL && i < statement->terms->len; i++) {
    const FabTerm *term = &g_array_index (statement->terms, FabTerm, i);

    if (strcmp (term->name, name) == 0)
      return term->value;
  }
  return NAN;
}

static inline gboolean
explained_has_note (const FabStatement *statement, const char *begin)
{
  for (guint i = 0; i < statement->notes->len; i++)
    if (g_str_has_prefix (g_ptr_array_index (statement->notes, i), begin))
      return TRUE;
  return FALSE;
}

/* "DEPTH TITLE: NAME = FORMULA = NUMBERS = VALUE", its notes a line each, and its source in brackets. (transfer full)
 */
static inline char *
explained_text (const FabStatement *statement)
{
  GString *text = g_string_new (NULL);
  g_autofree char *value = fab_term_show (statement->kind, statement->value),
                  *numbers = fab_statement_numbers (statement);

  g_string_printf (text, "%u %s: %s = ", statement->depth, statement->title, statement->name);
  if (statement->formula != NULL)
    g_string_append_printf (text, "%s = %s = ", statement->formula, numbers);
  g_string_append (text, value);
  for (guint i = 0; i < statement->notes->len; i++)
    g_string_append_printf (text, "\n%s", (const char *) g_ptr_array_index (statement->notes, i));
  if (statement->source != NULL)
    g_string_append_printf (text, "\n[%s]", statement->source);
  return g_string_free (text, FALSE);
}

/* All statements, with an empty line between two. (transfer full) */
static inline char *
explained_page (const Explained *self)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < self->out->statements->len; i++)
    g_ptr_array_add (texts, explained_text (g_ptr_array_index (self->out->statements, i)));
  g_ptr_array_add (texts, NULL);
  return g_strjoinv ("\n\n", (char **) texts->pdata);
}

static inline void
assert_explained (const FabStatement *statement, const char *expected)
{
  assert_non_null (statement);
  g_autofree char *text = explained_text (statement);

  if (strcmp (text, expected) != 0)
    fail_msg ("it says\n%s\nand not\n%s", text, expected);
}
