/* SPDX-License-Identifier: Apache-2.0 */
/* pairs_print.c - bands of pairs as a catalogue file, and how often they hold as text, JSON, CSV and Markdown. */
#include <math.h>
#include <string.h>

#include "sim/base/json.h"
#include "validate/bands/pairs.h"

/* --- catalogue file --- */

static const char file_head[] =
    "# How far measured ratios of two times are from predicted ones. Written by `fabricast validate pairs`; a test\n"
    "# keeps it in date. docs/explanation/uncertainty.md says how.\n"
    "#\n"
    "# An entry is a relation of two collectives, or of the compute of two jobs. A cell holds for sizes below\n"
    "# `up_to`; `low` and `high` are measured over predicted ratio, with the share `coverage` of all cases between\n"
    "# them. Of compute, `tables` are measured runs, and `families` publications.\n";

static const char *const cell_limits[FAB_N_PAIR_CLASSES] = { "256KiB", "64MiB", "0B" };

/* What a catalogue entry may say. */
static const double least_factor = 0.001, most_factor = 999;

static void
append_cell (GString *out, const char *place, const char *limit, const FabPairEnd *end)
{
  g_string_append (out, "      - {");
  if (place != NULL)
    g_string_append_printf (out, "place: %s, up_to: %s, ", place, limit);
  g_string_append_printf (out, "low: %.3f, high: %.3f, pairs: %u, tables: %u, families: %u}\n",
                          MAX (exp (-end->log), least_factor), MIN (exp (end->log), most_factor),
                          end->n_pairs, end->n_tables, end->n_families);
}

static void
append_entry (GString *out, const char *name, const char *summary, const FabPairFit *fit, gboolean has_places)
{
  gboolean is_first = g_str_has_suffix (out->str, "pairs:\n");

  g_string_append_printf (out, "%s  - name: %s\n    summary: %s\n    coverage: %.0f%%\n    cells:\n",
                          is_first ? "" : "\n", name, summary, fit->coverage_fraction * 100);
  for (guint place = 0; place < FAB_N_PAIR_PLACES; place++)
    for (guint c = 0; c < FAB_N_PAIR_CLASSES; c++)
      if (fit->ends[place][c].n_pairs > 0)
        append_cell (out, has_places ? fab_plan_place_names[place] : NULL, cell_limits[c],
                     &fit->ends[place][c]);
  g_string_append (out, "    source: pairs of rows of validate/measured, docs/explanation/uncertainty.md\n"
                        "    date: \"2026-11-28\"\n");
}

char *
fab_pairs_to_yaml (const FabPairs *self)
{
  GString *out = g_string_new (file_head);

  g_string_append (out, "\npairs:\n");
  append_entry (out, "collectives-alike",
                "Two collectives over one family of links that differ in ranks, operation, size or settings",
                &self->collectives[FAB_PAIR_ALIKE].fit, TRUE);
  append_entry (out, "collectives-other", "Two collectives over links of two measured families",
                &self->collectives[FAB_PAIR_OTHER].fit, TRUE);
  append_entry (out, "collectives-unmeasured",
                "Two collectives over links of two families, one of which has no measured tables",
                &self->collectives[FAB_PAIR_UNMEASURED].fit, TRUE);
  append_entry (out, "compute-alike",
                "Compute of two jobs on one accelerator that differ in model, batch, layout or nodes",
                &self->compute[FAB_PAIR_ALIKE].fit, FALSE);
  append_entry (out, "compute-other", "Compute of one model on two accelerators",
                &self->compute[FAB_PAIR_OTHER].fit, FALSE);
  return g_string_free (out, FALSE);
}

/* --- coverage, line by line --- */

/* Of a filter: every place, every size class. */
enum { ANY = -1 };

/* A kind of pairs of one relation. */
typedef struct {
  const char *subject; /* "collectives", "compute" */
  const char *relation;
  const FabPairList *list;
  FabPairFilter filter;
  FabPairCoverage all, classes[FAB_N_PAIR_CLASSES];
} Line;

static Line
make_line (const char *subject, guint relation, const FabPairList *list, FabPairFilter filter)
{
  Line line = { subject, fab_pair_relation_names[relation],        list,
                filter,  fab_pair_coverage (list->trials, filter), { { 0 } } };

  for (guint c = 0; c < FAB_N_PAIR_CLASSES && strcmp (subject, "compute") != 0; c++) {
    filter.size_class = (int) c;
    line.classes[c] = fab_pair_coverage (list->trials, filter);
  }
  return line;
}

/* The kinds of a list, in the order in which they first stand. (transfer container) */
static GPtrArray *
list_kinds (const FabPairList *list)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *kinds = g_ptr_array_new ();

  for (guint i = 0; i < list->pairs->len; i++) {
    const char *kind = g_array_index (list->pairs, FabPair, i).kind;

    if (g_hash_table_add (seen, (gpointer) kind))
      g_ptr_array_add (kinds, (gpointer) kind);
  }
  return kinds;
}

static void
add_lines (GArray *lines, const char *subject, guint relation, const FabPairList *list)
{
  g_autoptr (GPtrArray) kinds = list_kinds (list);
  gboolean has_places = strcmp (subject, "collectives") == 0;

  for (int place = has_places ? 0 : ANY; place < (has_places ? FAB_N_PAIR_PLACES : 0); place++) {
    Line all = make_line (subject, relation, list, (FabPairFilter){ NULL, place, ANY });

    if (all.all.n_pairs > 0)
      g_array_append_val (lines, all);
    for (guint k = 0; k < kinds->len && kinds->len > 1; k++) {
      Line line = make_line (subject, relation, list,
                             (FabPairFilter){ g_ptr_array_index (kinds, k), place, ANY });

      if (line.all.n_pairs > 0)
        g_array_append_val (lines, line);
    }
  }
}

/* (transfer full: Line) */
static GArray *
make_lines (const FabPairs *self)
{
  GArray *lines = g_array_new (FALSE, FALSE, sizeof (Line));

  for (guint r = FAB_PAIR_ALIKE; r < FAB_N_PAIR_RELATIONS; r++)
    add_lines (lines, "collectives", r, &self->collectives[r]);
  for (guint r = FAB_PAIR_ALIKE; r < FAB_N_PAIR_RELATIONS; r++)
    add_lines (lines, "compute", r, &self->compute[r]);
  return lines;
}

static const char *
place_name (const Line *line)
{
  return line->filter.place != ANY ? fab_plan_place_names[line->filter.place] : "";
}

static const char *
kind_name (const Line *line)
{
  return line->filter.kind != NULL ? line->filter.kind : "all";
}

/* --- text and Markdown --- */

static void
append_share (GString *out, const FabPairCoverage *coverage, const char *before, const char *behind)
{
  if (coverage->n_pairs > 0)
    g_string_append_printf (out, "%s%4.0f %%%s", before, 100 * coverage->held_fraction, behind);
  else
    g_string_append_printf (out, "%s%6s%s", before, "", behind);
}

char *
fab_pairs_to_text (const FabPairs *self)
{
  g_autoptr (GArray) lines = make_lines (self);
  GString *out = g_string_new (
      "Measured ratios of two times, and how often a band of 90 % holds them that was made "
      "without their family\n\n");

  g_string_append_printf (out, "%-12s\v%-12s\v%-9s\v%-33s\v%6s\v%10s\v%8s\v%8s\v%8s\v%8s\v%8s\v%10s\v%9s\n",
                          "of", "relation", "place", "differ in", "pairs", "families", "small", "middle",
                          "large", "all", "within", "opposite", "within");
  for (guint i = 0; i < lines->len; i++) {
    const Line *line = &g_array_index (lines, Line, i);

    g_string_append_printf (out, "%-12s\v%-12s\v%-9s\v%-33s\v%6u\v%10u", line->subject, line->relation,
                            place_name (line), kind_name (line), line->all.n_pairs, line->all.n_families);
    for (guint c = 0; c < FAB_N_PAIR_CLASSES; c++)
      append_share (out, &line->classes[c], "\v  ", "");
    append_share (out, &line->all, "\v  ", "");
    g_string_append_printf (out, "\v%8.2f\v%8.0f %%\v%9.2f\n", exp (line->all.median_log),
                            100 * line->all.opposite_fraction, exp (line->all.median_opposite_log));
  }
  g_string_append (
      out,
      "\nwithin: the ratio times or divided by this factor, in the middle over pairs; opposite: with both "
      "times at opposite\nends of their own bands.\n");
  return g_string_free (out, FALSE);
}

static void
append_coverage_rows (GString *out, const GArray *lines)
{
  for (guint i = 0; i < lines->len; i++) {
    const Line *line = &g_array_index (lines, Line, i);
    const char *mark = line->filter.kind == NULL ? "**" : "";

    g_string_append_printf (out, "| %s%s, %s%s | %s | %s | %u (%u) |", mark, line->subject, line->relation,
                            mark, place_name (line), kind_name (line), line->all.n_pairs,
                            line->all.n_families);
    for (guint c = 0; c < FAB_N_PAIR_CLASSES; c++)
      if (line->classes[c].n_pairs > 0)
        g_string_append_printf (out, " %.0f %% |", 100 * line->classes[c].held_fraction);
      else
        g_string_append (out, " |");
    g_string_append_printf (out, " %.0f %% | %.2f | %.0f %% | %.2f |\n", 100 * line->all.held_fraction,
                            exp (line->all.median_log), 100 * line->all.opposite_fraction,
                            exp (line->all.median_opposite_log));
  }
}

static void
append_end (GString *out, const FabPairEnd *end)
{
  if (end->n_pairs > 0)
    g_string_append_printf (out, " %.2f (%u, %u, %u) |", exp (end->log), end->n_pairs, end->n_tables,
                            end->n_families);
  else
    g_string_append (out, " |");
}

static void
append_ends (GString *out, const FabPairs *self)
{
  for (guint r = 0; r < FAB_N_PAIR_RELATIONS; r++)
    for (guint place = 0; place < FAB_N_PAIR_PLACES; place++) {
      g_string_append_printf (out, "| collectives, %s | %s |", fab_pair_relation_names[r],
                              fab_plan_place_names[place]);
      for (guint c = 0; c < FAB_N_PAIR_CLASSES; c++)
        append_end (out, &self->collectives[r].fit.ends[place][c]);
      g_string_append_c (out, '\n');
    }
  for (guint r = 0; r < FAB_PAIR_UNMEASURED; r++) {
    g_string_append_printf (out, "| compute, %s | | | |", fab_pair_relation_names[r]);
    append_end (out, &self->compute[r].fit.ends[0][0]);
    g_string_append_c (out, '\n');
  }
}

char *
fab_pairs_to_markdown (const FabPairs *self)
{
  g_autoptr (GArray) lines = make_lines (self);
  GString *out = g_string_new (
      "### Pairs of families and sources left out\n\n"
      "| relation | place | the two differ in | pairs (families) | small < 256 KiB | middle < 64 MiB "
      "| large >= 64 MiB | all | within a factor | opposite ends | within a factor |\n"
      "|---|---|---|---|---|---|---|---|---:|---|---:|\n");

  append_coverage_rows (out, lines);
  g_string_append (out, "\n### Factor around a predicted ratio, 90 % (pairs, tables, families)\n\n"
                        "| relation | place | small | middle | large |\n|---|---|---|---|---|\n");
  append_ends (out, self);
  return g_string_free (out, FALSE);
}

/* --- data --- */

static void
append_csv (GString *out, const Line *line, const char *size_class, const FabPairCoverage *coverage)
{
  if (coverage->n_pairs > 0)
    g_string_append_printf (out, "%s,%s,%s,\"%s\",%s,%u,%u,%.6f,%.6f,%.6f,%.6f\n", line->subject,
                            line->relation, place_name (line), kind_name (line), size_class,
                            coverage->n_pairs, coverage->n_families, coverage->held_fraction,
                            exp (coverage->median_log), coverage->opposite_fraction,
                            exp (coverage->median_opposite_log));
}

char *
fab_pairs_to_csv (const FabPairs *self)
{
  g_autoptr (GArray) lines = make_lines (self);
  GString *out = g_string_new (
      "of,relation,place,differ_in,size_class,pairs,families,held_fraction,within_factor,"
      "opposite_held_fraction,opposite_within_factor\n");

  for (guint i = 0; i < lines->len; i++) {
    const Line *line = &g_array_index (lines, Line, i);

    append_csv (out, line, "all", &line->all);
    for (guint c = 0; c < FAB_N_PAIR_CLASSES; c++)
      append_csv (out, line, fab_size_class_names[c], &line->classes[c]);
  }
  return g_string_free (out, FALSE);
}

static void
add_json (FabJson *json, const char *size_class, const FabPairCoverage *coverage)
{
  if (coverage->n_pairs == 0)
    return;
  fab_json_begin_object (json, size_class);
  fab_json_add_whole (json, "pairs", coverage->n_pairs);
  fab_json_add_whole (json, "families", coverage->n_families);
  fab_json_add_real (json, "held_fraction", coverage->held_fraction);
  fab_json_add_real (json, "within_factor", exp (coverage->median_log));
  fab_json_add_real (json, "opposite_held_fraction", coverage->opposite_fraction);
  fab_json_add_real (json, "opposite_within_factor", exp (coverage->median_opposite_log));
  fab_json_end (json);
}

char *
fab_pairs_to_json (const FabPairs *self)
{
  g_autoptr (GArray) lines = make_lines (self);
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_begin_array (json, "pairs");
  for (guint i = 0; i < lines->len; i++) {
    const Line *line = &g_array_index (lines, Line, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "of", line->subject);
    fab_json_add_text (json, "relation", line->relation);
    fab_json_add_text (json, "place", line->filter.place != ANY ? place_name (line) : NULL);
    fab_json_add_text (json, "differ_in", line->filter.kind);
    add_json (json, "all", &line->all);
    for (guint c = 0; c < FAB_N_PAIR_CLASSES; c++)
      add_json (json, fab_size_class_names[c], &line->classes[c]);
    fab_json_end (json);
  }
  fab_json_end (json);
  fab_json_end (json);
  return fab_json_finish (json);
}
