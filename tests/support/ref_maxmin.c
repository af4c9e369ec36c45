/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/ref_maxmin.h"

static double
share_of (const FabMaxminProblem *p, guint flow)
{
  return p->shares ? p->shares[flow] : 1;
}

/* The level at which a link is full; G_MAXDOUBLE when nothing on it rises. */
static double
link_level (const FabMaxminProblem *p, const double *rates, guint link)
{
  double left = p->capacity[link], demand = 0;

  for (guint f = 0; f < p->n_flows; f++)
    for (guint e = p->starts[f]; e < p->starts[f + 1]; e++) {
      if (p->links[e] != link)
        continue;
      if (rates[f] >= 0)
        left -= p->weights[e] * rates[f];
      else
        demand += p->weights[e] * share_of (p, f);
    }
  return demand > 0 ? MAX (left, 0) / demand : G_MAXDOUBLE;
}

static double
limit_level (const FabMaxminProblem *p, const double *rates, guint flow)
{
  gboolean rises_to_limit = rates[flow] < 0 && p->limits && p->limits[flow] > 0;

  return rises_to_limit ? p->limits[flow] / share_of (p, flow) : G_MAXDOUBLE;
}

static gboolean
uses_link (const FabMaxminProblem *p, guint flow, guint link)
{
  for (guint e = p->starts[flow]; e < p->starts[flow + 1]; e++)
    if (p->links[e] == link)
      return TRUE;
  return FALSE;
}

void
ref_maxmin_solve (const FabMaxminProblem *p, double *rates)
{
  for (guint f = 0; f < p->n_flows; f++)
    rates[f] = -1;
  for (;;) {
    double lowest = G_MAXDOUBLE;
    guint full = 0, limited = p->n_flows;

    for (guint l = 0; l < p->n_links; l++)
      if (link_level (p, rates, l) < lowest) {
        lowest = link_level (p, rates, l);
        full = l;
      }
    for (guint f = 0; f < p->n_flows; f++)
      if (limit_level (p, rates, f) < lowest) {
        lowest = limit_level (p, rates, f);
        limited = f;
      }
    if (lowest >= G_MAXDOUBLE)
      return;
    if (limited < p->n_flows)
      rates[limited] = p->limits[limited];
    for (guint f = 0; limited == p->n_flows && f < p->n_flows; f++)
      if (rates[f] < 0 && uses_link (p, f, full))
        rates[f] = lowest * share_of (p, f);
  }
}
