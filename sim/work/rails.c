/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/work/rails.h"

guint
fab_rails_gpu (const FabGroup *group, guint nic, guint taken, guint *hops)
{
  guint n = group->gpus_per_node, n_equal = 0;
  g_autofree guint *equals = g_new (guint, n);

  *hops = G_MAXUINT;
  for (guint local = 0; local < n; local++) {
    guint distance = fab_cluster_nic_hops (group->cluster, local, nic);

    if (local == taken || distance > *hops)
      continue;
    if (distance < *hops)
      n_equal = 0;
    *hops = distance;
    equals[n_equal++] = local;
  }
  return equals[nic % n_equal];
}

guint *
fab_rails_list (const FabGroup *group, guint *n_rails)
{
  guint n_nics = group->cluster->nics_per_node, least = G_MAXUINT;
  guint *rails = g_new (guint, n_nics + 1);

  *n_rails = 0;
  for (guint nic = 0; nic < n_nics; nic++) {
    guint hops;

    fab_rails_gpu (group, nic, G_MAXUINT, &hops);
    if (hops < least)
      *n_rails = 0;
    least = MIN (least, hops);
    if (hops == least)
      rails[(*n_rails)++] = nic;
  }
  return rails;
}
