/* SPDX-License-Identifier: Apache-2.0 */
/* link_fold.h - links that are alike to everything that crosses them, gathered in classes: arrays in, arrays out.
 *
 * Links of one class have the same capacity and carry the same weight of every stream that has been let in, or nothing
 * of it: their shares are equal at all times, so one of them stands for all in the solver. What treats a link apart
 * (a message on one path, a capacity that changes) splits it off, and what splits classes stays: there are as many
 * as there are differences, not as there are links. Knows no engine and no graph.
 */
#pragma once

#include <glib.h>

typedef struct _FabLinkFold FabLinkFold;

/* `capacity` is asked once per link. A fold that `is_flat` leaves every link alone. */
FabLinkFold *fab_link_fold_new (guint n_links, double (*capacity) (gconstpointer owner, guint link),
                                gconstpointer owner, gboolean is_flat);
void fab_link_fold_free (FabLinkFold *self); /* accepts NULL */

/* The class of one link, which has it for itself from now on; below n_links. */
guint fab_link_fold_apart (FabLinkFold *self, guint link);

/* Splits classes until each is wholly inside the stream with one weight, or wholly outside. A link must not stand
 * twice. O(n). */
void fab_link_fold_let_in (FabLinkFold *self, const guint *links, const double *weights, guint n);

/* Goes up when a class is split that something had been let in by: what was made of classes before is out of date. */
guint fab_link_fold_version (const FabLinkFold *self);

/* Of a link that has been let in or split off: its class, and whether the link stands for it. */
guint fab_link_fold_class (const FabLinkFold *self, guint link);
gboolean fab_link_fold_stands (const FabLinkFold *self, guint link);
