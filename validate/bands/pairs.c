/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c - pairs of collectives. O(tables^2 x sizes^2). */
#include "validate/bands/pairs.h"

#include <math.h>
#include <string.h>

static const double nearest_factor = 1.5; /* sizes, and numbers of ranks, that count as equal */
static const double size_factor = 4;      /* between two sizes of one table */

/* What two tables differ in. */
static const char by_nothing[] = "measured again", by_nodes[] = "number of nodes",
                  by_gpus[] = "GPUs of a node", by_operation[] = "operation",
                  by_settings[] = "settings of the library", by_size[] = "size",
                  by_algorithm[] = "size, and with it the algorithm", by_nic[] = "NIC",
                  by_links[] = "links of a node";

/* --- two tables --- */

static gboolean
is_one_machine (const FabMeasuredTable *a, const FabMeasuredTable *b)
{
  return strcmp (a->spec->node, b->spec->node) == 0 && strcmp (a->publication, b->publication) == 0;
}

/* Over NICs the same number of nodes or about as many ranks; inside a node the same GPUs. */
static gboolean
are_as_many (const FabMeasuredSpec *a, const FabMeasuredSpec *b)
{
  double ranks = (double) fab_measured_spec_n_ranks (a) / fab_measured_spec_n_ranks (b);

  if (a->nodes == 1 || b->nodes == 1)
    return a->nodes == b->nodes && a->gpus_per_node == b->gpus_per_node;
  return a->nodes == b->nodes || MAX (ranks, 1 / ranks) <= nearest_factor;
}

/* NULL: in more than one thing. */
static const char *
what_differs (const FabMeasuredTable *a, const FabMeasuredTable *b)
{
  const FabMeasuredSpec *one = a->spec, *two = b->spec;
  gboolean has_nodes = one->nodes != two->nodes, has_gpus = one->gpus_per_node != two->gpus_per_node,
           has_operation = one->op != two->op, has_settings = g_strcmp0 (one->sets, two->sets) != 0;

  if (strcmp (one->interconnect, two->interconnect) != 0)
    return has_operation || !are_as_many (one, two) ? NULL : one->nodes > 1 ? by_nic : by_links;
  if (!is_one_machine (a, b))
    return has_nodes || has_gpus || has_operation ? NULL : by_nothing;
  if (has_nodes + has_gpus + has_operation + has_settings != 1)
    return NULL;
  return has_nodes ? by_nodes : has_gpus ? by_gpus : has_operation ? by_operation : by_settings;
}

/* --- bands of one time --- */

static const FabBandCellSpec *
find_cell (const FabBandSpec *band, const FabPlanKind *kind, FabBytes bytes)
{
  const FabBandCellSpec *cells = band != NULL ? band->cells.data : NULL;

  for (guint i = 0; band != NULL && i < band->cells.n; i++)
    if (cells[i].place == (int) kind->place && cells[i].operations == (int) kind->operations
        && (cells[i].up_to_bytes == 0 || bytes < cells[i].up_to_bytes))
      return &cells[i];
  return NULL;
}

/* With the band of its family, or of `stand_in`. */
static FabPairSide
side_of (const FabCatalog *catalog, const FabComparisonRow *row, const char *stand_in)
{
  const FabPlanKind *kind = &row->predicted->kind;
  FabBytes bytes = row->measured->size_bytes;
  const FabBandCellSpec *cell = find_cell (fab_catalog_band (catalog, kind->family), kind, bytes);
  FabPairSide side = { .residual = -log1p (row->error_fraction) };

  if (cell == NULL || strcmp (stand_in, "unmeasured") == 0)
    cell = find_cell (fab_catalog_band (catalog, stand_in), kind, bytes);
  if (cell != NULL) {
    side.low = log (cell->low_factor);
    side.high = log (cell->high_factor);
  }
  return side;
}

/* --- pairs --- */

FabPairMaker
fab_pair_maker (FabPairs *self, guint n_sizes)
{
  double *room = g_new (double, 3 * (gsize) n_sizes + 1);
  FabPairMaker maker = { .logs = room,
                         .opposite_low = room + n_sizes,
                         .opposite_high = room + 2 * (gsize) n_sizes };

  maker.pair.logs = maker.logs;
  maker.pair.opposite_low = maker.opposite_low;
  maker.pair.opposite_high = maker.opposite_high;
  g_ptr_array_add (self->owned, room);
  return maker;
}

void
fab_pair_maker_add (FabPairMaker *self, FabPairSide a, FabPairSide b)
{
  double difference = b.residual - a.residual;
  guint i = self->pair.n++;

  self->logs[i] = fabs (difference);
  self->opposite_low[i] = b.low - a.high - difference;
  self->opposite_high[i] = b.high - a.low - difference;
}

/* Two comparisons of which pairs are made. */
typedef struct {
  FabPairs *pairs;
  const FabCatalog *catalog;
  const FabComparison *one, *two;
  const char *kind;
  double factor; /* of the second's sizes over the first's */
  gboolean is_left_out;
} Tables;

static const FabComparisonRow *
row_at (const FabComparison *self, guint i)
{
  return &g_array_index (self->rows, FabComparisonRow, i);
}

/* The row of the size nearest to this one. NULL: none is near enough. */
static const FabComparisonRow *
find_nearest (const FabComparison *self, double bytes)
{
  const double rounding = 1e-9;
  const FabComparisonRow *nearest = NULL;
  double least = log (nearest_factor) + rounding;

  for (guint i = 0; i < self->rows->len; i++) {
    double off = fabs (log ((double) row_at (self, i)->measured->size_bytes / bytes));

    if (off < least) {
      least = off;
      nearest = row_at (self, i);
    }
  }
  return nearest;
}

static FabPairRelation
relation_of (const Tables *self, const FabComparisonRow *a, const FabComparisonRow *b)
{
  if (strcmp (a->predicted->kind.family, b->predicted->kind.family) != 0)
    return self->is_left_out ? FAB_PAIR_UNMEASURED : FAB_PAIR_OTHER;
  return self->kind == by_nothing ? FAB_PAIR_SAME : FAB_PAIR_ALIKE;
}

/* What two rows differ in, where they are of two sizes. */
static const char *
kind_of (const Tables *self, const FabComparisonRow *a, const FabComparisonRow *b)
{
  if (self->kind != by_size
      || (strcmp (a->predicted->algorithm, b->predicted->algorithm) == 0
          && strcmp (a->predicted->protocol, b->predicted->protocol) == 0))
    return self->kind;
  return by_algorithm;
}

/* Adds the sizes of a class that differ in this and have this relation. */
static void
add_class (const Tables *self, FabSizeClass size_class, const char *kind, FabPairRelation relation)
{
  FabPairMaker maker = fab_pair_maker (self->pairs, self->one->rows->len);
  const char *stand_in = relation == FAB_PAIR_UNMEASURED ? "unmeasured" : "any";

  maker.pair.kind = kind;
  maker.pair.size_class = size_class;
  maker.pair.tables[0] = self->one->table->name;
  maker.pair.tables[1] = self->two->table->name;
  for (guint i = 0; i < self->one->rows->len; i++) {
    const FabComparisonRow *a = row_at (self->one, i);
    const FabComparisonRow *b = find_nearest (self->two, (double) a->measured->size_bytes * self->factor);

    if (fab_size_class (a->measured->size_bytes) != size_class || b == NULL
        || a->predicted->kind.place != b->predicted->kind.place
        || a->predicted->kind.operations != b->predicted->kind.operations || kind_of (self, a, b) != kind
        || relation_of (self, a, b) != relation)
      continue;
    maker.pair.place = a->predicted->kind.place;
    maker.pair.families[0] = a->predicted->kind.family;
    maker.pair.families[1] = b->predicted->kind.family;
    fab_pair_maker_add (&maker, side_of (self->catalog, a, stand_in), side_of (self->catalog, b, stand_in));
  }
  if (maker.pair.n > 0)
    g_array_append_val (self->pairs->collectives[relation].pairs, maker.pair);
}

/* Those that are alike, and those of a family that was not measured, are of predictions without their families. */
static void
add_tables (const Tables *self)
{
  for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
    FabSizeClass size_class = (FabSizeClass) c;

    add_class (self, size_class, self->kind, self->is_left_out ? FAB_PAIR_ALIKE : FAB_PAIR_SAME);
    add_class (self, size_class, self->kind, self->is_left_out ? FAB_PAIR_UNMEASURED : FAB_PAIR_OTHER);
    if (self->kind == by_size && self->is_left_out)
      add_class (self, size_class, by_algorithm, FAB_PAIR_ALIKE);
  }
}

static void
add_collectives (FabPairs *self, const FabReport *report, const FabCatalog *catalog, gboolean is_left_out)
{
  for (guint i = 0; i < report->comparisons->len; i++)
    for (guint k = i; k < report->comparisons->len; k++) {
      Tables tables = { self,
                        catalog,
                        g_ptr_array_index (report->comparisons, i),
                        g_ptr_array_index (report->comparisons, k),
                        by_size,
                        size_factor,
                        is_left_out };

      if (i != k) {
        tables.kind = what_differs (tables.one->table, tables.two->table);
        tables.factor = 1;
      }
      if (tables.kind != NULL && !tables.one->table->spec->is_doubtful
          && !tables.two->table->spec->is_doubtful)
        add_tables (&tables);
    }
}

/* --- all of them --- */

static void
fit_list (FabPairList *self)
{
  const FabPair *pairs = (const FabPair *) (gpointer) self->pairs->data;

  self->fit = fab_pair_fit (pairs, self->pairs->len, FAB_PAIRS_COVERAGE);
  self->trials = fab_pairs_left_out (pairs, self->pairs->len, FAB_PAIRS_COVERAGE);
}

/* What has less in common is no nearer, and a family that was not measured no nearer than one that was. */
static void
widen (FabPairFit *self, const FabPairFit *nearer)
{
  for (guint place = 0; place < FAB_N_PAIR_PLACES; place++)
    for (guint c = 0; c < FAB_N_PAIR_CLASSES; c++)
      self->ends[place][c].log = MAX (self->ends[place][c].log, nearer->ends[place][c].log);
}

FabPairs *
fab_pairs_new (const FabReport *report, const FabReport *left_out, const FabTrainingReport *training,
               const FabCatalog *catalog)
{
  FabPairs *self = g_new0 (FabPairs, 1);

  self->owned = g_ptr_array_new_with_free_func (g_free);
  for (guint r = 0; r < FAB_N_PAIR_RELATIONS; r++) {
    self->collectives[r].pairs = g_array_new (FALSE, FALSE, sizeof (FabPair));
    self->compute[r].pairs = g_array_new (FALSE, FALSE, sizeof (FabPair));
  }
  add_collectives (self, report, catalog, FALSE);
  add_collectives (self, left_out, catalog, TRUE);
  fab_pairs_add_compute (self, training);
  for (guint r = 0; r < FAB_N_PAIR_RELATIONS; r++) {
    fit_list (&self->collectives[r]);
    fit_list (&self->compute[r]);
  }
  for (guint r = FAB_PAIR_OTHER; r < FAB_N_PAIR_RELATIONS; r++)
    widen (&self->collectives[r].fit, &self->collectives[r - 1].fit);
  widen (&self->compute[FAB_PAIR_OTHER].fit, &self->compute[FAB_PAIR_ALIKE].fit);
  return self;
}

void
fab_pairs_free (FabPairs *self)
{
  if (self == NULL)
    return;
  for (guint r = 0; r < FAB_N_PAIR_RELATIONS; r++) {
    g_array_unref (self->collectives[r].pairs);
    g_array_unref (self->collectives[r].trials);
    g_array_unref (self->compute[r].pairs);
    g_array_unref (self->compute[r].trials);
  }
  g_ptr_array_unref (self->owned);
  g_free (self);
}
