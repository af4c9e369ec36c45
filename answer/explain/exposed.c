/* SPDX-License-Identifier: Apache-2.0 */
/* exposed.c - the communication that compute waits for: by dimension of parallelism, and between which kernels.
 *
 * What a dimension exposes is the mean over ranks; the gaps are those of the class of ranks that waits longest.
 */
#include <string.h>

#include "answer/explain/parts.h"
#include "sim/base/units.h"
#include "sim/execution/overlap.h"

enum { MOST_GAPS = 3, MOST_GROUPS = 4 };

/* Of the exposed time: a dimension with less is named, and its collectives are not taken apart. */
static const double worth_a_chain = 0.01;

/* --- by dimension --- */

/* "all_gather: 233 of 51.4 GB in all, under way 3.1 s". */
static void
note_operations (const Explain *self, FabStatement *statement, const char *dimension)
{
  const FabDag *dag = fab_simulation_dag (self->simulation);
  const GArray *exposures = explain_probe (self)->exposures;

  for (guint i = 0; i < exposures->len; i++) {
    const FabExposureRecord *record = &g_array_index (exposures, FabExposureRecord, i);

    if (strcmp (record->dimension, dimension) != 0 || record->rank_class > 0)
      continue;
    g_autofree char *bytes = fab_term_show (FAB_TERM_BYTES, (double) record->bytes);
    g_autofree char *comm = fab_term_show (FAB_TERM_TIME, fab_ps_to_seconds (record->comm_ps));
    g_autofree char *exposed = fab_term_show (FAB_TERM_TIME, fab_ps_to_seconds (record->exposed_ps));
    g_autofree char *who = dag->n_classes > 1 ? g_strdup_printf (" of %s", dag->classes[0].name)
                                              : g_strdup ("");
    fab_statement_note (statement, "%u x %s%s, %s in all: under way for %s, of which %s is exposed.",
                        record->n_collectives, record->op, who, bytes, comm, exposed);
  }
}

/* --- gaps --- */

typedef struct {
  guint rank_class;
  FabIntervalSet compute, comm;
  GArray *gaps; /* FabInterval, the longest first */
} Gaps;

static guint
most_exposed (const Explain *self)
{
  const GArray *iterations = explain_probe (self)->iterations;
  guint most = 0;

  for (guint c = 1; c < iterations->len; c++)
    if (g_array_index (iterations, FabIterationRecord, c).exposed_ps
        > g_array_index (iterations, FabIterationRecord, most).exposed_ps)
      most = c;
  return most;
}

static void
take_spans (Gaps *self, const GArray *spans)
{
  for (guint i = 0; i < spans->len; i++) {
    const FabSpanRecord *span = &g_array_index (spans, FabSpanRecord, i);

    if (span->rank_class != self->rank_class)
      continue;
    if (span->kind == FAB_SPAN_COMPUTE)
      fab_interval_set_add (&self->compute, span->start_ps, span->end_ps);
    else if (span->kind == FAB_SPAN_COMM)
      fab_interval_set_add (&self->comm, span->start_ps, span->end_ps);
  }
}

/* What of one interval of communication no compute covers. */
static void
cut_out (Gaps *self, FabInterval talk)
{
  const GArray *compute = self->compute.intervals;
  FabTimePs from_ps = talk.start_ps;

  for (guint i = 0; i <= compute->len; i++) {
    FabInterval busy = i < compute->len ? g_array_index (compute, FabInterval, i)
                                        : (FabInterval){ talk.end_ps, talk.end_ps };
    FabInterval gap = { from_ps, MIN (busy.start_ps, talk.end_ps) };

    if (gap.end_ps > gap.start_ps)
      g_array_append_val (self->gaps, gap);
    from_ps = MAX (from_ps, busy.end_ps);
  }
}

/* Equal ones stay in the order of time. */
static gint
longest_first (gconstpointer a, gconstpointer b)
{
  const FabInterval *x = a, *y = b;
  FabTimePs length_x = x->end_ps - x->start_ps, length_y = y->end_ps - y->start_ps;

  return (length_x < length_y) - (length_x > length_y);
}

static void
gaps_init (Gaps *self, const Explain *explain)
{
  *self = (Gaps){ .rank_class = most_exposed (explain),
                  .gaps = g_array_new (FALSE, FALSE, sizeof (FabInterval)) };
  fab_interval_set_init (&self->compute);
  fab_interval_set_init (&self->comm);
  take_spans (self, explain_probe (explain)->spans);
  for (guint i = 0; i < self->comm.intervals->len; i++)
    cut_out (self, g_array_index (self->comm.intervals, FabInterval, i));
  g_array_sort (self->gaps, longest_first);
}

static void
gaps_clear (Gaps *self)
{
  fab_interval_set_clear (&self->compute);
  fab_interval_set_clear (&self->comm);
  g_array_unref (self->gaps);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Gaps, gaps_clear)

/* The compute that ended last before the gap, or that begins first after it; NULL: there is none. */
static const FabSpanRecord *
neighbour (const GArray *spans, const Gaps *gaps, FabInterval gap, gboolean is_before)
{
  const FabSpanRecord *found = NULL;

  for (guint i = 0; i < spans->len; i++) {
    const FabSpanRecord *span = &g_array_index (spans, FabSpanRecord, i);

    if (span->rank_class != gaps->rank_class || span->kind != FAB_SPAN_COMPUTE
        || span->end_ps == span->start_ps)
      continue;
    if (is_before && span->end_ps <= gap.start_ps && (found == NULL || span->end_ps > found->end_ps))
      found = span;
    if (!is_before && span->start_ps >= gap.end_ps && (found == NULL || span->start_ps < found->start_ps))
      found = span;
  }
  return found;
}

/* The communication that ended last in the gap, which is what compute waited for, and how many more there were:
 * "all_gather layer1, with 2 more under way". (transfer full) */
static char *
talks_in (const Explain *self, const Gaps *gaps, FabInterval gap)
{
  const GArray *spans = explain_probe (self)->spans;
  const FabSpanRecord *last = NULL;
  FabTimePs last_ps = 0;
  guint n = 0;

  for (guint i = 0; i < spans->len; i++) {
    const FabSpanRecord *span = &g_array_index (spans, FabSpanRecord, i);
    FabTimePs beyond_ps = ABS (span->end_ps - gap.end_ps);

    if (span->rank_class != gaps->rank_class || span->kind != FAB_SPAN_COMM || span->end_ps <= gap.start_ps
        || span->start_ps >= gap.end_ps)
      continue;
    n++;
    if (last == NULL || beyond_ps < last_ps) {
      last = span;
      last_ps = beyond_ps;
    }
  }
  g_assert (last != NULL); /* a gap is a part of the time of communication */
  return n == 1 ? g_strdup (last->name) : g_strdup_printf ("%s, with %u more under way", last->name, n - 1);
}

static void
note_gap (const Explain *self, FabStatement *statement, const Gaps *gaps, FabInterval gap)
{
  const GArray *spans = explain_probe (self)->spans;
  const FabSpanRecord *before = neighbour (spans, gaps, gap, TRUE),
                      *after = neighbour (spans, gaps, gap, FALSE);
  g_autofree char *length = fab_term_show (FAB_TERM_TIME, fab_ps_to_seconds (gap.end_ps - gap.start_ps));
  g_autofree char *talks = talks_in (self, gaps, gap);

  if (before == NULL && after != NULL)
    fab_statement_note (statement,
                        "%s at the beginning: `%s` cannot begin before what it needs is there (%s).", length,
                        after->name, talks);
  else if (after == NULL && before != NULL)
    fab_statement_note (statement, "%s at the end, after `%s`: nothing is left to compute beside it (%s).",
                        length, before->name, talks);
  else if (before != NULL)
    fab_statement_note (statement, "%s between `%s` and `%s`, which waits for it (%s).", length, before->name,
                        after->name, talks);
  else
    fab_statement_note (statement, "%s: the job computes nothing beside it (%s).", length, talks);
}

static void
note_gaps (const Explain *self, FabStatement *statement)
{
  const FabDag *dag = fab_simulation_dag (self->simulation);
  g_auto (Gaps) gaps;

  gaps_init (&gaps, self);
  if (gaps.gaps->len == 0)
    return;
  fab_statement_note (statement, "Compute waits %u %s%s%s. The longest:", gaps.gaps->len,
                      fab_plural (gaps.gaps->len, "time", "times"), dag->n_classes > 1 ? " in " : "",
                      dag->n_classes > 1 ? dag->classes[gaps.rank_class].name : "");
  for (guint i = 0; i < MIN (gaps.gaps->len, MOST_GAPS); i++)
    note_gap (self, statement, &gaps, g_array_index (gaps.gaps, FabInterval, i));
}

/* --- all --- */

void
explain_dimension (const Explain *self, guint depth, const char *dimension, double seconds)
{
  FabStatement *statement = explain_add (self, depth, fab_dimension_say (dimension), dimension, FAB_TERM_TIME,
                                         seconds);
  g_autoptr (GArray) alike = explain_alike (self, dimension);

  note_operations (self, statement, dimension);
  for (guint i = 0; i < MIN (alike->len, MOST_GROUPS); i++) {
    const AlikeCollectives *group = &g_array_index (alike, AlikeCollectives, i);
    const FabCollectiveRecord *record = &g_array_index (explain_probe (self)->collectives,
                                                        FabCollectiveRecord, group->first);
    g_autofree char *bytes = fab_term_show (FAB_TERM_BYTES, (double) record->bytes);
    g_autofree char *each = fab_term_show (FAB_TERM_TIME, group->total_s / group->n);

    g_autofree char *exposed = fab_term_show (FAB_TERM_TIME, group->exposed_s);

    fab_statement_note (statement, "%u x %s of %s over %u ranks: %s each on average, %s exposed in all.",
                        group->n, record->op, bytes, record->n_ranks, each, exposed);
  }
  if (alike->len > MOST_GROUPS)
    fab_statement_note (statement, "%u %s not shown.", alike->len - MOST_GROUPS,
                        fab_plural (alike->len - MOST_GROUPS, "other size is", "other sizes are"));
  if (seconds >= worth_a_chain * self->point->exposed_s)
    explain_collective (self, depth + 1, &g_array_index (alike, AlikeCollectives, 0));
}

void
explain_exposed (const Explain *self, guint depth)
{
  const FabPoint *point = self->point;
  FabStatement *statement;
  g_autoptr (GString) formula = g_string_new (NULL);

  if (point->comm_s <= 0 && depth > 0)
    return;
  statement = explain_add (self, depth, "exposed communication", "exposed", FAB_TERM_TIME, point->exposed_s);
  for (guint d = 0; d < FAB_N_DIMENSIONS; d++) {
    double seconds = point->exposed_by_s[d];

    if (seconds <= 0)
      continue;
    g_string_append_printf (formula, "%s%s", formula->len > 0 ? " + " : "", fab_dimension_names[d]);
    fab_statement_term (statement, fab_dimension_names[d], FAB_TERM_TIME, seconds);
  }
  if (formula->len > 0)
    fab_statement_formula (statement, formula->str);
  g_autofree char *comm = fab_term_show (FAB_TERM_TIME, point->comm_s);
  g_autofree char *hidden = fab_term_show (FAB_TERM_TIME, point->overlapped_s);
  fab_statement_note (statement,
                      "Communication is under way for %s of the step; %s of that is hidden under compute.",
                      comm, hidden);
  if (point->comm_s > point->compute_s && point->compute_s > 0)
    fab_statement_note (statement, "It takes longer than compute, so no overlap could hide all of it.");
  note_gaps (self, statement);
  for (guint d = 0; d < FAB_N_DIMENSIONS; d++)
    if ((point->dimensions & 1U << d) != 0)
      explain_dimension (self, depth + 1, fab_dimension_names[d], point->exposed_by_s[d]);
}
