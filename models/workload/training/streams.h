/* SPDX-License-Identifier: Apache-2.0 */
/* streams.h - the functions with which strategies make streams, tasks and collectives of a pipeline stage, and what
 * they ask of its ranks and parameters.
 */
#pragma once

#include "models/workload/training/job.h"

guint stage_stream (Stage *stage, StreamKind stream);

/* Adds a compute task, which waits for all tasks of stage_wait (). Takes `name`. */
FabTaskId stage_compute (Stage *stage, double seconds, char *name);

/* Adds a compute task that moves so many bytes through memory as fast as elementwise kernels do, where the compute
 * model has software of its own (takes `name`). */
void stage_move (Stage *stage, double bytes, char *name);
void stage_wait (Stage *stage, FabTaskId task);

/* Concurrent groups (sim/collective/plan/concurrent_groups.h), which live as long as the job. NULL: train->error is
 * set. */
FabConcurrentGroups *train_concurrent_groups (Train *train, const Selection *selection);
FabConcurrentGroups *stage_pairs (Stage *stage,
                                  guint to); /* pairs of a rank of this stage and one of stage `to` */

/* Groups of data-parallel ranks of a stage, inside a site where the job has several (outer.h). Context-parallel ranks
 * have the same parameters and are in the group too. */
FabConcurrentGroups *stage_data_concurrent_groups (Stage *stage, DataPart part, guint block);

/* The same over all sites, without the context-parallel ranks. */
FabConcurrentGroups *stage_site_concurrent_groups (Stage *stage, DataPart part, guint block);

/* Number of ranks along the data axis that sum their gradients in every step: those of a site. */
guint train_site_data (const Train *train);

/* Groups of ranks that hold the same experts. */
FabConcurrentGroups *stage_expert_data_concurrent_groups (Stage *stage);

typedef struct {
  StreamKind stream;
  FabDimension dimension;
  FabConcurrentGroups *concurrent_groups; /* the groups; NULL: nothing is sent */
  FabOp op;
  FabBytes bytes;
} Comm;

/* Adds a collective after the last compute task of the stage. FALSE: no task was made, because groups have one rank,
 * there are no bytes, or an error has come before. Takes `name`. */
gboolean stage_comm (Stage *stage, const Comm *comm, char *name, FabTaskId *task);

/* Adds a collective of what a pass has computed and received so far: it begins when the next compute task could, after
 * all tasks of stage_wait () too. `library` plans it. */
gboolean stage_comm_of_pass (Stage *stage, const Comm *comm, FabLibrary *library, char *name,
                             FabTaskId *task);

/* The same after another task; NULL: it may start at once. */
gboolean stage_comm_after (Stage *stage, const Comm *comm, char *name, const FabTaskId *after,
                           FabTaskId *task);

/* Finds the collective that the first rank of the class has joined at this place. FALSE: the stage has to make it,
 * and then calls stage_note () for the other ranks. */
gboolean stage_follow (Stage *stage, guint *collective);
void stage_note (Stage *stage, guint collective);

/* Adds all-gathers of so many parameters among the ranks that have the same, after the last compute task. Appends the
 * tasks to `tasks`. */
void stage_gather (Stage *stage, const ParameterCount *count, guint index, GArray *tasks);

/* Makes the next compute task wait for all `tasks`, and empties the array. */
void stage_wait_all (Stage *stage, GArray *tasks);

/* Sets train->error, unless it is set already: the job cannot be built. */
void train_fail (Train *train, const char *format, ...) G_GNUC_PRINTF (2, 3);

gboolean stage_has_layer (const Stage *stage, guint layer);

guint stage_n_ranks (const Stage *stage);          /* ranks of the class */
guint *stage_ranks (const Stage *stage, guint *n); /* (transfer full) */
guint stage_n_replicas (
    const Stage *stage); /* ranks that have the same parameters where nothing is sharded */
guint stage_data_per_node (const Stage *stage); /* ranks along the data axis that are in one node */

/* The other stage that has the same parts of the model, or the stage itself; on how many stages each part is. */
guint stage_twin (const Stage *stage);
guint stage_n_copies (const Stage *stage);

FabBytes stage_weight_bytes (
    const Stage *stage); /* bytes of one parameter in the precision of matrix products */

/* Whether the backward pass of a micro-batch ends, in this stage, with this layer. */
gboolean stage_ends_backward (const Stage *stage, const PassAt *at);

/* Whether it ends, in one of the parts of the model that the stage has, with this layer. */
gboolean stage_ends_chunk (const Stage *stage, const PassAt *at);

/* The parameters of a tensor that one rank has, where tensor and expert parallelism divide it. */
guint64 train_tensor_parameters (const Train *train, const FabTensor *tensor);
ParameterCount train_layer_count (const Train *train, guint layer);  /* trained parameters */
ParameterCount train_layer_frozen (const Train *train, guint layer); /* all others */

/* The parameters of one rank of the stage, if they are divided among all ranks that have the same. */
double stage_shard_parameters (const Stage *stage);
