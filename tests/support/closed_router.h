/* SPDX-License-Identifier: Apache-2.0 */
/* closed_router.h - a router that finds no path any more from one of the times on when it is asked, so that a test can
 * ask whether the caller says so, wherever it is then.
 */
#pragma once

#include "sim/fabric/router.h"

typedef struct {
  FabRouter base;
  FabRouter *open;        /* which finds the paths; it must not spread them */
  guint n_asked, n_found; /* how often it finds one; G_MAXUINT: always */
} ClosedRouter;

ClosedRouter closed_router (FabRouter *open, guint n_found);

/* What is tried with paths of this router. FALSE and *error where it fails. */
typedef gboolean (*ClosedFn) (gpointer data, GError **error);

/* It succeeds with all paths of *router, and fails with an error with only the first of them, however many these are.
 * *router is as before then. */
void closed_router_try (FabRouter **router, ClosedFn fn, gpointer data);
