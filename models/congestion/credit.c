/* SPDX-License-Identifier: Apache-2.0 */
/* credit.c - receivers hand out credit: V. Olteanu et al., "An edge-queued datagram service for all datacenter
 * traffic", NSDI 2022 (EQDS), as in the receivers' congestion control of Ultra Ethernet 1.0 (RCCC); B. Montazeri et
 * al., "Homa", SIGCOMM 2018, for the limit on what is outstanding.
 *
 *   sender     sends while it has credit; it begins with `first` bandwidth-delay products, and asks for the rest
 *   receiver   gives one packet's worth at a time to those who ask, in turn, no faster than its port receives, and
 *              only while no more than `outstanding` bandwidth-delay products are on their way to it
 *
 * The network keeps the turns of receivers (models/net/packet/credits.c); this is what a sender begins with.
 */
#include "models/models.h"

typedef struct {
  double first_factor, outstanding_factor;
} CreditParams;

#define ROW(key_, type_, field_, fallback_, help_)                                          \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (CreditParams, field_), \
  .fallback = fallback_, .help = help_

static const FabParam credit_params[] = {
  { ROW ("first", FACTOR, first_factor, "1",
         "Credit that a sender starts with, in bandwidth-delay products."),
    .max = 1e3 },
  { ROW ("outstanding", FACTOR, outstanding_factor, "1.5",
         "Most data that may be on its way to one receiver, in bandwidth-delay products. More credit waits."),
    .min = 0.1, .max = 1e3 },
  { .key = NULL },
};

static void
credit_start (FabCongestion *self)
{
  const CreditParams *p = self->params;
  double product = self->line_bytes_per_s * fab_ps_to_seconds (self->round_trip_ps);

  self->credit_bytes = p->first_factor * product;
  self->outstanding_bytes = MAX (p->outstanding_factor * product, 2.0 * self->mtu_bytes);
}

const FabCongestionOps fab_congestion_credit = {
  .info = { .name = "credit",
            .summary = "Receivers grant credit to their senders in turn, at the rate of their port.",
            .doc = "docs/models/credit.md",
            .params = credit_params,
            .params_size = sizeof (CreditParams) },
  .state_size = sizeof (FabCongestion),
  .takes_credit = TRUE,
  .start = credit_start,
};
