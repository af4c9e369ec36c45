/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - the frozen graph: vertices and directed links in compressed sparse rows.
 *
 * Built once by a FabGraphBuilder, then read-only and shared by every model. Links are
 * numbered in order of their source vertex. Every link has a reverse of its own, so one
 * direction never takes from the other. No text per vertex: names are made when asked for.
 */
#pragma once

#include "sim/fabric/messages.h"

typedef guint32 FabVertexId;
typedef guint32 FabLinkId;

#define FAB_NO_VERTEX G_MAXUINT32
#define FAB_NO_LINK G_MAXUINT32
#define FAB_NO_NODE G_MAXUINT32 /* a vertex of the fabric, outside every node */

typedef enum {
  FAB_VERTEX_ACCELERATOR, /* never forwards what others send */
  FAB_VERTEX_SWITCH,
  FAB_VERTEX_NIC,
  FAB_VERTEX_HOST,    /* a socket */
  FAB_VERTEX_BRIDGE,  /* a host bridge of a socket, where one is modelled apart */
  FAB_VERTEX_MEMORY,  /* host memory of a socket; never on the way */
  FAB_VERTEX_STORAGE, /* a drive; never on the way */
} FabVertexKind;

/* What moves the bytes: it decides packet size and efficiency on a link. */
typedef enum {
  FAB_DRIVE_COPY,     /* copy engine, NIC DMA: largest packets */
  FAB_DRIVE_KERNEL,   /* loads and stores of a GPU kernel */
  FAB_DRIVE_MULTIMEM, /* loads that a switch reduces, stores that it multiplies */
  FAB_N_DRIVES,
} FabDrive;

typedef struct {
  FabVertexKind kind;
  guint32 node;   /* from 0, or FAB_NO_NODE */
  guint32 part;   /* index of the part's name */
  guint32 member; /* from 0 within the node and part */
} FabVertex;

/* What links of one catalogue entry have in common. */
typedef struct {
  const char *name;          /* this and the next are owned by the catalogue, which outlives the graph */
  const char *technology;    /* "NVLink", "PCIe": what a library's constants are keyed by */
  double cost[FAB_N_DRIVES]; /* line bytes per payload byte, >= 1: headers and measured loss */
  FabTimePs endpoint_ps;     /* what the adapters at both ends add to a message, beyond the wires */
  double
      collective_stretch; /* line time of a collective library's traffic over that of RDMA writes; 0: not known */
  FabMessages messages;     /* what one message between two such ports was measured to take */
  gboolean has_reduction;   /* a switch at its end can reduce and multiply what it is sent */
  gboolean is_pcie, is_c2c; /* by its technology: the builder's */
} FabLinkClass;

typedef struct {
  FabVertexId src, dst;
  FabBytesPerS rate_bytes_per_s; /* line rate of the whole bundle, one direction */
  FabTimePs latency_ps;
  guint32 class_index;
  guint32 count; /* parallel links in the bundle */
  FabLinkId reverse;
} FabLink;

typedef struct _FabGraph FabGraph;

void fab_graph_free (FabGraph *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabGraph, fab_graph_free)

guint fab_graph_n_vertices (const FabGraph *self);
guint fab_graph_n_links (const FabGraph *self);
const FabVertex *fab_graph_vertex (const FabGraph *self, FabVertexId vertex);
const FabLink *fab_graph_link (const FabGraph *self, FabLinkId link);
const FabLinkClass *fab_graph_link_class (const FabGraph *self, FabLinkId link);

/* Links that leave `vertex` are [*first, *first + return value). */
guint fab_graph_out_links (const FabGraph *self, FabVertexId vertex, FabLinkId *first);

/* "node0/gpu3", "leaf2". (transfer full) */
char *fab_graph_vertex_name (const FabGraph *self, FabVertexId vertex);

/* Whether every vertex can be reached from the first; else *lost is one that cannot. */
gboolean fab_graph_is_connected (const FabGraph *self, FabVertexId *lost);

/* What becomes of a link in a machine where something is broken. */
typedef struct {
  double rate_fraction; /* of its line rate; 0: it is gone */
  FabTimePs added_ps;   /* to its latency */
} FabLinkChange;

/* Changes the links, one entry for each; those that are left keep their order and get new numbers. To be called
 * before anything points into the graph. Asserts that a link goes with its reverse. */
void fab_graph_change (FabGraph *self, const FabLinkChange *changes);

/* What is found out of one part is not to be taken for others that are like it: every node, link and group of ranks is
 * looked at by itself, at any cost (docs/scale.md). To be called before anything points into the graph. */
void fab_graph_unfold (FabGraph *self);
gboolean fab_graph_is_unfolded (const FabGraph *self);

/* Asserts: every link has a reverse with swapped ends, rates are positive, costs are >= 1,
 * and the graph is connected. */
void fab_graph_check (const FabGraph *self);

typedef struct _FabGraphBuilder FabGraphBuilder;

FabGraphBuilder *fab_graph_builder_new (void);
void fab_graph_builder_free (FabGraphBuilder *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabGraphBuilder, fab_graph_builder_free)

/* `part` is copied once per distinct name; has_members FALSE leaves the number out of names. */
guint fab_graph_builder_part (FabGraphBuilder *self, const char *part, gboolean has_members);
FabVertexId fab_graph_builder_vertex (FabGraphBuilder *self, FabVertexKind kind, guint32 node, guint part,
                                      guint32 member);
guint fab_graph_builder_class (FabGraphBuilder *self, const FabLinkClass *link_class);

typedef struct {
  FabBytesPerS rate_bytes_per_s; /* of one link, one direction */
  FabTimePs latency_ps;
  guint class_index;
  guint count; /* parallel links, at least 1 */
} FabLinkForm;

/* Both directions. */
void fab_graph_builder_join (FabGraphBuilder *self, FabVertexId a, FabVertexId b, const FabLinkForm *form);

/* Consumes the builder's contents; the builder is empty afterwards. */
FabGraph *fab_graph_builder_freeze (FabGraphBuilder *self);
