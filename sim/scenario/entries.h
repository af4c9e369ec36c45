/* SPDX-License-Identifier: Apache-2.0 */
/* entries.h - what an entry of the catalogue says: links, accelerators, nodes, models, products and what is measured of
 * them, each number with its source.
 *
 * Rates are for one direction. Line rate, the share that packet headers leave, and the measured share are three
 * separate numbers.
 */
#pragma once

#include "sim/base/clock.h"
#include "sim/base/setup.h"
#include "sim/base/units.h"
#include "sim/config/schema.h"
#include "sim/fabric/generation.h"
#include "sim/fabric/graph.h"
#include "sim/fabric/processor.h"
#include "sim/scenario/design_params.h"
#include "sim/scenario/pair_params.h"
#include "sim/scenario/reliability_params.h"

/* rate (drive) = lanes x signalling x coding x payload / (payload + overhead) x achievable */
typedef struct {
  gint64 payload_bytes;       /* payload of one packet; 0 with overhead 0: no packets */
  gint64 overhead_bytes;      /* header, CRC and framing of one packet */
  double achievable_fraction; /* measured: best observed rate over the payload rate */
  const char *source;         /* source of these three numbers */
} FabLinkDriveSpec;

/* What a link's numbers were measured with; to_bytes 0: they were not measured. */
typedef struct {
  FabBytes from_bytes, to_bytes;  /* message sizes */
  double held_out_error_fraction; /* median error over the rows that were not used for fitting */
  gint64 n_rows, n_held_out;
} FabLinkMeasured;

/* 95 % half-widths as a fraction of the number; 0: unknown. */
typedef struct {
  double rate_fraction, latency_fraction, endpoint_fraction, messages_fraction;
} FabLinkUncertainty;

/* What those numbers of a link rest on that only collectives show. */
typedef enum {
  FAB_EVIDENCE_TABLES,    /* several measured tables, or nothing was fitted */
  FAB_EVIDENCE_ONE_TABLE, /* a single one */
  FAB_EVIDENCE_ASSUMED,   /* none: taken over from another link */
} FabEvidence;

typedef struct {
  const char *name; /* "nvlink3", "ib-hdr" */
  const char *summary;
  const char *technology; /* entry of `technologies`; NULL: none, fab_technology_unnamed */
  gint64 lanes;
  FabBytesPerS signalling_bytes_per_s; /* per lane, one direction, written in Gb/s (GT/s x bits) */
  double coding_fraction;              /* line coding and FEC: 0.98461538 for 128b/130b */
  FabTimePs latency_ps;                /* of one traversal: wire and the port behind it */
  int flow_control;                    /* 0: the technology's; else 1 + FabFlowControl */
  const char *flow_control_note;
  FabLinkDriveSpec copy, kernel;
  FabLinkDriveSpec multimem; /* payload_bytes 0: no switch reduces on this link */
  /* NIC ports: what both adapters and their driver add to a small message, beyond the wires. */
  FabTimePs endpoint_ps;
  /* NIC ports: share of `copy` that a collective library reaches; 0: unknown. */
  double collective_fraction;
  const char *collective_source;
  FabRendezvous rendezvous; /* NIC ports: how longer messages go; from_bytes 0: as short ones */
  const char *rendezvous_source;
  gboolean can_reduce;   /* NIC ports: the switches of this network can reduce in-network */
  FabParamList messages; /* FabMessageRegime: time of one message from end to end; empty: not measured */
  FabInlined inlined;    /* NIC ports: short messages that a processor copies; most_bytes 0: none */
  const char *inlined_source;
  FabTimePs software_match_ps; /* NIC ports: a processor's time for a message that it matches; 0: unknown */
  const char *software_match_source;
  FabLinkMeasured measured;
  FabLinkUncertainty uncertainty;
  int evidence; /* FabEvidence */
  const char *source, *date;
} FabLinkSpec;

/* Returns the capacity of a link: the line rate after coding, packet headers included. */
FabBytesPerS fab_link_spec_line_rate (const FabLinkSpec *spec);

/* Returns the line bytes that one payload byte costs, >= 1. */
double fab_link_spec_cost (const FabLinkSpec *spec, FabDrive drive);

typedef struct {
  const char *name, *summary;
  const char
      *architecture; /* "ampere", "hopper": entry of `generations`, where it has one, and key of constants */
  double peak_fp16_flops_per_s; /* dense matrix rate, BF16/FP16 */
  double peak_fp32_flops_per_s; /* dense FP32 rate */
  double peak_tf32_flops_per_s; /* dense matrix rate, TF32; 0: not supported */
  double peak_fp8_flops_per_s;  /* dense matrix rate, FP8; 0: not supported */
  double peak_fp4_flops_per_s;  /* dense matrix rate, FP4 with FP32 sums; 0: not supported */
  double matmul_fraction;       /* best measured matrix multiplication over peak_fp16; 0: unknown */
  gint64 n_sms;                 /* streaming multiprocessors or compute units; 0: unknown */
  FabBytes memory_bytes;
  FabBytesPerS memory_bytes_per_s;
  gint64 power_watts;
  FabClockCurve clock; /* under a power cap */
  const char *source, *date;
} FabAcceleratorSpec;

/* Vertices of a node: `count` of each part, called part0, part1, ... (or `part` when there is one). */
typedef enum {
  FAB_PART_ACCELERATOR,
  FAB_PART_SWITCH,
  FAB_PART_NIC,
  FAB_PART_HOST,    /* a CPU socket */
  FAB_PART_BRIDGE,  /* a host bridge, for nodes that distinguish several in one socket */
  FAB_PART_MEMORY,  /* memory of a socket: data staged through the host crosses its link */
  FAB_PART_STORAGE, /* a drive */
} FabPartKind;

typedef struct {
  const char *name; /* "gpu", "nvswitch", "plx", "cpu", "nic" */
  int kind;         /* FabPartKind */
  gint64 count;
  /* How many consecutive nodes share these members (a rack's NVLink switches); 1: not shared. */
  gint64 shared;
} FabPartSpec;

/* How the members of two parts are connected. */
typedef enum {
  FAB_WIRE_BLOCK, /* trees: member i of the larger part to member floor (i * n / m) of the smaller part */
  FAB_WIRE_ALL,   /* every member of `from` to every member of `to`; each pair once when from = to */
  FAB_WIRE_RING,  /* within one part: each member to the next one, and the last to the first */
  FAB_WIRE_PAIRS, /* within one part: member 0 to 1, 2 to 3, ... */
} FabWireMap;

typedef struct {
  const char *from, *to; /* a part ("gpu") or one member of it ("gpu3") */
  const char *link;      /* link entry */
  gint64 count;          /* parallel links in one edge */
  int map;               /* FabWireMap */
} FabWireSpec;

typedef struct {
  const char *name, *summary;
  const char *accelerator;        /* accelerator entry */
  const char *nic;                /* link entry of a NIC's network port; NULL: no NICs */
  const char *cpu;                /* processor entry */
  const char *plugin;             /* network plug-in of its collective library; NULL: none */
  gboolean has_software_matching; /* a processor matches messages with receives, and not the adapter */
  int p2p, gdr;                   /* FabReach: the farthest pair that communicates without host memory */
  FabModelChoice fabric;          /* FAB_MODEL_FABRIC: the fabric that these nodes usually have */
  FabModelChoice route; /* FAB_MODEL_ROUTE: the usual routing; no info: that of the ports' technology */
  gint64
      rails; /* NICs of one board of the node; NIC k is on rail k mod rails; 0: every NIC has a rail of its own */
  const char
      *frontend; /* link entry of its ports to the front-end and storage network; NULL: unknown, or none */
  gint64 frontend_nics; /* ports of that kind; 0: unknown, or none */
  const char
      *unknown;       /* names of fab_node_fact_names that no source gives, with commas between; NULL: none */
  gint64 scatter;     /* places for each node of a job, which stand at random; 1: side by side */
  FabParamList parts; /* FabPartSpec */
  FabParamList wires; /* FabWireSpec */
  const char *source, *date;
} FabNodeSpec;

/* What is to be known of every node beside its parts for accelerators and their network. */
typedef enum {
  FAB_NODE_DRIVES,   /* parts of kind storage */
  FAB_NODE_FRONTEND, /* ports to the front-end and storage network */
  FAB_NODE_POWER,    /* power_watts of a product of kind node */
  FAB_NODE_PRICE,    /* price_usd of a product of kind node, or of kind rent */
  FAB_N_NODE_FACTS,
} FabNodeFact;

extern const char *const fab_node_fact_names[FAB_N_NODE_FACTS + 1]; /* "drives", ...; NULL-ended */

/* Whether the entry says that no source gives the fact. */
gboolean fab_node_spec_is_unknown (const FabNodeSpec *spec, FabNodeFact fact);

/* Returns how many consecutive nodes share parts and so form one domain for collectives; 1: none do. */
guint fab_node_spec_sharers (const FabNodeSpec *spec);

/* Returns how many parts of this kind the node has. */
guint fab_node_spec_n_parts (const FabNodeSpec *spec, FabPartKind kind);

typedef struct {
  const char *name, *summary;
  const char *maker;    /* who published it; lists of models have it as a heading. NULL: nobody is named */
  FabModelChoice shape; /* FAB_MODEL_SHAPE */
  const char *source, *date;
} FabModelSpec;

/* By how much measured times of collectives differ from predicted ones (sim/run/band.h), below a size. */
typedef struct {
  int place, operations;          /* FabPlanPlace, FabPlanOperations: sim/run/plan_kind.h */
  FabBytes up_to_bytes;           /* first size that it does not hold for; 0: no end */
  double low_factor, high_factor; /* measured over predicted time */
  gint64 n_tables, n_families;    /* measured, that it rests on */
  gint64 n_publications;          /* that measured these tables; 0: not told */
  gint64 n_machines;              /* kinds of machines that several of them measured */
  double spread_factor; /* the slowest over the fastest publication of one kind of machine, at the most */
} FabBandCellSpec;

/* Published networks that were not well (validate/compare/health.h), which no cell rests on, and how far off they
 * were. */
typedef struct {
  int operations;        /* as in a cell */
  FabBytes up_to_bytes;  /* first size that it does not hold for; 0: no end */
  gint64 n_tables, n_of; /* tables that were not well, and all tables of this kind */
  double low_factor,
      high_factor; /* measured over predicted time: the medians of the least and of the most slow */
} FabUntunedSpec;

typedef struct {
  const char *name; /* a family, "any", "unmeasured" or "unknown" */
  const char *summary;
  const char *library;      /* that ran the measured collectives; NULL: any */
  double coverage_fraction; /* of all cases are between low and high */
  FabParamList cells;       /* FabBandCellSpec, in the order of their sizes */
  FabParamList untuned;     /* FabUntunedSpec, likewise */
  const char *source, *date;
} FabBandSpec;

typedef enum {
  FAB_PRODUCT_ACCELERATOR,
  FAB_PRODUCT_NODE, /* a machine; its price may include accelerators and NICs */
  FAB_PRODUCT_NIC,
  FAB_PRODUCT_SWITCH,
  FAB_PRODUCT_CABLE,
  FAB_PRODUCT_OPTIC, /* a transceiver at one end of a cable */
  FAB_PRODUCT_RENT,  /* an hour of a node or of an accelerator in somebody's cloud */
  FAB_N_PRODUCT_KINDS,
} FabProductKind;

extern const char *const fab_product_kind_names[]; /* "accelerator", "node", ...; NULL-ended */

enum { FAB_SWITCH_LEAST_PORTS = 4 }; /* a tree needs at least this many */

/* A product with its price and watts per piece. */
typedef struct {
  const char *name, *summary;
  int kind; /* FabProductKind */
  /* The entry that the product is, for ACCELERATOR and NODE; one of them for RENT; for other kinds, the link of its
   * port or wire. NULL: none. */
  const char *accelerator, *node, *link;
  gint64 n_ports;        /* SWITCH */
  gint64 links_per_port; /* SWITCH: most slower links into which a port can be split */
  gint64 reach_mm;       /* CABLE: largest length */
  gint64 n_optics;       /* CABLE: transceivers that it needs; 0: they are part of it */
  /* Of one piece, or of one hour of a RENT; 0: the price is unknown; low and high 0: the spread is unknown. */
  double price_usd, low_usd, high_usd;
  const char *region;                  /* RENT: where the price holds; NULL: everywhere */
  double power_watts;                  /* for cables 0 means none; for others, unknown */
  gboolean has_accelerators, has_nics; /* NODE: its price includes them */
  const char *source, *date;
} FabProductSpec;

/* The thirteen sections of a catalogue file or a scenario. */
typedef struct {
  FabParamList links;        /* FabLinkSpec */
  FabParamList accelerators; /* FabAcceleratorSpec */
  FabParamList nodes;        /* FabNodeSpec */
  FabParamList models;       /* FabModelSpec */
  FabParamList products;     /* FabProductSpec */
  FabParamList technologies; /* FabTechnology */
  FabParamList processors;   /* FabProcessor */
  FabParamList generations;  /* FabGeneration */
  FabParamList bands;        /* FabBandSpec */
  FabParamList setups;       /* FabSetup */
  FabParamList failures;     /* FabFailureSetSpec */
  FabParamList pairs;        /* FabPairSpec */
  FabParamList designs;      /* FabDesignSpec */
} FabCatalogSections;

/* In the order of FabCatalogSections. */
typedef enum {
  FAB_SECTION_LINKS,
  FAB_SECTION_ACCELERATORS,
  FAB_SECTION_NODES,
  FAB_SECTION_MODELS,
  FAB_SECTION_PRODUCTS,
  FAB_SECTION_TECHNOLOGIES,
  FAB_SECTION_PROCESSORS,
  FAB_SECTION_GENERATIONS,
  FAB_SECTION_BANDS,
  FAB_SECTION_SETUPS,
  FAB_SECTION_FAILURES,
  FAB_SECTION_PAIRS,
  FAB_SECTION_DESIGNS,
} FabCatalogSection;
