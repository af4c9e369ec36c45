/* SPDX-License-Identifier: Apache-2.0 */
/* catalog_params.c - the keys of links, accelerators, nodes, models, products, technologies, processors and what
 * is measured of them.
 *
 * `source` and `date` are optional here, for entries that a scenario defines itself; shipped entries must have them
 * (catalog.c). Constant data only.
 */
#include "sim/scenario/catalog_params.h"

#include "sim/fabric/reach.h"
#include "sim/fabric/technology.h"

#define ROW(key_, type_, struct_, field_, fallback_, help_)                            \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (struct_, field_), \
  .fallback = fallback_, .help = help_

#define NAME_ROWS(struct_)                                                    \
  { ROW ("name", TEXT, struct_, name, NULL, "What other entries call it.") }, \
  {                                                                           \
    ROW ("summary", TEXT, struct_, summary, "", "One line for tables.")       \
  }

#define SOURCE_ROWS(struct_)                                                       \
  { ROW ("source", TEXT, struct_, source, "", "Where the numbers come from.") },   \
  {                                                                                \
    ROW ("date", TEXT, struct_, date, "", "When the source was read: 2026-11-20.") \
  }

static const FabParam drive_params[] = {
  { ROW ("payload", BYTES, FabLinkDriveSpec, payload_bytes, "0B", "Payload of one packet; 0B: no packets.") },
  { ROW ("overhead", BYTES, FabLinkDriveSpec, overhead_bytes, "0B",
         "Header, CRC and framing of one packet.") },
  { ROW ("achievable", FRACTION, FabLinkDriveSpec, achievable_fraction, "1",
         "Best measured rate over the rate that packets leave."),
    .min = 0.001, .max = 1.0 },
  { ROW ("source", TEXT, FabLinkDriveSpec, source, "", "Where these three come from.") },
  { .key = NULL },
};

/* In the order of FabMessageWay. */
static const char *const message_ways[] = { "one", "both", NULL };

static const FabParam message_params[] = {
  { ROW ("way", CHOICE, FabMessageRegime, way, "one",
         "one: nothing comes the other way; both: as much does. Without rows of both, those of one hold."),
    .choices = message_ways },
  { ROW ("up_to", BYTES, FabMessageRegime, up_to_bytes, "0B",
         "The largest message of this row; left out (0B) in the last one of a way: no end.") },
  { ROW ("overhead", TIME, FabMessageRegime, overhead_ps, NULL, "What a message takes whatever its size.") },
  { ROW ("rate", RATE, FabMessageRegime, rate_bytes_per_s, NULL, "And its bytes on top, at this rate.") },
  { .key = NULL },
};

static const FabParam inlined_params[] = {
  { ROW ("most", BYTES, FabInlined, most_bytes, "0B", "The largest message that goes so; 0B: none does.") },
  { ROW ("copy", TIME, FabInlined, copy_ps, "0us", "Time to copy one out of an accelerator's memory.") },
  { .key = NULL },
};

static const FabParam rendezvous_params[] = {
  { ROW ("from", BYTES, FabRendezvous, from_bytes, "0B",
         "The smallest message that goes so; 0B: none does.") },
  { ROW ("handshake", TIME, FabRendezvous, handshake_ps, "0us",
         "What it adds to a message that has to be waited for.") },
  { ROW ("message", TIME, FabRendezvous, message_ps, "0us",
         "A port's time for each such message, one after another; 0us: unlimited.") },
  { ROW ("host_message", TIME, FabRendezvous, host_message_ps, "0us",
         "Likewise between buffers in host memory.") },
  { .key = NULL },
};

static const FabParam measured_params[] = {
  { ROW ("from", BYTES, FabLinkMeasured, from_bytes, "0B", "The smallest message that was measured.") },
  { ROW ("to", BYTES, FabLinkMeasured, to_bytes, "0B",
         "The largest one; predictions beyond are marked. 0B: not measured.") },
  { ROW ("held_out_error", FRACTION, FabLinkMeasured, held_out_error_fraction, "0%",
         "Median error of the rows that were held out of the fit."),
    .max = 1 },
  { ROW ("rows", COUNT, FabLinkMeasured, n_rows, "0", "Measured rows that the numbers were fitted to."),
    .max = 1e9 },
  { ROW ("held_out", COUNT, FabLinkMeasured, n_held_out, "0", "Rows held out of the fit."), .max = 1e9 },
  { .key = NULL },
};

static const FabParam uncertainty_params[] = {
  { ROW ("rate", FRACTION, FabLinkUncertainty, rate_fraction, "0%",
         "95 % half-width of the rate, as a part of it; 0: none is known."),
    .max = 0.9 },
  { ROW ("latency", FRACTION, FabLinkUncertainty, latency_fraction, "0%", "Likewise of the latency."),
    .max = 1 },
  { ROW ("endpoint", FRACTION, FabLinkUncertainty, endpoint_fraction, "0%", "Likewise of the endpoint."),
    .max = 1 },
  { ROW ("messages", FRACTION, FabLinkUncertainty, messages_fraction, "0%",
         "Likewise of every time that `messages` gives."),
    .max = 0.9 },
  { .key = NULL },
};

/* In the order of FabEvidence. */
static const char *const evidences[] = { "tables", "one_table", "assumed", NULL };

/* AUTO, then in the order of FabFlowControl. */
static const char *const flow_controls[] = { "auto", "credit", "pfc", "drop", NULL };

const FabParam fab_link_params[] = {
  NAME_ROWS (FabLinkSpec),
  { ROW ("technology", TEXT, FabLinkSpec, technology, "",
         "What kind of link it is; a link inside a node must say it."),
    .refers = FAB_REFERS_TECHNOLOGY },
  { ROW ("lanes", COUNT, FabLinkSpec, lanes, "1", "Lanes of one direction."), .min = 1, .max = 1024 },
  { ROW ("signalling", RATE, FabLinkSpec, signalling_bytes_per_s, NULL,
         "Raw rate of one lane, one direction; GT/s x bits, written in Gb/s.") },
  { ROW ("coding", FRACTION, FabLinkSpec, coding_fraction, "1",
         "What line coding and FEC leave: 128b/130b is 0.984615384615."),
    .min = 0.001, .max = 1.0 },
  { ROW ("latency", TIME, FabLinkSpec, latency_ps, "0ns",
         "One traversal: the wire and the port behind it.") },
  { ROW (
        "flow_control", CHOICE, FabLinkSpec, flow_control, "auto",
        "What keeps it from losing packets: credit, pfc, drop (nothing does); auto: what its technology has."),
    .choices = flow_controls },
  { ROW ("flow_control_note", TEXT, FabLinkSpec, flow_control_note, "",
         "How senders are held back, in words.") },
  { ROW ("copy", TABLE, FabLinkSpec, copy, NULL,
         "Packets when a copy engine or a NIC's DMA moves the bytes."),
    .table = drive_params, .table_size = sizeof (FabLinkDriveSpec) },
  { ROW ("kernel", TABLE, FabLinkSpec, kernel, NULL, "Packets when loads and stores of a GPU kernel do."),
    .table = drive_params, .table_size = sizeof (FabLinkDriveSpec) },
  { ROW ("multimem", TABLE, FabLinkSpec, multimem, NULL,
         "Packets when a switch reduces loads and multiplies stores; payload 0B: none can."),
    .table = drive_params, .table_size = sizeof (FabLinkDriveSpec) },
  { ROW ("endpoint", TIME, FabLinkSpec, endpoint_ps, "0ns",
         "NIC ports: what both adapters and their driver add to a small message, beyond the wires.") },
  { ROW (
        "collective_fraction", FRACTION, FabLinkSpec, collective_fraction, "0",
        "NIC ports: share of `copy` that a collective library reaches; 0: not known, the library's default."),
    .max = 1 },
  { ROW ("collective_source", TEXT, FabLinkSpec, collective_source, "", "Where that share comes from.") },
  { ROW ("rendezvous", TABLE, FabLinkSpec, rendezvous, NULL,
         "NIC ports: longer messages, for which sender and receiver first agree on a buffer."),
    .table = rendezvous_params, .table_size = sizeof (FabRendezvous) },
  { ROW ("rendezvous_source", TEXT, FabLinkSpec, rendezvous_source, "", "Where these numbers come from.") },
  { ROW ("sharp", BOOL, FabLinkSpec, can_reduce, "false",
         "NIC ports: switches of this network can reduce.") },
  { ROW ("messages", LIST, FabLinkSpec, messages, NULL,
         "NIC ports: time of one message from end to end, software included: overhead + size / rate."),
    .table = message_params, .table_size = sizeof (FabMessageRegime) },
  { ROW ("inlined", TABLE, FabLinkSpec, inlined, NULL,
         "NIC ports: short messages whose bytes a processor copies into the command to the adapter."),
    .table = inlined_params, .table_size = sizeof (FabInlined) },
  { ROW ("inlined_source", TEXT, FabLinkSpec, inlined_source, "", "Where these numbers come from.") },
  { ROW ("measured", TABLE, FabLinkSpec, measured, NULL, "What `fabricast calibrate` fitted the numbers to."),
    .table = measured_params, .table_size = sizeof (FabLinkMeasured) },
  { ROW ("uncertainty", TABLE, FabLinkSpec, uncertainty, NULL,
         "How far the numbers may be off; gives predictions a band."),
    .table = uncertainty_params, .table_size = sizeof (FabLinkUncertainty) },
  { ROW ("evidence", CHOICE, FabLinkSpec, evidence, "tables",
         "What its numbers that only collectives show rest on: tables; one_table; assumed. Widens the band."),
    .choices = evidences },
  SOURCE_ROWS (FabLinkSpec),
  { .key = NULL },
};

const FabParam fab_accelerator_params[] = {
  NAME_ROWS (FabAcceleratorSpec),
  { ROW ("architecture", TEXT, FabAcceleratorSpec, architecture, "",
         "Its generation: what constants of collective libraries are keyed by.") },
  { ROW ("peak_fp16", FLOPS_RATE, FabAcceleratorSpec, peak_fp16_flops_per_s, NULL,
         "Dense matrix peak in BF16 or FP16.") },
  { ROW ("peak_fp32", FLOPS_RATE, FabAcceleratorSpec, peak_fp32_flops_per_s, NULL, "Dense FP32 peak.") },
  { ROW ("peak_tf32", FLOPS_RATE, FabAcceleratorSpec, peak_tf32_flops_per_s, "0FLOP/s",
         "Dense matrix peak in TF32, for FP32 training that allows it; 0: it has none."),
    .max = 1e20 },
  { ROW ("peak_fp8", FLOPS_RATE, FabAcceleratorSpec, peak_fp8_flops_per_s, "0FLOP/s",
         "Dense matrix peak in FP8; 0: it has none."),
    .max = 1e20 },
  { ROW ("peak_fp4", FLOPS_RATE, FabAcceleratorSpec, peak_fp4_flops_per_s, "0FLOP/s",
         "Dense matrix peak in FP4; 0: it has none."),
    .max = 1e20 },
  { ROW ("matmul", FRACTION, FabAcceleratorSpec, matmul_fraction, "0%",
         "Part of peak_fp16 that the best matrix multiplication reaches; 0: not known."),
    .max = 1 },
  { ROW ("sms", COUNT, FabAcceleratorSpec, n_sms, "0",
         "Streaming multiprocessors or compute units; 0: not known."),
    .max = 1e6 },
  { ROW ("memory", BYTES, FabAcceleratorSpec, memory_bytes, NULL, "Memory of one accelerator.") },
  { ROW ("memory_rate", RATE, FabAcceleratorSpec, memory_bytes_per_s, NULL, "Rate of that memory.") },
  { ROW ("power_watts", COUNT, FabAcceleratorSpec, power_watts, "0", "Board power in watts; 0: unknown."),
    .max = 1e6 },
  SOURCE_ROWS (FabAcceleratorSpec),
  { .key = NULL },
};

static const char *const part_kinds[] = {
  [FAB_PART_ACCELERATOR] = "accelerator",
  [FAB_PART_SWITCH] = "switch",
  [FAB_PART_NIC] = "nic",
  [FAB_PART_HOST] = "host",
  [FAB_PART_BRIDGE] = "bridge",
  [FAB_PART_MEMORY] = "memory",
  [FAB_PART_STORAGE] = "storage",
  NULL,
};

static const FabParam part_params[] = {
  { ROW ("name", TEXT, FabPartSpec, name, NULL, "What wires call it; its members are name0, name1, ...") },
  { ROW ("kind", CHOICE, FabPartSpec, kind, NULL, "What it is."), .choices = part_kinds },
  { ROW ("count", COUNT, FabPartSpec, count, "1", "How many a node has."), .min = 1, .max = 4096 },
  { ROW ("shared", COUNT, FabPartSpec, shared, "1",
         "Nodes in a row that have these members in common (a rack's own switches); 1: each its own."),
    .min = 1, .max = 4096 },
  { .key = NULL },
};

static const char *const wire_maps[] = { [FAB_WIRE_BLOCK] = "block",
                                         [FAB_WIRE_ALL] = "all",
                                         [FAB_WIRE_RING] = "ring",
                                         [FAB_WIRE_PAIRS] = "pairs",
                                         NULL };

static const FabParam wire_params[] = {
  { ROW ("from", TEXT, FabWireSpec, from, NULL, "A part (gpu) or one member (gpu3).") },
  { ROW ("to", TEXT, FabWireSpec, to, NULL, "A part or one member.") },
  { ROW ("link", TEXT, FabWireSpec, link, NULL, "The link entry of each direction."),
    .refers = FAB_REFERS_LINK },
  { ROW ("count", COUNT, FabWireSpec, count, "1", "Parallel links bundled into one."), .min = 1,
    .max = 4096 },
  { ROW ("map", CHOICE, FabWireSpec, map, "block",
         "block: a tree; all: every member to every member; within one part also ring and pairs (0-1, 2-3)."),
    .choices = wire_maps },
  { .key = NULL },
};

const FabParam fab_node_params[] = {
  NAME_ROWS (FabNodeSpec),
  { ROW ("accelerator", TEXT, FabNodeSpec, accelerator, NULL,
         "The accelerator entry of its accelerator parts."),
    .refers = FAB_REFERS_ACCELERATOR },
  { ROW ("nic", TEXT, FabNodeSpec, nic, "", "The link entry of a NIC's port to the network; empty: no NICs."),
    .refers = FAB_REFERS_LINK },
  { ROW ("cpu", TEXT, FabNodeSpec, cpu, "generic", "The processor entry of its sockets."),
    .refers = FAB_REFERS_PROCESSOR },
  { ROW ("plugin", TEXT, FabNodeSpec, plugin, "",
         "Network plug-in that the collective library loads there (collectives.plugin); empty: none.") },
  { ROW (
        "p2p", CHOICE, FabNodeSpec, p2p, "sys",
        "The farthest GPUs that read each other's memory: none, nvl (links of GPUs only), pix, pxb, phb, node, sys."),
    .choices = fab_reach_names },
  { ROW ("gdr", CHOICE, FabNodeSpec, gdr, "sys",
         "The farthest NIC that reads a GPU's memory (GPUDirect RDMA); beyond it, through host memory."),
    .choices = fab_reach_names },
  { ROW ("fabric", MODEL, FabNodeSpec, fabric, "switch", "What usually joins such nodes."),
    .models = FAB_MODEL_FABRIC },
  { ROW ("route", MODEL, FabNodeSpec, route, "shortest", "Which path a transfer usually takes there."),
    .models = FAB_MODEL_ROUTE },
  { ROW ("parts", LIST, FabNodeSpec, parts, NULL, "What is inside."), .table = part_params,
    .table_size = sizeof (FabPartSpec) },
  { ROW ("wires", LIST, FabNodeSpec, wires, NULL, "How the parts are joined, both directions each."),
    .table = wire_params, .table_size = sizeof (FabWireSpec) },
  SOURCE_ROWS (FabNodeSpec),
  { .key = NULL },
};

const FabParam fab_model_params[] = {
  NAME_ROWS (FabModelSpec),
  { ROW ("shape", MODEL, FabModelSpec, shape, NULL, "Its layers."), .models = FAB_MODEL_SHAPE },
  SOURCE_ROWS (FabModelSpec),
  { .key = NULL },
};

const char *const fab_product_kind_names[] = {
  [FAB_PRODUCT_ACCELERATOR] = "accelerator",
  [FAB_PRODUCT_NODE] = "node",
  [FAB_PRODUCT_NIC] = "nic",
  [FAB_PRODUCT_SWITCH] = "switch",
  [FAB_PRODUCT_CABLE] = "cable",
  [FAB_PRODUCT_OPTIC] = "optic",
  NULL,
};

const FabParam fab_product_params[] = {
  NAME_ROWS (FabProductSpec),
  { ROW ("kind", CHOICE, FabProductSpec, kind, NULL, "What it is; an optic is the transceiver of one end."),
    .choices = fab_product_kind_names },
  { ROW ("accelerator", TEXT, FabProductSpec, accelerator, "", "The accelerator entry that it is."),
    .refers = FAB_REFERS_ACCELERATOR },
  { ROW ("node", TEXT, FabProductSpec, node, "", "The node entry that it is."), .refers = FAB_REFERS_NODE },
  { ROW ("link", TEXT, FabProductSpec, link, "",
         "NICs, switches, cables, optics: the link entry whose ports or wire they are."),
    .refers = FAB_REFERS_LINK },
  { ROW ("ports", COUNT, FabProductSpec, n_ports, "0", "Ports of a switch."), .max = 1e5 },
  { ROW ("links_per_port", COUNT, FabProductSpec, links_per_port, "1",
         "Slower links that one port of a switch can be split into, at most."),
    .min = 1, .max = 64 },
  { ROW ("reach", LENGTH, FabProductSpec, reach_mm, "0m", "How long such a cable can be."), .max = 1e8 },
  { ROW ("optics", COUNT, FabProductSpec, n_optics, "0",
         "Transceivers that a cable needs; 0: its ends are part of it."),
    .max = 2 },
  { ROW ("price_usd", FACTOR, FabProductSpec, price_usd, "0", "Of one piece, in US dollars; 0: not known."),
    .max = 1e12 },
  { ROW ("low_usd", FACTOR, FabProductSpec, low_usd, "0", "The lowest price that was seen; 0: price_usd."),
    .max = 1e12 },
  { ROW ("high_usd", FACTOR, FabProductSpec, high_usd, "0", "The highest one; 0: price_usd."), .max = 1e12 },
  { ROW ("power_watts", FACTOR, FabProductSpec, power_watts, "0",
         "Of one piece at work; a node's without accelerators and NICs. 0: not known; of a cable: none."),
    .max = 1e9 },
  { ROW ("has_accelerators", BOOL, FabProductSpec, has_accelerators, "false",
         "Nodes: the price has the accelerators in it.") },
  { ROW ("has_nics", BOOL, FabProductSpec, has_nics, "false", "Nodes: the price has the NICs in it.") },
  SOURCE_ROWS (FabProductSpec),
  { .key = NULL },
};

static const char *const joins[] = {
  [FAB_JOINS_DEVICES] = "devices",
  [FAB_JOINS_ACCELERATORS] = "accelerators",
  [FAB_JOINS_COHERENTLY] = "coherently",
  [FAB_JOINS_SOCKETS] = "sockets",
  [FAB_JOINS_MEMORY] = "memory",
  [FAB_JOINS_DRIVES] = "drives",
  [FAB_JOINS_ETHERNET] = "ethernet",
  [FAB_JOINS_MACHINES] = "machines",
  NULL,
};

const FabParam fab_technology_params[] = {
  NAME_ROWS (FabTechnology),
  { ROW (
        "joins", CHOICE, FabTechnology, joins, "machines",
        "devices: a bus of switches and host bridges, as PCIe; accelerators: with each other; coherently: an "
        "accelerator with its socket; ethernet: machines, by Ethernet frames; machines: by another network."),
    .choices = joins },
  { ROW ("flow_control", CHOICE, FabTechnology, flow_control, "credit",
         "What keeps its links from losing packets; drop: nothing does, and what is lost is sent again."),
    .choices = flow_controls + 1 },
  { ROW ("peer_to_peer", BOOL, FabTechnology, has_p2p, "true",
         "Devices may reach each other's memory over it; false: through host memory instead.") },
  { ROW ("relays", BOOL, FabTechnology, can_relay, "false",
         "An accelerator may hand bytes to another over it, for the NIC beside that one (cluster.pxn).") },
  { ROW ("matrix_label", TEXT, FabTechnology, matrix_label, "",
         "What `topo --matrix` calls it, before the number of links; empty: its name in capitals.") },
  { ROW ("sums_directions", BOOL, FabTechnology, sums_directions, "false",
         "Its datasheets print both directions as one number.") },
  { ROW ("for_any_node", BOOL, FabTechnology, is_for_any_node, "false",
         "NIC ports of it can be bought for any machine: `size` offers them beside the machine's own.") },
  { ROW (
        "host_stretch", FACTOR, FabTechnology, host_stretch, "1",
        "Of links between sockets: line time of what kernels send through such a socket, over that of the links."),
    .min = 1, .max = 100 },
  SOURCE_ROWS (FabTechnology),
  { .key = NULL },
};

static const FabParam slowdown_params[] = {
  { ROW ("plain", RATE, FabSlowdown, plain_bytes_per_s, "0B/s", "The rate without it."), .max = 1e15 },
  { ROW ("reached", RATE, FabSlowdown, reached_bytes_per_s, "0B/s",
         "The rate with it; both 0: nothing was measured, and it costs nothing."),
    .max = 1e15 },
  { ROW ("source", TEXT, FabSlowdown, source, "", "Where both come from.") },
  { .key = NULL },
};

#define SLOWDOWN(key_, field_, help_)                                                        \
  {                                                                                          \
    ROW (key_, TABLE, FabProcessor, field_, NULL, help_), .table = slowdown_params,          \
                                                          .table_size = sizeof (FabSlowdown) \
  }

const FabParam fab_processor_params[] = {
  NAME_ROWS (FabProcessor),
  { ROW ("proxy_step", TIME, FabProcessor, proxy_ps, "1us",
         "What its thread takes to hand a step of a collective to a NIC.") },
  SLOWDOWN ("staged_copy", staged_copy,
            "Copies that wait in host memory between two GPUs, against copies that go directly."),
  SLOWDOWN ("staged_kernel", staged_kernel, "Likewise what GPU kernels send."),
  { ROW ("staged_most", RATE, FabProcessor, staged_most_bytes_per_s, "0B/s",
         "Copies through host memory are never faster; 0: no limit is known."),
    .max = 1e15 },
  SLOWDOWN ("staged_both_ways", staged_both_ways,
            "A GPU whose bytes go into host memory while others come out: twice one way, against the sum."),
  { ROW ("staged_kernel_most", RATE, FabProcessor, staged_kernel_most_bytes_per_s, "0B/s",
         "What kernels of a GPU send through host memory at most, while they receive as much; 0: no limit is "
         "known."),
    .max = 1e15 },
  { ROW ("staged_kernel_far", RATE, FabProcessor, staged_kernel_far_bytes_per_s, "0B/s",
         "Likewise to a GPU of another socket."),
    .max = 1e15 },
  { ROW (
        "pair_p2p", CHOICE, FabProcessor, pair_p2p, "none",
        "How far two GPUs reach each other's memory where a job uses only two of the node, if that is farther "
        "than the node's p2p."),
    .choices = fab_reach_names },
  SLOWDOWN (
      "bridge_read", bridge_read,
      "A NIC that reads a GPU's memory through a host bridge, against what that PCIe link gives copies."),
  SOURCE_ROWS (FabProcessor),
  { .key = NULL },
};

static const FabParam startup_params[] = {
  { ROW ("base", TIME, FabStartup, base_ps, "0us", "Once for each collective.") },
  { ROW ("step", TIME, FabStartup, step_ps, "0us",
         "For each step after another; both 0: nothing was measured.") },
  { ROW ("source", TEXT, FabStartup, source, "", "The tables that both were fitted to.") },
  { .key = NULL },
};

static const FabParam sends_params[] = {
  { ROW ("ll", TIME, FabSends, ll_ps, "0us", "Startup of one send, with a flag beside every word.") },
  { ROW ("simple", TIME, FabSends, simple_ps, "0us", "With a counter that is set after a chunk.") },
  { ROW ("simple_channel", TIME, FabSends, channel_ps, "0us", "The same for each channel that is in use.") },
  { ROW ("ll_rate", RATE, FabSends, ll_bytes_per_s, "1GB/s",
         "Of one channel, with a flag beside every word."),
    .min = 1, .max = 1e15 },
  { ROW ("rate", RATE, FabSends, both_bytes_per_s, "0B/s",
         "Of one channel that sends and receives at the same time; 0: nothing was measured."),
    .max = 1e15 },
  { ROW ("alone_rate", RATE, FabSends, alone_bytes_per_s, "1GB/s",
         "Of one channel that only sends, or only copies what it has received."),
    .min = 1, .max = 1e15 },
  { ROW ("sharpness", FACTOR, FabSends, sharpness, "30",
         "How little many channels slow each other down before the links are full; 2: much, 30: hardly."),
    .min = 1, .max = 100 },
  { ROW ("source", TEXT, FabSends, source, "", "The tables that these numbers were fitted to.") },
  { .key = NULL },
};

static const FabParam all_pairs_params[] = {
  { ROW ("ll", TIME, FabAllPairs, ll_ps, "0us", "Startup, with a flag beside every word.") },
  { ROW ("simple", TIME, FabAllPairs, simple_ps, "0us", "With a counter that is set after a chunk.") },
  { ROW ("ll_rate", RATE, FabAllPairs, ll_bytes_per_s, "0B/s",
         "Bytes of the collective's size per second, with a flag beside every word."),
    .max = 1e15 },
  { ROW ("rate", RATE, FabAllPairs, bytes_per_s, "0B/s",
         "With a counter that is set after a chunk; 0: nothing was measured."),
    .max = 1e15 },
  { ROW ("source", TEXT, FabAllPairs, source, "", "The tables that these numbers were fitted to.") },
  { .key = NULL },
};

static const FabParam ring_params[] = {
  { ROW ("base", TIME, FabRingCost, base_ps, "0us", "Once for each collective; 0: nothing was measured.") },
  { ROW ("step", TIME, FabRingCost, step_ps, "0us", "For each step after another.") },
  { ROW ("channel", RATE, FabRingCost, channel_bytes_per_s, "0B/s",
         "What one channel moves; 0: more than its part of the links."),
    .max = 1e15 },
  { ROW ("copy", RATE, FabRingCost, copy_bytes_per_s, "0B/s",
         "What one channel copies out of a buffer, once in each loop of the ring; 0: no time."),
    .max = 1e15 },
  { ROW (
      "drift", TIME, FabRingCost, drift_ps, "0us",
      "What steps wait for slower ones until 1 GB has passed a link; it grows with the root of the bytes.") },
  { ROW ("source", TEXT, FabRingCost, source, "", "The tables that these were fitted to.") },
  { .key = NULL },
};

static const FabParam switch_params[] = {
  { ROW ("base", TIME, FabSwitchCost, base_ps, "0us", "Once for each collective; 0: nothing was measured.") },
  { ROW ("latency", TIME, FabSwitchCost, latency_ps, "0us", "Of a round, which its bytes hide.") },
  { ROW ("rounds", FACTOR, FabSwitchCost, n_rounds, "0", "Under way before the first one ends.") },
  { ROW ("source", TEXT, FabSwitchCost, source, "", "The tables that these were fitted to.") },
  { .key = NULL },
};

#define RING(key_, field_, help_)                                                             \
  {                                                                                           \
    ROW (key_, TABLE, FabGeneration, field_, NULL, help_), .table = ring_params,              \
                                                           .table_size = sizeof (FabRingCost) \
  }

#define STARTUP(key_, field_, help_)                                                         \
  {                                                                                          \
    ROW (key_, TABLE, FabGeneration, field_, NULL, help_), .table = startup_params,          \
                                                           .table_size = sizeof (FabStartup) \
  }

static const FabParam channel_params[] = {
  { ROW ("rate", RATE, FabChannelRate, bytes_per_s, "0B/s", "Of one channel; 0: nothing was measured."),
    .max = 1e15 },
  { ROW ("source", TEXT, FabChannelRate, source, "", "The tables that it was fitted to.") },
  { .key = NULL },
};

static const FabParam token_params[] = {
  { ROW ("start", TIME, FabTokenCost, start_ps, "0us", "Once; 0: nothing was measured.") },
  { ROW ("expert", TIME, FabTokenCost, expert_ps, "0us", "Of the start, for each expert of the model.") },
  { ROW ("start_rate", RATE, FabTokenCost, start_bytes_per_s, "0B/s",
         "Of the start, the time of one token's bytes at this rate; 0: none."),
    .max = 1e15 },
  { ROW ("fill", TIME, FabTokenCost, fill_ps, "0us", "Until receivers have the first part of the tokens.") },
  { ROW ("token", TIME, FabTokenCost, token_ps, "0us",
         "Of one multiprocessor for a token, whatever its size.") },
  { ROW ("rate", RATE, FabTokenCost, sm_bytes_per_s, "0B/s",
         "At which one multiprocessor copies; 0: no limit."),
    .max = 1e15 },
  { ROW ("links", FRACTION, FabTokenCost, links_fraction, "100%",
         "Of the rate of an accelerator's links to others of its node or domain."),
    .min = 0.01, .max = 1 },
  { ROW ("network", FRACTION, FabTokenCost, network_fraction, "100%", "Of a network adapter's rate."),
    .min = 0.01, .max = 1 },
  { ROW ("source", TEXT, FabTokenCost, source, "", "The tables that these were fitted to.") },
  { .key = NULL },
};

#define TOKEN_COST(key_, field_, help_)                                                        \
  {                                                                                            \
    ROW (key_, TABLE, FabTokenCosts, field_, NULL, help_), .table = token_params,              \
                                                           .table_size = sizeof (FabTokenCost) \
  }

static const FabParam token_kernels_params[] = {
  TOKEN_COST ("dispatch", dispatch, "Tokens to their experts."),
  TOKEN_COST ("combine", combine, "Results of the experts back."),
  { .key = NULL },
};

const FabParam fab_generation_params[] = {
  NAME_ROWS (FabGeneration),
  { ROW ("issue", TIME, FabGeneration, issue_ps, "4.3us",
         "Time in which a host issues one collective on one accelerator.") },
  STARTUP ("ll", startups.ll, "Start of a collective inside a node, with a flag beside every word."),
  STARTUP ("ll128", startups.ll128, "With a flag in every line of 128 bytes."),
  STARTUP ("simple", startups.simple, "With a counter that is set after a chunk."),
  { ROW ("sends", TABLE, FabGeneration, sends, NULL,
         "Sends and receives between accelerators of one node or domain."),
    .table = sends_params, .table_size = sizeof (FabSends) },
  { ROW ("all_pairs", TABLE, FabGeneration, all_pairs, NULL,
         "An all-reduce over eight accelerators of a full mesh in two steps, from all to all."),
    .table = all_pairs_params, .table_size = sizeof (FabAllPairs) },
  RING ("ring_ll", rings.ll, "A ring inside a node, with a flag beside every word."),
  RING ("ring_ll128", rings.ll128, "With a flag in every line of 128 bytes."),
  RING ("ring_simple", rings.simple, "With a counter that is set after a chunk."),
  { ROW ("node_switch", TABLE, FabGeneration, node_switch, NULL,
         "A reduction by the switch of a node, in rounds."),
    .table = switch_params, .table_size = sizeof (FabSwitchCost) },
  { ROW ("ring_channel", TABLE, FabGeneration, ring_channel, NULL,
         "What a channel receives, reduces and sends in a ring over nodes."),
    .table = channel_params, .table_size = sizeof (FabChannelRate) },
  { ROW ("tokens", TABLE, FabGeneration, tokens, NULL,
         "Kernels that send a token of a mixture of experts once to each node and rank."),
    .table = token_kernels_params, .table_size = sizeof (FabTokenCosts) },
  { ROW ("hybrid", TABLE, FabGeneration, hybrid, NULL,
         "The same with copy engines of the multiprocessors, which take few of them."),
    .table = token_kernels_params, .table_size = sizeof (FabTokenCosts) },
  { ROW ("low_latency", TABLE, FabGeneration, low_latency, NULL,
         "Kernels that send a message for each token and each of its experts."),
    .table = token_kernels_params, .table_size = sizeof (FabTokenCosts) },
  SOURCE_ROWS (FabGeneration),
  { .key = NULL },
};

/* In the order of FabPlanPlace and FabPlanOperations (sim/run/plan_kind.h). */
static const char *const band_places[] = { "inside", "between", NULL };
static const char *const band_operations[] = { "rings", "pairs", NULL };

static const FabParam band_cell_params[] = {
  { ROW ("place", CHOICE, FabBandCellSpec, place, NULL, "inside a node or rack; between nodes, over NICs."),
    .choices = band_places },
  { ROW ("operations", CHOICE, FabBandCellSpec, operations, NULL,
         "rings: all-reduce and what rings and trees do beside it; pairs: all-to-all, send-receive."),
    .choices = band_operations },
  { ROW ("up_to", BYTES, FabBandCellSpec, up_to_bytes, "0B",
         "The first size that it does not hold for; 0B: no end.") },
  { ROW ("low", FACTOR, FabBandCellSpec, low_factor, NULL, "Low end: measured time over predicted time."),
    .min = 0.001, .max = 1 },
  { ROW ("high", FACTOR, FabBandCellSpec, high_factor, NULL, "High end: measured time over predicted time."),
    .min = 1, .max = 1000 },
  { ROW ("tables", COUNT, FabBandCellSpec, n_tables, "0", "Measured tables that it rests on."), .max = 1e6 },
  { ROW ("families", COUNT, FabBandCellSpec, n_families, "0", "Families of links that these are of."),
    .max = 1e6 },
  { .key = NULL },
};

const FabParam fab_band_params[] = {
  NAME_ROWS (FabBandSpec),
  { ROW ("library", TEXT, FabBandSpec, library, "",
         "The library of the measured collectives; without one the entry is for any.") },
  { ROW ("coverage", FRACTION, FabBandSpec, coverage_fraction, "90%",
         "Share of all cases that are between low and high."),
    .min = 0.01, .max = 0.999 },
  { ROW ("cells", LIST, FabBandSpec, cells, NULL,
         "By place, operations and size; without a cell that of `any` counts."),
    .table = band_cell_params, .table_size = sizeof (FabBandCellSpec) },
  SOURCE_ROWS (FabBandSpec),
  { .key = NULL },
};

/* In the order of FabEfficiencyEvidence. */
static const char *const efficiency_evidence[] = { "sources", "one_source", "assumed", NULL };

const FabParam fab_efficiency_params[] = {
  NAME_ROWS (FabEfficiency),
  { ROW ("generation", TEXT, FabEfficiency, generation, "",
         "`architecture` of the accelerator; left out: the entry is an effect for all of them.") },
  { ROW ("precision", TEXT, FabEfficiency, precision, "",
         "`precision` of the job; left out: the entry is an effect for all of them.") },
  { ROW ("stack", TEXT, FabEfficiency, stack, "",
         "Software that trains: eager, compiled, megatron, ...; left out: the entry is an effect for all of "
         "them.") },
  { ROW ("scale", FACTOR, FabEfficiency, scale_factor, "1",
         "Factor on the roofline's rates of kernels; of an effect, the factor by which it differs from the "
         "mean."),
    .min = 0.01, .max = 10 },
  { ROW ("issue", TIME, FabEfficiency, issue_ps, "0us", "Host time to issue a kernel; 0: that of the stack."),
    .max = 1e12 },
  { ROW ("low", FACTOR, FabEfficiency, low_factor, "1",
         "Low end of the 90 % band: measured time of a step over predicted time."),
    .min = 0.01, .max = 1 },
  { ROW ("high", FACTOR, FabEfficiency, high_factor, "1", "High end: measured time over predicted time."),
    .min = 1, .max = 100 },
  { ROW ("rows", COUNT, FabEfficiency, n_rows, "0", "Measured runs that it rests on."), .max = 1e6 },
  { ROW ("groups", COUNT, FabEfficiency, n_groups, "0", "Models and machines that these are of."),
    .max = 1e6 },
  { ROW ("sources", COUNT, FabEfficiency, n_sources, "0", "Publications that these are from."), .max = 1e6 },
  { ROW ("evidence", CHOICE, FabEfficiency, evidence, "sources",
         "sources: several publications; one_source: one; assumed: none, a statement of the source."),
    .choices = efficiency_evidence },
  SOURCE_ROWS (FabEfficiency),
  { .key = NULL },
};

const FabParam fab_catalog_params[] = {
  FAB_CATALOG_ROWS (FabCatalogSections, ),
  { .key = NULL },
};

const FabParamList *
fab_catalog_section (const FabCatalogSections *sections, guint section, gsize *entry_size)
{
  const FabParam *row = &fab_catalog_params[section];

  if (entry_size != NULL)
    *entry_size = row->table_size;
  return (const FabParamList *) ((const char *) sections + row->offset);
}
