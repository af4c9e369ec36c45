/* SPDX-License-Identifier: Apache-2.0 */
/* shortcuts.c - what of the run was not simulated, and how it is switched off (docs/explanation/shortcuts.md). */
#include "answer/explain/parts.h"

static void
explain_lanes (const Explain *self, guint depth)
{
  const FabLanesCount lanes = fab_simulation_lanes (self->simulation);
  FabStatement *statement;

  if (lanes.n_lanes == 0)
    return;
  statement = explain_add (self, depth, "lanes of messages that were simulated", "lanes", FAB_TERM_NUMBER,
                           (double) lanes.n_lanes);
  fab_statement_formula (statement, "all - alike");
  fab_statement_term (statement, "all", FAB_TERM_NUMBER, (double) (lanes.n_lanes + lanes.n_alike));
  fab_statement_term (statement, "alike", FAB_TERM_NUMBER, (double) lanes.n_alike);
  fab_statement_note (
      statement, "A lane is one hop of a collective, with the messages that follow one another on it; it "
                 "counts each time that its collective begins on the network.");
  fab_statement_note (statement,
                      "alike: lanes for which others stand, because nothing tells them apart, or because a "
                      "rotation of rails or nodes turns one into the other. `fold: false` simulates all.");
}

static void
explain_remembered (const Explain *self, guint depth)
{
  const FabEpisodesCount count = fab_simulation_episodes (self->simulation);
  FabStatement *statement;

  if (count.n_collectives == 0)
    return;
  statement = explain_add (self, depth, "collectives that were simulated", "simulated", FAB_TERM_NUMBER,
                           (double) (count.n_collectives - count.n_collectives_remembered));
  fab_statement_formula (statement, "collectives - remembered");
  fab_statement_term (statement, "collectives", FAB_TERM_NUMBER, (double) count.n_collectives);
  fab_statement_term (statement, "remembered", FAB_TERM_NUMBER, (double) count.n_collectives_remembered);
  fab_statement_note (statement,
                      "remembered: the same collectives had begun at the same distances before, on a network "
                      "at rest. `fidelity.memo: false` simulates them again.");
  if (count.n_replays > 0)
    fab_statement_note (statement,
                        "%" G_GUINT64_FORMAT " times traffic that was known went on in a new way, and was "
                        "simulated from its begin once more.",
                        count.n_replays);
}

static void
explain_skipped (const Explain *self, guint depth)
{
  const FabEpisodesCount count = fab_simulation_episodes (self->simulation);
  FabStatement *statement;

  if (count.n_skipped == 0)
    return;
  statement = explain_add (self, depth, "steps over a link that were left out", "skipped", FAB_TERM_NUMBER,
                           (double) count.n_skipped);
  fab_statement_note (
      statement, "Messages at step, packets times links at packet: rounds of rings, and long messages, "
                 "whose pace had settled. `fidelity.skip: false` simulates them. A collective may then end "
                 "up to 0.5 %% sooner or later.");
}

static void
explain_warm_ups (const Explain *self, guint depth)
{
  const FabEpisodesCount count = fab_simulation_episodes (self->simulation);
  FabStatement *statement;

  if (count.n_warm_ups == 0)
    return;
  statement = explain_add (self, depth, "collectives simulated before the run began", "warm_ups",
                           FAB_TERM_NUMBER, (double) count.n_warm_ups);
  fab_statement_formula (statement, "used + unused");
  fab_statement_term (statement, "used", FAB_TERM_NUMBER, (double) count.n_warm_ups_used);
  fab_statement_term (statement, "unused", FAB_TERM_NUMBER,
                      (double) (count.n_warm_ups - count.n_warm_ups_used));
  fab_statement_note (statement,
                      "Each collective that differs is simulated by itself on an idle network, several at "
                      "once. used: it then began on an idle network in the run too, and ended as before. "
                      "`fidelity.memo: false` leaves this out.");
}

static void
explain_rehearsals (const Explain *self, guint depth)
{
  guint64 n = fab_simulation_episodes (self->simulation).n_rehearsals;

  if (n == 0)
    return;
  FabStatement *statement = explain_add (self, depth, "overlaps simulated before the run began", "rehearsals",
                                         FAB_TERM_NUMBER, (double) n);
  fab_statement_note (
      statement, "Collectives that will overlap at distances which the network does not change, several such "
                 "overlaps at once. `fidelity.memo: false` leaves this out.");
}

static void
explain_forms (const Explain *self, guint depth)
{
  const FabFormsCount forms = fab_simulation_forms (self->simulation);
  FabStatement *statement;

  if (forms.n_all == 0)
    return;
  statement = explain_add (self, depth, "forms of collectives that were worked out", "forms", FAB_TERM_NUMBER,
                           (double) (forms.n_all - forms.n_derived - forms.n_known));
  fab_statement_formula (statement, "all - derived - known");
  fab_statement_term (statement, "all", FAB_TERM_NUMBER, (double) forms.n_all);
  fab_statement_term (statement, "derived", FAB_TERM_NUMBER, (double) forms.n_derived);
  fab_statement_term (statement, "known", FAB_TERM_NUMBER, (double) forms.n_known);
  fab_statement_note (statement,
                      "A form is what an algorithm makes of an operation in one group of ranks: its "
                      "links, their shares and its steps. derived: it follows from another "
                      "operation of the same group.");
  fab_statement_note (statement,
                      "known: the same machine with other rates of its ports had it. A single scenario has "
                      "none of these; a study over `cluster.nic_rate` has, unless `fold: false`.");
}

void
explain_shortcuts (const Explain *self)
{
  FabStatement *statement = explain_add (self, 0, "events that were simulated", "events", FAB_TERM_NUMBER,
                                         (double) fab_simulation_events (self->simulation));

  if (fab_simulation_lanes (self->simulation).n_lanes == 0)
    fab_statement_note (
        statement, "At this fidelity a collective of this job is one flow: there are no messages that could "
                   "be left out.");
  fab_statement_note (statement,
                      "docs/explanation/shortcuts.md says what each shortcut assumes, and how far off it can "
                      "be.");
  explain_lanes (self, 1);
  explain_remembered (self, 1);
  explain_skipped (self, 1);
  explain_warm_ups (self, 1);
  explain_rehearsals (self, 1);
  explain_forms (self, 1);
}
