/* SPDX-License-Identifier: Apache-2.0 */
/* given.h - an algorithm that somebody gives: messages between ranks, and which waits for which.
 *
 * It is made for one operation and one number of ranks, and perhaps for some sizes. A library that has it uses it for
 * the collectives that it fits, in place of an algorithm of its own choice (fab_library_give ()).
 *
 * A message starts when each message that it waits for has left its sender, or has arrived. Bytes between nodes are
 * spread evenly over the NICs of the two GPUs (nic_paths.h). Whoever makes it has checked that every rank ends with
 * what the operation means, and that nothing waits for itself.
 */
#pragma once

#include "sim/collective/collective.h"

/* One rank may wait for many messages. */
#define FAB_GIVEN_MOST_MESSAGES 262144
#define FAB_GIVEN_MOST_WAITS 4194304

typedef struct {
  guint message;         /* added before the one that waits */
  gboolean is_departure; /* until it has left its sender, not until it has arrived */
} FabGivenWait;

typedef struct {
  guint from, to; /* ranks */
  double weight;  /* bytes per byte of size */
  guint first_wait, n_waits;
} FabGivenMessage;

struct _FabGiven {
  FabAlgorithmOps ops;  /* its name is that of the file */
  char *name, *source;  /* of the algorithm; the file that gives it */
  const char *protocol; /* "simple", "ll", "ll128", as NCCL uses the words; NULL: not said */
  FabOp op;
  guint n_ranks;
  guint n_channels;              /* thread blocks of a rank that send, at most */
  FabBytes from_bytes, to_bytes; /* sizes for which it is made; to_bytes 0: all */
  GArray *messages;              /* FabGivenMessage */
  GArray *waits;                 /* FabGivenWait */
};

FabGiven *fab_given_new (const char *name, const char *source);
void fab_given_free (FabGiven *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabGiven, fab_given_free)

/* Adds a message that waits for those in `waits` (FabGivenWait), which were added before. Returns its index. */
guint fab_given_add (FabGiven *self, guint from, guint to, double weight, const GArray *waits);

/* Puts the messages into an order that depends only on what they are and wait for, so that two files that say the same
 * are played alike to the last digit. To be called once, after the last message. */
void fab_given_finish (FabGiven *self);

/* Whether it is made for this collective. */
gboolean fab_given_fits (const FabGiven *self, guint n_ranks, FabOp op, FabBytes bytes);

/* Takes an algorithm, which it owns, for the collectives that it fits; of two that fit, the first. To be called before
 * the first plan is made. */
void fab_library_give (FabLibrary *self, FabGiven *given);
