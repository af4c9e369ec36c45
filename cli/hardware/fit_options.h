/* SPDX-License-Identifier: Apache-2.0 */
/* fit_options.h - the options that `calibrate` and `validate links` share: files, their series, and how ends are
 * joined. */
#pragma once

#include "cli/cli.h"
#include "validate/fit/groups.h"
#include "validate/fit/link.h"

typedef struct {
  char *system, *from, *to, *method, *memory, *series, *min_size, *max_size, *hold_out;
  gint count, hops;
} FabFitOptions;

#define FAB_FIT_OPTIONS_DEFAULT \
  {                             \
    .count = 1, .hops = 2       \
  }

/* The checked options. */
typedef struct {
  FabGroupFilter filter; /* points into the FabFitOptions */
  FabFitSizes sizes;
  guint count, hops;
} FabFitChoice;

/* Rows for a GOptionEntry array; they write into `o`. */
#define FAB_FIT_OPTION(name, type, field, help, value)  \
  {                                                     \
    name, 0, 0, G_OPTION_ARG_##type, field, help, value \
  }
#define FAB_FIT_OPTION_ENTRIES(o)                                                                           \
  FAB_FIT_OPTION ("series", STRING, &(o)->series,                                                           \
                  "Use only this link, or series with this text in their key: window=64", "TEXT"),          \
      FAB_FIT_OPTION ("system", STRING, &(o)->system, "Use only measurements of this machine", "TEXT"),     \
      FAB_FIT_OPTION ("from", STRING, &(o)->from, "Use only transfers from this end: gpu0, host", "END"),   \
      FAB_FIT_OPTION ("to", STRING, &(o)->to, "Use only transfers to this end", "END"),                     \
      FAB_FIT_OPTION ("method", STRING, &(o)->method,                                                       \
                      "Use only transfers by this method: copy, kernel, write", "NAME"),                    \
      FAB_FIT_OPTION ("memory", STRING, &(o)->memory,                                                       \
                      "Use only transfers with this memory at an end: host, pageable, gpu", "NAME"),        \
      FAB_FIT_OPTION ("min-size", STRING, &(o)->min_size, "Leave smaller messages out", "SIZE"),            \
      FAB_FIT_OPTION ("max-size", STRING, &(o)->max_size, "Leave larger messages out", "SIZE"),             \
      FAB_FIT_OPTION ("holdout", STRING, &(o)->hold_out,                                                    \
                      "Share of the sizes held out of the fit to judge it: 20%, 0 (default: 1/3)", "PART"), \
      FAB_FIT_OPTION ("count", INT, &(o)->count, "Number of parallel links between the ends (default: 1)",  \
                      "N"),                                                                                 \
      FAB_FIT_OPTION ("hops", INT, &(o)->hops,                                                              \
                      "Number of successive links between the ends (default: 2, through one switch)", "N")

/* Checks the options. `choice` points into `self`, which must outlive it. */
gboolean fab_fit_options_read (const FabFitOptions *self, FabFitChoice *choice, GError **error);
void fab_fit_options_clear (FabFitOptions *self);

/* Reads the series of all files (NULL-ended): measurements files, and other tools' output. (transfer full) */
GPtrArray *fab_cli_series (char **files, GError **error);

/* Loads the shipped catalogue with the links of files added to it, as a scenario that owns the result. `catalog` must
 * outlive it. (transfer full) */
FabScenario *fab_cli_overlay (char **files, const FabCatalog *catalog, GError **error);
