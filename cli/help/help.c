/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help/help.h"

#include "cli/help/glossary.h"
#include "cli/terminal/fold.h"
#include "cli/terminal/terminal.h"
#include "sim/base/error.h"

enum { COLUMNS = 100 }; /* of prose that no terminal folds */

void
fab_help_print (const char *text)
{
  g_autofree char *folded = fab_fold_prose (text, fab_terminal_prose_columns (COLUMNS));

  g_print ("%s", folded);
}

gboolean
fab_help_term (const char *name, GError **error)
{
  g_autoptr (FabGlossary) glossary = fab_glossary_new ();
  const FabGlossaryTerm *term = fab_glossary_find (glossary, name);
  const char *nearest = term == NULL ? fab_glossary_nearest (glossary, name) : NULL;
  g_autofree char *text = term != NULL ? fab_glossary_entry (term) : NULL;

  if (term == NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "no '%s' in glossary%s%s; `fabricast describe glossary` lists the terms", name,
                      nearest ? "; nearest is " : "", nearest ? nearest : "");
  fab_help_print (text);
  return TRUE;
}
