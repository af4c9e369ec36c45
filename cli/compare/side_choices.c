/* SPDX-License-Identifier: Apache-2.0 */
/* side_choices.c - variants of one key beside each other, for what the library chooses (choice_text.h). */
#include <string.h>

#include "cli/compare/cmd_compare.h"
#include "cli/study/choice_text.h"

GArray *
fab_compare_choice_pairs (const FabSidesView *view)
{
  GArray *pairs = fab_choice_pairs_new ();

  for (guint i = 1; view->variants != NULL && i < view->sides->len; i++) {
    const FabSide *before = fab_sides_at (view->sides, i - 1), *after = fab_sides_at (view->sides, i);
    FabChoicePair pair = { .key = view->variants->key,
                           .before_value = strchr (before->name, '=') + 1, /* "nic_rate=80Gb/s" */
                           .after_value = strchr (after->name, '=') + 1,
                           .before = before->point,
                           .after = after->point };

    g_array_append_val (pairs, pair);
  }
  return pairs;
}
