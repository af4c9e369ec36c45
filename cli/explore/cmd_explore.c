/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_explore.c - `fabricast explore [SCENARIO]`: a page with knobs, on this machine. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/explore/page.h"
#include "cli/explore/server.h"
#include "cli/shipped.h"
#include "sim/base/error.h"

enum { DEFAULT_PORT = 8765 };

typedef struct {
  char *address;
  char **sets;
  int port, seeds;
} ExploreOptions;

static const FabUsage usage = {
  .arguments = "[SCENARIO]",
  .summary =
      "Serves a page with knobs. The job has a model, a strategy and its division, a sequence, a batch and\n"
      "recomputation. The machine has GPUs, a node, a power limit, and the design of a machine as it is sold.\n"
      "The network has a number, a kind and a rate of NICs, oversubscription and routing.\n\n"
      "When a knob moves, the page simulates the scenario again and says what changed, or why nothing did. Open\n"
      "the address that it prints in a browser; Ctrl+C ends it.\n\n"
      "It answers on this machine only, unless --listen says otherwise. Without a SCENARIO it takes\n"
      "scenarios/explore.yaml.",
  .examples = "  fabricast explore\n"
              "  fabricast explore scenarios/ddp-2b-4nodes-200g.yaml --port 9000\n"
              "  fabricast explore scenarios/fsdp-8b-straggler.yaml --set cluster.nodes=16\n",
  .min_rest = 0,
  .max_rest = 1,
};

static void
say_where (const char *url, gboolean is_local, gpointer data)
{
  g_print ("%s is at %s (Ctrl+C ends it)\n", (const char *) data, url);
  fflush (stdout);
  if (!is_local)
    g_printerr (
        "fabricast explore: warning: everybody who reaches this address can play here; without --listen only "
        "this machine does\n");
}

/* What the server reads later: entries of the catalogue and files that the scenario names, beside it. */
static void
confine (const char *scenario)
{
  g_autofree char *data = fab_cli_data_path ("catalog", NULL);
  g_autofree char *folder = g_path_get_dirname (scenario);
  const char *const folders[] = { folder, data, NULL };

  fab_cli_confine (folders);
}

static gboolean
explore (const ExploreOptions *o, const char *path, GError **error)
{
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  /* relative where it can be, so that it works in the command lines that the page shows */
  g_autofree char *scenario = catalog != NULL ? fab_cli_scenario_path (path ? path : "scenarios/explore.yaml")
                                              : NULL;
  g_autoptr (FabExplored) explored = scenario ? fab_explored_load (scenario, o->sets, catalog, error) : NULL;

  if (scenario != NULL && explored == NULL)
    fab_cli_name_shipped (scenario, error);
  if (explored != NULL)
    explored->n_seeds = (guint) o->seeds;
  g_autofree char *page = explored ? fab_explore_page (explored, error) : NULL;

  if (page == NULL)
    return FALSE;
  g_autofree char *shown = fab_cli_printable (scenario);
  FabExploreService service = { .explored = explored,
                                .page = page,
                                .address = o->address ? o->address : "127.0.0.1",
                                .port = (guint) o->port,
                                .on_ready = say_where,
                                .data = shown };
  confine (scenario);
  return fab_explore_serve (&service, error);
}

static gboolean
check_port (int port, GError **error)
{
  return (port >= 0 && port <= G_MAXUINT16)
      || fab_throw (error, FAB_ERROR_INPUT, "--port %d: from 1 to 65535, or 0 for any that is free", port);
}

enum { MOST_SEEDS = 1000 };

static gboolean
check_seeds (int seeds, GError **error)
{
  return (seeds >= 1 && seeds <= MOST_SEEDS)
      || fab_throw (error, FAB_ERROR_INPUT, "--seeds %d: from 1 to %d", seeds, MOST_SEEDS);
}

static FabExit
run (int argc, char **argv)
{
  ExploreOptions o = { .port = DEFAULT_PORT, .seeds = 1 };
  const GOptionEntry entries[] = { { "port", 0, 0, G_OPTION_ARG_INT, &o.port,
                                     "Where the page is (default 8765); 0: any port that is free", "PORT" },
                                   { "listen", 0, 0, G_OPTION_ARG_STRING, &o.address,
                                     "Address to answer at (default 127.0.0.1: this machine)", "ADDRESS" },
                                   { "seeds", 0, 0, G_OPTION_ARG_INT, &o.seeds,
                                     "Seeds that the page plays to say how far steps spread (default 1)",
                                     "N" },
                                   FAB_SET_ENTRY (&o.sets),
                                   G_OPTION_ENTRY_NULL };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error) && check_port (o.port, &error)
                  && check_seeds (o.seeds, &error) && explore (&o, argc > 1 ? argv[1] : NULL, &error);

  g_free (o.address);
  g_strfreev (o.sets);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("explore", error);
}

const FabCommand fab_command_explore = {
  .name = "explore",
  .summary = "Turn the knobs of a scenario in the browser",
  .run = run,
};
