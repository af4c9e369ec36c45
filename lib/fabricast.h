/* SPDX-License-Identifier: Apache-2.0 */
/* fabricast.h - the public interface of libfabricast, which simulates GPU training fabrics.
 *
 * A host opens a context, loads a scenario, sets keys of it, runs it, and reads figures and tables of the result:
 *
 *   FabricastContext *context = NULL;
 *   FabricastScenario *scenario = NULL;
 *   FabricastResult *result = NULL;
 *   FabricastValue step = { sizeof step };
 *
 *   if (fabricast_context_new (NULL, &context, NULL) == FABRICAST_OK
 *       && fabricast_scenario_load (context, "hello.yaml", &scenario, NULL) == FABRICAST_OK
 *       && fabricast_run (scenario, NULL, &result, NULL) == FABRICAST_OK
 *       && fabricast_result_figure (result, "step", &step, NULL) == FABRICAST_OK)
 *     printf ("%g s\n", step.real);
 *   fabricast_result_free (result);
 *   fabricast_scenario_free (scenario);
 *   fabricast_context_free (context);
 *
 * Statuses. Functions that can fail return a status. When it is not FABRICAST_OK, `*error` is set to an error that the
 * caller frees with fabricast_error_free (). `error` may be NULL. A handle that a failed function should have made
 * stays untouched.
 *
 * Ownership. Every handle is freed with the function of its kind. Handles may be freed in any order, since each one
 * keeps what it needs of the others. Texts and arrays that a handle returns belong to it and live as long as it does,
 * unless a function says otherwise. All texts are UTF-8.
 *
 * Structs. The caller sets `struct_size` to the size of the struct that it was compiled with. Zero is the default of
 * every other member. Later versions add members at the end only.
 *
 * Threads. A context, a result and a table never change: any thread may use them at any time. A scenario has many
 * readers or one writer at a time; functions that take it as `const` read it. A network belongs to one thread.
 *
 * Manners. The library prints nothing, never ends the process because of what a caller passes, sets no signal handler
 * and reads no environment variable. It computes with the default floating-point environment and the "C" locale, and
 * puts back those of the calling thread before it returns and while it calls a function of the host. Exceptions and
 * longjmp must not leave such a function. Where memory runs out, the process ends, since GLib ends it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define FABRICAST_API __attribute__ ((visibility ("default")))
#else
#define FABRICAST_API
#endif

/* A catalogue of links, accelerators, nodes and models. Making one takes some milliseconds; make one per process. */
typedef struct FabricastContext FabricastContext;
/* What is to be simulated: a machine, a fabric and a job. */
typedef struct FabricastScenario FabricastScenario;
/* A scenario that was simulated. */
typedef struct FabricastResult FabricastResult;
/* Named columns of one length. */
typedef struct FabricastTable FabricastTable;
/* Why a function failed. */
typedef struct FabricastError FabricastError;

/* Statuses. Later versions may add some: take every value but FABRICAST_OK for a failure. */
enum {
  FABRICAST_OK = 0,
  FABRICAST_INPUT = 1,       /* a scenario, a key or a name is wrong; the issues of the error say where */
  FABRICAST_IO = 2,          /* a file could not be read or written */
  FABRICAST_UNSUPPORTED = 3, /* this cannot be done, and the message says why */
  FABRICAST_HUNG = 4,        /* the job waits for ever for something that is broken */
  FABRICAST_OVERSIZED = 5,   /* the job does not fit into the memory of the accelerators */
  FABRICAST_CANCELLED = 6,   /* the caller cancelled the work */
  FABRICAST_MISUSE = 7,      /* the host called the function wrongly: a programming mistake */
  FABRICAST_BROKEN = 8 /* the simulation broke an invariant that it checks itself: a bug of the library */
};

/* Kinds of values and of columns. */
enum {
  FABRICAST_NONE = 0,  /* no value */
  FABRICAST_BOOL = 1,  /* `whole` is 0 or 1 */
  FABRICAST_WHOLE = 2, /* `whole` */
  FABRICAST_REAL = 3,  /* `real` */
  FABRICAST_TEXT = 4   /* `text` */
};

/* A value with its unit. */
typedef struct FabricastValue {
  size_t struct_size;
  int kind;         /* FABRICAST_NONE, ... */
  int64_t whole;    /* of BOOL and WHOLE */
  double real;      /* of REAL; of WHOLE, the same number rounded to a double */
  const char *text; /* of TEXT; otherwise NULL */
  const char *unit; /* "s", "ps", "B", "B/s", "fraction", ...; NULL: it has none */
} FabricastValue;

/* One mistake that an error tells. */
typedef struct FabricastIssue {
  size_t struct_size;
  const char *message; /* what is wrong, and what would be right */
  const char *file;    /* where it was written; NULL: nowhere */
  int line, column;    /* from 1; 0: not known */
  const char *source;  /* the line of the file; NULL: not known */
} FabricastIssue;

/* A column of a table. Of the three arrays the one of its kind is set, and has an item per row. A REAL that is not
 * known is NaN, a WHOLE INT64_MIN, a TEXT NULL. */
typedef struct FabricastColumn {
  size_t struct_size;
  const char *name; /* with its unit at the end: "exposed_ps" */
  int kind;         /* FABRICAST_WHOLE, FABRICAST_REAL or FABRICAST_TEXT */
  const int64_t *whole;
  const double *real;
  const char *const *text;
} FabricastColumn;

/* The function is told how many parts of the work are done, and of how many; 0: not known. It returns 0 to go on
 * and any other value to cancel the work. It runs on the thread that called the library. */
typedef int (*FabricastProgressFn) (void *user, int64_t done, int64_t all);

typedef struct FabricastContextOptions {
  size_t struct_size;
  const char
      *catalogue; /* a directory of catalogue files; NULL: the catalogue that is built into the library */
  int n_threads;  /* that sweeps and searches may use; 0: one per processor */
} FabricastContextOptions;

typedef struct FabricastRunOptions {
  size_t struct_size;
  FabricastProgressFn progress; /* called after each iteration; NULL: nobody asks */
  void *user;                   /* passed to `progress` */
  /* The work ends soon once this is not 0. Any thread may set it, atomically. NULL: nobody cancels. */
  const int *cancel;
  const char *save_to; /* a results file (SQLite), to which the run is added; NULL: none */
  int has_band; /* not 0: also compute how far the figures may be off, which takes further simulations */
  int has_jobs; /* not 0: also simulate neighbouring jobs alone, for the table "job" */
} FabricastRunOptions;

typedef struct FabricastPredictOptions {
  size_t struct_size;
  const char *op; /* "all_reduce", "all_gather", ... */
  /* Sizes as nccl-tests counts them, at least 1 byte each. */
  const uint64_t *sizes_bytes;
  size_t n_sizes;
  const char *form; /* "stream", "closed" or "step"; NULL: "stream" */
  int has_band;     /* not 0: also say how far each time may be off */
} FabricastPredictOptions;

typedef struct FabricastStudyOptions {
  size_t struct_size;
  /* NULL-ended lists of texts, or NULL. "KEY=VALUES" is an axis, as for `fabricast sweep --vary`. In `zip`, "KEY=VALUES
   * KEY2=VALUES2" are keys that change together. */
  const char *const *vary;
  const char *const *zip;
  const char *const *targets;   /* of fabricast_size (): "exposed<=5%" */
  FabricastProgressFn progress; /* called now and then; NULL: nobody asks */
  void *user;                   /* passed to `progress` */
  const int *cancel;            /* as in FabricastRunOptions */
  int allows_oversized;         /* not 0: a point that does not fit into memory may be the answer */
  /* What stays where the number of ranks changes: "batch", the global batch, or "micro_batch", that of each GPU. NULL:
   * the global batch where a target is of the whole training ("days"), else what the job writes down. */
  const char *hold;
} FabricastStudyOptions;

/* --- the library --- */

/* Returns the version of the library, "0.3.0". It may differ from the version of this header. Since 0.2. */
FABRICAST_API const char *fabricast_version (void);

/* --- errors --- */

/* Frees the error. NULL is allowed. Since 0.2. */
FABRICAST_API void fabricast_error_free (FabricastError *error);

/* Returns the status of the error; FABRICAST_OK for NULL. Since 0.2. */
FABRICAST_API int fabricast_error_status (const FabricastError *error);

/* Returns the whole text of the error, which may have several lines. The program `fabricast` prints the same text.
 * Since 0.2. */
FABRICAST_API const char *fabricast_error_message (const FabricastError *error);

/* Fills `issue` with mistake `i`, from 0. Returns 1, or 0 when the error has no such mistake; `issue` stays
 * untouched then. Every error has at least one mistake and at most 50. Since 0.2. */
FABRICAST_API int fabricast_error_issue (const FabricastError *error, size_t i, FabricastIssue *issue);

/* --- contexts --- */

/* Makes a context. `options` may be NULL. Statuses: INPUT when a catalogue file is wrong, IO when it cannot be
 * read. Since 0.2. */
FABRICAST_API int fabricast_context_new (const FabricastContextOptions *options, FabricastContext **context,
                                         FabricastError **error);

/* Frees the context. NULL is allowed. Since 0.2. */
FABRICAST_API void fabricast_context_free (FabricastContext *context);

/* Describes what scenarios can be made of. With `section` NULL the table lists the sections. With `name` NULL it
 * lists the entries of the section: columns `name` and `summary`. Otherwise it has one row, which also has an entry
 * of the catalogue as YAML in column `yaml`. The section "keys" has the keys of a scenario, such as
 * `cluster.nodes`, with their type, default and help: columns `key`, `type`, `default` and `help`. Status INPUT
 * when there is no such section or name. Since 0.2. */
FABRICAST_API int fabricast_describe (const FabricastContext *context, const char *section, const char *name,
                                      FabricastTable **table, FabricastError **error);

/* Returns the JSON Schema of scenarios; NULL for NULL. Since 0.2. */
FABRICAST_API const char *fabricast_schema (const FabricastContext *context);

/* --- scenarios --- */

/* Makes a scenario of a YAML file and checks it. Statuses: INPUT with every mistake, IO when the file cannot be
 * read. Since 0.2. */
FABRICAST_API int fabricast_scenario_load (FabricastContext *context, const char *path,
                                           FabricastScenario **scenario, FabricastError **error);

/* Makes a scenario of YAML text of `size` bytes and checks it. Messages call it `name`. Files that the text
 * includes are read. Status INPUT with every mistake. Since 0.2. */
FABRICAST_API int fabricast_scenario_parse (FabricastContext *context, const char *name, const char *text,
                                            size_t size, FabricastScenario **scenario,
                                            FabricastError **error);

/* Makes a scenario with no key but a name. Set `cluster.node`, `cluster.nodes` and `job` before it is run.
 * Since 0.2. */
FABRICAST_API int fabricast_scenario_new (FabricastContext *context, FabricastScenario **scenario,
                                          FabricastError **error);

/* Makes a copy that can be changed without changing the first. It takes microseconds. Since 0.2. */
FABRICAST_API int fabricast_scenario_copy (const FabricastScenario *scenario, FabricastScenario **copy,
                                           FabricastError **error);

/* Frees the scenario. NULL is allowed. Results and copies of it stay valid. Since 0.2. */
FABRICAST_API void fabricast_scenario_free (FabricastScenario *scenario);

/* Gets the value of a key, or its default: "cluster.nodes", "job.bucket", "faults.0.rail". Numbers come in the
 * unit that `unit` names. Lists and groups of keys come as the text of YAML. A text lives until the scenario is
 * changed or freed. Status INPUT when there is no such key, or when the scenario as a whole is wrong. Since 0.2.
 * */
FABRICAST_API int fabricast_scenario_get (const FabricastScenario *scenario, const char *path,
                                          FabricastValue *value, FabricastError **error);

/* Sets a key, which is checked at once and alone: unknown keys, types, units, ranges. A TEXT is read as in YAML:
 * "400Gb/s". A WHOLE or REAL is read with its `unit` behind it: 400 and "Gb/s". NONE takes the key away. Status
 * INPUT, and nothing has changed. Since 0.2. */
FABRICAST_API int fabricast_scenario_set (FabricastScenario *scenario, const char *path,
                                          const FabricastValue *value, FabricastError **error);

/* Sets a key as `--set` does: "job.bucket=25MiB", "fidelity=step", "faults=[{kind: down, link: node0/nic0}]". What
 * is wrong with the key or its value is told by the next check. Status INPUT when this is no assignment. Since
 * 0.2. */
FABRICAST_API int fabricast_scenario_assign (FabricastScenario *scenario, const char *assignment,
                                             FabricastError **error);

/* Checks the whole scenario. fabricast_run () does the same first. Status INPUT with every mistake. Since 0.2. */
FABRICAST_API int fabricast_scenario_check (const FabricastScenario *scenario, FabricastError **error);

/* Returns the scenario as YAML with every default filled in; NULL when it is wrong. The text lives until the
 * scenario is changed or freed. Since 0.2. */
FABRICAST_API const char *fabricast_scenario_text (const FabricastScenario *scenario);

/* --- runs --- */

/* Simulates a scenario on the calling thread. `options` may be NULL. Statuses: INPUT, IO of `save_to`,
 * UNSUPPORTED, HUNG, CANCELLED, BROKEN. Since 0.2. */
FABRICAST_API int fabricast_run (const FabricastScenario *scenario, const FabricastRunOptions *options,
                                 FabricastResult **result, FabricastError **error);

/* Frees the result. NULL is allowed. Since 0.2. */
FABRICAST_API void fabricast_result_free (FabricastResult *result);

/* Gets a figure of the last iteration, as a mean over ranks. Its names are those of `fabricast run --format json` and
 * of the columns of fabricast_sweep () ("step_s", "exposed_s", "mfu_fraction", "usd_per_step", "binding_link"), the
 * same times in picoseconds ("step_ps") and the names that targets of fabricast_size () take ("step", "exposed"). The
 * kind is NONE where the figure does not apply. docs/reference/library.md lists all. Status INPUT when there is no such
 * figure; the message lists all. Since 0.2. */
FABRICAST_API int fabricast_result_figure (const FabricastResult *result, const char *name,
                                           FabricastValue *value, FabricastError **error);

/* Makes a table of the result, with the names and columns of the tables of a results file. "iteration" has a row
 * per iteration, and "band" two; "rank_class", "link", "link_queue", "queue_length", "memory" and "finding" are of the
 * run; "iteration_class", "collective", "span", "link_load", "exposure", "critical_path" and "link_sample" are of the
 * last iteration; "job" needs `has_jobs`. Status INPUT when there is no such table. Since 0.2. */
FABRICAST_API int fabricast_result_table (const FabricastResult *result, const char *name,
                                          FabricastTable **table, FabricastError **error);

/* Explains a figure of studies ("exposed"), what of the run was simulated ("run"), or one collective of the last
 * iteration by its name ("bucket3"): a row per statement with depth, title, name, value, formula, the formula with
 * numbers, source and notes. The scenario is simulated again. Statuses as fabricast_run (). Since 0.2. */
FABRICAST_API int fabricast_result_explain (const FabricastResult *result, const char *figure,
                                            FabricastTable **statements, FabricastError **error);

/* --- tables --- */

/* Frees the table. NULL is allowed. Since 0.2. */
FABRICAST_API void fabricast_table_free (FabricastTable *table);

/* Returns the number of rows; 0 for NULL. Since 0.2. */
FABRICAST_API size_t fabricast_table_rows (const FabricastTable *table);

/* Fills `column` with column `i`, from 0. Returns 1, or 0 when the table has no such column; `column` stays
 * untouched then. Since 0.2. */
FABRICAST_API int fabricast_table_column (const FabricastTable *table, size_t i, FabricastColumn *column);

/* The stream of the Arrow C stream interface (arrow.apache.org/docs/format/CStreamInterface.html). */
struct ArrowArrayStream;

/* Fills `stream`, which need not be initialized, with the table as a stream of Apache Arrow: one batch of columns of
 * type int64, float64 and large_utf8, in which what is unknown is null. The stream has copies of the cells, outlives
 * the table, and is released by its consumer. Status MISUSE of a NULL. Since 0.2. */
FABRICAST_API int fabricast_table_arrow (const FabricastTable *table, struct ArrowArrayStream *stream,
                                         FabricastError **error);

/* --- studies --- */

/* Predicts one collective on the machine of the scenario, size by size, as `fabricast collective` prints it. The
 * job of the scenario does not matter and may be missing. Statuses as fabricast_run (). Since 0.2. */
FABRICAST_API int fabricast_predict (const FabricastScenario *scenario,
                                     const FabricastPredictOptions *options, FabricastTable **table,
                                     FabricastError **error);

/* Simulates every combination of the values of `vary` and `zip`, several at once: a row per point with the text of
 * each key that varies and the figures, or in `problem` why it cannot be simulated. Statuses: INPUT, CANCELLED,
 * BROKEN. Since 0.2. */
FABRICAST_API int fabricast_sweep (const FabricastScenario *scenario, const FabricastStudyOptions *options,
                                   FabricastTable **points, FabricastError **error);

/* Finds the first value of the single axis of `vary` that meets all `targets`, trying as few as needed: a row per
 * value that was tried, with `is_met` and `is_answer`. Statuses: INPUT, CANCELLED, BROKEN. Since 0.2. */
FABRICAST_API int fabricast_size (const FabricastScenario *scenario, const FabricastStudyOptions *options,
                                  FabricastTable **tried, FabricastError **error);

#ifdef FABRICAST_UNSTABLE

/* --- the network alone ---
 *
 * These functions may change with any version. A network has the machine and the fabric of a scenario and a clock, and
 * no job. There are two ways to drive it. The network is the clock: the host puts events of its own in with
 * fabricast_network_at () and advances to INT64_MAX. Or the host is the clock: it asks fabricast_network_next (),
 * handles its own events up to there, advances the network, and asks again after whatever it sends, because a new
 * flow changes when the others end. */
typedef struct FabricastNetwork FabricastNetwork;

/* The function is called once, at `time_ps`, during fabricast_network_advance (). It may send and call
 * fabricast_network_at (); it may not advance or free the network. */
typedef void (*FabricastDoneFn) (void *user, int64_t time_ps);

/* Builds machine and fabric of a scenario; its job does not matter and may be missing. Statuses: INPUT;
 * UNSUPPORTED where the scenario has disturbances in time, which belong to a run. Since 0.2, unstable. */
FABRICAST_API int fabricast_network_new (const FabricastScenario *scenario, FabricastNetwork **network,
                                         FabricastError **error);

/* Frees the network. Functions that were not called yet are never called. NULL is allowed. Since 0.2, unstable. */
FABRICAST_API void fabricast_network_free (FabricastNetwork *network);

/* Returns the number of ranks; rank r is accelerator r modulo (accelerators per node) of node r divided by it.
 * Since 0.2, unstable. */
FABRICAST_API uint32_t fabricast_network_ranks (const FabricastNetwork *network);

/* Returns the time of the clock in picoseconds. Since 0.2, unstable. */
FABRICAST_API int64_t fabricast_network_now (const FabricastNetwork *network);

/* Returns the time of the next event; INT64_MAX when nothing is due. Since 0.2, unstable. */
FABRICAST_API int64_t fabricast_network_next (const FabricastNetwork *network);

/* Moves the clock to `until_ps` and handles everything up to and at that time. INT64_MAX: handles everything, and
 * the clock stays at the last event. Statuses: MISUSE of a time in the past; HUNG when traffic waits although
 * nothing is due; BROKEN, after which the network can only be freed. Since 0.2, unstable. */
FABRICAST_API int fabricast_network_advance (FabricastNetwork *network, int64_t until_ps,
                                             FabricastError **error);

/* Calls `fn` at `time_ps`, which is not in the past. Since 0.2, unstable. */
FABRICAST_API int fabricast_network_at (FabricastNetwork *network, int64_t time_ps, FabricastDoneFn fn,
                                        void *user, FabricastError **error);

/* Sends `bytes` from one rank to another now, as one message: inside a node by the links of the GPUs, between
 * nodes by the NICs nearest to them. It costs what an RDMA write costs; a job of kind `traffic` sends the same.
 * Messages of one pair of ranks follow one way, which the network remembers. `done` (or NULL) is called when the
 * last byte has arrived. A transfer to the same rank takes no time. Statuses: MISUSE of a rank; UNSUPPORTED when
 * no path leads there, or when all that is under way could last longer than 53 days. Since 0.2, unstable. */
FABRICAST_API int fabricast_network_send (FabricastNetwork *network, uint32_t from, uint32_t to,
                                          uint64_t bytes, FabricastDoneFn done, void *user,
                                          FabricastError **error);

/* Begins one flow over several links at once, as collectives are: link links[i] carries weights[i] bytes for each
 * of `bytes`, after `startup_ps` in which they are idle. Links are numbered as in the table "link". Statuses:
 * MISUSE; UNSUPPORTED as of fabricast_network_send (). Since 0.2, unstable. */
FABRICAST_API int fabricast_network_stream (FabricastNetwork *network, const uint32_t *links,
                                            const double *weights, size_t n_links, uint64_t bytes,
                                            int64_t startup_ps, FabricastDoneFn done, void *user,
                                            FabricastError **error);

/* Begins a collective of ranks (ascending) now, as the scenario's collective library runs it. `bytes` are as nccl-
 * tests counts them. `ranks` NULL: all ranks. Statuses: INPUT of an operation that does not exist, MISUSE of
 * ranks, UNSUPPORTED when no algorithm can run it or as of fabricast_network_send (). Since 0.2, unstable. */
FABRICAST_API int fabricast_network_collective (FabricastNetwork *network, const char *op,
                                                const uint32_t *ranks, size_t n_ranks, uint64_t bytes,
                                                FabricastDoneFn done, void *user, FabricastError **error);

/* Makes the table "link": every link with its ends, rate and latency. Status INPUT when there is no such table.
 * Since 0.2, unstable. */
FABRICAST_API int fabricast_network_table (const FabricastNetwork *network, const char *name,
                                           FabricastTable **table, FabricastError **error);

#endif

#ifdef __cplusplus
}
#endif
