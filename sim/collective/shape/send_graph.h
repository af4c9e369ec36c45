/* SPDX-License-Identifier: Apache-2.0 */
/* send_graph.h - how an algorithm describes an operation once, as sends that wait for one another. Both its form and
 * its schedule are made from that.
 *
 * A send is one hop that carries a fixed share of the bytes, and that may start when other sends have ended: "GPU 1
 * sends half of the size to GPU 2, after GPU 0 has sent it to GPU 1". A pipeline cuts the bytes into chunks. Each
 * chunk passes the sends in their order, and several chunks are under way at once, in different sends.
 *
 * The form's steps are the longest sequence of sends that wait for one another. The form's pipeline fill
 * (FabCollectiveForm.fill_s_per_byte) is the time that a byte needs for all sends of the slowest sequence, minus the
 * time it needs on the link that limits the rate of the whole.
 */
#pragma once

#include "sim/collective/collective.h"

typedef struct _FabSendGraph FabSendGraph;

/* Without `schedule` (NULL) the sends make a form, and `n_chunks` is ignored. With one, each send becomes a lane of
 * the schedule with `n_chunks` messages. The group, `env` and `schedule` must outlive the result. */
FabSendGraph *fab_send_graph_new (const FabGroup *group, const FabAlgorithmEnv *env, FabSchedule *schedule,
                                  guint n_chunks);
void fab_send_graph_free (FabSendGraph *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSendGraph, fab_send_graph_free)

/* `n` empty lists of indices of sends (GArray of guint). An algorithm keeps one for each of its ranks or nodes: the
 * sends that must have ended before that rank or node may send on. (transfer full) */
GPtrArray *fab_send_lists_new (guint n);

static inline GArray *
fab_send_list (const GPtrArray *lists, guint index)
{
  return g_ptr_array_index (lists, index);
}

/* Adds a send and returns its index. It carries `weight` payload bytes per byte of size over `hop`, and starts when
 * all sends in `after` (guint) have ended; NULL: at once. `n_beside` is the number of sends, this one included,
 * that use the slowest link of the hop at the same moment for the same chunk. Takes what the hop owns. A hop that
 * ends in a switch is no step of its own: it and the hops after it, up to the next rank, are one step. */
guint fab_send_graph_add (FabSendGraph *self, FabHop *hop, double weight, guint n_beside,
                          const GArray *after);

/* Adds the same send to a form, but leaves its links out. It is for a hop in a node that is symmetric to another
 * one: the caller adds the links of both nodes at once with fab_alike_add (). The hop stays the caller's. */
guint fab_send_graph_add_like (FabSendGraph *self, const FabHop *hop, double weight, guint n_beside,
                               const GArray *after);

/* The builder to which links of a form are added; NULL: the sends make a schedule. */
FabFootprintBuilder *fab_send_graph_builder (const FabSendGraph *self);

/* Says that no send that is added from now on waits for a send that was added before. Indices so far are
 * not valid any more: a form forgets those sends, which saves memory. */
void fab_send_graph_end_part (FabSendGraph *self);

/* Fills in the whole form but for `n_channels`, which only the algorithm knows. */
void fab_send_graph_form (FabSendGraph *self, gboolean is_pipeline, FabCollectiveForm *form);
