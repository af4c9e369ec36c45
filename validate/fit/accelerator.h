/* SPDX-License-Identifier: Apache-2.0 */
/* accelerator.h - fits an accelerator entry, and what kernels reach of it, to measured kernels.
 *
 * Of every precision the first, third, ... product is fitted and the others are held out; of the kernels that only move
 * memory likewise. What is fitted:
 *
 *   memory      median share of the entry's memory rate that kernels reach which move 128 MiB or more, beyond every L2
 *               cache
 *   achievable  of each precision the share of its peak with which the times of `roofline`
 *               (models/compute/roofline/tiles.h) are nearest to the measured ones: the median of
 *               |log (predicted / measured)| is least
 *   launch      gap on the GPU between two kernels, as measured; `issue`: what the host needs to issue one
 *
 * The entry's `matmul` is by its definition the best product in BF16 or FP16 over peak_fp16. A GPU at its power limit
 * runs long products at a lower clock: `sustained` is the median of warm over long times where both were measured.
 */
#pragma once

#include "formats/measurement/series.h"
#include "sim/machine/cluster.h"
#include "sim/scenario/catalog.h"

/* One kernel. Texts belong to the series. */
typedef struct {
  const FabSeries *series;
  FabBytes size_bytes;
  double measured_s;
  double before_s;    /* predicted with the entry as it was; 0: nothing predicts it */
  double predicted_s; /* with what was fitted; 0: nothing predicts it */
  double rate;        /* FLOP/s of products and attention, bytes/s of the others */
  gboolean is_held_out;
} FabKernelRow;

/* Errors: |predicted / measured - 1|. */
typedef struct {
  guint n_fitted, n_held_out;
  double fraction; /* of the peak or of the memory rate; 0: not measured */
  double before, fitted,
      error;      /* median error: held out, of the entry as it was; of the fitted rows; held out */
  double largest; /* of the rows held out */
} FabFractionFit;

typedef struct {
  const FabAcceleratorSpec *base;
  FabAcceleratorSpec spec; /* the entry; its texts belong to `texts` and to the base */
  FabFractionFit achievable[FAB_N_PRECISIONS];
  FabFractionFit memory;
  double best_flops_per_s[FAB_N_PRECISIONS];
  const char *best_shape[FAB_N_PRECISIONS];
  double sustained_fraction;     /* rate of long runs over that of short ones; 0: not measured */
  FabTimePs launch_ps, issue_ps; /* 0: not measured */
  GArray *rows;                  /* FabKernelRow: products, memory-bound kernels, then the others */
  GPtrArray *notes;              /* char: what is left out, and why */
  GPtrArray *texts;              /* char */
} FabAcceleratorFit;

typedef struct {
  const FabAcceleratorSpec *base;
  const char *name;         /* of the entry; NULL: the base's, whose place it then takes */
  const char *date;         /* "2026-11-20" */
  const char *version;      /* of the program */
  const char *const *files; /* that were read, NULL-ended */
} FabAcceleratorRequest;

/* The series (FabMeasuredSeries) and the base must outlive the fit. Fails when there is neither a product nor a kernel
 * that moves memory, and when a kernel was faster than the base can be. (transfer full) */
FabAcceleratorFit *fab_accelerator_fit_new (const GPtrArray *series, const FabAcceleratorRequest *request,
                                            GError **error);
void fab_accelerator_fit_free (FabAcceleratorFit *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabAcceleratorFit, fab_accelerator_fit_free)

/* Whether any of the series is a kernel. */
gboolean fab_accelerator_has_kernels (const GPtrArray *series);

/* Return new texts that end with a newline. (transfer full) */
char *fab_accelerator_fit_yaml (const FabAcceleratorFit *self, const FabAcceleratorRequest *request);
char *fab_accelerator_fit_to_text (const FabAcceleratorFit *self);
char *fab_accelerator_fit_to_csv (const FabAcceleratorFit *self); /* a row per kernel */
char *fab_accelerator_fit_to_json (const FabAcceleratorFit *self);
