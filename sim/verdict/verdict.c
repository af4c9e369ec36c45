/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/verdict/verdict.h"

const char *const fab_severity_names[FAB_N_SEVERITIES + 1] = {
  [FAB_FINDING_STOPS] = "stops",
  [FAB_FINDING_WARNS] = "warns",
  [FAB_FINDING_NOTES] = "notes",
};

const FabFindingKind fab_finding_kinds[FAB_N_FINDING_CODES] = {
  [FAB_FINDING_DOES_NOT_FIT] = { "does_not_fit", FAB_FINDING_STOPS,
                                 "A rank needs more memory than its accelerator has, at any end of the band." },
  [FAB_FINDING_MAY_NOT_FIT] = { "may_not_fit", FAB_FINDING_WARNS,
                                "The memory of an accelerator is within the band of what a rank needs." },
  [FAB_FINDING_UNREACHABLE_TARGET] = { "unreachable_target", FAB_FINDING_STOPS,
                                       "No tried value meets the targets; the text gives the reason." },
  [FAB_FINDING_SPREAD] = { "spread", FAB_FINDING_WARNS,
                           "The figures depend on the seed; another one may give others." },
  [FAB_FINDING_CHOICE] = { "choice", FAB_FINDING_WARNS,
                           "By its own estimate, the collective library chooses slower algorithms than it "
                           "could." },
  [FAB_FINDING_EXTRAPOLATED] = { "extrapolated", FAB_FINDING_WARNS,
                                 "Some message sizes lie outside those at which the links were measured." },
  [FAB_FINDING_UNCALIBRATED] = { "uncalibrated", FAB_FINDING_WARNS,
                                 "The step depends on a part of which no measurement is known." },
  [FAB_FINDING_ASSUMED_DESIGN] = { "assumed_design", FAB_FINDING_WARNS,
                                   "Parts of the machine's design were published nowhere and are assumed." },
  [FAB_FINDING_FIDELITY_NO_SHARING] = { "fidelity_no_sharing", FAB_FINDING_WARNS,
                                        "The fidelity gives every transfer its links alone." },
  [FAB_FINDING_FIDELITY_COLLISION] = { "fidelity_collision", FAB_FINDING_WARNS,
                                       "Hashed paths collide, and the fidelity does not simulate queues." },
  [FAB_FINDING_FIDELITY_INCAST] = { "fidelity_incast", FAB_FINDING_WARNS,
                                    "Several senders overload one receiver, and the fidelity does not "
                                    "simulate queues." },
  [FAB_FINDING_FIDELITY_SPREADING] = { "fidelity_spreading", FAB_FINDING_WARNS,
                                       "Congestion spreads, and the fidelity does not simulate queues." },
  [FAB_FINDING_FIDELITY_CHANNELS] = { "fidelity_channels", FAB_FINDING_WARNS,
                                      "Collectives with different numbers of channels share a link, and "
                                      "the fidelity does not simulate messages." },
  [FAB_FINDING_HALF_USED_SWITCHES] = { "half_used_switches", FAB_FINDING_NOTES,
                                       "Switches of the fabric use less than half of their ports, and fewer "
                                       "switches would do." },
  [FAB_FINDING_LONE_RAILS] = { "lone_rails", FAB_FINDING_NOTES,
                               "Leaves of the fabric have one NIC each, so they join nothing." },
  [FAB_FINDING_UNEVEN_PORTS] = { "uneven_ports", FAB_FINDING_NOTES,
                                 "Of NICs with several ports, one port carries much more than the others." },
  [FAB_FINDING_ONE_SWITCH] = { "one_switch", FAB_FINDING_NOTES,
                               "The price counts one switch in place of those of a fabric that is "
                               "oversubscribed." },
  [FAB_FINDING_WAITS_FOR_COMPUTE] = { "waits_for_compute", FAB_FINDING_NOTES,
                                      "Of all that was tried, faster computation shortens the step most." },
  [FAB_FINDING_WAITS_FOR_NETWORK] = { "waits_for_network", FAB_FINDING_NOTES,
                                      "Of all that was tried, faster communication shortens the step most." },
  [FAB_FINDING_WAITS_FOR_STRAGGLER] = { "waits_for_straggler", FAB_FINDING_NOTES,
                                        "The other ranks wait for a slow rank." },
  [FAB_FINDING_WAITS_FOR_BUBBLE] = { "waits_for_bubble", FAB_FINDING_NOTES,
                                     "Ranks wait for other stages of the pipeline." },
  [FAB_FINDING_WAITS_FOR_HOST] = { "waits_for_host", FAB_FINDING_NOTES,
                                   "The step waits for work on the host, such as loading data." },
};

static void
finding_clear (gpointer data)
{
  FabFinding *self = data;

  g_free (self->text);
  g_free (self->advice);
  g_free (self->link);
}

FabVerdict *
fab_verdict_new (void)
{
  FabVerdict *self = g_new0 (FabVerdict, 1);

  self->findings = g_array_new (FALSE, FALSE, sizeof (FabFinding));
  g_array_set_clear_func (self->findings, finding_clear);
  return self;
}

FabVerdict *
fab_verdict_copy (const FabVerdict *self)
{
  FabVerdict *copy = fab_verdict_new ();

  for (guint i = 0; i < fab_verdict_n (self); i++) {
    const FabFinding *finding = fab_verdict_at (self, i);

    fab_verdict_add_finding (copy, (FabFinding){ finding->code, g_strdup (finding->text),
                                                 g_strdup (finding->advice), g_strdup (finding->link),
                                                 finding->rank });
  }
  return copy;
}

void
fab_verdict_free (FabVerdict *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->findings);
  g_free (self);
}

void
fab_verdict_add_finding (FabVerdict *self, FabFinding finding)
{
  guint place = self->findings->len;

  while (place > 0 && fab_verdict_at (self, place - 1)->code > finding.code)
    place--;
  g_array_insert_val (self->findings, place, finding);
}

void
fab_verdict_add (FabVerdict *self, FabFindingCode code, char *text, char *advice)
{
  fab_verdict_add_finding (self, (FabFinding){ .code = code, .text = text, .advice = advice, .rank = -1 });
}

void
fab_verdict_advise (FabVerdict *self, FabFindingCode code, char *advice)
{
  FabFinding *finding = (FabFinding *) fab_verdict_find (self, code);

  if (finding == NULL) {
    g_free (advice);
    return;
  }
  g_free (finding->advice);
  finding->advice = advice;
}

guint
fab_verdict_n (const FabVerdict *self)
{
  return self != NULL ? self->findings->len : 0;
}

const FabFinding *
fab_verdict_at (const FabVerdict *self, guint i)
{
  return &g_array_index (self->findings, FabFinding, i);
}

const FabFinding *
fab_verdict_find (const FabVerdict *self, FabFindingCode code)
{
  for (guint i = 0; i < fab_verdict_n (self); i++)
    if (fab_verdict_at (self, i)->code == code)
      return fab_verdict_at (self, i);
  return NULL;
}

gboolean
fab_verdict_stops (const FabVerdict *self)
{
  for (guint i = 0; i < fab_verdict_n (self); i++)
    if (fab_finding_kind (fab_verdict_at (self, i))->severity == FAB_FINDING_STOPS)
      return TRUE;
  return FALSE;
}

char *
fab_verdict_stop_words (const FabVerdict *self)
{
  GString *text = g_string_new (NULL);

  if (!fab_verdict_stops (self))
    return g_string_free (text, TRUE);
  for (guint i = 0; i < fab_verdict_n (self); i++)
    if (fab_finding_kind (fab_verdict_at (self, i))->severity == FAB_FINDING_STOPS)
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", fab_verdict_at (self, i)->text);
  return g_string_free (text, FALSE);
}

const FabFinding *
fab_verdict_waits_for (const FabVerdict *self)
{
  for (guint i = 0; i < fab_verdict_n (self); i++)
    if (fab_verdict_at (self, i)->code >= FAB_FINDING_WAITS_FOR_COMPUTE)
      return fab_verdict_at (self, i);
  return NULL;
}

char *
fab_verdict_codes (const FabVerdict *self)
{
  GString *codes = g_string_new (NULL);

  for (guint i = 0; i < fab_verdict_n (self); i++) {
    const FabFinding *finding = fab_verdict_at (self, i);

    if (i == 0 || fab_verdict_at (self, i - 1)->code != finding->code)
      g_string_append_printf (codes, "%s%s", codes->len > 0 ? ";" : "", fab_finding_kind (finding)->name);
  }
  return g_string_free (codes, FALSE);
}

void
fab_verdict_note_spread (FabVerdict *self, guint64 n_seeds, double low_s, double high_s)
{
  static const double least_spread = 1e-3; /* of the longest step; less is no difference */

  if (n_seeds < 2)
    return;
  const FabFinding *single = fab_verdict_find (self, FAB_FINDING_SPREAD);
  if (single != NULL)
    g_array_remove_index (self->findings,
                          (guint) (single - (const FabFinding *) (gpointer) self->findings->data));
  if (high_s - low_s <= least_spread * high_s)
    return;
  g_autofree char *low = fab_units_show (FAB_UNIT_TIME, low_s * (double) FAB_PS_PER_S);
  g_autofree char *high = fab_units_show (FAB_UNIT_TIME, high_s * (double) FAB_PS_PER_S);
  fab_verdict_add (self, FAB_FINDING_SPREAD,
                   g_strdup_printf ("The step depends on the seed: over %" G_GUINT64_FORMAT
                                    " seeds it takes from %s to %s.",
                                    n_seeds, low, high),
                   NULL);
}

FabFindingRecord *
fab_verdict_records (const FabVerdict *self)
{
  guint n = fab_verdict_n (self);
  FabFindingRecord *rows = g_new (FabFindingRecord, n + 1);

  for (guint i = 0; i < n; i++) {
    const FabFinding *finding = fab_verdict_at (self, i);

    rows[i] = (FabFindingRecord){ fab_finding_kind (finding)->name,
                                  fab_severity_names[fab_finding_kind (finding)->severity], finding->text,
                                  finding->advice };
  }
  return rows;
}

gboolean
fab_verdict_store (const FabVerdict *self, FabStore *store, GError **error)
{
  g_autofree FabFindingRecord *rows = fab_verdict_records (self);

  return fab_store_add_findings (store, rows, fab_verdict_n (self), error);
}

FabVerdict *
fab_verdict_of_codes (const char *codes)
{
  g_auto (GStrv) names = codes != NULL ? g_strsplit (codes, ";", -1) : NULL;
  FabVerdict *self = codes != NULL ? fab_verdict_new () : NULL;

  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    for (guint code = 0; code < FAB_N_FINDING_CODES; code++)
      if (g_str_equal (names[i], fab_finding_kinds[code].name))
        fab_verdict_add (self, code, g_strdup (fab_finding_kinds[code].summary), NULL);
  return self;
}

void
fab_verdict_add_json (const FabVerdict *self, FabJson *json, const char *key)
{
  fab_json_begin_array (json, key);
  for (guint i = 0; i < fab_verdict_n (self); i++) {
    const FabFinding *finding = fab_verdict_at (self, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "code", fab_finding_kind (finding)->name);
    fab_json_add_text (json, "severity", fab_severity_names[fab_finding_kind (finding)->severity]);
    fab_json_add_text (json, "text", finding->text);
    fab_json_add_text (json, "advice", finding->advice);
    fab_json_add_text (json, "link", finding->link);
    if (finding->rank >= 0)
      fab_json_add_whole (json, "rank", finding->rank);
    else
      fab_json_add_null (json, "rank");
    fab_json_end (json);
  }
  fab_json_end (json);
}
