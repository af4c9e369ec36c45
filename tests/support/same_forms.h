/* SPDX-License-Identifier: Apache-2.0 */
/* same_forms.h - two forms of a collective have the same steps, latencies and loads of links. */
#pragma once

#include "sim/collective/collective.h"
#include "tests/support/test.h"

static inline void
assert_same_forms (const FabCollectiveForm *a, const FabCollectiveForm *b)
{
  assert_int_equal (a->n_channels, b->n_channels);
  assert_int_equal (a->n_intra_steps, b->n_intra_steps);
  assert_int_equal (a->n_inter_steps, b->n_inter_steps);
  assert_int_equal (a->intra_latency_ps, b->intra_latency_ps);
  assert_int_equal (a->inter_latency_ps, b->inter_latency_ps);
  assert_int_equal (a->inter_endpoint_ps, b->inter_endpoint_ps);
  assert_int_equal (a->intra_kind, b->intra_kind);
  assert_int_equal (a->inter_kind, b->inter_kind);
  assert_true (a->intra_technology == b->intra_technology);
  assert_near (a->phases_bytes_per_s, b->phases_bytes_per_s, 1e-9);
  assert_near (a->fill_s_per_byte, b->fill_s_per_byte, 1e-9);
  assert_near (a->footprint->rate_bytes_per_s, b->footprint->rate_bytes_per_s, 1e-9);
  assert_int_equal (a->footprint->n, b->footprint->n);
  for (guint i = 0; i < a->footprint->n; i++) {
    assert_int_equal (a->footprint->links[i], b->footprint->links[i]);
    assert_near (a->footprint->weights[i], b->footprint->weights[i], 1e-9);
    assert_near (a->footprint->line_weights[i], b->footprint->line_weights[i], 1e-9);
  }
}
