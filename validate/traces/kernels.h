/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - what the kernels of a profile say of a device: time by class, products and attention by shape, gaps.
 *
 * A kernel has a shape where the profiler recorded those of operators (record_shapes of PyTorch): its `External id` is
 * that of the operator that launched it, aten::mm for example. Bytes of memory-bound kernels no profile says, so that
 * these have a share of the step and no rate.
 */
#pragma once

#include "formats/measurement/series.h"
#include "formats/trace/trace.h"

typedef enum {
  FAB_TRACE_PRODUCT,
  FAB_TRACE_ATTENTION,
  FAB_TRACE_NORM,
  FAB_TRACE_LOSS,
  FAB_TRACE_OPTIMIZER,
  FAB_TRACE_ELEMENTWISE, /* all that is none of the others */
  FAB_TRACE_COPIES,
  FAB_TRACE_COLLECTIVE,
  FAB_N_TRACE_CLASSES
} FabTraceClass;

extern const char *const fab_trace_class_names[FAB_N_TRACE_CLASSES + 1]; /* "product", ...; NULL-ended */

typedef struct {
  guint n_steps, n_kernels;
  guint n_of[FAB_N_TRACE_CLASSES];
  double seconds_of[FAB_N_TRACE_CLASSES]; /* of all kernels of the class, in all steps */
  double span_s;                          /* from the first kernel's start to the last one's end */
  double gaps_s;                          /* of it, nothing ran */
  double long_gaps_s;                     /* of these, those above 20 us: the host was late */
  FabTimePs launch_ps;                    /* median of the gaps up to 20 us; 0: there is none */
  FabTimePs issue_ps;                     /* median time between two launches of the host; 0: not known */
  guint n_shaped;                         /* products and attention whose shape is known */
  GPtrArray *series;                      /* FabMeasuredSeries of products, attention and launches */
} FabTraceKernels;

FabTraceClass fab_trace_class_of (const char *kernel);

/* Of the first rank. `n_steps` 0: as many as the profile marks, else as many as there are optimizer steps, or one.
 * Fails when the trace has no times. (transfer full) */
FabTraceKernels *fab_trace_kernels_new (const FabTrace *trace, guint n_steps, GError **error);
void fab_trace_kernels_free (FabTraceKernels *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTraceKernels, fab_trace_kernels_free)
