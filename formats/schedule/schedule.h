/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h - files that give a collective as messages: MSCCL's XML, TE-CCL's JSON, Chakra's graphs of sends and
 * receives, GOAL.
 *
 * All end as a FabGiven, whose correctness was checked on the way. Messages to a person say file:line:column, or the
 * file and the node.
 */
#pragma once

#include "formats/format.h"
#include "formats/text/bytes.h"
#include "sim/collective/plan/given.h"
#include "sim/registry.h"

/* As a reader of the registry: `schedules` of a scenario name such files. */
extern const FabScheduleFileFormat fab_format_schedule;

/* What the user says about a file that does not say it itself. */
struct _FabGivenHint {
  const char *path; /* of the file, beside which others of the same graph may be */
  const char *name;
  gint op;        /* FabOp; -1: the file says it */
  FabBytes bytes; /* size of the operation that the messages add up to; 0: the file has shares */
};
