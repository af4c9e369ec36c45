/* SPDX-License-Identifier: Apache-2.0 */
/* run_brief.c - the first screen of `fabricast run`: the step with its band, what it consists of, what limits it and
 * what would help, in at most twelve lines. */
#include <string.h>

#include "cli/cli.h"
#include "cli/run/run.h"
#include "sim/base/units.h"

enum { LABEL_COLUMNS = 14 };

/* A band whose bounds are so much apart is too wide to quote, as the report says it (WIDE). */
static const double wide_factor = 2;
static const double least_fraction = 0.001; /* of the step; a shorter part is not worth a word */

static void
append_label (GString *page, const char *label)
{
  g_string_append_printf (page, "  %-*s", LABEL_COLUMNS, label);
}

/* The first sentence of a text. */
static void
append_sentence (GString *page, const char *text)
{
  g_autofree char *printable = fab_cli_printable (text);
  const char *end = strstr (printable, ". ");

  g_string_append_len (page, printable, end != NULL ? end + 1 - printable : -1);
}

static void
append_step (GString *page, const FabRunResult *result)
{
  const FabStepRecord *step = fab_run_last_step (result);
  g_autofree char *time = fab_units_show (FAB_UNIT_TIME, (double) step->times.duration_ps);

  append_label (page, "step");
  g_string_append (page, time);
  if (step->tokens_per_s > 0)
    g_string_append_printf (page, ", %.0f tokens/s", step->tokens_per_s);
  if (step->mfu_fraction > 0)
    g_string_append_printf (page, ", %.1f %% of the GPUs' peak (MFU)", 100 * step->mfu_fraction);
  g_string_append_c (page, '\n');
}

static void
append_band (GString *page, const FabRunResult *result)
{
  guint last = result->steps->len - 1;

  if (result->band == NULL)
    return;
  double low_s = result->band->low[last], high_s = result->band->high[last];
  g_autofree char *low = fab_units_show (FAB_UNIT_TIME, low_s * FAB_PS_PER_S);
  g_autofree char *high = fab_units_show (FAB_UNIT_TIME, high_s * FAB_PS_PER_S);
  append_label (page, "band");
  g_string_append_printf (page,
                          high_s >= wide_factor * low_s
                              ? "%s to %s in %.0f %% of cases: too wide to quote the step\n"
                              : "%s to %s holds the real step in %.0f %% of cases\n",
                          low, high, 100 * result->band->coverage_fraction);
}

static void
append_part (GString *page, guint *n, FabTimePs part_ps, FabTimePs step_ps, const char *name)
{
  if ((double) part_ps <= least_fraction * (double) step_ps)
    return;
  g_string_append_printf (page, "%s%s %.1f %%", (*n)++ > 0 ? ", " : "", name,
                          100 * (double) part_ps / (double) step_ps);
}

static void
append_parts (GString *page, const FabRunResult *result)
{
  const FabIterationRecord *times = &fab_run_last_step (result)->times;
  guint n = 0;

  append_label (page, "consists of");
  append_part (page, &n, times->compute_ps, times->duration_ps, "compute");
  append_part (page, &n, times->exposed_ps, times->duration_ps,
               times->compute_ps > 0 ? "waiting for communication" : "communication");
  append_part (page, &n, times->idle_ps, times->duration_ps, "idle");
  g_string_append (page, n > 0 ? "\n" : "nothing that takes time\n");
}

/* What the name of a lever stands for, in a word for beginners. */
static const char *
meaning_of (const FabLever *lever)
{
  switch (lever->kind) {
  case FAB_LEVER_LINK: return lever->is_port ? ", the network port of each NIC" : ", a kind of link";
  case FAB_LEVER_LINKS: return ", and no kind of link alone";
  case FAB_LEVER_PAIR: return ", which are as slow as each other";
  case FAB_LEVER_NICS: return ", the network adapters of each node";
  case FAB_LEVER_CHANNELS: return ", with which the collective library fills the links";
  case FAB_LEVER_MESSAGES: return ", each of which takes time of its sender";
  case FAB_LEVER_LATENCY: return ", the time before the first byte arrives";
  case FAB_LEVER_COMPUTE: return ", the kernels of the GPUs";
  case FAB_LEVER_MEMORY: return ": the kernels wait for bytes of their own memory";
  case FAB_LEVER_HOST: return ", the processor beside the GPUs";
  case FAB_LEVER_RANKS: return ", for which the others wait";
  case FAB_LEVER_DRAWS: return ", which another seed changes";
  case FAB_N_LEVERS:
  default: return "";
  }
}

/* Levers that were played with several seeds, or at another fidelity, start from another step than the one above. */
static void
append_lever (GString *page, const char *label, const FabBottleneck *bottleneck, const FabLever *lever)
{
  g_autofree char *step = fab_figure_show (FAB_FIGURE_TIME, lever->step_s);
  double percent = -100 * fab_lever_saved (lever);

  append_label (page, label);
  g_string_append_printf (page, "%s: ", lever->change);
  if (lever->kind == FAB_LEVER_DRAWS)
    g_string_append_printf (page, "%+.1f %% from the median", percent);
  else if (bottleneck->n_draws > 1)
    g_string_append_printf (page, "%+.1f %%, the median of %u seeds", percent, bottleneck->n_draws);
  else if (bottleneck->fidelity != NULL)
    g_string_append_printf (page, "%+.1f %%", percent);
  else
    g_string_append_printf (page, "step %s, %+.1f %%", step, percent);
  if (bottleneck->fidelity != NULL)
    g_string_append_printf (page, ", at fidelity %s", bottleneck->fidelity);
  g_string_append (page, "\n");
}

/* The best lever of another kind of part than the first: links, compute, memory, ... NULL: none saves 1 %. Nobody can
 * buy the luck of a seed. */
static const FabLever *
second_lever (const FabBottleneck *self, const FabLever *first)
{
  gboolean is_network = first->kind <= FAB_LEVER_NICS;

  for (guint i = 0; i < self->levers->len; i++) {
    const FabLever *lever = fab_bottleneck_lever (self, i);

    if (lever != first && lever->kind != first->kind && !(is_network && lever->kind <= FAB_LEVER_NICS)
        && lever->kind != FAB_LEVER_LINKS && lever->kind != FAB_LEVER_DRAWS
        && fab_lever_saved (lever) >= FAB_BOTTLENECK_LEAST)
      return lever;
  }
  return NULL;
}

static void
append_limit (GString *page, const FabBottleneck *bottleneck, gboolean has_second)
{
  const FabLever *first = fab_bottleneck_first (bottleneck);

  if (bottleneck == NULL)
    return;
  append_label (page, "limited by");
  if (first == NULL) {
    g_string_append (page, "nothing alone: no single change saves 1 % of the step\n");
    return;
  }
  g_string_append_printf (page, "%s%s\n", first->name, meaning_of (first));
  const FabLever *second = second_lever (bottleneck, first);
  append_lever (page, "helps most", bottleneck, first);
  if (second != NULL && has_second)
    append_lever (page, "helps next", bottleneck, second);
}

/* A finding in half a line. NULL: no reservation. */
static const char *
caution_of (const FabFinding *finding)
{
  switch (finding->code) {
  case FAB_FINDING_MAY_NOT_FIT: return "memory may not suffice";
  case FAB_FINDING_SPREAD: return "other seeds give other steps";
  case FAB_FINDING_CHOICE: return "the collective library could choose a faster algorithm";
  case FAB_FINDING_EXTRAPOLATED: return "messages have sizes that were not measured";
  case FAB_FINDING_ASSUMED_DESIGN: return "parts of the design of the machine were published nowhere";
  case FAB_FINDING_UNCALIBRATED: return "a link, GPU or clock was not measured";
  case FAB_FINDING_FIDELITY_NO_SHARING: return "this fidelity does not share links";
  case FAB_FINDING_FIDELITY_COLLISION: return "colliding paths, whose queues this fidelity leaves out";
  case FAB_FINDING_FIDELITY_INCAST: return "many senders to one port, whose queue is left out";
  case FAB_FINDING_FIDELITY_SPREADING: return "congestion that spreads, which this fidelity leaves out";
  case FAB_FINDING_FIDELITY_CHANNELS: return "collectives share a link in a way that is left out";
  case FAB_FINDING_DOES_NOT_FIT:
  case FAB_FINDING_UNREACHABLE_TARGET:
  case FAB_FINDING_HALF_USED_SWITCHES:
  case FAB_FINDING_LONE_RAILS:
  case FAB_FINDING_UNEVEN_PORTS:
  case FAB_FINDING_ONE_SWITCH:
  case FAB_FINDING_WAITS_FOR_COMPUTE:
  case FAB_FINDING_WAITS_FOR_NETWORK:
  case FAB_FINDING_WAITS_FOR_STRAGGLER:
  case FAB_FINDING_WAITS_FOR_BUBBLE:
  case FAB_FINDING_WAITS_FOR_HOST:
  case FAB_N_FINDING_CODES:
  default: return NULL;
  }
}

/* The first reservation with which the figures hold, and how many more there are. */
static void
append_caution (GString *page, const FabRunResult *result)
{
  const FabUntuned *untuned = result->band != NULL ? &result->band->collectives.untuned : NULL;
  const char *first = NULL;
  guint n = 0;

  for (guint i = 0; i < fab_verdict_n (result->verdict); i++) {
    const char *caution = caution_of (fab_verdict_at (result->verdict, i));

    first = first != NULL ? first : caution;
    n += caution != NULL;
  }
  g_autofree char *words = untuned != NULL ? fab_untuned_words (untuned) : NULL;
  gboolean is_untuned = words != NULL;
  if (n == 0 && !is_untuned)
    return;
  append_label (page, "caution");
  if (first != NULL)
    g_string_append (page, first);
  else
    g_string_append_printf (page, "%u of %u networks took up to %.2g times the predicted time",
                            untuned->n_tables, untuned->n_of, untuned->high_factor);
  n += is_untuned;
  if (n > 1)
    g_string_append_printf (page, "; %u more", n - 1);
  g_string_append_c (page, '\n');
}

/* What forbids the figures; returns whether there is such a thing. */
static gboolean
append_stop (GString *page, const FabRunResult *result, const FabRunCommand *command)
{
  for (guint i = 0; i < fab_verdict_n (result->verdict); i++) {
    const FabFinding *finding = fab_verdict_at (result->verdict, i);

    if (fab_finding_kind (finding)->severity != FAB_FINDING_STOPS)
      continue;
    append_label (page, "stop");
    append_sentence (page, finding->text);
    g_string_append_c (page, '\n');
    if (result->advice != NULL && result->advice->fits->len > 0) {
      append_label (page, "it fits with");
      fab_run_append_command (page, command,
                              ((const FabMemoryFit *) g_ptr_array_index (result->advice->fits, 0))->edits);
      g_string_append_c (page, '\n');
    }
    return TRUE;
  }
  return FALSE;
}

static void
append_more (GString *page, const FabRunResult *result, const FabRunCommand *command)
{
  append_label (page, "more");
  fab_run_append_command (page, command, NULL);
  g_string_append (page, " --full");
  if (result->run_id > 0)
    g_string_append_printf (page, "; this is run %" G_GINT64_FORMAT " in %s", result->run_id, command->db);
  g_string_append_c (page, '\n');
}

char *
fab_run_brief (const FabScenario *scenario, const FabRunResult *result, const FabRunCommand *command)
{
  GString *page = g_string_new (NULL);
  g_autofree char *title = fab_cli_title (scenario);

  g_string_append_printf (page, "%s\n\n", title);
  gboolean is_stopped = append_stop (page, result, command);
  append_step (page, result);
  append_band (page, result);
  append_parts (page, result);
  append_limit (page, result->bottleneck, !is_stopped);
  if (!is_stopped)
    append_caution (page, result);
  append_more (page, result, command);
  return g_string_free (page, FALSE);
}
