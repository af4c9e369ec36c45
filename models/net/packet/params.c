/* SPDX-License-Identifier: Apache-2.0 */
/* params.c - the keys of the packet network. Constants of DCQCN and of marking: Y. Zhu et al., "Congestion Control for
 * Large-Scale RDMA Deployments", SIGCOMM 2015, as used there at 40 Gb/s. */
#include "models/net/packet/params.h"

static const char *const switchings[] = { "cut_through", "store_and_forward", NULL };
static const char *const controls[] = { "auto", "credit", "pfc", "drop", "none", NULL };
static const char *const arbitrations[] = { "weighted", "strict", NULL };
static const char *const balances[] = { "in_turn", "least_queue", NULL };

/* The dimensions of the job, then other traffic. */
const char *const packet_traffics[] = { "data",    "tensor", "context",    "expert",     "pipeline",
                                        "offload", "other",  "neighbours", "background", NULL };

static const FabParam class_params[] = {
  { .key = "of",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (PacketClassParams, of),
    .choices = packet_traffics,
    .help = "Traffic that has lanes of its own: a dimension of the job, other jobs, or background flows." },
  { .key = "weight",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (PacketClassParams, weight),
    .fallback = "1",
    .min = 1,
    .max = 1e6,
    .help = "Its share of a busy link is weight / sum of weights; of what is in no class: 1." },
  { .key = NULL },
};

#define ROW(key_, type_, field_, fallback_, help_)                                          \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (PacketParams, field_), \
  .fallback = fallback_, .help = help_

const FabParam packet_params[] = {
  { ROW ("mtu", BYTES, mtu_bytes, "4KiB", "Payload of a packet."), .min = 64, .max = 0x1p22 },
  { ROW ("switching", CHOICE, switching, "cut_through",
         "A packet goes on when its head is there, or when all of it is."),
    .choices = switchings },
  { ROW (
        "flow_control", CHOICE, control, "auto",
        "Of links: credit, pfc, drop (finite queues), none (endless ones); auto: pfc on Ethernet, else credit."),
    .choices = controls },
  { ROW ("buffer", BYTES, buffer_bytes, "0B",
         "Credit: room at the far end of a link; 0B: what its round trip holds, and 8 packets."),
    .max = 0x1p30 },
  { ROW (
        "lanes", COUNT, n_lanes, "8",
        "Lossless: virtual lanes of a link at most, which keep credits from waiting for each other in circles."),
    .min = 1, .max = 16 },
  { .key = "classes",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (PacketParams, classes),
    .table = class_params,
    .table_size = sizeof (PacketClassParams),
    .help = "Classes of service: traffic with lanes and buffers of its own; what is in none shares one." },
  { ROW ("arbitration", CHOICE, arbitration, "weighted",
         "Classes share a link by weight, or the largest weight that waits goes first."),
    .choices = arbitrations },
  { ROW ("pause", BYTES, pause_bytes, "256KiB",
         "PFC: what came over a link and waits stops it from here on."),
    .max = 0x1p30 },
  { ROW ("resume", BYTES, resume_bytes, "192KiB", "PFC: and lets it go on from here down."), .max = 0x1p30 },
  { ROW ("queue", BYTES, queue_bytes, "1MiB", "Drop: what waits for a link at most."), .min = 64,
    .max = 0x1p30 },
  { ROW (
      "window", BYTES, window_bytes, "0B",
      "What a message has under way at most; 0B: two round trips over links without end, else no limit.") },
  { ROW ("pace", FRACTION, pace_fraction, "1", "Share of the line rate at which a sender puts packets out."),
    .min = 0.001, .max = 1 },
  { ROW ("paths", COUNT, n_paths, "64",
         "Over which a route that spreads sends the packets of a message, in turn."),
    .min = 1, .max = 4096 },
  { ROW ("balance", CHOICE, balance, "in_turn",
         "Packets of a route that spreads take its paths in turn, or at every switch the shortest queue."),
    .choices = balances },
  { ROW ("mark_from", BYTES, mark_from_bytes, "5kB", "ECN on Ethernet: queue from which packets are marked."),
    .max = 0x1p30 },
  { ROW ("mark_all", BYTES, mark_all_bytes, "200kB", "ECN: queue from which all are marked."),
    .max = 0x1p30 },
  { ROW ("mark_fraction", FRACTION, mark_fraction, "0.01", "ECN: share that is marked just below that."),
    .max = 1 },
  { ROW ("dcqcn", BOOL, has_dcqcn, "true", "Senders over Ethernet heed the marks.") },
  { ROW ("gain", FRACTION, gain_fraction, "0.00390625", "DCQCN: weight of a new mark, 1/256."), .max = 1 },
  { ROW ("cnp_every", TIME, cnp_every_ps, "50us", "DCQCN: a receiver tells of marks once in this time.") },
  { ROW ("alpha_every", TIME, alpha_every_ps, "55us", "DCQCN: how often the estimate of marks decays."),
    .min = 1e6, .max = 1e15 },
  { ROW ("increase_every", TIME, increase_every_ps, "55us", "DCQCN: how often the rate rises, by time."),
    .min = 1e6, .max = 1e15 },
  { ROW ("increase_bytes", BYTES, increase_every_bytes, "10MB", "DCQCN: how often the rate rises, by bytes."),
    .min = 1e3, .max = 1e15 },
  { ROW ("recovery", COUNT, n_recovery, "5", "DCQCN: rises that only go back to the rate before."), .min = 1,
    .max = 1e3 },
  { ROW ("increase", RATE, increase_bytes_per_s, "40Mb/s", "DCQCN: what a rise adds after those.") },
  { ROW ("hyper_increase", RATE, hyper_bytes_per_s, "400Mb/s",
         "DCQCN: and when both ways have risen so often.") },
  { ROW ("timeout", TIME, timeout_ps, "1ms", "Drop: what nothing was heard of for so long is sent again."),
    .min = 1e6, .max = 1e15 },
  { ROW ("doorbell", TIME, doorbell_ps, "0ns", "Before the first packet of a message that a NIC sends."),
    .max = 1e12 },
  { ROW ("message_gap", TIME, message_gap_ps, "0ns",
         "Between messages of one sender over its NIC: 1 / message rate."),
    .max = 1e12 },
  { ROW ("completion", TIME, completion_ps, "0ns", "From the last byte to the word of it, over NICs."),
    .max = 1e12 },
  { .key = NULL },
};

void
packet_params_check (gconstpointer params, FabCheck *check)
{
  const FabParamList *classes = &((const PacketParams *) params)->classes;
  const PacketClassParams *all = (const PacketClassParams *) classes->data;

  for (guint i = 0; i < classes->n; i++)
    for (guint k = 0; k < i; k++)
      if (all[i].of == all[k].of)
        fab_check_fail (check, &all[i].of, "%s has a class already", packet_traffics[all[i].of]);
}
