/* SPDX-License-Identifier: Apache-2.0 */
/* congestion.h - the narrow interface of congestion control: what a sender may have under way, and how fast it sends.
 *
 * A model is a state machine of one sender, that is, of one connection. It knows no packet, queue or clock: the
 * network calls it with what a sender would learn, and obeys the limits that it writes. The state of a model
 * begins with FabCongestion, which the network fills before `start`. Rates and windows are of payload.
 *
 * The models are in models/congestion.
 */
#pragma once

#include "sim/base/param.h"

/* What a switch writes into a packet that leaves it. */
typedef struct {
  guint32 port;      /* tells ports apart */
  FabTimePs at_ps;   /* when the packet began to leave */
  FabTimePs busy_ps; /* how long the port has been sending since the clock started */
  double queue_ps;   /* time that the port needs to send what waits for it */
} FabTelemetry;

/* One packet, as its sender hears of it. */
typedef struct {
  FabTimePs now_ps;
  /* When the adapter took it, which is its place among the packets of its sender, and when it began to leave the
   * adapter. A delay counts from there: what waits in the sender's own adapter is not in the network. */
  FabTimePs sent_ps, left_ps;
  guint32 bytes;
  gboolean is_marked; /* a switch marked it, because its queue was long */
  gboolean is_lost;   /* it did not arrive: a switch dropped its payload */
  const FabTelemetry *hops;
  guint n_hops; /* 0 unless the model has_telemetry */
} FabPacketReport;

/* The head of a model's state. */
typedef struct {
  gconstpointer params;
  /* The path, which the network fills in. */
  double line_bytes_per_s; /* payload of its slowest link */
  double wire_bytes_per_s; /* the same with headers */
  FabTimePs round_trip_ps; /* of a packet through an empty network */
  FabTimePs
      longest_trip_ps; /* the same between the ends of the network that lie farthest apart; at least as long */
  guint n_hops;        /* links of the path */
  guint32 mtu_bytes;   /* payload of a whole packet */
  /* The limits, which the model sets. */
  double rate_bytes_per_s; /* 0: as fast as the line */
  FabTimePs
      changes_ps;      /* with `elapsed`: when the rate changes next, though the network calls nothing else */
  double window_bytes; /* payload under way at most, but always one packet; 0: no limit */
  /* With takes_credit: what it may still send, which the network takes away and receivers add to, and how much may be
   * on its way to a receiver that gives it more. */
  double credit_bytes, outstanding_bytes;
} FabCongestion;

/* All functions but `start` may be NULL. A model without `start` leaves senders without limits. */
typedef struct {
  FabModelInfo info;
  gsize state_size;       /* of the struct that begins with FabCongestion */
  gboolean takes_credit;  /* receivers give credit, and nobody sends without */
  gboolean has_telemetry; /* switches write FabTelemetry into packets */
  /* A rate that falls also lengthens the gap to the next packet that has begun. One that rises always shortens it. */
  gboolean lengthens_gap;
  /* Bytes that this takes in every packet beside its headers; NULL: none. */
  guint32 (*header_bytes) (gconstpointer params);
  void (*start) (FabCongestion *self);
  void (*sent) (FabCongestion *self, FabTimePs now_ps, guint32 bytes);
  /* Brings a rate that changes with time up to date. NULL: it changes in the other functions only. */
  void (*elapsed) (FabCongestion *self, FabTimePs now_ps);
  /* At the receiver: a marked packet has come. Returns whether the sender is to be told. */
  gboolean (*marked) (FabCongestion *self, FabTimePs now_ps);
  /* At the sender: the receiver's word of marked packets has come. */
  void (*notified) (FabCongestion *self, FabTimePs now_ps);
  /* At the sender: a packet has arrived, or was lost. NULL: such reports are not made. */
  void (*reported) (FabCongestion *self, const FabPacketReport *report);
} FabCongestionOps;
