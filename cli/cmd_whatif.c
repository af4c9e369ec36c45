/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_whatif.c - `fabricast whatif SCENARIO CHANGE...`: what one change, or all of them, make of a step. */
#include <string.h>

#include "cli/cli.h"
#include "cli/whatif.h"
#include "models/models.h"
#include "sim/base/error.h"

typedef struct {
  char **texts[FAB_N_CHANGES]; /* as given; NULL: none */
  char **base;
  char *format_name;
  FabFormat format;
} WhatIfOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Plays a scenario as it is, with each change by itself, and with all of them, and says what each does to the\n"
      "step and why: what is exposed, which link binds then, and how far a fault reaches. Every option for a change\n"
      "may be given again. A fault is KIND=NAME:WHAT: link=A->B, nic=NAME, rail=N, switch=NAME or gpu=RANK, and\n"
      "50%, dead or +2us, with @1s..2s while the job runs. docs/whatif.md explains.",
  .examples =
      "  fabricast whatif scenarios/fabric-ddp-rail.yaml --fault nic=node3/nic2:50% --fault gpu=11:80%\n"
      "  fabricast whatif scenarios/ddp-llama2-7b-16-dgx-h100.yaml --nvls off --sharp on\n"
      "  fabricast whatif scenarios/zero3-13b-slow-fabric.yaml --nic 400Gb/s --set cluster.nics_per_node=2\n"
      "  fabricast whatif scenarios/compare-domain-8.yaml --domain 72 --domain 4\n",
  .min_rest = 1,
  .max_rest = 1,
};

/* --- changes --- */

static GPtrArray *
read_changes (const WhatIfOptions *o, const FabScenario *scenario, GError **error)
{
  g_autoptr (GPtrArray) changes = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_change_free);

  for (guint kind = 0; kind < FAB_N_CHANGES; kind++)
    for (guint i = 0; o->texts[kind] != NULL && o->texts[kind][i] != NULL; i++) {
      FabChange *change = fab_change_parse (kind, o->texts[kind][i], scenario, error);

      if (change == NULL)
        return NULL;
      g_ptr_array_add (changes, change);
    }
  if (changes->len == 0) {
    fab_throw (error, FAB_ERROR_INPUT, "no change is given: --fault, --nic, --nvls, --domain, ... (--help)");
    return NULL;
  }
  return g_steal_pointer (&changes);
}

/* Two that set the same key cannot be together. (transfer full): the sentence, NULL: they can. */
static char *
say_apart (const GPtrArray *changes)
{
  for (guint i = 0; i < changes->len; i++)
    for (guint k = i + 1; k < changes->len; k++) {
      const FabChange *a = g_ptr_array_index (changes, i), *b = g_ptr_array_index (changes, k);
      g_autofree char *key = fab_change_clash (a, b);

      if (key != NULL)
        return g_strdup_printf ("Not all together: %s and %s both set %s.", a->name, b->name, key);
    }
  return NULL;
}

static FabSide *
all_together (const GPtrArray *changes, const FabStudy *study)
{
  FabEdits *edits = fab_edits_new ();

  for (guint i = 0; i < changes->len; i++)
    fab_edits_append (edits, ((const FabChange *) g_ptr_array_index (changes, i))->edits);
  return fab_side_new ("all together", study, edits);
}

static GPtrArray *
sides_of (const GPtrArray *changes, const FabStudy *study, gboolean has_together)
{
  GPtrArray *sides = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_side_free);

  g_ptr_array_add (sides, fab_side_new ("as it is", study, NULL));
  for (guint i = 0; i < changes->len; i++) {
    const FabChange *change = g_ptr_array_index (changes, i);

    FabEdits *edits = fab_edits_new ();

    fab_edits_append (edits, change->edits);
    g_ptr_array_add (sides, fab_side_new (change->name, study, edits));
  }
  if (has_together)
    g_ptr_array_add (sides, all_together (changes, study));
  return sides;
}

/* --- mistakes --- */

/* What the machine or the job says of an assignment that nobody wrote is said of the option that stands for it. */
static void
rethrow (const FabChange *change, const GError *problem, GError **error)
{
  g_autofree char *own = g_strdup_printf ("--set: %s: ", fab_edits_at (change->edits, 0)->text);
  g_auto (GStrv) lines = g_strsplit (problem->message, "\n", 2);

  if (change->kind == FAB_CHANGE_SET) {
    g_propagate_error (error, g_error_copy (problem));
    return;
  }
  g_set_error (error, problem->domain, problem->code, "--%s %s: %s", fab_change_names[change->kind],
               change->kind == FAB_CHANGE_FAULT ? change->name : strchr (change->name, ' ') + 1,
               g_str_has_prefix (lines[0], own) ? lines[0] + strlen (own) : lines[0]);
}

/* A job that hangs is an answer; everything else that cannot be played is a mistake, but for all of them together. */
static gboolean
check_sides (const GPtrArray *changes, const GPtrArray *sides, GError **error)
{
  const FabSide *base = fab_sides_at (sides, 0);

  if (base->problem != NULL) {
    g_propagate_error (error, g_error_copy (base->problem));
    return FALSE;
  }
  for (guint i = 0; i < changes->len; i++) {
    const GError *problem = fab_sides_at (sides, i + 1)->problem;

    if (problem == NULL || g_error_matches (problem, FAB_ERROR, FAB_ERROR_HUNG))
      continue;
    rethrow (g_ptr_array_index (changes, i), problem, error);
    return FALSE;
  }
  return TRUE;
}

/* --- the command --- */

static gboolean
whatif (const WhatIfOptions *o, const char *path, GError **error)
{
  typedef char *(*ToTextFn) (const FabWhatIfView *view);
  static const ToTextFn printers[] = { [FAB_FORMAT_TEXT] = fab_whatif_text,
                                       [FAB_FORMAT_JSON] = fab_whatif_json,
                                       [FAB_FORMAT_CSV] = fab_whatif_csv };
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabStudy) study = fab_cli_study (path, o->base, catalog, error);
  g_autoptr (FabScenario) scenario = study ? fab_study_scenario (study, NULL, error) : NULL;
  g_autoptr (GPtrArray) changes = scenario ? read_changes (o, scenario, error) : NULL;

  if (changes == NULL)
    return FALSE;
  g_autofree char *apart = say_apart (changes), *title = fab_cli_title (scenario);
  g_autoptr (GPtrArray) sides = sides_of (changes, study, changes->len > 1 && apart == NULL);
  fab_sides_play (sides);
  if (!check_sides (changes, sides, error))
    return FALSE;
  g_autoptr (FabContrast) contrast = fab_sides_contrast (sides, 0);
  g_autofree char *text = printers[o->format](&(FabWhatIfView){ title, changes, sides, contrast, apart });
  g_print ("%s", text);
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  WhatIfOptions o = { .base = NULL };
#define CHANGE(name_, kind_, help_, value_)                                             \
  {                                                                                     \
    name_, 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.texts[FAB_CHANGE_##kind_], help_, value_ \
  }
  const GOptionEntry entries[] = {
    CHANGE ("fault", FAULT, "Something is broken: nic=node2/nic1:50%, link=A->B:dead, gpu=11:80%", "FAULT"),
    CHANGE ("sharp", SHARP, "The network's switches reduce: on or off", "on|off"),
    CHANGE ("nvls", NVLS, "NVLink switches reduce: on or off", "on|off"),
    CHANGE ("nic", NIC, "The rate of the NIC ports (800Gb/s), or their link entry (ib-xdr)", "RATE|LINK"),
    CHANGE ("domain", DOMAIN, "As many GPUs in NVLink domains of so many", "GPUS"),
    CHANGE ("gpus", GPUS, "So many GPUs: whole nodes, or a part of one", "GPUS"),
    CHANGE ("nodes", NODES, "So many nodes", "NODES"),
    CHANGE ("set", SET, "Any other key, by itself", "KEY=VALUE"),
    { "base", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.base, "Override any key before all changes; repeatable",
      "KEY=VALUE" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name, "text (default), json or csv", "FORMAT" },
    G_OPTION_ENTRY_NULL
  };
#undef CHANGE
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && fab_cli_format (o.format_name, &o.format, &error) && whatif (&o, argv[1], &error);

  for (guint kind = 0; kind < FAB_N_CHANGES; kind++)
    g_strfreev (o.texts[kind]);
  g_strfreev (o.base);
  g_free (o.format_name);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("whatif", error);
}

const FabCommand fab_command_whatif = {
  .name = "whatif",
  .summary = "Say what a fault, another NIC, NVLS, SHARP, a domain or any key changes",
  .run = run,
};
