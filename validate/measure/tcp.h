/* SPDX-License-Identifier: Apache-2.0 */
/* tcp.h - the tcp backend's parameters and ends; tcp.c opens them and tcp_move.c moves messages. */
#pragma once

#include "validate/measure/pair.h"

typedef enum { FAB_TCP_BLOCK, FAB_TCP_SPIN } FabTcpWait;

typedef struct {
  gint64 n_streams;
  FabBytes buffer_bytes; /* 0: the kernel's default */
  const char *bind;
  gint64 port;
  gint wait; /* FabTcpWait */
} FabTcpParams;

typedef struct {
  FabPair base;
  char *there; /* name of the other end, for messages */
  gboolean is_asking;
  FabTcpWait wait;
  guint n_streams, window, timeout_s;
  int *streams; /* sockets that carry data */
  int words;    /* socket for single bytes: go, credit, all arrived */
  char *out, *in;
  gsize buffer_bytes;       /* of each buffer; longer messages wrap around in it */
  guint64 *sent, *received; /* bytes by stream, of the current transfer */
} FabTcpPair;

/* Implements FabPairOps.move. */
gboolean fab_tcp_move (FabPair *pair, FabMeasureKind kind, FabBytes size_bytes, guint n_messages,
                       FabTimePs *elapsed_ps, GError **error);
