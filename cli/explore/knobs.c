/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/explore/knobs.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/base/json.h"

enum { MAX_CLIENT = 32 };

const FabKnobControl fab_knob_controls[FAB_N_KNOBS] = {
  [FAB_KNOB_MODEL] = { "model", "Model", "", "The neural network that is trained." },
  [FAB_KNOB_STRATEGY] = { "strategy", "Strategy", "",
                          "What every GPU keeps, and so what has to be sent: ddp keeps everything, zero1 to zero3 and "
                          "fsdp share it out." },
  [FAB_KNOB_GPUS] = { "gpus",
                      "GPUs",
                      "",
                      "How many; rounded up to whole nodes.",
                      1,
                      FAB_KNOB_MAX_GPUS,
                      { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024 } },
  [FAB_KNOB_NODE] = { "node", "Node", "", "The machine that the GPUs are in." },
  [FAB_KNOB_RATE] = { "rate",
                      "Network",
                      "Gb/s",
                      "Line rate of each port between nodes, one way.",
                      1,
                      6400,
                      { 10, 25, 50, 100, 200, 300, 400, 600, 800, 1200, 1600, 3200 } },
  [FAB_KNOB_MICRO_BATCH] = { "micro_batch",
                             "Micro-batch",
                             "sequences",
                             "Sequences that a GPU computes at a time.",
                             1,
                             256,
                             { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64 } },
  [FAB_KNOB_BUCKET] = { "bucket",
                        "Bucket",
                        "MiB",
                        "Gradients that are sent at a time (ddp, zero). fsdp sends layer by layer.",
                        1,
                        8192,
                        { 1, 2, 5, 10, 25, 50, 100, 200, 400, 1000, 2000, 4000 } },
};

static gboolean
is_choice (FabKnobId id)
{
  return fab_knob_controls[id].max == 0;
}

/* --- requests --- */

static gboolean
parse_value (const FabKnobBoard *self, FabKnobId id, const char *text, gint64 *value, GError **error)
{
  const FabKnobControl *knob = &fab_knob_controls[id];

  if (!is_choice (id)) {
    if (g_ascii_string_to_signed (text, 10, knob->min, knob->max, value, NULL))
      return TRUE;
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s: a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, knob->name,
                      knob->min, knob->max);
  }
  *value = fab_knob_index (self->names[id], text);
  if (*value >= 0)
    return TRUE;
  return fab_throw (error, FAB_ERROR_INPUT, "%s: there is none of this name", knob->name);
}

static gboolean
is_client (const char *text)
{
  gsize length = strlen (text);

  return length > 0 && length <= MAX_CLIENT
      && strspn (text, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS) == length;
}

static gboolean
parse_pair (const FabKnobBoard *self, const char *name, const char *value, FabKnobSetting *setting,
            GError **error)
{
  for (guint id = 0; id < FAB_N_KNOBS; id++)
    if (strcmp (fab_knob_controls[id].name, name) == 0)
      return parse_value (self, id, value, &setting->values[id], error);
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "there is no such knob; there are model, strategy, gpus, node, rate, micro_batch and bucket");
}

gboolean
fab_knob_board_parse (const FabKnobBoard *self, const char *query, FabKnobSetting *setting, char **client,
                      GError **error)
{
  g_auto (GStrv) pairs = g_strsplit (query ? query : "", "&", FAB_N_KNOBS + 2);

  *setting = self->start;
  *client = NULL;
  if (g_strv_length (pairs) > FAB_N_KNOBS + 1)
    return fab_throw (error, FAB_ERROR_INPUT, "more pairs than there are knobs");
  for (char **pair = pairs; *pair != NULL; pair++) {
    char *equals = strchr (*pair, '=');

    if (equals == NULL)
      return fab_throw (error, FAB_ERROR_INPUT, "a query is knob=value, joined by &");
    *equals = '\0';
    if (strcmp (*pair, "client") == 0 && is_client (equals + 1)) {
      g_free (*client);
      *client = g_strdup (equals + 1);
    } else if (!parse_pair (self, *pair, equals + 1, setting, error)) {
      g_clear_pointer (client, g_free);
      return FALSE;
    }
  }
  return TRUE;
}

/* --- for the page --- */

static void
add_values (FabJson *json, const FabKnobBoard *self, FabKnobId id)
{
  fab_json_begin_array (json, "values");
  for (guint i = 0; is_choice (id) && self->names[id][i] != NULL; i++)
    fab_json_add_text (json, NULL, self->names[id][i]);
  for (guint i = 0; !is_choice (id) && fab_knob_controls[id].steps[i] != 0; i++)
    fab_json_add_whole (json, NULL, fab_knob_controls[id].steps[i]);
  fab_json_end (json);
}

static void
add_value (FabJson *json, const char *key, const FabKnobBoard *self, FabKnobId id, gint64 value)
{
  if (is_choice (id))
    fab_json_add_text (json, key, self->names[id][value]);
  else
    fab_json_add_whole (json, key, value);
}

void
fab_knob_board_add_json (FabJson *json, const char *key, const FabKnobBoard *self)
{
  fab_json_begin_array (json, key);
  for (guint id = 0; id < FAB_N_KNOBS; id++) {
    const FabKnobControl *knob = &fab_knob_controls[id];

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", knob->name);
    fab_json_add_text (json, "label", knob->label);
    fab_json_add_text (json, "unit", knob->unit);
    fab_json_add_text (json, "help", knob->help);
    fab_json_add_whole (json, "min", knob->min);
    fab_json_add_whole (json, "max", knob->max);
    add_values (json, self, id);
    add_value (json, "start", self, id, self->start.values[id]);
    fab_json_end (json);
  }
  fab_json_end (json);
}

void
fab_knob_setting_add_json (FabJson *json, const char *key, const FabKnobBoard *self,
                           const FabKnobSetting *setting)
{
  fab_json_begin_object (json, key);
  for (guint id = 0; id < FAB_N_KNOBS; id++)
    add_value (json, fab_knob_controls[id].name, self, id, setting->values[id]);
  fab_json_end (json);
}
