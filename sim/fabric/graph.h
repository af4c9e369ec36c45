/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - the frozen graph: vertices and directed links in compressed sparse rows.
 *
 * A FabGraphBuilder builds it once. After that it is read-only, and every model and thread may share it. Links are
 * numbered in the order of their source vertex. Every link has a reverse link of its own, so one direction never
 * takes capacity from the other. Vertices store no text: names are made on request.
 */
#pragma once

#include "sim/base/units.h"
#include "sim/fabric/technology.h"

typedef enum {
  FAB_WAY_ONE,  /* nothing comes in the other direction */
  FAB_WAY_BOTH, /* as much comes in the other direction at the same time */
  FAB_N_WAYS,
} FabMessageWay;

typedef struct {
  int way;              /* FabMessageWay */
  FabBytes up_to_bytes; /* largest size of the regime; 0: no limit */
  FabTimePs overhead_ps;
  FabBytesPerS rate_bytes_per_s;
} FabMessageRegime;

/* The regimes of one link. Those of one direction mode are in the order of their sizes. */
typedef struct {
  const FabMessageRegime *regimes;
  guint n;                       /* 0: the link was not measured */
  double factor;                 /* multiplies every time; 1 unless a what-if changes it */
  double rate_change;            /* relative change of the rates; 0 unless a what-if changes it */
  FabBytes from_bytes, to_bytes; /* sizes that were measured; to_bytes 0: unknown */
} FabMessages;

/* Returns the time of one message, at most FAB_TIME_MAX. Without regimes for both directions those for one direction
 * apply; beyond the last size the last regime applies. `messages` must not be empty. */
FabTimePs fab_message_ps (const FabMessages *messages, FabMessageWay way, double bytes);

/* Returns the time of one message among several that share a port and end together. `port_bytes` is their total, this
 * one included. */
FabTimePs fab_message_among_ps (const FabMessages *messages, FabMessageWay way, double bytes,
                                double port_bytes);

typedef guint32 FabVertexId;
typedef guint32 FabLinkId;

#define FAB_NO_VERTEX G_MAXUINT32
#define FAB_NO_LINK G_MAXUINT32
#define FAB_NO_NODE G_MAXUINT32 /* a vertex of the fabric, outside all nodes */

typedef enum {
  FAB_VERTEX_ACCELERATOR, /* never forwards traffic of others */
  FAB_VERTEX_SWITCH,
  FAB_VERTEX_NIC,
  FAB_VERTEX_HOST,    /* a CPU socket */
  FAB_VERTEX_BRIDGE,  /* a host bridge of a socket, where it is modelled separately */
  FAB_VERTEX_MEMORY,  /* host memory of a socket; never in the middle of a path */
  FAB_VERTEX_STORAGE, /* a drive; never in the middle of a path */
} FabVertexKind;

/* What moves the bytes. It decides the packet size and the efficiency on a link. */
typedef enum {
  FAB_DRIVE_COPY,     /* a copy engine or NIC DMA: the largest packets */
  FAB_DRIVE_KERNEL,   /* loads and stores of a GPU kernel */
  FAB_DRIVE_MULTIMEM, /* loads that a switch reduces, and stores that it multicasts */
  FAB_N_DRIVES,
} FabDrive;

/* Short messages whose bytes go inside the command to the adapter: a processor copies them, out of the memory of an
 * accelerator too. */
typedef struct {
  FabBytes most_bytes; /* the largest such message; 0: there are none */
  FabTimePs copy_ps;   /* time of a copy out of an accelerator's memory */
} FabInlined;

typedef struct {
  FabVertexKind kind;
  guint32 node;   /* from 0, or FAB_NO_NODE */
  guint32 part;   /* index of the part's name */
  guint32 member; /* from 0 within the node and part */
} FabVertex;

/* How adapters pass longer messages: sender and receiver agree on the buffer before the bytes move. Short messages go
 * eagerly, with the bytes beside the header. */
typedef struct {
  FabBytes from_bytes;       /* the smallest message that goes so; 0: none does */
  FabTimePs handshake_ps;    /* what the agreement adds to a message that somebody waits for */
  FabTimePs message_ps;      /* a port's time for each such message, one after another; 0: unlimited */
  FabTimePs host_message_ps; /* the same between buffers in host memory */
} FabRendezvous;

/* The properties that links of one catalogue entry share. */
typedef struct {
  const char *name; /* the catalogue owns this text and the technology, and outlives the graph */
  const FabTechnology *technology; /* NULL when handed in: the builder puts fab_technology_unnamed */
  FabBytesPerS
      set_bytes_per_s; /* line rate that a scenario gives such a link in place of the entry's; 0: the entry's */
  FabFlowControl flow_control;
  double cost[FAB_N_DRIVES]; /* line bytes per payload byte, >= 1: headers and measured loss */
  FabTimePs endpoint_ps;     /* what the adapters at both ends add to the latency of a message */
  /* line time of a collective library's traffic over that of RDMA writes; 0: not known */
  double collective_stretch;
  FabRendezvous rendezvous;
  FabMessages messages;   /* measured time of one message between two such ports */
  gboolean has_reduction; /* a switch at its end can reduce and multicast data */
  FabInlined inlined;
  FabTimePs
      software_match_ps; /* a processor's time for a message that it matches instead of the adapter; 0: unknown */
} FabLinkClass;

typedef struct {
  FabVertexId src, dst;
  FabBytesPerS rate_bytes_per_s; /* line rate of all parallel links together, one direction */
  FabTimePs latency_ps;
  FabLinkId reverse;
  /* These three share one word, so that a link takes 32 bytes: large machines have millions of them. */
  guint32 count : 22; /* number of parallel links */
  guint32 class_index : 9;
  /* It leads from one group of switches to another, where the same switches pass on what is sent and what arrives:
   * what arrives has buffers of its own from there on. */
  guint32 joins_groups : 1;
} FabLink;

/* Above what the word holds. */
#define FAB_LINK_COUNT_END (1u << 22)
#define FAB_LINK_CLASS_END (1u << 9)

/* Vertices that stand on a lattice of up to three axes, each joined to its neighbours and the ends of an axis to each
 * other: vertex first + x + X (y + Y z). */
typedef struct {
  FabVertexId first;
  guint sizes[3];      /* X, Y, Z; all 0: there is no such lattice */
  gboolean is_open[3]; /* the ends of the axis are not joined to each other */
} FabLattice;

typedef struct _FabGraph FabGraph;

void fab_graph_free (FabGraph *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabGraph, fab_graph_free)

/* Private: models read it through the functions below, which are called for every link of every path. */
struct _FabGraph {
  GArray *vertices;  /* FabVertex */
  GArray *parts;     /* names of parts */
  GArray *classes;   /* FabLinkClass */
  FabLink *links;    /* in the order of their sources */
  FabLinkId *starts; /* [n_vertices + 1] */
  guint n_links;
  gboolean is_unfolded;
  FabLattice lattice;
};

static inline guint
fab_graph_n_vertices (const FabGraph *self)
{
  return self->vertices->len;
}

static inline guint
fab_graph_n_links (const FabGraph *self)
{
  return self->n_links;
}

static inline const FabVertex *
fab_graph_vertex (const FabGraph *self, FabVertexId vertex)
{
  g_assert (vertex < self->vertices->len);
  return &g_array_index (self->vertices, FabVertex, vertex);
}

static inline const FabLink *
fab_graph_link (const FabGraph *self, FabLinkId link)
{
  g_assert (link < self->n_links);
  return &self->links[link];
}

static inline const FabLinkClass *
fab_graph_link_class (const FabGraph *self, FabLinkId link)
{
  return &g_array_index (self->classes, FabLinkClass, fab_graph_link (self, link)->class_index);
}

/* What people call such links: "ib-hdr"; "ib-hdr at 100 Gb/s" where a scenario gives them a rate. (transfer full) */
char *fab_link_class_label (const FabLinkClass *self);

/* NULL: its vertices stand on no lattice. */
const FabLattice *fab_graph_lattice (const FabGraph *self);

/* The links that leave `vertex` are [*first, *first + return value). */
static inline guint
fab_graph_out_links (const FabGraph *self, FabVertexId vertex, FabLinkId *first)
{
  g_assert (vertex < self->vertices->len);
  *first = self->starts[vertex];
  return self->starts[vertex + 1] - self->starts[vertex];
}

/* Whether a link leads from the vertex to a NIC. O(links of the vertex). */
gboolean fab_graph_has_nic (const FabGraph *self, FabVertexId vertex);

/* Returns a name like "node0/gpu3" or "leaf2". (transfer full) */
char *fab_graph_vertex_name (const FabGraph *self, FabVertexId vertex);

/* Returns the name of the vertex's part: "gpu" or "leaf". */
const char *fab_graph_vertex_part (const FabGraph *self, FabVertexId vertex);

/* Whether every vertex can be reached from the first one. If not, *lost is a vertex that cannot. */
gboolean fab_graph_is_connected (const FabGraph *self, FabVertexId *lost);

/* The change that a fault makes to a link. */
typedef struct {
  double rate_fraction; /* share of the line rate that is left; 0: the link is gone */
  FabTimePs added_ps;   /* added to its latency */
} FabLinkChange;

/* Applies one change to every link. The links that remain keep their order and get new numbers. Call it before
 * anything refers to the graph's links. Asserts that a link and its reverse disappear together. */
void fab_graph_change (FabGraph *self, const FabLinkChange *changes);

/* Turns off all use of symmetry: every node, link and group of ranks is computed separately, at any cost
 * (docs/explanation/scale.md). Call it before anything refers to the graph. */
void fab_graph_unfold (FabGraph *self);
gboolean fab_graph_is_unfolded (const FabGraph *self);

/* Asserts that every link has a reverse with swapped ends, rates are positive, costs are >= 1, and the graph is
 * connected. */
void fab_graph_check (const FabGraph *self);

typedef struct _FabGraphBuilder FabGraphBuilder;

FabGraphBuilder *fab_graph_builder_new (void);
void fab_graph_builder_free (FabGraphBuilder *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabGraphBuilder, fab_graph_builder_free)

/* Adds a part name, copied once per distinct name. has_members FALSE leaves the number out of vertex names. */
guint fab_graph_builder_part (FabGraphBuilder *self, const char *part, gboolean has_members);
FabVertexId fab_graph_builder_vertex (FabGraphBuilder *self, FabVertexKind kind, guint32 node, guint part,
                                      guint32 member);
guint fab_graph_builder_class (FabGraphBuilder *self, const FabLinkClass *link_class);

typedef struct {
  FabBytesPerS rate_bytes_per_s; /* rate of one link, one direction */
  FabTimePs latency_ps;
  guint class_index;
  guint count; /* number of parallel links, at least 1 */
} FabLinkForm;

/* Joins two vertices by a link in each direction. */
void fab_graph_builder_join (FabGraphBuilder *self, FabVertexId a, FabVertexId b, const FabLinkForm *form);
/* The same with links that lead from one group of switches to another (FabLink.joins_groups). */
void fab_graph_builder_join_groups (FabGraphBuilder *self, FabVertexId a, FabVertexId b,
                                    const FabLinkForm *form);

/* Says that some vertices stand on a lattice. The fabric joins them. */
void fab_graph_builder_lattice (FabGraphBuilder *self, const FabLattice *lattice);

/* Returns the graph and empties the builder. (transfer full) */
FabGraph *fab_graph_builder_freeze (FabGraphBuilder *self);
