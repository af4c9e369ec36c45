/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h - files that give a collective as messages: MSCCL's XML, Chakra's graphs of sends and receives, GOAL.
 *
 * Both end as a FabGiven, whose correctness was checked on the way. Messages to a person say file:line:column, or the
 * file and the node.
 */
#pragma once

#include "formats/text/bytes.h"
#include "sim/collective/plan/given.h"
#include "sim/registry.h"

/* As a reader of the registry: `schedules` of a scenario name such files. */
extern const FabScheduleFileFormat fab_format_schedule;

/* What the user says about a file that does not say it itself. */
typedef struct {
  const char *name;
  gint op;        /* FabOp; -1: the file says it */
  FabBytes bytes; /* size of the operation that the messages add up to; 0: the file has shares */
} FabGivenHint;

/* Reads the whole file that `bytes` is at. (transfer full) */
FabGiven *fab_given_read_msccl (FabFileBytes *bytes, const FabGivenHint *hint, GError **error);
