/* SPDX-License-Identifier: Apache-2.0 */
/* link_fold.h - groups links into classes whose members everything crosses in the same way: arrays in, arrays out. It
 * knows no engine and no graph.
 *
 * The links of one class have the same capacity and carry the same weight of every stream that was let in, or nothing
 * of it. Their shares are always equal, so one of them represents all in the solver. Anything that treats a link
 * separately (a message on one path, a capacity that changes) splits it off. Classes are split but never merged, so
 * there are as many classes as differences, however many links there are. One thread at a time may use a fold.
 */
#pragma once

#include <glib.h>

typedef struct _FabLinkFold FabLinkFold;

/* `capacity` is called once per link. With `is_flat`, every link has a class of its own. (transfer full) */
FabLinkFold *fab_link_fold_new (guint n_links, double (*capacity) (gconstpointer owner, guint link),
                                gconstpointer owner, gboolean is_flat);
void fab_link_fold_free (FabLinkFold *self); /* accepts NULL */

/* Returns a class that holds only this link from now on; it is less than n_links. */
guint fab_link_fold_apart (FabLinkFold *self, guint link);

/* Splits classes until each is either wholly in the stream with one weight or wholly outside it. A link must not
 * appear twice. O(n). */
void fab_link_fold_let_in (FabLinkFold *self, const guint *links, const double *weights, guint n);

/* Returns a number that grows when a class used by a stream is split. Results that were derived from older classes are
 * then out of date. */
guint fab_link_fold_version (const FabLinkFold *self);

/* For a link that was let in or split off: its class, and whether the link represents the class. */
guint fab_link_fold_class (const FabLinkFold *self, guint link);
gboolean fab_link_fold_stands (const FabLinkFold *self, guint link);
