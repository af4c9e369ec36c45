/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - what measures (a backend) and what it may ask of the program (the host).
 *
 * A backend knows how to move a message of some size some times and how long that took. Everything else is the
 * host's: which sizes, warm-up, how often until the median is known, statistics, the file, resuming, progress,
 * interruption. A backend is built into the program (tcp) or a shared module that is loaded when asked for:
 * fabricast-measure-NAME.so, whose one symbol is `fab_measure_backend`. A module is linked against the library
 * that it drives, so it loads only where that is found; a backend that finds out later that the machine cannot
 * (no device) fails with FAB_ERROR_UNSUPPORTED and a sentence that says what is missing.
 */
#pragma once

#include "formats/measurement/series.h"
#include "sim/base/param.h"

#define FAB_MEASURE_ABI 3u

/* What the person asked for, the same for all backends. */
typedef struct {
  const FabBytes *sizes_bytes; /* ascending; one at least where this side asks */
  guint n_sizes;
  const gboolean *kinds; /* FAB_N_MEASURE_KINDS; a backend leaves out what it cannot do and says so */
  guint window;          /* messages under way in bandwidth kinds; 0: the backend's usual number */
  const char *peer;   /* two-sided backends: "HOST[:PORT]" of the side that listens; NULL: none was named */
  const char *listen; /* "[HOST]:PORT" to wait at; NULL: this side asks */
  guint timeout_s;    /* for the other side to answer */
  guint session_s;    /* listening: how long one asker may take in all; 0: without limit */
  GBytes *secret;     /* both sides must prove that they know it; NULL: none */
  gboolean once;      /* listening: end after one asker */
} FabMeasurePlan;

/* When so many seconds are over, as of g_get_monotonic_time. */
static inline gint64
fab_measure_deadline_us (guint timeout_s)
{
  return g_get_monotonic_time () + timeout_s * (gint64) G_USEC_PER_SEC;
}

typedef struct _FabMeasureHost FabMeasureHost;

/* Moves `n_messages` as the series' kind says and sets how long all of them took. n_messages is at least 1, and is
 * chosen by the host so that a sample is long beside the clock. */
typedef gboolean (*FabTimedFunc) (gpointer data, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
                                  GError **error);

struct _FabMeasureHost {
  const FabMeasurePlan *plan;

  /* Measures every size of the plan that is not in the file yet (up to `max_bytes`; 0: all): warm-up, then samples
   * until the median's confidence interval is narrow enough or a limit is reached. FALSE with *error when the
   * function failed, the file cannot be written, or the person interrupted (G_IO_ERROR_CANCELLED). */
  gboolean (*measure) (FabMeasureHost *self, const FabSeries *series, FabBytes max_bytes, FabTimedFunc func,
                       gpointer data, GError **error);

  /* The same for one size, which need not be in the plan: a kernel whose shape says more than its size. */
  gboolean (*measure_one) (FabMeasureHost *self, const FabSeries *series, FabBytes size_bytes,
                           FabTimedFunc func, gpointer data, GError **error);

  /* A fact of the machine: "gpu0" = "NVIDIA H200, 132 SMs". */
  void (*machine) (FabMeasureHost *self, const char *key, const char *value);

  /* For the person: what cannot be measured here and why, one sentence. Kept in the file as well. */
  void (*note) (FabMeasureHost *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

  /* The person wants it to end. */
  gboolean (*is_cancelled) (FabMeasureHost *self);

  const char *system;      /* this machine in words: what series have as `system` when they do not say */
  FabTimePs min_sample_ps; /* a backend may ask for samples at least this long; 0: long beside the clock */
};

typedef struct {
  guint abi;               /* FAB_MEASURE_ABI */
  FabModelInfo info;       /* name, one line, page, parameters: `--set key=value`, `describe measure NAME` */
  const char *needs;       /* "libibverbs (rdma-core) and an RDMA device on both hosts" */
  const char *usual_sizes; /* of the plan when none are given; NULL: those of messages */
  /* The side that asks: runs the plan. */
  gboolean (*measure) (FabMeasureHost *host, gconstpointer params, GError **error);
  /* The side that listens: serves one asker after the other until interrupted. NULL: one-sided. */
  gboolean (*serve) (FabMeasureHost *host, gconstpointer params, GError **error);
  /* Can this machine? FALSE with a FAB_ERROR_UNSUPPORTED that says what is missing. Takes no time. NULL: wherever
   * the module loads. */
  gboolean (*probe) (GError **error);
  /* Is this process only here to help another that measures (a rank of mpirun that is not 0)? It then serves, without
   * having been told to, keeps no file and prints nothing. NULL: never. */
  gboolean (*is_helper) (void);
} FabMeasureBackend;

/* The one symbol of a module. */
typedef const FabMeasureBackend *(*FabMeasureBackendFunc) (void);
