/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - what tests of libfabricast share: a context, a scenario of text, and a column of a table. */
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fabricast.h>

static FabricastContext *context; /* from setup to teardown */

static inline int
setup (void **state)
{
  (void) state;
  return fabricast_context_new (NULL, &context, NULL);
}

static inline int
teardown (void **state)
{
  (void) state;
  fabricast_context_free (context);
  return 0;
}

static const char hello[] =
    "name: hello\n"
    "cluster: {node: dgx-a100, nodes: 2}\n"
    "job: {kind: ddp, model: gpt2-xl, micro_batch: 4, sequence: 1024, compute: {kind: mfu, mfu: 40%}}\n";

static inline FabricastScenario *
parse (const char *text)
{
  FabricastScenario *scenario = NULL;
  FabricastError *error = NULL;

  if (fabricast_scenario_parse (context, "test.yaml", text, strlen (text), &scenario, &error) != FABRICAST_OK)
    fail_msg ("%s", fabricast_error_message (error));
  return scenario;
}

static inline FabricastColumn
column_of (const FabricastTable *table, const char *name)
{
  FabricastColumn column = { .struct_size = sizeof column };

  for (size_t i = 0; fabricast_table_column (table, i, &column); i++)
    if (strcmp (column.name, name) == 0)
      return column;
  fail_msg ("no column %s", name);
  return column;
}

static inline int
is_near (double a, double b)
{
  return fabs (a - b) <= 1e-9 * fmax (fabs (a), fabs (b));
}
