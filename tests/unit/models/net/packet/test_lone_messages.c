/* SPDX-License-Identifier: Apache-2.0 */
/* test_lone_messages.c - messages that go on beside rounds that are skipped, and what is left of them when they are
 * over. */
#include "tests/support/test.h"

#include "models/net/packet/parts.h"

/* A message was marked, ended, and its line was closed; only then are rounds skipped. Nothing of it moves. */
static void
a_message_that_is_over_does_not_move (G_GNUC_UNUSED void **state)
{
  PacketNet *self = g_new0 (PacketNet, 1);
  g_autofree Flow *flow = g_new0 (Flow, 1); /* not one more, which nobody may look at */

  flow->is_single = TRUE;
  flow->left_bytes = flow->missing_bytes = 1 << 20;
  self->params.mtu_bytes = 4096;
  self->flows = flow;
  self->n_flows = 1;
  self->lone.n_lines = 1;
  packet_lone_messages_init (self);
  packet_lone_messages_mark (self);
  assert_int_equal (self->lone.marks->len, 1);

  flow->left_bytes = flow->missing_bytes = 0;
  flow->is_over = TRUE;
  self->lone.n_lines = 0;
  self->lone.n_changes++;
  packet_lone_messages_skip (self, 1000000);
  assert_true (flow->left_bytes == 0 && flow->missing_bytes == 0 && flow->n_sent == 0 && flow->last_ps == 0);
  assert_int_equal (self->lone.marks->len, 0);
  packet_lone_messages_clear (self);
  g_free (self);
}

int
main (void)
{
  const struct CMUnitTest tests[] = { cmocka_unit_test (a_message_that_is_over_does_not_move) };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
