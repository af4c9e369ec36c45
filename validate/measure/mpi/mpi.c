/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.c - the backend `mpi`: messages between two ranks and collectives over all, under mpirun. */
#include <mpi.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/collective/collective.h"
#include "validate/measure/clock.h"
#include "validate/measure/pair.h"

typedef struct {
  gint op;               /* FabOp that is measured */
  const char *algorithm; /* the algorithm that MPI was told to use; NULL: its own choice */
  gint64 other;          /* the rank that rank 0 is paired with; 0: the first one on another host */
} FabMpiParams;

typedef enum { FAB_MPI_PAIR = 1, FAB_MPI_COLLECTIVE, FAB_MPI_END } FabMpiDuty;

/* What rank 0 tells another rank to do. */
typedef struct {
  guint64 duty;                       /* FabMpiDuty */
  guint64 op, size_bytes, n_messages; /* for COLLECTIVE */
} FabMpiCommand;

enum { FAB_MPI_TAG_COMMAND = 1, FAB_MPI_TAG_CONTROL, FAB_MPI_TAG_DATA, FAB_MPI_TAG_WORD };

static const FabPairOps fab_mpi_pair_ops;

/* Commands and control channels between ranks, apart from what is measured. */

enum { LOOKS_AWAKE = 10000, NAP_US = 200, COMMAND_WORDS = sizeof (FabMpiCommand) / sizeof (guint64) };

/* --- ranks --- */
static guint
mpi_rank (void)
{
  int rank = 0;

  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  return (guint) rank;
}

static guint
mpi_n_ranks (void)
{
  int n = 1;

  MPI_Comm_size (MPI_COMM_WORLD, &n);
  return (guint) n;
}

/* Waits for the next message and returns its bytes. */
static int
await (int rank, int tag)
{
  MPI_Status status;
  int is_there = 0, n_bytes = 0;

  for (guint i = 0; !is_there; i++) {
    MPI_Iprobe (rank, tag, MPI_COMM_WORLD, &is_there, &status);
    if (!is_there && i > LOOKS_AWAKE)
      g_usleep (NAP_US);
  }
  MPI_Get_count (&status, MPI_BYTE, &n_bytes);
  return n_bytes;
}

static void
mpi_tell (guint rank, const FabMpiCommand *command)
{
  MPI_Send (command, COMMAND_WORDS, MPI_UINT64_T, (int) rank, FAB_MPI_TAG_COMMAND, MPI_COMM_WORLD);
}

/* every rank but 0 */
static void
mpi_tell_all (const FabMpiCommand *command)
{
  for (guint rank = 1; rank < mpi_n_ranks (); rank++)
    mpi_tell (rank, command);
}

/* Waits for a command. After a while it sleeps between polls, so that waiting ranks do not slow the measuring
 * ones. */
static void
mpi_hear (FabMpiCommand *command)
{
  await (0, FAB_MPI_TAG_COMMAND);
  MPI_Recv (command, COMMAND_WORDS, MPI_UINT64_T, 0, FAB_MPI_TAG_COMMAND, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* --- control --- */

typedef struct {
  FabControl base;
  int rank;
  GByteArray *waiting; /* arrived, but not yet asked for */
} MpiControl;

static gboolean
control_send (FabControl *control, gconstpointer data, gsize size, G_GNUC_UNUSED GError **error)
{
  g_assert (size <= G_MAXINT);
  MPI_Send (data, (int) size, MPI_BYTE, ((MpiControl *) control)->rank, FAB_MPI_TAG_CONTROL, MPI_COMM_WORLD);
  return TRUE;
}

static gboolean
control_receive (FabControl *control, gpointer data, gsize size, G_GNUC_UNUSED GError **error)
{
  MpiControl *self = (MpiControl *) control;

  while (self->waiting->len < size) {
    int n_bytes = await (self->rank, FAB_MPI_TAG_CONTROL);
    guint end = self->waiting->len;

    g_byte_array_set_size (self->waiting, end + (guint) n_bytes);
    MPI_Recv (self->waiting->data + end, n_bytes, MPI_BYTE, self->rank, FAB_MPI_TAG_CONTROL, MPI_COMM_WORLD,
              MPI_STATUS_IGNORE);
  }
  memcpy (data, self->waiting->data, size);
  g_byte_array_remove_range (self->waiting, 0, (guint) size);
  return TRUE;
}

static void
control_close (FabControl *control)
{
  g_byte_array_unref (((MpiControl *) control)->waiting);
  g_free (control->here);
  g_free (control->there);
  g_free (control);
}

/* Makes a control channel to one rank, with messages apart from the measured ones. `names` are the hosts of all
 * ranks.
 * (transfer full) */
static FabControl *
mpi_control_new (guint rank, const char *const *names)
{
  MpiControl *self = g_new0 (MpiControl, 1);
  guint here = mpi_rank ();

  self->base = (FabControl){ .send = control_send,
                             .receive = control_receive,
                             .close = control_close,
                             .here = g_strdup_printf ("rank%u@%s", here, names[here]),
                             .there = g_strdup_printf ("rank%u@%s", rank, names[rank]) };
  self->rank = (int) rank;
  self->waiting = g_byte_array_new ();
  return &self->base;
}

/* Returns the host of every rank, NULL-ended; all ranks must call it. (transfer full) */
static char **
mpi_hosts (void)
{
  guint n = mpi_n_ranks ();
  g_autofree char *all = g_malloc0 (n * MPI_MAX_PROCESSOR_NAME);
  char here[MPI_MAX_PROCESSOR_NAME] = "";
  char **names = g_new0 (char *, n + 1);
  int length = 0;

  MPI_Get_processor_name (here, &length);
  MPI_Allgather (here, sizeof here, MPI_CHAR, all, sizeof here, MPI_CHAR, MPI_COMM_WORLD);
  for (guint rank = 0; rank < n; rank++)
    names[rank] = g_strndup (all + rank * MPI_MAX_PROCESSOR_NAME, MPI_MAX_PROCESSOR_NAME);
  return names;
}

/* Runs a collective over all ranks repeatedly, with barriers between; the slowest rank's time counts. */

typedef struct {
  FabOp op;
  int n_bytes;  /* of the collective */
  int n_part;   /* of one rank's part of it, at least 1 */
  int n_floats; /* in n_bytes, at least 1 */
  int n_part_floats;
  char *out, *in; /* n_bytes each, or a float for each rank where that is more */
} Job;

static void
run_once (const Job *job)
{
  MPI_Comm all = MPI_COMM_WORLD;
  int n = (int) mpi_n_ranks (), rank = (int) mpi_rank ();

  switch (job->op) {
  case FAB_OP_ALL_REDUCE: MPI_Allreduce (job->out, job->in, job->n_floats, MPI_FLOAT, MPI_SUM, all); return;
  case FAB_OP_ALL_GATHER:
    MPI_Allgather (job->out, job->n_part, MPI_BYTE, job->in, job->n_part, MPI_BYTE, all);
    return;
  case FAB_OP_REDUCE_SCATTER:
    MPI_Reduce_scatter_block (job->out, job->in, job->n_part_floats, MPI_FLOAT, MPI_SUM, all);
    return;
  case FAB_OP_BROADCAST: MPI_Bcast (job->out, job->n_bytes, MPI_BYTE, 0, all); return;
  case FAB_OP_REDUCE: MPI_Reduce (job->out, job->in, job->n_floats, MPI_FLOAT, MPI_SUM, 0, all); return;
  case FAB_OP_ALL_TO_ALL:
    MPI_Alltoall (job->out, job->n_part, MPI_BYTE, job->in, job->n_part, MPI_BYTE, all);
    return;
  case FAB_OP_SEND_RECV:
    MPI_Sendrecv (job->out, job->n_bytes, MPI_BYTE, (rank + 1) % n, FAB_MPI_TAG_DATA, job->in, job->n_bytes,
                  MPI_BYTE, (rank + n - 1) % n, FAB_MPI_TAG_DATA, all, MPI_STATUS_IGNORE);
    return;
  case FAB_OP_GATHER:
    MPI_Gather (job->out, job->n_part, MPI_BYTE, job->in, job->n_part, MPI_BYTE, 0, all);
    return;
  case FAB_OP_SCATTER:
    MPI_Scatter (job->out, job->n_part, MPI_BYTE, job->in, job->n_part, MPI_BYTE, 0, all);
    return;
  case FAB_N_OPS: break;
  }
  g_assert_not_reached ();
}

/* Runs a commanded rank's part. Returns the time of the slowest rank, which only rank 0 knows. */
static FabTimePs
mpi_run_collective (const FabMpiCommand *command)
{
  int n = (int) mpi_n_ranks (), n_bytes = (int) command->size_bytes, n_part = MAX (n_bytes / n, 1);
  Job job = { .op = (FabOp) command->op,
              .n_bytes = n_bytes,
              .n_part = n_part,
              .n_floats = MAX (n_bytes / (int) sizeof (float), 1),
              .n_part_floats = MAX (n_part / (int) sizeof (float), 1) };
  gsize room = MAX ((gsize) n_bytes, n * sizeof (float));
  gint64 own_ps = 0, slowest_ps = 0;

  job.out = g_malloc0 (room);
  job.in = g_malloc0 (room);
  for (guint64 i = 0; i < command->n_messages; i++) {
    MPI_Barrier (MPI_COMM_WORLD);
    FabTimePs start_ps = fab_clock_ps ();
    run_once (&job);
    own_ps += fab_clock_ps () - start_ps;
  }
  MPI_Reduce (&own_ps, &slowest_ps, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
  g_free (job.out);
  g_free (job.in);
  return slowest_ps;
}

/* A FabTimedFunc; `data` is the FabOp. */
static gboolean
time_collectives (gpointer data, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
                  G_GNUC_UNUSED GError **error)
{
  FabMpiCommand command = { FAB_MPI_COLLECTIVE, *(const FabOp *) data, (guint64) size_bytes, n_messages };

  mpi_tell_all (&command);
  *elapsed_ps = mpi_run_collective (&command);
  return TRUE;
}

static guint
count_hosts (const char *const *names)
{
  g_autoptr (GHashTable) hosts = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; names[i]; i++)
    g_hash_table_add (hosts, (gpointer) names[i]);
  return g_hash_table_size (hosts);
}

/* --- collective.c --- */

/* Measures params->op over all ranks, which must be waiting for commands. */
static gboolean
mpi_measure_collective (FabMeasureHost *host, const FabMpiParams *params, const char *const *names,
                        GError **error)
{
  FabOp op = (FabOp) params->op;
  FabSeries series = { .kind = FAB_MEASURE_COLLECTIVE,
                       .backend = g_strdup ("mpi"),
                       .from_memory = g_strdup ("host"),
                       .to_memory = g_strdup ("host"),
                       .op = g_strdup (fab_op_names[op]),
                       .algorithm = g_strdup (params->algorithm),
                       .note = g_strdup_printf ("ranks on %u hosts", count_hosts (names)),
                       .n_ranks = mpi_n_ranks (),
                       .n_pairs = 1,
                       .window = 1 };
  gboolean is_measured = host->measure (host, &series, G_MAXINT, time_collectives, &op, error);

  fab_series_clear (&series);
  return is_measured;
}

static const FabParam mpi_params[] = {
  { .key = "op",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (FabMpiParams, op),
    .fallback = "all_reduce",
    .choices = fab_op_names,
    .help = "Collective over all ranks. Reductions add floats." },
  { .key = "algorithm",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (FabMpiParams, algorithm),
    .fallback = "",
    .help = "Name of the algorithm, for the record only: mpirun chooses the algorithm." },
  { .key = "other",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (FabMpiParams, other),
    .fallback = "0",
    .help = "Rank with which rank 0 exchanges messages; 0 is the first on another host, or rank 1." },
  { .key = NULL },
};

static void
join (void)
{
  int is_joined = 0;

  MPI_Initialized (&is_joined);
  if (!is_joined)
    MPI_Init (NULL, NULL);
}

static gboolean
is_helper (void)
{
  join ();
  return mpi_rank () != 0;
}

/* --- rank 0 --- */

static guint
choose_other (const FabMpiParams *params, const char *const *names)
{
  if (params->other > 0)
    return (guint) params->other;
  for (guint rank = 1; names[rank]; rank++)
    if (strcmp (names[rank], names[0]) != 0)
      return rank;
  return 1;
}

static gboolean
measure_pair (FabMeasureHost *host, const FabMpiParams *params, const char *const *names, GError **error)
{
  const FabMpiCommand command = { .duty = FAB_MPI_PAIR };
  guint other = choose_other (params, names);
  FabControl *control;
  gboolean is_measured;

  if (other >= mpi_n_ranks ())
    return fab_throw (error, FAB_ERROR_INPUT, "other: there is no rank %u; ranks are 0 to %u", other,
                      mpi_n_ranks () - 1);
  control = mpi_control_new (other, names);
  mpi_tell (other, &command);
  is_measured = fab_pair_measure (host, "mpi", &fab_mpi_pair_ops, control, params, error);
  control->close (control);
  return is_measured;
}

static void
say_version (FabMeasureHost *host)
{
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;

  MPI_Get_library_version (text, &length);
  text[strcspn (text, ",\n")] = '\0';
  host->machine (host, "mpi", text);
}

static gboolean
measure_kinds (FabMeasureHost *host, const FabMpiParams *params, const char *const *names, GError **error)
{
  const gboolean *kinds = host->plan->kinds;
  gboolean is_pair_wanted = FALSE;

  if (mpi_n_ranks () < 2)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "mpi measures between ranks, and this is the only one; start `mpirun -n 2 fabricast measure mpi`");
  for (guint kind = 0; kind < FAB_N_MEASURE_KINDS; kind++)
    is_pair_wanted |= kinds[kind] && fab_mpi_pair_ops.can[kind];
  return (!is_pair_wanted || measure_pair (host, params, names, error))
      && (!kinds[FAB_MEASURE_COLLECTIVE] || mpi_measure_collective (host, params, names, error));
}

static gboolean
mpi_measure (FabMeasureHost *host, gconstpointer params, GError **error)
{
  const FabMpiCommand end = { .duty = FAB_MPI_END };
  g_auto (GStrv) names = NULL;
  gboolean is_measured;

  join ();
  say_version (host);
  names = mpi_hosts ();
  is_measured = measure_kinds (host, params, (const char *const *) names, error);
  mpi_tell_all (&end);
  MPI_Finalize ();
  return is_measured;
}

/* --- the other ranks --- */

static void
serve_pair (FabMeasureHost *host, gconstpointer params, const char *const *names)
{
  FabControl *control = mpi_control_new (0, names);

  fab_pair_serve (host, &fab_mpi_pair_ops, control, params,
                  NULL); /* the error goes to rank 0, which reports it */
  control->close (control);
}

static gboolean
mpi_serve (FabMeasureHost *host, gconstpointer params, GError **error)
{
  g_auto (GStrv) names = NULL;
  FabMpiCommand command;

  if (!is_helper ())
    return fab_throw (error, FAB_ERROR_INPUT,
                      "mpi does not listen: mpirun starts all ranks, as `mpirun -n 2 fabricast measure mpi`");
  names = mpi_hosts ();
  for (mpi_hear (&command); command.duty != FAB_MPI_END; mpi_hear (&command))
    if (command.duty == FAB_MPI_PAIR)
      serve_pair (host, params, (const char *const *) names);
    else
      mpi_run_collective (&command);
  MPI_Finalize ();
  return TRUE;
}

static const FabMeasureBackend mpi_backend = {
  .abi = FAB_MEASURE_ABI,
  .info = { .name = "mpi",
            .summary = "Messages between two ranks and collectives over all, under mpirun.",
            .doc = "docs/how-to/measure-mpi.md",
            .params = mpi_params,
            .params_size = sizeof (FabMpiParams) },
  .needs = "MPI (Debian: openmpi-bin), and mpirun to start fabricast",
  .measure = mpi_measure,
  .serve = mpi_serve,
  .is_helper = is_helper,
};

const FabMeasureBackend *fab_measure_backend (void);

const FabMeasureBackend *
fab_measure_backend (void)
{
  return &mpi_backend;
}

/* Moves messages between rank 0 and another rank. */

enum { USUAL_WINDOW = 64 };

typedef struct {
  FabPair base;
  int other;
  gboolean is_asking;
  char *out, *in;
  guint window;
  MPI_Request *out_requests, *in_requests; /* [window] */
} MpiPair;

static void
pair_close (FabPair *pair)
{
  MpiPair *self = (MpiPair *) pair;

  g_free (self->out);
  g_free (self->in);
  g_free (self->out_requests);
  g_free (self->in_requests);
  g_free (self);
}

static FabPair *
pair_open (FabControl *control, G_GNUC_UNUSED gconstpointer params, const FabMeasurePlan *plan,
           FabBytes max_bytes, gboolean is_asking, GError **error)
{
  int here = (int) mpi_rank (), there = 0;
  MpiPair *self;

  if (max_bytes > G_MAXINT) {
    fab_throw (error, FAB_ERROR_INPUT, "MPI counts up to %d bytes in a message; measure smaller sizes",
               G_MAXINT);
    return NULL;
  }
  if (!control->send (control, &here, sizeof here, error)
      || !control->receive (control, &there, sizeof there, error))
    return NULL;
  self = g_new0 (MpiPair, 1);
  self->base.ops = &fab_mpi_pair_ops;
  self->other = there;
  self->is_asking = is_asking;
  self->window = plan->window > 0 ? plan->window : USUAL_WINDOW;
  self->out = g_malloc0 ((gsize) MAX (max_bytes, 1));
  self->in = g_malloc0 ((gsize) MAX (max_bytes, 1));
  self->out_requests = g_new (MPI_Request, self->window);
  self->in_requests = g_new (MPI_Request, self->window);
  return &self->base;
}

static void
ping_pong (MpiPair *self, int size, guint n)
{
  for (guint i = 0; i < n; i++) {
    if (self->is_asking)
      MPI_Send (self->out, size, MPI_BYTE, self->other, FAB_MPI_TAG_DATA, MPI_COMM_WORLD);
    MPI_Recv (self->in, size, MPI_BYTE, self->other, FAB_MPI_TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!self->is_asking)
      MPI_Send (self->out, size, MPI_BYTE, self->other, FAB_MPI_TAG_DATA, MPI_COMM_WORLD);
  }
}

static void
exchange (MpiPair *self, int size, guint n)
{
  for (guint i = 0; i < n; i++)
    MPI_Sendrecv (self->out, size, MPI_BYTE, self->other, FAB_MPI_TAG_DATA, self->in, size, MPI_BYTE,
                  self->other, FAB_MPI_TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Moves `n` messages out, in or both, with at most `window` of each in flight; then the answering end sends a
 * word. */
static void
stream (MpiPair *self, gboolean is_sending, gboolean is_receiving, int size, guint n)
{
  char word = 0;

  for (guint i = 0; i < self->window; i++)
    self->out_requests[i] = self->in_requests[i] = MPI_REQUEST_NULL;
  for (guint i = 0; i < n; i++) {
    guint slot = i % self->window;

    if (is_receiving) {
      MPI_Wait (&self->in_requests[slot], MPI_STATUS_IGNORE);
      MPI_Irecv (self->in, size, MPI_BYTE, self->other, FAB_MPI_TAG_DATA, MPI_COMM_WORLD,
                 &self->in_requests[slot]);
    }
    if (is_sending) {
      MPI_Wait (&self->out_requests[slot], MPI_STATUS_IGNORE);
      MPI_Isend (self->out, size, MPI_BYTE, self->other, FAB_MPI_TAG_DATA, MPI_COMM_WORLD,
                 &self->out_requests[slot]);
    }
  }
  MPI_Waitall ((int) self->window, self->in_requests, MPI_STATUSES_IGNORE);
  MPI_Waitall ((int) self->window, self->out_requests, MPI_STATUSES_IGNORE);
  if (self->is_asking)
    MPI_Recv (&word, 1, MPI_BYTE, self->other, FAB_MPI_TAG_WORD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    MPI_Send (&word, 1, MPI_BYTE, self->other, FAB_MPI_TAG_WORD, MPI_COMM_WORLD);
}

static gboolean
pair_move (FabPair *pair, FabMeasureKind kind, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
           G_GNUC_UNUSED GError **error)
{
  MpiPair *self = (MpiPair *) pair;
  gboolean is_both = kind == FAB_MEASURE_BIDIRECTIONAL;
  int size = (int) size_bytes;
  FabTimePs start_ps = fab_clock_ps ();

  if (kind == FAB_MEASURE_LATENCY)
    ping_pong (self, size, n_messages);
  else if (kind == FAB_MEASURE_EXCHANGE)
    exchange (self, size, n_messages);
  else
    stream (self, is_both || self->is_asking, is_both || !self->is_asking, size, n_messages);
  *elapsed_ps = fab_clock_ps () - start_ps;
  return TRUE;
}

static void
set_text (char **field, const char *text)
{
  g_free (*field);
  *field = g_strdup (text);
}

/* The ends' names are those of the control channel. */
static void
pair_describe (const FabPair *pair, FabSeries *series)
{
  gboolean is_stream = series->kind == FAB_MEASURE_BANDWIDTH || series->kind == FAB_MEASURE_BIDIRECTIONAL;

  set_text (&series->method, "send");
  set_text (&series->from_memory, "host");
  set_text (&series->to_memory, "host");
  series->window = is_stream ? ((const MpiPair *) pair)->window : 1;
}

static const FabPairOps fab_mpi_pair_ops = {
  .open = pair_open,
  .move = pair_move,
  .describe = pair_describe,
  .close = pair_close,
  .can = { [FAB_MEASURE_LATENCY] = TRUE,
           [FAB_MEASURE_BANDWIDTH] = TRUE,
           [FAB_MEASURE_EXCHANGE] = TRUE,
           [FAB_MEASURE_BIDIRECTIONAL] = TRUE },
  .name = "mpi",
};
