/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - what a trace says, whoever wrote it: ranks, and for each what it did or has to do.
 *
 * A timed trace has operations with start and end, such as the kernels that a profiler recorded. A trace without times
 * has nodes: work with a length and the nodes that must end before it. Times are ps since `epoch_us` of the rank.
 */
#pragma once

#include "formats/format.h"
#include "formats/text/bytes.h"
#include "formats/text/notes.h"
#include "sim/base/units.h"

typedef enum {
  FAB_TRACE_COMPUTE,
  FAB_TRACE_COMM,
  FAB_TRACE_COPY, /* memory is copied or set; neither compute nor communication */
} FabTraceKind;

/* A collective or a message, as one rank takes part in it. */
typedef struct {
  const char *op; /* "all_reduce"; "send_recv" also where the trace does not say which operation it is */
  const char *dimension; /* "data", "tensor", ...; "other": the trace does not say */
  const char *group;     /* equal on all ranks of the group; "": the trace does not say */
  FabBytes bytes;        /* by the convention of nccl-tests; 0: the trace does not say */
  guint n_ranks;         /* of the group; 0: the trace does not say */
} FabTraceComm;

/* What ran on a stream of a device. */
typedef struct {
  const char *name;
  FabTimePs start_ps, end_ps;
  gint64 launch; /* correlates with a FabTraceLaunch; -1: none */
  guint32 stream;
  guint32 kind; /* FabTraceKind */
  gint32 comm;  /* index in `comms`; -1: no communication */
  gint32 step;  /* index in `steps` of the one that launched it; -1: none did, or there are no steps */
  gint64
      external; /* number of the operator that launched it, as in FabTraceWork; -1: the trace does not say */
} FabTraceOp;

/* A product or an attention that an operator computed, where the profiler recorded shapes. */
typedef struct {
  gint64 external; /* number of the operator */
  gboolean is_attention, is_backward;
  gint64 n_copies; /* of a product: independent ones of this shape */
  gint64 sides[5]; /* of a product m, n, k; of attention batch, heads, heads of keys, sequence, head size */
  const char *dtype;
} FabTraceWork;

typedef struct {
  gint64 launch;
  FabTimePs at_ps;
} FabTraceLaunch;

/* What the host asked of a collective library: the launch of its kernel lies within. */
typedef struct {
  FabTimePs start_ps, end_ps;
  const char *op;       /* as in FabTraceComm */
  FabBytes bytes;       /* what the rank gives; of an operator: the larger one of what it gives and gets */
  guint n_ranks;        /* of an operator, which says it for gathers and scatters; 0: not known */
  gboolean is_operator; /* of PyTorch, around the call of the library */
} FabTraceCall;

typedef struct {
  gint64 number; /* ProfilerStep#10 */
  FabTimePs start_ps, end_ps;
} FabTraceStep;

/* Work of a trace without times. */
typedef struct {
  const char *name;
  guint64 id;
  FabTimePs duration_ps; /* 0: not given */
  gint64 peer;           /* of a message; -1: none */
  guint64 tag;           /* of a message */
  gboolean is_send;      /* of a message: it is sent, not received */
  guint32 kind;          /* FabTraceKind */
  gint32 comm;           /* index in `comms`; -1 */
  guint32 first_dep, n_deps;
} FabTraceNode;

typedef struct {
  char *source;     /* the file */
  gint64 rank;      /* -1: the file does not say */
  gint64 said_rank; /* as collectives of a graph have it, which may be a rank within a smaller group; -1 */
  guint n_world, n_devices;
  char *device;
  char *process;             /* that wrote it, where it is not the file that tells ranks apart; NULL */
  GHashTable *communicators; /* with `process`: name to the rank in it, plus 1; or NULL */
  gint64 epoch_us;
  FabTimePs shift_ps;      /* added to make its clock that of the first rank */
  GArray *ops;             /* FabTraceOp, by start once the reading has ended */
  GArray *launches;        /* FabTraceLaunch, by number then; freed when they are no longer needed */
  GArray *calls;           /* FabTraceCall, by start then; freed likewise */
  GArray *steps;           /* FabTraceStep, by start then */
  GArray *works;           /* FabTraceWork, as they are read */
  GArray *optimizer_steps; /* FabTraceStep that the profiler marked, without numbers; freed likewise */
  FabTimePs issue_ps;      /* median time between two launches of the host; 0: not known */
  GArray *comms;           /* FabTraceComm */
  GArray *nodes;           /* FabTraceNode */
  GArray *deps;            /* guint64: ids of nodes */
} FabTracedRank;

/* What NCCL wrote that it chose for a collective. */
typedef struct {
  const char *op;        /* as in FabTraceComm; "": the log does not say */
  FabBytes bytes;        /* by the convention of nccl-tests where the operation is known */
  const char *algorithm; /* "ring", "nvls_tree" */
  const char *protocol;  /* "ll128" */
  guint n_channels;      /* 0: the log does not say */
  guint n_times;
} FabTraceChoice;

struct _FabTrace {
  GPtrArray *ranks;   /* FabTracedRank, by rank */
  GArray *choices;    /* FabTraceChoice, each once, in the order of the log */
  GPtrArray *notes;   /* FabFileNote, a sentence each */
  GPtrArray *formats; /* const char: of each file */
  GStringChunk *texts;
  gsize n_text_bytes;
  gboolean
      has_only_lengths; /* operations have true lengths and made times: steps and idle time mean nothing */
};

FabTrace *fab_trace_new (void);
void fab_trace_free (FabTrace *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTrace, fab_trace_free)

/* Adds a rank, which the trace owns. */
FabTracedRank *fab_trace_add_rank (FabTrace *self, const char *source);
/* Returns a copy of the text that lives as long as the trace, made valid UTF-8 without control characters. Equal
 * texts are kept once. */
const char *fab_trace_intern (FabTrace *self, const char *text);
/* Adds a note on a file, in which it is about `line`, or about all of it (0). */
void fab_trace_note (FabTrace *self, FabFileNoteKind kind, const char *file, guint line, const char *format,
                     ...) G_GNUC_PRINTF (5, 6);

/* Returns the catalogue's name of an operation that PyTorch, NCCL, Chakra or SimAI calls `name`; NULL: none. */
const char *fab_trace_op_name (const char *name);
/* Size by the convention of nccl-tests of what a rank gives and gets. */
FabBytes fab_trace_size (const char *op, FabBytes in_bytes, FabBytes out_bytes);
/* Whole bytes of what a file says: at most 1e18, and 0 for what is negative or no number. */
FabBytes fab_trace_whole_bytes (double bytes);
/* Bytes of an element; 0: the type is not known. */
guint fab_trace_type_bytes (const char *dtype);
/* "data" for "dp_group" or "data"; "other" where the name of a group does not say. */
const char *fab_trace_dimension (const char *group);
/* Reads "123.456" microseconds into whole microseconds and the rest in ps. */
gboolean fab_trace_parse_us (const char *text, gint64 *whole_us, FabTimePs *rest_ps);
gboolean fab_trace_parse_whole (const char *text, gint64 *value);

/* Reads files and folders with those in them (NULL-ended), each of which may be an archive. All files are read before
 * mistakes are told: *error then holds one line per file. `progress` (may be NULL) is called with every file.
 * (transfer full) */
typedef void (*FabTraceProgress) (const char *file, gpointer data);
FabTrace *fab_trace_read (char *const *paths, FabTraceProgress progress, gpointer data, GError **error);
/* Reads the file that `bytes` is at. */
gboolean fab_trace_read_bytes (FabTrace *self, FabFileBytes *bytes, GError **error);
/* Sorts, finds the step of every operation and aligns the clocks of ranks by the ends of their collectives. */
gboolean fab_trace_finish (FabTrace *self, GError **error);
