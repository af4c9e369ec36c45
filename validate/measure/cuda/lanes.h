/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.h - copies on streams, timed by events.
 *
 * A lane is a stream and the copy that is queued on it again and again. Lanes that run at once are held until all
 * copies are queued, then let go together, so that what it costs to queue a copy does not show: the method of
 * nvbandwidth. At most `window` copies are queued at a time, since a stream holds a limited number.
 */
#pragma once

#include "validate/measure/cuda/gpus.h"
#include "validate/measure/host.h"

#define FAB_LANE_WINDOW 64u      /* usual number of copies queued */
#define FAB_LANE_MAX_WINDOW 256u /* well below what a stream takes before queueing itself waits */

typedef enum {
  FAB_COPY_TO_GPU,  /* from host memory */
  FAB_COPY_TO_HOST, /* to host memory */
  FAB_COPY_ON_GPU,
  FAB_COPY_PEER,  /* copy engine; the driver goes by the host when peers do not reach each other */
  FAB_COPY_STORE, /* kernel on the GPU that sends */
  FAB_COPY_LOAD,  /* kernel on the GPU that receives */
} FabCopyHow;

typedef struct {
  FabCopyHow how;
  const FabGpu *from, *to; /* NULL: the host */
  void *host;              /* host memory of TO_GPU, TO_HOST */
  CuPointer source, target;
  CuStream stream;
  CuEvent start, end, round;
} FabLane;

typedef struct {
  FabGpus *gpus;
  FabLane *lanes;
  guint n_lanes;
  guint n_timed;    /* the first ones; the others are there to keep the wires busy */
  guint window;     /* copies queued at a time */
  gboolean is_held; /* FALSE: pageable memory, whose copies wait for the stream */
} FabLanes;

FabLanes *fab_lanes_new (FabGpus *gpus, guint n_lanes, guint n_timed, guint window);
void fab_lanes_free (FabLanes *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabLanes, fab_lanes_free)

/* Fills lane `index`: `from` or `to` NULL is the host, at `host`. */
gboolean fab_lanes_set (FabLanes *self, guint index, FabCopyHow how, const FabGpu *from, const FabGpu *to,
                        void *host, GError **error);

/* FabTimedFuncs over FabLanes. */

/* The timed lanes copy n_messages each while the others are busy as well; the time of the slowest one. */
gboolean fab_lanes_stream (gpointer lanes, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
                           GError **error);
/* Two lanes; each copy waits for the one before of both. */
gboolean fab_lanes_exchange (gpointer lanes, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
                             GError **error);
/* One lane: copy, wait, copy again, by the clock of the host: what a program waits for one copy. */
gboolean fab_lanes_single (gpointer lanes, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
                           GError **error);
