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

#define NAME_ROWS(struct_)                                                                   \
  { ROW ("name", TEXT, struct_, name, NULL, "Name by which other entries refer to it.") },   \
  {                                                                                          \
    ROW ("summary", TEXT, struct_, summary, "", "Description in one line, shown in tables.") \
  }

#define SOURCE_ROWS(struct_)                                                                \
  { ROW ("source", TEXT, struct_, source, "", "Source of the numbers.") },                  \
  {                                                                                         \
    ROW ("date", TEXT, struct_, date, "", "Date on which the source was read: 2026-11-20.") \
  }

static const FabParam drive_params[] = {
  { ROW ("payload", BYTES, FabLinkDriveSpec, payload_bytes, "0B", "Payload of one packet; 0B: no packets.") },
  { ROW ("overhead", BYTES, FabLinkDriveSpec, overhead_bytes, "0B",
         "Header, CRC and framing of one packet.") },
  { ROW ("achievable", FRACTION, FabLinkDriveSpec, achievable_fraction, "1",
         "Best measured rate of payload, as a share of the rate that headers leave."),
    .min = 0.001, .max = 1.0 },
  { ROW ("source", TEXT, FabLinkDriveSpec, source, "", "Source of these three numbers.") },
  { .key = NULL },
};

/* In the order of FabMessageWay. */
static const char *const message_ways[] = { "one", "both", NULL };

static const FabParam message_params[] = {
  { ROW ("way", CHOICE, FabMessageRegime, way, "one",
         "one: the other direction is idle; both: it carries as much. Without rows of `both`, those of "
         "`one` apply."),
    .choices = message_ways },
  { ROW ("up_to", BYTES, FabMessageRegime, up_to_bytes, "0B",
         "Largest message of this row; 0B in the last row of a way: no limit.") },
  { ROW ("overhead", TIME, FabMessageRegime, overhead_ps, NULL,
         "Time of a message that does not depend on its size.") },
  { ROW ("rate", RATE, FabMessageRegime, rate_bytes_per_s, NULL,
         "Rate of its bytes, whose time is added to the overhead.") },
  { .key = NULL },
};

static const FabParam inlined_params[] = {
  { ROW ("most", BYTES, FabInlined, most_bytes, "0B", "Largest message sent in this way; 0B: none.") },
  { ROW ("copy", TIME, FabInlined, copy_ps, "0us",
         "Time to copy such a message out of an accelerator's memory.") },
  { .key = NULL },
};

static const FabParam rendezvous_params[] = {
  { ROW ("from", BYTES, FabRendezvous, from_bytes, "0B", "Smallest message sent in this way; 0B: none.") },
  { ROW ("handshake", TIME, FabRendezvous, handshake_ps, "0us",
         "Time added to a message that the receiver waits for.") },
  { ROW ("message", TIME, FabRendezvous, message_ps, "0us",
         "Time of a port for each such message, one after another; 0us: no limit.") },
  { ROW ("host_message", TIME, FabRendezvous, host_message_ps, "0us",
         "Time of a port for each such message between buffers in host memory; 0us: no limit.") },
  { .key = NULL },
};

static const FabParam measured_params[] = {
  { ROW ("from", BYTES, FabLinkMeasured, from_bytes, "0B", "Smallest message that was measured.") },
  { ROW ("to", BYTES, FabLinkMeasured, to_bytes, "0B",
         "Largest message that was measured. Predictions of larger ones are marked. 0B: not measured.") },
  { ROW ("held_out_error", FRACTION, FabLinkMeasured, held_out_error_fraction, "0%",
         "Median error of the rows held out of the fit."),
    .max = 1 },
  { ROW ("rows", COUNT, FabLinkMeasured, n_rows, "0",
         "Number of measured rows that the numbers were fitted to."),
    .max = 1e9 },
  { ROW ("held_out", COUNT, FabLinkMeasured, n_held_out, "0", "Number of rows held out of the fit."),
    .max = 1e9 },
  { .key = NULL },
};

static const FabParam uncertainty_params[] = {
  { ROW ("rate", FRACTION, FabLinkUncertainty, rate_fraction, "0%",
         "Half-width of the 95 % interval of the rate, as a share of the rate; 0: not known."),
    .max = 0.9 },
  { ROW ("latency", FRACTION, FabLinkUncertainty, latency_fraction, "0%",
         "Half-width of the 95 % interval of the latency, as a share of it; 0: not known."),
    .max = 1 },
  { ROW ("endpoint", FRACTION, FabLinkUncertainty, endpoint_fraction, "0%",
         "Half-width of the 95 % interval of `endpoint`, as a share of it; 0: not known."),
    .max = 1 },
  { ROW ("messages", FRACTION, FabLinkUncertainty, messages_fraction, "0%",
         "Half-width of the 95 % interval of every time of `messages`, as a share of it; 0: not known."),
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
         "Technology of the link; required for a link inside a node."),
    .refers = FAB_REFERS_TECHNOLOGY },
  { ROW ("lanes", COUNT, FabLinkSpec, lanes, "1", "Number of lanes of one direction."), .min = 1,
    .max = 1024 },
  { ROW ("signalling", RATE, FabLinkSpec, signalling_bytes_per_s, NULL,
         "Raw rate of one lane in one direction: GT/s x bits per transfer, written in Gb/s.") },
  { ROW ("coding", FRACTION, FabLinkSpec, coding_fraction, "1",
         "Share of the raw rate that line coding and FEC leave: 128b/130b is 0.984615384615."),
    .min = 0.001, .max = 1.0 },
  { ROW ("latency", TIME, FabLinkSpec, latency_ps, "0ns",
         "Time of one traversal: the wire and the port at its end.") },
  { ROW ("flow_control", CHOICE, FabLinkSpec, flow_control, "auto",
         "Flow control: credit, pfc, or drop (packets are lost when a queue is full); auto: that of its "
         "technology."),
    .choices = flow_controls },
  { ROW ("flow_control_note", TEXT, FabLinkSpec, flow_control_note, "",
         "Congestion control of senders, in words.") },
  { ROW ("copy", TABLE, FabLinkSpec, copy, NULL,
         "Packets of transfers by a copy engine or by the DMA of a NIC."),
    .table = drive_params, .table_size = sizeof (FabLinkDriveSpec) },
  { ROW ("kernel", TABLE, FabLinkSpec, kernel, NULL,
         "Packets of transfers by loads and stores of a GPU kernel."),
    .table = drive_params, .table_size = sizeof (FabLinkDriveSpec) },
  { ROW ("multimem", TABLE, FabLinkSpec, multimem, NULL,
         "Packets of loads that a switch reduces and stores that it multicasts; payload 0B: no switch can."),
    .table = drive_params, .table_size = sizeof (FabLinkDriveSpec) },
  { ROW ("endpoint", TIME, FabLinkSpec, endpoint_ps, "0ns",
         "NIC ports: time that both adapters and their driver add to a small message, beyond the wires.") },
  { ROW ("collective_fraction", FRACTION, FabLinkSpec, collective_fraction, "0",
         "NIC ports: share of `copy` that a collective library reaches; 0: not known, use the library's "
         "default."),
    .max = 1 },
  { ROW ("collective_source", TEXT, FabLinkSpec, collective_source, "", "Source of collective_fraction.") },
  { ROW ("rendezvous", TABLE, FabLinkSpec, rendezvous, NULL,
         "NIC ports: long messages (rendezvous), for which sender and receiver first agree on a buffer."),
    .table = rendezvous_params, .table_size = sizeof (FabRendezvous) },
  { ROW ("rendezvous_source", TEXT, FabLinkSpec, rendezvous_source, "", "Source of these numbers.") },
  { ROW ("sharp", BOOL, FabLinkSpec, can_reduce, "false",
         "NIC ports: whether switches of this network can reduce.") },
  { ROW ("messages", LIST, FabLinkSpec, messages, NULL,
         "NIC ports: time of one message from end to end, with software: overhead + size / rate."),
    .table = message_params, .table_size = sizeof (FabMessageRegime) },
  { ROW ("inlined", TABLE, FabLinkSpec, inlined, NULL,
         "NIC ports: short messages (inline), whose bytes the processor copies into the command to the "
         "adapter."),
    .table = inlined_params, .table_size = sizeof (FabInlined) },
  { ROW ("inlined_source", TEXT, FabLinkSpec, inlined_source, "", "Source of these numbers.") },
  { ROW ("software_match", TIME, FabLinkSpec, software_match_ps, "0us",
         "NIC ports: a processor's time for a message that it matches and copies instead of the adapter, "
         "where `matching` is software.") },
  { ROW ("software_match_source", TEXT, FabLinkSpec, software_match_source, "", "Source of this number.") },
  { ROW ("measured", TABLE, FabLinkSpec, measured, NULL,
         "Measurements that `fabricast calibrate` fitted the numbers to."),
    .table = measured_params, .table_size = sizeof (FabLinkMeasured) },
  { ROW ("uncertainty", TABLE, FabLinkSpec, uncertainty, NULL,
         "Uncertainty of the numbers, from which predictions get a band."),
    .table = uncertainty_params, .table_size = sizeof (FabLinkUncertainty) },
  { ROW ("evidence", CHOICE, FabLinkSpec, evidence, "tables",
         "Evidence for the numbers that only collectives show: tables (several), one_table or assumed. "
         "Less evidence gives a wider band."),
    .choices = evidences },
  SOURCE_ROWS (FabLinkSpec),
  { .key = NULL },
};

#define CLOCK_BAND(from_, low_, high_)                           \
  {                                                              \
    { ROW ("from", FRACTION, FabClockBand, from_fraction, from_, \
           "Lowest cap, as a share of the board's "              \
           "power, for which this is known."),                   \
      .max = 1 },                                                \
        { ROW ("low", FACTOR, FabClockBand, low_factor, low_,    \
               "Measured slow-down over the predicted one, "     \
               "5th percentile."),                               \
          .min = 0.01, .max = 1 },                               \
        { ROW ("high", FACTOR, FabClockBand, high_factor, high_, \
               "Measured slow-down over the predicted "          \
               "one, 95th percentile."),                         \
          .min = 1, .max = 100 },                                \
    {                                                            \
      .key = NULL                                                \
    }                                                            \
  }

static const FabParam near_params[] = CLOCK_BAND ("65%", "0.95", "1.05");
static const FabParam deep_params[] = CLOCK_BAND ("50%", "0.88", "1.25");

/* The defaults are the numbers of the one board that was measured at fixed clocks (docs/models/power.md). */
static const FabParam clock_params[] = {
  { ROW ("static", FRACTION, FabClockCurve, static_fraction, "20.9%",
         "Power that does not depend on the clock, as a share of the board's power."),
    .max = 0.99 },
  { ROW ("knee", FRACTION, FabClockCurve, knee_fraction, "77%",
         "Clock below which the voltage stays the same, as a share of the highest clock."),
    .max = 0.99 },
  { ROW ("voltage", FACTOR, FabClockCurve, voltage_factor, "1.28",
         "Voltage at the highest clock, divided by that at the knee."),
    .min = 1, .max = 4 },
  { ROW ("draw", FACTOR, FabClockCurve, draw_fraction, "1.27",
         "Power that matrix kernels would draw at the highest clock, divided by the board's power."),
    .min = 0.1, .max = 10 },
  { ROW ("near", TABLE, FabClockCurve, near, NULL,
         "Error of predicted slow-downs under caps near full power."),
    .table = near_params, .table_size = sizeof (FabClockBand) },
  { ROW ("deep", TABLE, FabClockCurve, deep, NULL, "Error of predicted slow-downs under lower caps."),
    .table = deep_params, .table_size = sizeof (FabClockBand) },
  { ROW ("measured", BOOL, FabClockCurve, is_measured, "false",
         "The numbers were measured on this accelerator; false: on another one.") },
  { ROW ("source", TEXT, FabClockCurve, source, "", "Source of these numbers.") },
  { .key = NULL },
};

const FabParam fab_accelerator_params[] = {
  NAME_ROWS (FabAcceleratorSpec),
  { ROW ("architecture", TEXT, FabAcceleratorSpec, architecture, "",
         "Generation of the accelerator, which selects the constants of collective libraries.") },
  { ROW ("peak_fp16", FLOPS_RATE, FabAcceleratorSpec, peak_fp16_flops_per_s, NULL,
         "Dense matrix peak in BF16 or FP16.") },
  { ROW ("peak_fp32", FLOPS_RATE, FabAcceleratorSpec, peak_fp32_flops_per_s, NULL, "Dense FP32 peak.") },
  { ROW ("peak_tf32", FLOPS_RATE, FabAcceleratorSpec, peak_tf32_flops_per_s, "0FLOP/s",
         "Dense matrix peak in TF32, for FP32 training that allows it; 0: not supported."),
    .max = 1e20 },
  { ROW ("peak_fp8", FLOPS_RATE, FabAcceleratorSpec, peak_fp8_flops_per_s, "0FLOP/s",
         "Dense matrix peak in FP8; 0: not supported."),
    .max = 1e20 },
  { ROW ("peak_fp4", FLOPS_RATE, FabAcceleratorSpec, peak_fp4_flops_per_s, "0FLOP/s",
         "Dense matrix peak in FP4; 0: not supported."),
    .max = 1e20 },
  { ROW ("matmul", FRACTION, FabAcceleratorSpec, matmul_fraction, "0%",
         "Share of peak_fp16 that the best matrix multiplication reaches; 0: not known."),
    .max = 1 },
  { ROW ("sms", COUNT, FabAcceleratorSpec, n_sms, "0",
         "Number of streaming multiprocessors or compute units; 0: not known."),
    .max = 1e6 },
  { ROW ("memory", BYTES, FabAcceleratorSpec, memory_bytes, NULL, "Memory of one accelerator.") },
  { ROW ("memory_rate", RATE, FabAcceleratorSpec, memory_bytes_per_s, NULL,
         "Bandwidth of the memory of one accelerator.") },
  { ROW ("power_watts", COUNT, FabAcceleratorSpec, power_watts, "0", "Board power in watts; 0: unknown."),
    .max = 1e6 },
  { ROW ("clock", TABLE, FabAcceleratorSpec, clock, NULL, "Clock and power of the board under a power cap."),
    .table = clock_params, .table_size = sizeof (FabClockCurve) },
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
  { ROW ("name", TEXT, FabPartSpec, name, NULL,
         "Name by which wires refer to it; its members are name0, name1, ...") },
  { ROW ("kind", CHOICE, FabPartSpec, kind, NULL, "Kind of the part."), .choices = part_kinds },
  { ROW ("count", COUNT, FabPartSpec, count, "1", "Number of members in a node."), .min = 1, .max = 4096 },
  { ROW ("shared", COUNT, FabPartSpec, shared, "1",
         "Number of consecutive nodes that share these members, such as the switches of a rack; 1: each "
         "node has its own."),
    .min = 1, .max = 4096 },
  { .key = NULL },
};

static const char *const wire_maps[] = { [FAB_WIRE_BLOCK] = "block",
                                         [FAB_WIRE_ALL] = "all",
                                         [FAB_WIRE_RING] = "ring",
                                         [FAB_WIRE_PAIRS] = "pairs",
                                         NULL };

static const FabParam wire_params[] = {
  { ROW ("from", TEXT, FabWireSpec, from, NULL, "Source of the wire: a part (gpu) or one member (gpu3).") },
  { ROW ("to", TEXT, FabWireSpec, to, NULL, "Destination of the wire: a part or one member.") },
  { ROW ("link", TEXT, FabWireSpec, link, NULL, "Link entry of each direction."), .refers = FAB_REFERS_LINK },
  { ROW ("count", COUNT, FabWireSpec, count, "1", "Number of parallel links that are bundled into one."),
    .min = 1, .max = 4096 },
  { ROW ("map", CHOICE, FabWireSpec, map, "block",
         "Pattern of the wires. block: a tree; all: every member to every member; within one part also "
         "ring and pairs (0-1, 2-3)."),
    .choices = wire_maps },
  { .key = NULL },
};

const FabParam fab_node_params[] = {
  NAME_ROWS (FabNodeSpec),
  { ROW ("accelerator", TEXT, FabNodeSpec, accelerator, NULL, "Accelerator entry of its accelerator parts."),
    .refers = FAB_REFERS_ACCELERATOR },
  { ROW ("nic", TEXT, FabNodeSpec, nic, "",
         "Link entry of a NIC's port to the network; empty: the node has no NICs."),
    .refers = FAB_REFERS_LINK },
  { ROW ("cpu", TEXT, FabNodeSpec, cpu, "generic", "Processor entry of its sockets."),
    .refers = FAB_REFERS_PROCESSOR },
  { ROW (
      "plugin", TEXT, FabNodeSpec, plugin, "",
      "Network plug-in that the collective library loads on this node (collectives.plugin); empty: none.") },
  { ROW ("software_matching", BOOL, FabNodeSpec, has_software_matching, "false",
         "Whether its site has messages matched by a processor and not by the adapter.") },
  { ROW ("p2p", CHOICE, FabNodeSpec, p2p, "sys",
         "Largest distance at which GPUs read each other's memory: none, nvl (links of GPUs only), pix, "
         "pxb, phb, node, sys."),
    .choices = fab_reach_names },
  { ROW ("gdr", CHOICE, FabNodeSpec, gdr, "sys",
         "Largest distance at which a NIC reads a GPU's memory (GPUDirect RDMA); beyond it, bytes go "
         "through host memory."),
    .choices = fab_reach_names },
  { ROW ("fabric", MODEL, FabNodeSpec, fabric, "switch", "Usual fabric between such nodes."),
    .models = FAB_MODEL_FABRIC },
  { ROW ("route", MODEL, FabNodeSpec, route, "",
         "Usual routing between such nodes; left out: that of the technology of their ports."),
    .models = FAB_MODEL_ROUTE },
  { ROW (
        "rails", COUNT, FabNodeSpec, rails, "0",
        "Rails of a node that consists of several boards, such as the trays of a rack: NICs of one board. NIC k "
        "is on rail k mod rails; 0: every NIC has a rail of its own."),
    .max = 4096 },
  { ROW ("frontend", TEXT, FabNodeSpec, frontend, "",
         "Link entry of its ports to the front-end and storage network; empty: unknown, or none."),
    .refers = FAB_REFERS_LINK },
  { ROW ("frontend_nics", COUNT, FabNodeSpec, frontend_nics, "0",
         "Ports to the front-end and storage network."),
    .max = 4096 },
  { ROW (
      "unknown", TEXT, FabNodeSpec, unknown, "",
      "Facts of this node that no source gives, with commas between: drives (parts of kind storage), frontend, power "
      "and price (products of kind node or rent).") },
  { ROW (
        "scatter", COUNT, FabNodeSpec, scatter, "1",
        "Places of the fabric for each node of a job. Above 1 the nodes usually stand at random, as in a cloud "
        "that places a job wherever there is room."),
    .min = 1, .max = 1000 },
  { ROW ("parts", LIST, FabNodeSpec, parts, NULL, "Parts inside the node."), .table = part_params,
    .table_size = sizeof (FabPartSpec) },
  { ROW ("wires", LIST, FabNodeSpec, wires, NULL, "Wires between the parts, each with both directions."),
    .table = wire_params, .table_size = sizeof (FabWireSpec) },
  SOURCE_ROWS (FabNodeSpec),
  { .key = NULL },
};

const FabParam fab_model_params[] = {
  NAME_ROWS (FabModelSpec),
  { ROW ("maker", TEXT, FabModelSpec, maker, "", "Publisher of the model, which is its heading in lists.") },
  { ROW ("shape", MODEL, FabModelSpec, shape, NULL, "Layers of the model, by a shape and its dimensions."),
    .models = FAB_MODEL_SHAPE },
  SOURCE_ROWS (FabModelSpec),
  { .key = NULL },
};

const FabParam fab_product_params[] = {
  NAME_ROWS (FabProductSpec),
  { ROW ("kind", CHOICE, FabProductSpec, kind, NULL,
         "Kind of the product; an optic is the transceiver of one end, a rent an hour in a cloud."),
    .choices = fab_product_kind_names },
  { ROW ("accelerator", TEXT, FabProductSpec, accelerator, "", "Accelerator entry that this product is."),
    .refers = FAB_REFERS_ACCELERATOR },
  { ROW ("node", TEXT, FabProductSpec, node, "", "Node entry that this product is."),
    .refers = FAB_REFERS_NODE },
  { ROW ("link", TEXT, FabProductSpec, link, "",
         "NICs, switches, cables, optics: link entry of their ports or wire."),
    .refers = FAB_REFERS_LINK },
  { ROW ("ports", COUNT, FabProductSpec, n_ports, "0",
         "Number of ports of a switch or a NIC; 0 of a NIC: one."),
    .max = 1e5 },
  { ROW ("links_per_port", COUNT, FabProductSpec, links_per_port, "1",
         "Largest number of slower links that one port of a switch can be split into."),
    .min = 1, .max = 64 },
  { ROW ("reach", LENGTH, FabProductSpec, reach_mm, "0m", "Largest length of such a cable."), .max = 1e8 },
  { ROW ("optics", COUNT, FabProductSpec, n_optics, "0",
         "Number of transceivers that a cable needs; 0: the cable includes its ends."),
    .max = 2 },
  { ROW ("price_usd", FACTOR, FabProductSpec, price_usd, "0",
         "Price of one piece in US dollars; of a rent, for one hour. 0: not known."),
    .max = 1e12 },
  { ROW ("low_usd", FACTOR, FabProductSpec, low_usd, "0", "Lowest price in the sources; 0: price_usd."),
    .max = 1e12 },
  { ROW ("high_usd", FACTOR, FabProductSpec, high_usd, "0", "Highest price in the sources; 0: price_usd."),
    .max = 1e12 },
  { ROW ("region", TEXT, FabProductSpec, region, "", "Rents: region of the price; empty: everywhere.") },
  { ROW ("power_watts", FACTOR, FabProductSpec, power_watts, "0",
         "Power of one piece at work. That of a node excludes accelerators and NICs. 0: not known; for a "
         "cable: none."),
    .max = 1e9 },
  { ROW ("has_accelerators", BOOL, FabProductSpec, has_accelerators, "false",
         "Nodes: whether the price includes the accelerators.") },
  { ROW ("has_nics", BOOL, FabProductSpec, has_nics, "false",
         "Nodes: whether the price includes the NICs.") },
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
  { ROW ("joins", CHOICE, FabTechnology, joins, "machines",
         "Devices that it connects. devices: by a bus of switches and host bridges, as PCIe; accelerators: "
         "with each other; coherently: an accelerator with its socket; ethernet: machines, by Ethernet "
         "frames; machines: by another network."),
    .choices = joins },
  { ROW ("flow_control", CHOICE, FabTechnology, flow_control, "credit",
         "Flow control of its links; drop: a full queue loses packets, and senders send them again."),
    .choices = flow_controls + 1 },
  { ROW ("peer_to_peer", BOOL, FabTechnology, has_p2p, "true",
         "Whether devices can reach each other's memory over it; false: bytes go through host memory.") },
  { ROW ("relays", BOOL, FabTechnology, can_relay, "false",
         "Whether an accelerator can pass bytes to another over it, to use the NIC beside that one "
         "(cluster.pxn).") },
  { ROW ("matrix_label", TEXT, FabTechnology, matrix_label, "",
         "Label in the matrix of `fabricast topo`, before the number of links; empty: the name"
         " in capitals.") },
  { ROW ("sums_directions", BOOL, FabTechnology, sums_directions, "false",
         "Whether data sheets print the sum of both directions.") },
  { ROW ("for_any_node", BOOL, FabTechnology, is_for_any_node, "false",
         "Whether NICs with such ports can be bought for any machine; `size` then offers them beside the "
         "machine's own.") },
  { ROW ("route", MODEL, FabTechnology, route, "shortest",
         "Usual routing of its networks, where a fabric has several shortest paths."),
    .models = FAB_MODEL_ROUTE },
  { ROW ("host_stretch", FACTOR, FabTechnology, host_stretch, "1",
         "For links between sockets: factor on the line time of bytes that kernels send through such a "
         "socket."),
    .min = 1, .max = 100 },
  SOURCE_ROWS (FabTechnology),
  { .key = NULL },
};

static const FabParam slowdown_params[] = {
  { ROW ("plain", RATE, FabSlowdown, plain_bytes_per_s, "0B/s", "Rate without this effect."), .max = 1e15 },
  { ROW ("reached", RATE, FabSlowdown, reached_bytes_per_s, "0B/s",
         "Rate with this effect; both 0: not measured, so there is no loss."),
    .max = 1e15 },
  { ROW ("source", TEXT, FabSlowdown, source, "", "Source of both rates.") },
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
         "Time of its proxy thread to pass one step of a collective to a NIC.") },
  SLOWDOWN ("staged_copy", staged_copy,
            "Rate of copies between two GPUs that are staged in host memory, against direct copies."),
  SLOWDOWN ("staged_kernel", staged_kernel,
            "Rate of bytes that GPU kernels send through host memory, against direct ones."),
  { ROW ("staged_most", RATE, FabProcessor, staged_most_bytes_per_s, "0B/s",
         "Largest rate of copies through host memory; 0: no limit is known."),
    .max = 1e15 },
  SLOWDOWN ("staged_both_ways", staged_both_ways,
            "Rate of a GPU that writes to host memory while it reads from it: twice the rate of one "
            "direction, against the sum of both."),
  { ROW ("staged_kernel_most", RATE, FabProcessor, staged_kernel_most_bytes_per_s, "0B/s",
         "Largest rate at which kernels of a GPU send through host memory while they receive as much; 0: "
         "no limit is known."),
    .max = 1e15 },
  { ROW ("staged_kernel_far", RATE, FabProcessor, staged_kernel_far_bytes_per_s, "0B/s",
         "Largest rate at which kernels of a GPU send in this way to a GPU of another socket; "
         "0: no limit is known."),
    .max = 1e15 },
  { ROW ("pair_p2p", CHOICE, FabProcessor, pair_p2p, "none",
         "Largest distance of peer-to-peer access in jobs that use only two GPUs of the node, if it is "
         "larger than the node's p2p."),
    .choices = fab_reach_names },
  SLOWDOWN ("bridge_read", bridge_read,
            "Rate of a NIC that reads a GPU's memory through a host bridge, against the rate of copies over "
            "that PCIe link."),
  SOURCE_ROWS (FabProcessor),
  { .key = NULL },
};

static const FabParam startup_params[] = {
  { ROW ("base", TIME, FabStartup, base_ps, "0us", "Time added once to each collective.") },
  { ROW ("step", TIME, FabStartup, step_ps, "0us", "Time for each successive step; both 0: not measured.") },
  { ROW ("source", TEXT, FabStartup, source, "", "Measured tables to which both numbers were fitted.") },
  { .key = NULL },
};

static const FabParam sends_params[] = {
  { ROW ("ll", TIME, FabSends, ll_ps, "0us",
         "Startup of one send with protocol LL (a flag beside every word).") },
  { ROW ("simple", TIME, FabSends, simple_ps, "0us",
         "Startup with protocol Simple (a counter that is set after a chunk).") },
  { ROW ("simple_channel", TIME, FabSends, channel_ps, "0us",
         "Startup with protocol Simple, added for each channel in use.") },
  { ROW ("ll_rate", RATE, FabSends, ll_bytes_per_s, "1GB/s", "Rate of one channel with protocol LL."),
    .min = 1, .max = 1e15 },
  { ROW ("rate", RATE, FabSends, both_bytes_per_s, "0B/s",
         "Rate of one channel that sends and receives at the same time; 0: not measured."),
    .max = 1e15 },
  { ROW ("alone_rate", RATE, FabSends, alone_bytes_per_s, "1GB/s",
         "Rate of one channel that only sends, or only copies received bytes."),
    .min = 1, .max = 1e15 },
  { ROW ("sharpness", FACTOR, FabSends, sharpness, "30",
         "Sharpness of the transition from the limit of the channels to that of the links. 2: channels "
         "slow each other down early; 30: hardly."),
    .min = 1, .max = 100 },
  { ROW ("source", TEXT, FabSends, source, "", "Measured tables to which these numbers were fitted.") },
  { .key = NULL },
};

static const FabParam all_pairs_params[] = {
  { ROW ("ll", TIME, FabAllPairs, ll_ps, "0us", "Startup with protocol LL (a flag beside every word).") },
  { ROW ("simple", TIME, FabAllPairs, simple_ps, "0us",
         "Startup with protocol Simple (a counter that is set after a chunk).") },
  { ROW ("ll_rate", RATE, FabAllPairs, ll_bytes_per_s, "0B/s",
         "Rate with protocol LL, in bytes of the collective's size per second."),
    .max = 1e15 },
  { ROW ("rate", RATE, FabAllPairs, bytes_per_s, "0B/s",
         "Rate with protocol Simple (a counter that is set after a chunk); 0: not measured."),
    .max = 1e15 },
  { ROW ("source", TEXT, FabAllPairs, source, "", "Measured tables to which these numbers were fitted.") },
  { .key = NULL },
};

static const FabParam ring_params[] = {
  { ROW ("base", TIME, FabRingCost, base_ps, "0us", "Time added once to each collective; 0: not measured.") },
  { ROW ("step", TIME, FabRingCost, step_ps, "0us", "Time for each successive step.") },
  { ROW ("channel", RATE, FabRingCost, channel_bytes_per_s, "0B/s",
         "Rate of one channel; 0: more than its share of the links."),
    .max = 1e15 },
  { ROW ("copy", RATE, FabRingCost, copy_bytes_per_s, "0B/s",
         "Rate at which one channel copies out of a buffer, once in each loop of the ring; 0: copies take "
         "no time."),
    .max = 1e15 },
  { ROW ("drift", TIME, FabRingCost, drift_ps, "0us",
         "Time that steps wait for slower ones until 1 GB has passed a link. It grows with the square root "
         "of the bytes.") },
  { ROW ("source", TEXT, FabRingCost, source, "", "Measured tables to which these numbers were fitted.") },
  { .key = NULL },
};

static const FabParam switch_params[] = {
  { ROW ("base", TIME, FabSwitchCost, base_ps, "0us",
         "Time added once to each collective; 0: not measured.") },
  { ROW ("latency", TIME, FabSwitchCost, latency_ps, "0us",
         "Latency of a round, which its bytes can hide.") },
  { ROW ("rounds", FACTOR, FabSwitchCost, n_rounds, "0",
         "Number of rounds that are under way before the first one ends.") },
  { ROW ("many_gpus", COUNT, FabSwitchCost, many_gpus, "0",
         "Number of GPUs on one switch at which `many_share` was measured; 0: not measured.") },
  { ROW (
      "many_share", FRACTION, FabSwitchCost, many_share, "1",
      "Share of the rate of 8 GPUs that each of so many gets. It falls with the logarithm of their number.") },
  { ROW ("source", TEXT, FabSwitchCost, source, "", "Measured tables to which these numbers were fitted.") },
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
  { ROW ("rate", RATE, FabChannelRate, bytes_per_s, "0B/s", "Rate of one channel; 0: not measured."),
    .max = 1e15 },
  { ROW ("source", TEXT, FabChannelRate, source, "", "Measured tables to which the rate was fitted.") },
  { .key = NULL },
};

static const FabParam token_params[] = {
  { ROW ("start", TIME, FabTokenCost, start_ps, "0us", "Time to start the kernel, once; 0: not measured.") },
  { ROW ("expert", TIME, FabTokenCost, expert_ps, "0us", "Part of the start for each expert of the model.") },
  { ROW ("start_rate", RATE, FabTokenCost, start_bytes_per_s, "0B/s",
         "Part of the start: time of one token's bytes at this rate; 0: none."),
    .max = 1e15 },
  { ROW ("fill", TIME, FabTokenCost, fill_ps, "0us",
         "Time until receivers have the first part of the tokens.") },
  { ROW ("token", TIME, FabTokenCost, token_ps, "0us",
         "Time of one multiprocessor for a token of any size.") },
  { ROW ("rate", RATE, FabTokenCost, sm_bytes_per_s, "0B/s",
         "Rate at which one multiprocessor copies; 0: no limit."),
    .max = 1e15 },
  { ROW ("links", FRACTION, FabTokenCost, links_fraction, "100%",
         "Share of the rate of an accelerator's links to others of its node or domain."),
    .min = 0.01, .max = 1 },
  { ROW ("network", FRACTION, FabTokenCost, network_fraction, "100%",
         "Share of the rate of a network adapter."),
    .min = 0.01, .max = 1 },
  { ROW ("source", TEXT, FabTokenCost, source, "", "Measured tables to which these numbers were fitted.") },
  { .key = NULL },
};

#define TOKEN_COST(key_, field_, help_)                                                        \
  {                                                                                            \
    ROW (key_, TABLE, FabTokenCosts, field_, NULL, help_), .table = token_params,              \
                                                           .table_size = sizeof (FabTokenCost) \
  }

static const FabParam token_kernels_params[] = {
  TOKEN_COST ("dispatch", dispatch, "Costs of sending tokens to their experts."),
  TOKEN_COST ("combine", combine, "Costs of sending the results of the experts back."),
  { .key = NULL },
};

const FabParam fab_generation_params[] = {
  NAME_ROWS (FabGeneration),
  { ROW ("issue", TIME, FabGeneration, issue_ps, "4.3us",
         "Time of the host to issue one collective on one accelerator.") },
  STARTUP ("ll", startups.ll,
           "Start of a collective inside a node with protocol LL (a flag beside every word)."),
  STARTUP ("ll128", startups.ll128,
           "Start of a collective inside a node with protocol LL128 (a flag in every line of 128 bytes)."),
  STARTUP ("simple", startups.simple,
           "Start of a collective inside a node with protocol Simple (a counter that is set after a chunk)."),
  { ROW ("sends", TABLE, FabGeneration, sends, NULL,
         "Sends and receives between accelerators of one node or domain."),
    .table = sends_params, .table_size = sizeof (FabSends) },
  { ROW ("all_pairs", TABLE, FabGeneration, all_pairs, NULL,
         "All-reduce over eight accelerators of a full mesh, in two all-to-all steps."),
    .table = all_pairs_params, .table_size = sizeof (FabAllPairs) },
  RING ("ring_ll", rings.ll, "Ring inside a node with protocol LL (a flag beside every word)."),
  RING ("ring_ll128", rings.ll128,
        "Ring inside a node with protocol LL128 (a flag in every line of 128 bytes)."),
  RING ("ring_simple", rings.simple,
        "Ring inside a node with protocol Simple (a counter that is set after a chunk)."),
  { ROW ("node_switch", TABLE, FabGeneration, node_switch, NULL,
         "Reduction by the switch of a node, in rounds."),
    .table = switch_params, .table_size = sizeof (FabSwitchCost) },
  { ROW ("ring_channel", TABLE, FabGeneration, ring_channel, NULL,
         "Rate at which a channel receives, reduces and sends in a ring over nodes."),
    .table = channel_params, .table_size = sizeof (FabChannelRate) },
  { ROW ("tokens", TABLE, FabGeneration, tokens, NULL,
         "Kernels that send each token of a mixture of experts once to each node and rank."),
    .table = token_kernels_params, .table_size = sizeof (FabTokenCosts) },
  { ROW ("hybrid", TABLE, FabGeneration, hybrid, NULL,
         "Such kernels that use the copy engines of the multiprocessors, and so occupy few multiprocessors."),
    .table = token_kernels_params, .table_size = sizeof (FabTokenCosts) },
  { ROW ("low_latency", TABLE, FabGeneration, low_latency, NULL,
         "Kernels that send one message for each token and each of its experts."),
    .table = token_kernels_params, .table_size = sizeof (FabTokenCosts) },
  SOURCE_ROWS (FabGeneration),
  { .key = NULL },
};

/* In the order of FabPlanPlace and FabPlanOperations (sim/run/plan_kind.h). */
static const char *const band_places[] = { "inside", "between", NULL };
static const char *const band_operations[] = { "rings", "pairs", NULL };

static const FabParam band_cell_params[] = {
  { ROW ("place", CHOICE, FabBandCellSpec, place, NULL,
         "Place of the collective: inside a node or rack, or between nodes over NICs."),
    .choices = band_places },
  { ROW (
        "operations", CHOICE, FabBandCellSpec, operations, NULL,
        "rings: all-reduce and the other operations of rings and trees; pairs: all-to-all and send-receive."),
    .choices = band_operations },
  { ROW ("up_to", BYTES, FabBandCellSpec, up_to_bytes, "0B",
         "First size that the cell no longer covers; 0B: no limit.") },
  { ROW ("low", FACTOR, FabBandCellSpec, low_factor, NULL, "Low end of measured time over predicted time."),
    .min = 0.001, .max = 1 },
  { ROW ("high", FACTOR, FabBandCellSpec, high_factor, NULL,
         "High end of measured time over predicted time."),
    .min = 1, .max = 1000 },
  { ROW ("tables", COUNT, FabBandCellSpec, n_tables, "0",
         "Number of measured tables that the band rests on."),
    .max = 1e6 },
  { ROW ("families", COUNT, FabBandCellSpec, n_families, "0",
         "Number of families of links among these tables."),
    .max = 1e6 },
  { ROW ("publications", COUNT, FabBandCellSpec, n_publications, "0",
         "Number of publications that these tables come from; 0: not told."),
    .max = 1e6 },
  { ROW ("machines", COUNT, FabBandCellSpec, n_machines, "0",
         "Number of kinds of machines that several of these publications measured."),
    .max = 1e6 },
  { ROW (
        "spread", FACTOR, FabBandCellSpec, spread_factor, "1",
        "How many times as long the slowest publication took as the fastest on one kind of machine, at the most."),
    .min = 1, .max = 1000 },
  { .key = NULL },
};

static const FabParam untuned_params[] = {
  { ROW ("operations", CHOICE, FabUntunedSpec, operations, NULL, "As in a cell."),
    .choices = band_operations },
  { ROW ("up_to", BYTES, FabUntunedSpec, up_to_bytes, "0B",
         "First size that the entry no longer covers; 0B: no limit.") },
  { ROW ("tables", COUNT, FabUntunedSpec, n_tables, NULL, "Number of measured tables that were not well."),
    .min = 1, .max = 1e6 },
  { ROW ("of", COUNT, FabUntunedSpec, n_of, NULL, "Number of all measured tables of this kind."), .min = 1,
    .max = 1e6 },
  { ROW ("low", FACTOR, FabUntunedSpec, low_factor, NULL,
         "Measured time over predicted time of the fastest of them, in the median over its sizes."),
    .min = 0.001, .max = 1000 },
  { ROW ("high", FACTOR, FabUntunedSpec, high_factor, NULL, "The same of the slowest."), .min = 0.001,
    .max = 1000 },
  { .key = NULL },
};

const FabParam fab_band_params[] = {
  NAME_ROWS (FabBandSpec),
  { ROW ("library", TEXT, FabBandSpec, library, "",
         "Library of the measured collectives; left out: the entry is for any library.") },
  { ROW ("coverage", FRACTION, FabBandSpec, coverage_fraction, "90%",
         "Share of all cases that lie between low and high."),
    .min = 0.01, .max = 0.999 },
  { ROW ("cells", LIST, FabBandSpec, cells, NULL,
         "Cells by place, operations and size. Where a cell is missing, that of `any` applies."),
    .table = band_cell_params, .table_size = sizeof (FabBandCellSpec) },
  { ROW ("untuned", LIST, FabBandSpec, untuned, NULL,
         "Published networks that were not well, which no cell rests on. `any` alone has them."),
    .table = untuned_params, .table_size = sizeof (FabUntunedSpec) },
  SOURCE_ROWS (FabBandSpec),
  { .key = NULL },
};

/* In the order of FabSetupEvidence. */
static const char *const setup_evidence[] = { "sources", "one_source", "assumed", NULL };

const FabParam fab_setup_params[] = {
  NAME_ROWS (FabSetup),
  { ROW ("stack", TEXT, FabSetup, stack, "",
         "Training software: eager, compiled, megatron, ...; left out: all that have no entry.") },
  { ROW ("factor", FACTOR, FabSetup, time_factor, "1",
         "Factor on the priced time of the computation of jobs with several ranks."),
    .min = 0.01, .max = 100 },
  { ROW ("low", FACTOR, FabSetup, low_factor, "1",
         "Low end of the 90 % band of measured over predicted time of the computation."),
    .min = 0.01, .max = 1 },
  { ROW ("high", FACTOR, FabSetup, high_factor, "1",
         "High end of the 90 % band of measured over predicted time of the computation."),
    .min = 1, .max = 100 },
  { ROW ("rows", COUNT, FabSetup, n_rows, "0", "Number of measured runs that the numbers rest on."),
    .max = 1e6 },
  { ROW ("groups", COUNT, FabSetup, n_groups, "0",
         "Number of different models and machines among these runs."),
    .max = 1e6 },
  { ROW ("sources", COUNT, FabSetup, n_sources, "0", "Number of publications of these runs."), .max = 1e6 },
  { ROW ("evidence", CHOICE, FabSetup, evidence, "sources",
         "Evidence. sources: several publications; one_source: one; assumed: no measurement, a statement "
         "of the source."),
    .choices = setup_evidence },
  SOURCE_ROWS (FabSetup),
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
