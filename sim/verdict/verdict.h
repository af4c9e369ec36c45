/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h - what a reader must know before a simulated figure is quoted: whether the job fits into memory, what the
 * step waits for, and which numbers rest on less than they seem to.
 *
 * A verdict is a list of findings. Each has a code that never changes its meaning, so that programs can compare it. The
 * verdict is computed once per simulation (fab_verdict_of) and every command shows the same one; studies add findings
 * that only several simulations can give. A verdict owns its texts; one thread at a time may change it.
 */
#pragma once

#include "sim/base/json.h"
#include "sim/result/store.h"
#include "sim/run/simulation.h"

typedef enum {
  FAB_FINDING_STOPS, /* no figure of the run deserves its sentence */
  FAB_FINDING_WARNS, /* the figures hold with a reservation */
  FAB_FINDING_NOTES, /* worth knowing */
  FAB_N_SEVERITIES,
} FabSeverity;

extern const char *const fab_severity_names[FAB_N_SEVERITIES + 1]; /* "stops", "warns", "notes"; NULL-ended */

/* In the order in which a reader meets them. docs/reference/verdict.md explains each. */
typedef enum {
  FAB_FINDING_DOES_NOT_FIT,
  FAB_FINDING_MAY_NOT_FIT,
  FAB_FINDING_UNREACHABLE_TARGET,
  FAB_FINDING_SPREAD,
  FAB_FINDING_CHOICE,
  FAB_FINDING_EXTRAPOLATED,
  FAB_FINDING_UNCALIBRATED,
  FAB_FINDING_ASSUMED_DESIGN,
  FAB_FINDING_FIDELITY_NO_SHARING,
  FAB_FINDING_FIDELITY_COLLISION,
  FAB_FINDING_FIDELITY_INCAST,
  FAB_FINDING_FIDELITY_SPREADING,
  FAB_FINDING_FIDELITY_CHANNELS,
  FAB_FINDING_HALF_USED_SWITCHES,
  FAB_FINDING_LONE_RAILS,
  FAB_FINDING_UNEVEN_PORTS,
  FAB_FINDING_ONE_SWITCH,
  FAB_FINDING_WAITS_FOR_COMPUTE,
  FAB_FINDING_WAITS_FOR_NETWORK,
  FAB_FINDING_WAITS_FOR_STRAGGLER,
  FAB_FINDING_WAITS_FOR_BUBBLE,
  FAB_FINDING_WAITS_FOR_HOST,
  FAB_N_FINDING_CODES,
} FabFindingCode;

typedef struct {
  const char *name; /* stable: "does_not_fit" */
  FabSeverity severity;
  const char *summary; /* one sentence */
} FabFindingKind;

extern const FabFindingKind fab_finding_kinds[FAB_N_FINDING_CODES];

typedef struct {
  FabFindingCode code;
  char *text;   /* one or two plain sentences with their full stops */
  char *advice; /* what to do, a sentence; NULL: none */
  char *link;   /* that it is about, "node0/nic0 -> leaf0"; NULL: none */
  gint64 rank;  /* that it is about; -1: none */
} FabFinding;

typedef struct {
  GArray *findings; /* FabFinding, by code; of one code, in the order in which they were added */
} FabVerdict;

FabVerdict *fab_verdict_new (void);
FabVerdict *fab_verdict_copy (const FabVerdict *self);
void fab_verdict_free (FabVerdict *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabVerdict, fab_verdict_free)

/* Adds a finding that is about no link and no rank. Takes the texts; `advice` may be NULL. */
void fab_verdict_add (FabVerdict *self, FabFindingCode code, char *text, char *advice);
/* The same; takes what the finding owns. */
void fab_verdict_add_finding (FabVerdict *self, FabFinding finding);

/* Gives an advice, which it takes, to the first finding of this code; without such a finding it is freed. */
void fab_verdict_advise (FabVerdict *self, FabFindingCode code, char *advice);

/* All of these accept NULL, a verdict that was not computed: it has no findings. */
guint fab_verdict_n (const FabVerdict *self);
const FabFinding *fab_verdict_at (const FabVerdict *self, guint i);
const FabFinding *fab_verdict_find (const FabVerdict *self, FabFindingCode code); /* NULL: not among them */
gboolean fab_verdict_stops (const FabVerdict *self); /* a finding has FAB_FINDING_STOPS */
/* What stops in one line, without its advice; NULL: nothing does. (transfer full) */
char *fab_verdict_stop_words (const FabVerdict *self);
/* The finding that says what the step waits for (sim/decision/waits.h); NULL: nobody asked. */
const FabFinding *fab_verdict_waits_for (const FabVerdict *self);
/* "does_not_fit;waits_for_network", each code once. (transfer full) */
char *fab_verdict_codes (const FabVerdict *self);
/* Adds the array `key` of objects with `code`, `severity`, `text`, `advice`, `link` and `rank`; null where there is
 * none. */
void fab_verdict_add_json (const FabVerdict *self, FabJson *json, const char *key);

/* Adds the finding that the step depends on the seed, where the steps of several seeds differ by more than rounding.
 * The one that advises to play several goes: they were played. */
void fab_verdict_note_spread (FabVerdict *self, guint64 n_seeds, double low_s, double high_s);

/* Its findings as rows of a results file, in their order; they point into the verdict. (transfer container) */
FabFindingRecord *fab_verdict_records (const FabVerdict *self);

/* Adds it to the run that was begun. */
gboolean fab_verdict_store (const FabVerdict *self, FabStore *store, GError **error);

/* The verdict that has these codes; its texts are the summaries of the kinds. Unknown codes are left out. NULL of
 * NULL. (transfer full) */
FabVerdict *fab_verdict_of_codes (const char *codes);

static inline const FabFindingKind *
fab_finding_kind (const FabFinding *finding)
{
  return &fab_finding_kinds[finding->code];
}

/* Returns the verdict on a simulation that has played an iteration. NULL and *error: a neighbour cannot be built.
 * (transfer full) */
FabVerdict *fab_verdict_of (const FabScenario *scenario, const FabSimulation *simulation,
                            const FabRegistry *registry, GError **error);

/* The same for one that was only built: whether the job fits, and how full the switches are. (transfer full) */
FabVerdict *fab_verdict_of_built (const FabScenario *scenario, const FabSimulation *simulation);

/* Adds FAB_FINDING_HALF_USED_SWITCHES and FAB_FINDING_LONE_RAILS, as far as this graph of the scenario's machine shows
 * them (sim/cost/ports.h). */
void fab_verdict_note_ports (FabVerdict *self, const FabScenario *scenario, const FabGraph *graph);

/* Adds FAB_FINDING_ASSUMED_DESIGN where the design of the cluster fills in what its document leaves open. */
void fab_verdict_note_design (FabVerdict *self, const FabScenario *scenario);

/* Adds FAB_FINDING_UNEVEN_PORTS, as the longest collective of the last iteration uses ports of NICs that have
 * several. */
void fab_verdict_note_port_shares (FabVerdict *self, const FabSimulation *simulation);

/* What a job needs of the memory of the rank that needs most. */
typedef struct {
  FabBytes needed_bytes, device_bytes; /* 0: not known */
  guint rank_class;                    /* which needs most */
  double low_factor, high_factor;      /* band of what is needed; 1: there is none */
} FabFit;

FabFit fab_fit_of (const FabSimulation *simulation);
/* "219 GB", with enough digits to tell it from `other`. (transfer full) */
char *fab_verdict_gigabytes (FabBytes bytes, FabBytes other);
/* It needs more than there is even at the low end of its band: the job is refused. */
static inline gboolean
fab_fit_is_missed (const FabFit *self)
{
  return self->device_bytes > 0
      && (double) self->needed_bytes * self->low_factor > (double) self->device_bytes;
}

/* It may need more than there is: a warning. */
static inline gboolean
fab_fit_is_doubtful (const FabFit *self)
{
  return self->device_bytes > 0 && !fab_fit_is_missed (self)
      && (double) self->needed_bytes * self->high_factor > (double) self->device_bytes;
}
