/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/meter.h"

#include <string.h>

typedef struct {
  const FabFootprint *footprint;
  double bytes;      /* of the streams */
  double wire_bytes; /* of the streams, times the factor of their protocol */
} FootprintSum;

struct _FabMeter {
  const FabGraph *graph;
  GArray *sums; /* FootprintSum */
  /* from a footprint to 1 + its index in `sums`: every message of a schedule has its own footprint */
  GHashTable *places;
  FabLinkLoad *loads;
};

FabMeter *
fab_meter_new (const FabGraph *graph)
{
  FabMeter *self = g_new0 (FabMeter, 1);

  self->graph = graph;
  self->sums = g_array_new (FALSE, FALSE, sizeof (FootprintSum));
  self->places = g_hash_table_new (NULL, NULL);
  self->loads = g_new0 (FabLinkLoad, fab_graph_n_links (graph) + 1);
  return self;
}

void
fab_meter_free (FabMeter *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->sums);
  g_hash_table_unref (self->places);
  g_free (self->loads);
  g_free (self);
}

void
fab_meter_add_footprint (FabMeter *self, const FabFootprint *footprint, FabBytes bytes, double wire_factor)
{
  FootprintSum added = { footprint, (double) bytes, (double) bytes * wire_factor };

  guint place = GPOINTER_TO_UINT (g_hash_table_lookup (self->places, footprint));

  if (place > 0) {
    FootprintSum *sum = &g_array_index (self->sums, FootprintSum, place - 1);

    sum->bytes += added.bytes;
    sum->wire_bytes += added.wire_bytes;
    return;
  }
  g_array_append_val (self->sums, added);
  g_hash_table_insert (self->places, (gpointer) footprint, GUINT_TO_POINTER (self->sums->len));
}

static void
add_to_links (FabMeter *self, const FootprintSum *sum)
{
  for (guint k = 0; k < sum->footprint->n; k++) {
    FabLinkLoad *load = &self->loads[sum->footprint->links[k]];

    load->payload_bytes += sum->bytes * sum->footprint->weights[k];
    load->line_bytes += sum->wire_bytes * sum->footprint->line_weights[k];
  }
}

void
fab_meter_add_once (FabMeter *self, const FabFootprint *footprint, FabBytes bytes)
{
  add_to_links (self, &(FootprintSum){ footprint, (double) bytes, (double) bytes });
}

void
fab_meter_add_line (FabMeter *self, const FabFootprint *footprint, double bytes, double wire_factor)
{
  add_to_links (self, &(FootprintSum){ footprint, bytes, bytes * wire_factor });
}

void
fab_meter_add_path (FabMeter *self, const FabPath *path, FabBytes bytes, FabDrive drive)
{
  for (guint i = 0; i < path->n; i++) {
    FabLinkLoad *load = &self->loads[path->links[i]];

    load->payload_bytes += (double) bytes;
    load->line_bytes += (double) bytes * fab_graph_link_class (self->graph, path->links[i])->cost[drive];
  }
}

void
fab_meter_take (FabMeter *self, FabLinkLoad *loads)
{
  gsize size = sizeof (FabLinkLoad) * fab_graph_n_links (self->graph);

  for (guint i = 0; i < self->sums->len; i++)
    add_to_links (self, &g_array_index (self->sums, FootprintSum, i));
  memcpy (loads, self->loads, size);
  memset (self->loads, 0, size);
  g_array_set_size (self->sums, 0);
  g_hash_table_remove_all (self->places);
}
