/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/shape/form_hops.h"

/* --- the slowest hops --- */

void
fab_slowest_hops_note_rate (FabSlowestHops *self, FabHopKind kind, double bytes_per_s,
                            const FabTechnology *technology, FabCollectiveForm *form)
{
  gboolean is_inter = fab_hop_kind_is_net (kind);
  double *slowest = &self->bytes_per_s[is_inter];

  if (*slowest > 0 && bytes_per_s >= *slowest)
    return;
  *slowest = bytes_per_s;
  *(is_inter ? &form->inter_kind : &form->intra_kind) = kind;
  if (!is_inter)
    form->intra_technology = technology;
}

void
fab_slowest_hops_note (FabSlowestHops *self, const FabHop *hop, FabCollectiveForm *form)
{
  form->inter_endpoint_ps = MAX (form->inter_endpoint_ps, hop->endpoint_ps);
  fab_slowest_hops_note_rate (self, hop->kind, hop->rate_bytes_per_s, hop->technology, form);
}

void
fab_slowest_hops_note_step (FabSlowestHops *self, const FabHop *hop, FabCollectiveForm *form)
{
  FabTimePs *longest_ps = fab_hop_kind_is_net (hop->kind) ? &form->inter_latency_ps : &form->intra_latency_ps;

  *longest_ps = MAX (*longest_ps, hop->latency_ps);
  fab_slowest_hops_note (self, hop, form);
}

/* --- the longest sequence --- */

gboolean
fab_step_chain_is_longer (const FabStepChain *self, const FabStepChain *other)
{
  return self->n_inter > other->n_inter
      || (self->n_inter == other->n_inter
          && (self->latency_ps > other->latency_ps
              || (self->latency_ps == other->latency_ps && self->n_intra > other->n_intra)));
}

void
fab_step_chain_add (FabStepChain *self, const FabHop *hop)
{
  self->latency_ps = fab_ps_add (self->latency_ps, hop->latency_ps);
  *(fab_hop_kind_is_net (hop->kind) ? &self->n_inter : &self->n_intra) += 1;
}
