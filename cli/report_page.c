/* SPDX-License-Identifier: Apache-2.0 */
/* report_page.c - data, our own page and D3 as one HTML text.
 *
 * cli/report/page.html has a place for each, @like_this@. The content policy names every script and style by its hash,
 * so that nothing else runs, whatever the data hold; they stand in a block that browsers do not run, and a '<' in
 * them is written \u003c.
 */
#include <gio/gio.h>
#include <string.h>

#include "cli/report.h"
#include "sim/base/error.h"

#define ROOT "/fabricast/report/"

/* In the order in which they run. */
static const char *const script_names[] = {
  "base.js",  "tip.js",      "bars.js",     "curve.js",  "answer.js",  "spans.js",
  "paint.js", "lanes.js",    "timeline.js", "sweeps.js", "exposed.js", "places.js",
  "links.js", "scenario.js", "tables.js",   "terms.js",  "page.js",
};

/* (transfer full) */
static char *
resource (const char *name, GError **error)
{
  g_autofree char *path = g_strconcat (ROOT, name, NULL);
  g_autoptr (GBytes) bytes = g_resources_lookup_data (path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);

  if (bytes != NULL)
    return g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  fab_throw (
      error, FAB_ERROR_UNSUPPORTED,
      "this program was built without D3, which draws the page; install it (Debian: node-d3) and build again");
  return NULL;
}

/* Our scripts as one; (transfer full) */
static char *
all_scripts (GError **error)
{
  g_autoptr (GString) all = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (script_names); i++) {
    g_autofree char *text = resource (script_names[i], error);

    if (text == NULL)
      return NULL;
    g_string_append (all, text);
  }
  return g_strdup (all->str);
}

/* "'sha256-...'" (transfer full) */
static char *
hash_of (const char *text)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  guint8 digest[32];
  gsize size = sizeof digest;

  g_checksum_update (checksum, (const guchar *) text, (gssize) strlen (text));
  g_checksum_get_digest (checksum, digest, &size);
  g_autofree char *base64 = g_base64_encode (digest, size);
  return g_strdup_printf ("'sha256-%s'", base64);
}

/* For a block that HTML takes as it is until "</script". (transfer full) */
static char *
safe_json (const char *data)
{
  g_auto (GStrv) parts = g_strsplit (data, "<", -1);

  return g_strjoinv ("\\u003c", parts);
}

typedef struct {
  const char *place;
  char *text; /* owned */
} Filling;

static void
fill (const char *page, const Filling *fillings, guint n, GString *out)
{
  const char *from = page;

  for (const char *at = strchr (from, '@'); at != NULL; at = strchr (at + 1, '@'))
    for (guint i = 0; i < n; i++)
      if (g_str_has_prefix (at, fillings[i].place)) {
        g_string_append_len (out, from, at - from);
        g_string_append (out, fillings[i].text);
        from = at + strlen (fillings[i].place);
        at = from - 1;
        break;
      }
  g_string_append (out, from);
}

static char *
policy_of (const FabReportPage *page, const char *charts, const char *script, const char *style)
{
  g_autofree char *charts_hash = hash_of (charts), *script_hash = hash_of (script),
                  *style_hash = hash_of (style);
  g_autofree char *own_script = page->script ? hash_of (page->script) : g_strdup ("");
  g_autofree char *own_style = page->style ? hash_of (page->style) : g_strdup ("");

  return g_strdup_printf (
      "default-src 'none'; script-src %s %s %s; style-src %s %s; %sbase-uri 'none'; form-action 'none'",
      charts_hash, script_hash, own_script, style_hash, own_style,
      page->asks_server ? "connect-src 'self'; " : "");
}

static char *
block_of (const char *tag, const char *text)
{
  return text != NULL ? g_strdup_printf ("<%s>%s</%s>", tag, text, tag) : g_strdup ("");
}

char *
fab_report_page (const FabReportPage *page, GError **error)
{
  g_autofree char *charts = resource ("d3.min.js", error);
  g_autofree char *script = charts ? all_scripts (error) : NULL;
  g_autofree char *style = script ? resource ("page.css", error) : NULL;
  g_autofree char *html = style ? resource ("page.html", error) : NULL;
  g_autoptr (GString) out = g_string_new (NULL);

  if (html == NULL)
    return NULL;
  Filling fillings[] = {
    { "@policy@", policy_of (page, charts, script, style) },
    { "@title@", g_markup_escape_text (page->title ? page->title : "Fabricast report", -1) },
    { "@style@", g_strdup (style) },
    { "@own_style@", block_of ("style", page->style) },
    { "@controls@", g_strdup (page->controls ? page->controls : "") },
    { "@data@", safe_json (page->data) },
    { "@charts@", g_strdup (charts) },
    { "@script@", g_strdup (script) },
    { "@own_script@", block_of ("script", page->script) },
  };
  fill (html, fillings, G_N_ELEMENTS (fillings), out);
  for (guint i = 0; i < G_N_ELEMENTS (fillings); i++)
    g_free (fillings[i].text);
  return g_strdup (out->str);
}
