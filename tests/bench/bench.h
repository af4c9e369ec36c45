/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - rows of one table, and what fills them.
 *
 * A row is one figure: what Fabricast does, the raw limit of the machine measured next to it, and a peer where a
 * Debian package has one. A part of the benchmark is a function `void bench_NAME (Bench *)`, a line in the list of
 * parts in bench.c, and a call of bench_measure () for each of its rows.
 *
 * All times are processor time, so that what else runs on the machine is not counted. The ratio to the raw limit is
 * taken within each repetition; of everything the median is shown.
 */
#pragma once

#include <glib.h>

typedef struct _Bench Bench;

/* One repetition, in the unit of the row: seconds, or things per second. */
typedef struct {
  double value; /* 0: it failed; the row says so */
  double limit; /* the raw limit; 0: none of its own, the yardstick is measured instead (bench_yardstick_s) */
} BenchSample;

typedef BenchSample (*BenchFn) (gpointer data);

/* The same work by a program of peers/, processor time; 0: it failed. */
typedef double (*BenchPeerFn) (Bench *bench, gpointer data);

typedef struct {
  const char *work;    /* the row's name; a committed table is searched by it */
  const char *things;  /* "events": a rate, of which more is better; NULL: seconds, of which less is */
  const char *limit;   /* what the raw limit is; NULL: the yardstick */
  BenchFn once;        /* NULL: it is not in this build; the note says what */
  const char *peer;    /* "SimGrid": what the peer is called; NULL: there is none */
  const char *program; /* of peers/: "simgrid" */
  BenchPeerFn peer_once;
  double recorded; /* in place of those two, of a peer that no package has (docs/reference/bench.md) */
  double goal;     /* in the row's unit; 0: none */
} BenchRow;

/* What else was seen, asked for after the last repetition. (transfer full) */
typedef char *(*BenchNoteFn) (gpointer data);

/* Measures the row and prints it; `note` may be NULL. */
void bench_measure (Bench *bench, const BenchRow *row, BenchNoteFn note, gpointer data);

/* A row of a promise that was not kept, whatever its time: the exit code is 1. */
void bench_fail (Bench *bench, const char *format, ...) G_GNUC_PRINTF (2, 3);

gboolean bench_is_large (const Bench *bench);   /* --large was given */
const char *bench_program (const Bench *bench); /* fabricast */

double bench_now_s (void); /* processor time of this process, so far */
double bench_yardstick_s (
    void); /* 10^6 events of a bare 4-ary heap that holds 10^5: how fast this machine is now */

/* A program that is run to its end. */
typedef struct {
  double cpu_s, peak_mib;
  gboolean is_good; /* exit code 0 */
  char *output;     /* what it printed; g_free */
} BenchChild;

BenchChild bench_run (const char *const *argv, const char *input); /* `input` may be NULL */
/* The same, ended after so many seconds of processor time; 0: no limit. */
BenchChild bench_run_within (const char *const *argv, const char *input, guint most_s);

/* Runs peers/NAME with these arguments, a line that is split at blanks. */
BenchChild bench_peer_run (Bench *bench, const char *name, const char *arguments, const char *input);

/* The number after `key` in lines of "key value"; 0: there is none. */
double bench_value_of (const char *output, const char *key);

void bench_queue (Bench *bench);
void bench_flows (Bench *bench);
void bench_ring (Bench *bench);
void bench_packets (Bench *bench);
void bench_transports (Bench *bench);
void bench_jobs (Bench *bench);
void bench_library (Bench *bench);
void bench_traces (Bench *bench);
void bench_threads (Bench *bench);
void bench_sweep (Bench *bench);
void bench_store (Bench *bench);
void bench_steady (Bench *bench);

/* What a child of bench_steady and bench_sweep does; its exit code. */
int bench_steady_child (const char *n_iterations);
