/* SPDX-License-Identifier: Apache-2.0 */
/* job_graph.h - one iteration of a job as a graph for each rank: what other simulators play.
 *
 * A rank's graph has its work, with lengths, and what it communicates: either a node for each collective in which it
 * takes part, or the messages that it sends and receives. A node starts when all nodes that it names are done: a send
 * when its message has left, a receive when its message has arrived.
 *
 * The time that software takes before a collective moves bytes is work in front of it. Latencies of wires and what
 * links can carry are the player's.
 */
#pragma once

#include "sim/run/simulation.h"

typedef enum { FAB_JOB_WORK, FAB_JOB_SEND, FAB_JOB_RECEIVE, FAB_JOB_COLLECTIVE } FabJobNodeKind;

typedef struct {
  FabJobNodeKind kind;
  FabOp op;              /* of a collective */
  guint stream;          /* of the rank, from 0 */
  const char *name;      /* owned by the simulation */
  FabTimePs duration_ps; /* of work */
  FabBytes bytes;        /* of a message; of a collective as nccl-tests counts it */
  guint peer;            /* rank, of a message */
  guint tag;             /* of a message; no other message of the job has it */
  guint group;           /* of a collective: fab_job_graph_group () */
  guint first_dep, n_deps;
} FabJobNode;

typedef struct _FabJobGraph FabJobGraph;

/* `simulation` has a class for each rank (`fold: false`), is not stepped, and outlives the graph. With
 * `has_messages` collectives are messages; a message between two ranks is one in any case. NULL and *error where two
 * ranks of a job without a class for each wait for each other. (transfer full) */
FabJobGraph *fab_job_graph_new (FabSimulation *simulation, gboolean has_messages, GError **error);
void fab_job_graph_free (FabJobGraph *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabJobGraph, fab_job_graph_free)

guint fab_job_graph_n_ranks (const FabJobGraph *self);

/* Puts the nodes of a rank (FabJobNode) and the nodes that they name (guint, as indices of the same rank) into the
 * arrays, which it empties first. No node comes before one that it names. O(nodes of the rank). */
void fab_job_graph_rank (FabJobGraph *self, guint rank, GArray *nodes, GArray *deps);

/* Groups of ranks whose collectives the nodes are, each there once; the ranks (guint) ascend. */
guint fab_job_graph_n_groups (const FabJobGraph *self);
const GArray *fab_job_graph_group (const FabJobGraph *self, guint group);

/* Number of nodes of all ranks. */
guint64 fab_job_graph_n_nodes (FabJobGraph *self);
