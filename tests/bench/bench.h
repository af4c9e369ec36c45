/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - rows of one table, and what fills them. Each part takes a few seconds at most. */
#pragma once

#include <glib.h>

double bench_now_s (void);

/* "what   value unit   note"; the note is a printf format, "" for none. */
void bench_row (const char *what, double value, const char *unit, const char *note, ...) G_GNUC_PRINTF (4, 5);

void bench_queue (void);
void bench_maxmin (void);
void bench_net (void);
gboolean bench_store (void);

/* FALSE when the memory or time that it takes exceeds what is promised. */
gboolean bench_steady (const char *scenario);
gboolean bench_scale (const char *program, const char *scenario);
gboolean bench_divided (const char *program, const char *scenario);

/* What a child of bench_steady does; its exit code. */
int bench_steady_child (const char *scenario, const char *n_iterations);
