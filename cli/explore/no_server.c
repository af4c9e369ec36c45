/* SPDX-License-Identifier: Apache-2.0 */
/* no_server.c - replaces server.c where libsoup is missing. */
#include "cli/explore/server.h"
#include "sim/base/error.h"

gboolean
fab_explore_serve (G_GNUC_UNUSED const FabExploreService *service, GError **error)
{
  return fab_throw (
      error, FAB_ERROR_UNSUPPORTED,
      "this program was built without libsoup, which serves the page: `./dev build` installs it and builds "
      "again; elsewhere install libsoup 3 first (Debian: libsoup-3.0-dev)");
}
