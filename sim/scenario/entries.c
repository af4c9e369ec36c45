/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/entries.h"

#include <math.h>

const char *const fab_product_kind_names[] = {
  [FAB_PRODUCT_ACCELERATOR] = "accelerator",
  [FAB_PRODUCT_NODE] = "node",
  [FAB_PRODUCT_NIC] = "nic",
  [FAB_PRODUCT_SWITCH] = "switch",
  [FAB_PRODUCT_CABLE] = "cable",
  [FAB_PRODUCT_OPTIC] = "optic",
  [FAB_PRODUCT_RENT] = "rent",
  NULL,
};

FabBytesPerS
fab_link_spec_line_rate (const FabLinkSpec *spec)
{
  long double lanes_bytes_per_s = (long double) spec->lanes * (long double) spec->signalling_bytes_per_s;

  return (FabBytesPerS) floorl (lanes_bytes_per_s * (long double) spec->coding_fraction);
}

const char *const fab_node_fact_names[FAB_N_NODE_FACTS + 1] = {
  [FAB_NODE_DRIVES] = "drives",
  [FAB_NODE_FRONTEND] = "frontend",
  [FAB_NODE_POWER] = "power",
  [FAB_NODE_PRICE] = "price",
};

gboolean
fab_node_spec_is_unknown (const FabNodeSpec *spec, FabNodeFact fact)
{
  g_auto (GStrv) names = g_strsplit (spec->unknown != NULL ? spec->unknown : "", ",", -1);

  for (guint i = 0; names[i] != NULL; i++)
    if (g_str_equal (g_strstrip (names[i]), fab_node_fact_names[fact]))
      return TRUE;
  return FALSE;
}

guint
fab_node_spec_n_parts (const FabNodeSpec *spec, FabPartKind kind)
{
  const FabPartSpec *parts = spec->parts.data;
  gint64 n = 0;

  for (guint i = 0; i < spec->parts.n; i++)
    if (parts[i].kind == (int) kind)
      n += parts[i].count;
  return (guint) n;
}

guint
fab_node_spec_sharers (const FabNodeSpec *spec)
{
  const FabPartSpec *parts = spec->parts.data;
  guint n = 1;

  for (guint i = 0; i < spec->parts.n; i++)
    n = MAX (n, (guint) parts[i].shared);
  return n;
}

double
fab_link_spec_cost (const FabLinkSpec *spec, FabDrive drive)
{
  const FabLinkDriveSpec *d = drive == FAB_DRIVE_COPY   ? &spec->copy
                            : drive == FAB_DRIVE_KERNEL ? &spec->kernel
                                                        : &spec->multimem;
  double packets = d->payload_bytes > 0
                     ? (double) (d->payload_bytes + d->overhead_bytes) / (double) d->payload_bytes
                     : 1.0;

  return packets / d->achievable_fraction;
}
