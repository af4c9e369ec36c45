/* SPDX-License-Identifier: Apache-2.0 */
/* catalog.h - links, accelerators, nodes, model shapes and products, each number with its source.
 *
 * The shipped entries are models/catalog/<anything>.yaml; a scenario may hold sections of
 * the same form, and its entries win over shipped ones of the same name. Rates are
 * one direction. Line rate, what packets leave of it, and what was measured are three
 * numbers kept apart.
 */
#pragma once

#include "sim/base/units.h"
#include "sim/fabric/graph.h" /* FabDrive */
#include "sim/scenario/schema.h"

/* rate(drive) = lanes x signalling x coding x payload/(payload + overhead) x achievable */
typedef struct {
  gint64 payload_bytes;       /* payload of one packet; 0 with overhead 0: no packets */
  gint64 overhead_bytes;      /* header, CRC and framing of one packet */
  double achievable_fraction; /* measured: best observed rate over payload rate */
  const char *source;         /* of all three */
} FabLinkDriveSpec;

/* What a link's numbers were measured with; to_bytes 0: they were not. */
typedef struct {
  FabBytes from_bytes, to_bytes;  /* message sizes */
  double held_out_error_fraction; /* median, of rows that no number was fitted to */
  gint64 n_rows, n_held_out;
} FabLinkMeasured;

/* 95 % half-widths as a part of the number; 0: none is known. */
typedef struct {
  double rate_fraction, latency_fraction, endpoint_fraction, messages_fraction;
} FabLinkUncertainty;

/* What NCCL reaches of a port whose entry has no collective_fraction, unless a scenario says otherwise. */
#define FAB_NET_FRACTION 0.9588

typedef struct {
  const char *name; /* "nvlink3", "ib-hdr" */
  const char *summary;
  const char *technology; /* group in tables: "NVLink", "PCIe", "InfiniBand" */
  gint64 lanes;
  FabBytesPerS signalling_bytes_per_s; /* per lane, one direction, written in Gb/s (GT/s x bits) */
  double coding_fraction;              /* line coding and FEC: 0.98461538 for 128b/130b */
  FabTimePs latency_ps;                /* one traversal: wire and the port behind it */
  const char *flow_control;
  FabLinkDriveSpec copy, kernel;
  FabLinkDriveSpec multimem; /* payload_bytes 0: no switch reduces on this link */
  FabTimePs
      endpoint_ps; /* NIC ports: both adapters and their driver, on top of the wires, for a small message */
  double collective_fraction; /* NIC ports: share of `copy` that a collective library reaches; 0: not known */
  const char *collective_source;
  gboolean has_sharp;    /* NIC ports: the switches of this network can reduce */
  FabParamList messages; /* FabMessageRegime: what one message takes from end to end; empty: not measured */
  FabLinkMeasured measured;
  FabLinkUncertainty uncertainty;
  const char *source, *date;
} FabLinkSpec;

/* Line rate after coding, packet headers included; what a link's capacity is. */
FabBytesPerS fab_link_spec_line_rate (const FabLinkSpec *spec);
/* Line bytes that one payload byte costs: >= 1. */
double fab_link_spec_cost (const FabLinkSpec *spec, FabDrive drive);
/* What all links of the entry have in common; points into the entry. */
FabLinkClass fab_link_spec_class (const FabLinkSpec *spec);

typedef struct {
  const char *name, *summary;
  const char *architecture;     /* "ampere", "hopper": what library constants are keyed by */
  double peak_fp16_flops_per_s; /* dense matrix, BF16/FP16 */
  double peak_fp32_flops_per_s; /* dense FP32 */
  double peak_tf32_flops_per_s; /* dense matrix, TF32; 0: none */
  double peak_fp8_flops_per_s;  /* dense matrix, FP8; 0: none */
  double matmul_fraction;       /* of peak_fp16: the best matrix multiplication ever measured; 0: not known */
  gint64 n_sms;                 /* streaming multiprocessors, compute units; 0: not known */
  FabBytes memory_bytes;
  FabBytesPerS memory_bytes_per_s;
  gint64 power_watts;
  const char *source, *date;
} FabAcceleratorSpec;

/* Vertices of a node: `count` of each part, named part0, part1, ... (just `part` when one). */
typedef enum {
  FAB_PART_ACCELERATOR,
  FAB_PART_SWITCH,
  FAB_PART_NIC,
  FAB_PART_HOST,    /* a socket */
  FAB_PART_BRIDGE,  /* a host bridge, where a node tells several of one socket apart */
  FAB_PART_MEMORY,  /* of a socket: what is staged through the host crosses its link */
  FAB_PART_STORAGE, /* a drive */
} FabPartKind;

typedef struct {
  const char *name; /* "gpu", "nvswitch", "plx", "cpu", "nic" */
  int kind;         /* FabPartKind */
  gint64 count;
  gint64 shared; /* 1, or how many consecutive nodes have these members in common: a rack's NVLink switches */
} FabPartSpec;

/* How the members of two parts are joined. */
typedef enum {
  FAB_WIRE_BLOCK, /* trees: member i of the larger part to member floor (i * n / m) of the smaller */
  FAB_WIRE_ALL,   /* every member of `from` to every member of `to`; once per pair when from = to */
  FAB_WIRE_RING,  /* within one part: each member to the next, the last to the first */
  FAB_WIRE_PAIRS, /* within one part: member 0 to 1, 2 to 3, ... */
} FabWireMap;

typedef struct {
  const char *from, *to; /* a part ("gpu") or one member ("gpu3") */
  const char *link;      /* link entry */
  gint64 count;          /* parallel links bundled into one edge */
  int map;               /* FabWireMap */
} FabWireSpec;

typedef struct {
  const char *name, *summary;
  const char *accelerator; /* accelerator entry */
  const char *nic;         /* link entry of a NIC's port to the network; NULL: no NICs */
  int cpu;                 /* FabCpu */
  int p2p, gdr;            /* FabReach: the farthest pair that talks without host memory */
  FabModelChoice fabric;   /* FAB_MODEL_FABRIC: the usual one */
  FabModelChoice route;    /* FAB_MODEL_ROUTE: likewise */
  FabParamList parts;      /* FabPartSpec */
  FabParamList wires;      /* FabWireSpec */
  const char *source, *date;
} FabNodeSpec;

/* How many consecutive nodes have parts in common and so are one domain for collectives; 1: none do. */
guint fab_node_spec_sharers (const FabNodeSpec *spec);

typedef struct {
  const char *name, *summary;
  FabModelChoice shape; /* FAB_MODEL_SHAPE */
  const char *source, *date;
} FabModelSpec;

typedef enum {
  FAB_PRODUCT_ACCELERATOR,
  FAB_PRODUCT_NODE, /* a machine without accelerators and NICs, unless the price has them in it */
  FAB_PRODUCT_NIC,
  FAB_PRODUCT_SWITCH,
  FAB_PRODUCT_CABLE,
  FAB_PRODUCT_OPTIC, /* a transceiver, at one end of a cable */
  FAB_N_PRODUCT_KINDS,
} FabProductKind;

extern const char *const fab_product_kind_names[]; /* "accelerator", "node", ...; NULL-ended */

enum { FAB_SWITCH_LEAST_PORTS = 4 }; /* fewer make no tree */

/* What can be bought: the price and the watts of one piece. */
typedef struct {
  const char *name, *summary;
  int kind; /* FabProductKind */
  /* The entry that it is: ACCELERATOR, NODE; of the others, the link whose port or wire it is. NULL: not of the kind */
  const char *accelerator, *node, *link;
  gint64 n_ports;                      /* SWITCH */
  gint64 links_per_port;               /* SWITCH: slower links that a port can be split into, at most */
  gint64 reach_mm;                     /* CABLE: how long one can be */
  gint64 n_optics;                     /* CABLE: transceivers that it needs; 0: its ends are part of it */
  double price_usd, low_usd, high_usd; /* 0: no price is known; low and high 0: no spread is */
  double power_watts;                  /* cables: 0 is none; others: 0 is not known */
  gboolean has_accelerators, has_nics; /* NODE: they are in its price */
  const char *source, *date;
} FabProductSpec;

/* The five sections, as a catalogue file or a scenario holds them. */
typedef struct {
  FabParamList links;        /* FabLinkSpec */
  FabParamList accelerators; /* FabAcceleratorSpec */
  FabParamList nodes;        /* FabNodeSpec */
  FabParamList models;       /* FabModelSpec */
  FabParamList products;     /* FabProductSpec */
} FabCatalogSections;

extern const FabParam fab_catalog_params[]; /* of FabCatalogSections */

typedef struct _FabCatalog FabCatalog;

/* Reads every *.yaml of the directory in name order. Duplicate names and wires or nodes that
 * name an unknown entry are diagnostics. */
FabCatalog *fab_catalog_load (const char *directory, const FabRegistry *registry, GError **error);

/* All that its files say, with every default; of a loaded one. Equal texts are equal catalogues. (transfer full) */
char *fab_catalog_write (const FabCatalog *self);
void fab_catalog_free (FabCatalog *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabCatalog, fab_catalog_free)

/* A view with the scenario's own entries before the shipped ones; both must outlive it. */
FabCatalog *fab_catalog_overlay (const FabCatalog *shipped, const FabCatalogSections *own);

const FabLinkSpec *fab_catalog_link (const FabCatalog *self, const char *name);
const FabAcceleratorSpec *fab_catalog_accelerator (const FabCatalog *self, const char *name);
const FabNodeSpec *fab_catalog_node (const FabCatalog *self, const char *name);
const FabModelSpec *fab_catalog_model (const FabCatalog *self, const char *name);
const FabProductSpec *fab_catalog_product (const FabCatalog *self, const char *name);

/* For `describe` and for nearest-name messages: NULL-ended, own entries first. (transfer container) */
typedef enum {
  FAB_SECTION_LINKS,
  FAB_SECTION_ACCELERATORS,
  FAB_SECTION_NODES,
  FAB_SECTION_MODELS,
  FAB_SECTION_PRODUCTS
} FabCatalogSection;
const char **fab_catalog_names (const FabCatalog *self, FabCatalogSection section);

/* Whether a scenario brought the entry itself, or another of that name. */
gboolean fab_catalog_is_own (const FabCatalog *self, FabCatalogSection section, const char *name);

/* Where an entry was written, for messages; NULL when not from a file. */
const FabMark *fab_catalog_mark (const FabCatalog *self, gconstpointer field);
