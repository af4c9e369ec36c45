/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/compare/health.h"

#include <string.h>

#include "sim/base/stats.h"
#include "sim/fabric/reach.h"
#include "sim/run/plan_kind.h"

static const double least_plateau_fraction = 0.5; /* of what the slowest links carry */
static const double untuned_fraction = 0.5; /* of the table's own plateau, up to which its start-up counts */
static const double slow_factor = 2;        /* against another table of the machine */

/* Whether accelerators have links of their own, over which rings run faster than over NICs. */
static gboolean
has_own_links (const FabNodeSpec *node, const FabCatalog *catalog)
{
  const FabWireSpec *wires = node->wires.data;

  for (guint i = 0; i < node->wires.n; i++) {
    const FabLinkSpec *link = fab_catalog_link (catalog, wires[i].link);

    if (link != NULL && fab_catalog_link_technology (catalog, link)->joins == FAB_JOINS_ACCELERATORS)
      return TRUE;
  }
  return FALSE;
}

static gboolean
is_accelerator (const FabNodeSpec *node, const char *name)
{
  const FabPartSpec *parts = node->parts.data;

  for (guint i = 0; i < node->parts.n; i++)
    if (strcmp (parts[i].name, name) == 0)
      return parts[i].kind == FAB_PART_ACCELERATOR;
  return FALSE;
}

/* GB/s of all links of an accelerator to others of its node or domain, one direction. */
static double
own_links_GBps (const FabNodeSpec *node, const FabCatalog *catalog)
{
  const FabWireSpec *wires = node->wires.data;
  double GBps = 0;

  for (guint i = 0; i < node->wires.n; i++) {
    const FabLinkSpec *link = fab_catalog_link (catalog, wires[i].link);

    if (link != NULL && fab_catalog_link_technology (catalog, link)->joins == FAB_JOINS_ACCELERATORS
        && is_accelerator (node, wires[i].from))
      GBps += (double) fab_link_spec_line_rate (link) / 1e9 * (double) wires[i].count;
  }
  return GBps;
}

double
fab_health_slowest_GBps (const FabMeasuredSpec *spec, const FabCatalog *catalog)
{
  const FabNodeSpec *node = fab_catalog_node (catalog, spec->node);
  double nics_GBps = fab_health_nics_GBps (spec, catalog);
  guint sharers = node != NULL ? fab_node_spec_sharers (node) : 1;

  if (sharers <= 1 || nics_GBps <= 0)
    return nics_GBps;
  return MIN (nics_GBps * sharers, own_links_GBps (node, catalog));
}

double
fab_health_nics_GBps (const FabMeasuredSpec *spec, const FabCatalog *catalog)
{
  const FabNodeSpec *node = fab_catalog_node (catalog, spec->node);
  const FabLinkSpec *port = node != NULL && node->nic != NULL ? fab_catalog_link (catalog, node->nic) : NULL;
  guint n_gpus = node != NULL ? fab_node_spec_n_parts (node, FAB_PART_ACCELERATOR) : 0;

  if (port == NULL || n_gpus == 0 || node->gdr == FAB_REACH_NONE || !has_own_links (node, catalog))
    return 0;
  return (double) fab_link_spec_line_rate (port) / 1e9 * fab_node_spec_n_parts (node, FAB_PART_NIC)
       * (double) MIN (spec->gpus_per_node, n_gpus) / n_gpus;
}

/* Nodes that share the switches of their accelerators need no NIC. */
static gboolean
is_between (const FabMeasuredSpec *spec, const FabCatalog *catalog)
{
  const FabNodeSpec *node = fab_catalog_node (catalog, spec->node);

  return node != NULL && spec->nodes > fab_node_spec_sharers (node);
}

/* The largest busbw, in GB/s, of large sizes or of all; 0: there are none. */
static double
plateau_GBps (const FabMeasuredCsv *csv, gboolean only_large)
{
  double most = 0;

  for (guint i = 0; i < csv->rows->len; i++) {
    const FabMeasuredRow *row = &g_array_index (csv->rows, FabMeasuredRow, i);

    if (!only_large || fab_size_class (row->size_bytes) == FAB_SIZE_LARGE)
      most = MAX (most, row->busbw_GBps);
  }
  return most;
}

static gboolean
is_before_plateau (const FabMeasuredTable *table, const FabMeasuredRow *row)
{
  return row->busbw_GBps < untuned_fraction * plateau_GBps (table->csv, FALSE);
}

static gboolean
has_low_plateau (const FabMeasuredTable *table, const FabCatalog *catalog)
{
  double plateau = plateau_GBps (table->csv, TRUE);

  return fab_plan_operations ((FabOp) table->spec->op) == FAB_PLAN_RINGS && is_between (table->spec, catalog)
      && plateau > 0 && plateau < least_plateau_fraction * fab_health_slowest_GBps (table->spec, catalog);
}

static gboolean
is_same_machine (const FabMeasuredSpec *a, const FabMeasuredSpec *b)
{
  return a != b && strcmp (a->node, b->node) == 0 && a->nodes == b->nodes
      && a->gpus_per_node == b->gpus_per_node && a->op == b->op;
}

static const FabMeasuredRow *
row_of_size (const FabMeasuredCsv *csv, FabBytes size_bytes)
{
  for (guint i = 0; i < csv->rows->len; i++)
    if (g_array_index (csv->rows, FabMeasuredRow, i).size_bytes == size_bytes)
      return &g_array_index (csv->rows, FabMeasuredRow, i);
  return NULL;
}

/* The time of one over that of the other, in the median over sizes of the class that both have; 0: they have none. */
static double
time_ratio (const FabMeasuredCsv *csv, const FabMeasuredCsv *other, FabSizeClass size_class)
{
  g_autofree double *ratios = g_new (double, csv->rows->len + 1);
  guint n = 0;

  for (guint i = 0; i < csv->rows->len; i++) {
    const FabMeasuredRow *row = &g_array_index (csv->rows, FabMeasuredRow, i);
    const FabMeasuredRow *same = row_of_size (other, row->size_bytes);

    if (fab_size_class (row->size_bytes) == size_class && same != NULL && same->time_us > 0)
      ratios[n++] = row->time_us / same->time_us;
  }
  return n > 0 ? fab_weighted_quantile (ratios, NULL, n, 0.5) : 0;
}

static gboolean
is_outdone (const FabMeasuredTable *table, FabSizeClass size_class, const GPtrArray *tables)
{
  for (guint i = 0; i < tables->len; i++) {
    const FabMeasuredTable *other = g_ptr_array_index (tables, i);

    if (is_same_machine (table->spec, other->spec)
        && time_ratio (table->csv, other->csv, size_class) >= slow_factor)
      return TRUE;
  }
  return FALSE;
}

FabHealth
fab_health (const FabMeasuredTable *table, const FabMeasuredRow *row, const GPtrArray *tables,
            const FabCatalog *catalog)
{
  FabSizeClass size_class = fab_size_class (row->size_bytes);

  if (table->spec->is_doubtful || (table->spec->is_untuned && is_before_plateau (table, row)))
    return FAB_HEALTH_SAID;
  if (size_class != FAB_SIZE_SMALL && has_low_plateau (table, catalog))
    return FAB_HEALTH_PLATEAU;
  return is_outdone (table, size_class, tables) ? FAB_HEALTH_OTHER : FAB_HEALTH_WELL;
}
