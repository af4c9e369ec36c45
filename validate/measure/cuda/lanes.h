/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.h - runs copies on streams and times them with events.
 *
 * A lane is a stream, and a copy that is queued on it repeatedly. Lanes that run at the same time are held until all
 * copies are queued and then released together, so that the time to queue a copy is not measured; nvbandwidth does
 * the same. At most `window` copies are queued at a time, because a stream holds a limited number.
 */
#pragma once

#include "validate/measure/cuda/gpus.h"
#include "validate/measure/host.h"

#define FAB_LANE_WINDOW 64u      /* usual number of queued copies */
#define FAB_LANE_MAX_WINDOW 256u /* well below the number at which queueing itself waits */

typedef enum {
  FAB_COPY_TO_GPU,  /* from host memory */
  FAB_COPY_TO_HOST, /* to host memory */
  FAB_COPY_ON_GPU,
  FAB_COPY_PEER, /* by a copy engine; the driver copies through the host when peers cannot reach each other */
  FAB_COPY_STORE, /* by a kernel on the sending GPU */
  FAB_COPY_LOAD,  /* by a kernel on the receiving GPU */
  FAB_COPY_BOTH,  /* by one kernel, both ways between a GPU and the host */
} FabCopyHow;

typedef struct {
  FabCopyHow how;
  const FabGpu *from, *to; /* NULL: the host */
  void *host;              /* host memory for TO_GPU and TO_HOST */
  CuPointer source, target;
  CuPointer back_source, back_target; /* of BOTH */
  CuStream stream;
  CuEvent start, end, round;
} FabCopyStream;

typedef struct {
  FabGpus *gpus;
  FabCopyStream *lanes;
  guint n_lanes;
  guint n_timed;    /* the first n_timed lanes are timed; the others keep the links busy */
  guint window;     /* copies queued at a time */
  gboolean is_held; /* FALSE for pageable memory, whose copies wait for the stream */
} FabCopyStreams;

FabCopyStreams *fab_copy_streams_new (FabGpus *gpus, guint n_lanes, guint n_timed, guint window);
void fab_copy_streams_free (FabCopyStreams *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabCopyStreams, fab_copy_streams_free)

/* Sets lane `index`. `from` or `to` NULL is the host, whose memory is `host`. */
gboolean fab_copy_streams_set (FabCopyStreams *self, guint index, FabCopyHow how, const FabGpu *from,
                               const FabGpu *to, void *host, GError **error);

/* Sets lane `index` to one kernel on `gpu` that copies from `host_out` to the GPU and from the GPU to `host_in`. */
gboolean fab_copy_streams_set_both (FabCopyStreams *self, guint index, const FabGpu *gpu, void *host_out,
                                    void *host_in, GError **error);

/* The functions below are FabTimedFuncs over FabLanes. */

/* Copies n_messages on each timed lane while the others are busy as well; sets the time of the slowest lane. */
gboolean fab_copy_streams_stream (gpointer lanes, FabBytes size_bytes, guint n_messages,
                                  FabTimePs *elapsed_ps, GError **error);
/* Copies on two lanes; each copy waits for the previous copies of both. */
gboolean fab_copy_streams_exchange (gpointer lanes, FabBytes size_bytes, guint n_messages,
                                    FabTimePs *elapsed_ps, GError **error);
/* Copies on one lane and waits for each copy; measures by the host's clock what a program waits for one copy. */
gboolean fab_copy_streams_single (gpointer lanes, FabBytes size_bytes, guint n_messages,
                                  FabTimePs *elapsed_ps, GError **error);
