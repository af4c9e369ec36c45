/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/study/choice_text.h"

#include "sim/base/units.h"

enum { MOST_LINES = 5 };

void
fab_choice_append_text (GString *text, const GArray *pairs)
{
  g_autoptr (GArray) lines = fab_choice_lines (pairs);

  if (lines->len == 0)
    return;
  g_string_append (text, "\n  what the library chooses changes\n");
  for (guint i = 0; i < MIN (lines->len, MOST_LINES); i++) {
    const FabChoiceLine *line = &g_array_index (lines, FabChoiceLine, i);

    if (line->n == 1 && line->beside != NULL)
      g_string_append_printf (text, "  with %s, %s\n", line->beside, line->words);
    else if (line->n > 1)
      g_string_append_printf (text, "  %s; %u times\n", line->words, line->n);
    else
      g_string_append_printf (text, "  %s\n", line->words);
  }
  if (lines->len > MOST_LINES)
    g_string_append_printf (text, "  and %u more; --format json lists them\n", lines->len - MOST_LINES);
}

static void
add_side (FabJson *json, const char *name, const FabChoice *choice)
{
  fab_json_begin_object (json, name);
  fab_json_add_text (json, "algorithm", choice->algorithm);
  fab_json_add_text (json, "protocol", choice->protocol);
  fab_json_add_whole (json, "channels", choice->n_channels);
  fab_json_add_real (json, "seconds", choice->seconds);
  fab_json_end (json);
}

static void
add_effect (FabJson *json, const FabChoiceEffect *effect)
{
  const FabChoiceChange *change = &effect->change;

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "key", effect->pair->key);
  fab_json_add_text (json, "from", effect->pair->after_value);
  fab_json_add_text (json, "beside", effect->pair->beside);
  fab_json_add_text (json, "op", change->after->op);
  fab_json_add_whole (json, "bytes", (gint64) change->after->bytes);
  add_side (json, "before", change->before);
  add_side (json, "after", change->after);
  fab_json_add_real (json, "slowdown_fraction", effect->slowdown);
  fab_json_add_text (json, "reason", effect->reason);
  fab_json_end (json);
}

void
fab_choice_add_json (FabJson *json, const GArray *pairs)
{
  g_autoptr (GArray) effects = fab_choice_effects (pairs);

  fab_json_begin_array (json, "choices");
  for (guint i = 0; i < effects->len; i++)
    add_effect (json, &g_array_index (effects, FabChoiceEffect, i));
  fab_json_end (json);
}
