/* SPDX-License-Identifier: Apache-2.0 */
/* tcp.h - the tcp backend in two files: what a pair of ends has (tcp.c opens it, tcp_move.c moves messages). */
#pragma once

#include "validate/measure/pair.h"

typedef enum { FAB_TCP_BLOCK, FAB_TCP_SPIN } FabTcpWait;

typedef struct {
  gint64 n_streams;
  FabBytes buffer_bytes; /* 0: the kernel's own */
  const char *bind;
  gint64 port;
  gint wait; /* FabTcpWait */
} FabTcpParams;

typedef struct {
  FabPair base;
  char *there; /* for messages */
  gboolean is_asking;
  FabTcpWait wait;
  guint n_streams, window, timeout_s;
  int *streams; /* data */
  int words;    /* one byte at a time: go, credit, all arrived */
  char *out, *in;
  gsize buffer_bytes;       /* of each; messages go round in it */
  guint64 *sent, *received; /* by stream, of one transfer */
} FabTcpPair;

/* FabPairOps.move */
gboolean fab_tcp_move (FabPair *pair, FabMeasureKind kind, FabBytes size_bytes, guint n_messages,
                       FabTimePs *elapsed_ps, GError **error);
