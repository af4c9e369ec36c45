/* SPDX-License-Identifier: Apache-2.0 */
/* test_report_timeline.c - spans and links of a results file as the page of a report gets them. */
#include "tests/unit/cli/report/report_rows.h"

/* --- spans --- */

static FabSpanRecord
span (guint iteration, guint rank_class, FabSpanKind kind, const char *stream, const char *name,
      FabTimePs start_ps, FabTimePs end_ps)
{
  return (FabSpanRecord){ iteration, rank_class, kind, stream, name, start_ps, end_ps, -1 };
}

static void
test_timeline (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStore) store = fab_store_new (NULL);
  FabSpanRecord spans[] = {
    span (1, 1, FAB_SPAN_LOAD, "loader", "read", 1000000, 1002500),
    span (1, 0, FAB_SPAN_COMPUTE, "compute", "backward", 4000499, 6000501),
    span (1, 0, FAB_SPAN_COMPUTE, "compute", "forward", 2000000, 4000000),
    span (0, 0, FAB_SPAN_COMPUTE, "compute", "before", 0, 1000000), /* ends where the iteration begins */
    span (0, 0, FAB_SPAN_COMM, "comm", "tail", 900000, 1001499),
    span (1, 1, FAB_SPAN_WAIT, "comm", "grad", 1002600, 1003500),
    span (1, 1, FAB_SPAN_WAIT, "comm", "short", 1002600, 1003400),
    span (2, 0, FAB_SPAN_COMPUTE, "compute", "next", 10000000, 12000000),
    span (2, 0, FAB_SPAN_COMPUTE, "compute", "after", 10000500,
          12000000), /* begins where the iteration ends */
    span (3, 0, FAB_SPAN_COMPUTE, "compute", "far", 2000000,
          4000000), /* of an iteration that is no neighbour */
    span (1, 0, FAB_SPAN_COMPUTE, "compute", "empty", 2000000, 2000000),
  };
  FabCollectiveRecord collectives[] = { collective (0, 0, 0, 400, 1),
                                        collective (1, 1, 0, 400, FAB_RECORD_NO_LINK) };
  GError *error = NULL;
  gint64 id;

  spans[4].collective = 0;
  spans[5].collective = spans[6].collective = 1;
  begin_run (store, &id);
  must (fab_store_add_links (store, two_links, 2, &error), error);
  add_steps (store);
  must (fab_store_add_collectives (store, collectives, 2, &error), error);
  must (fab_store_add_spans (store, spans, G_N_ELEMENTS (spans), &error), error);
  must (fab_store_commit_run (store, &error), error);
  g_autoptr (JsonNode) root = told_of (store, id, 7); /* no more than it may have */
  /* Times are rounded to nanoseconds; a lane has its spans in the order of their starts, then of their ends. */
  assert_member (
      item_of (root, "runs", 0), "timeline",
      "{'iteration':1,'duration_ns':9001,'recorded':7,'short_ns':0,"
      "'names':['read','backward','forward','tail','grad','short','next'],"
      "'forms':[{'op':'all_reduce','dimension':'data','algorithm':'ring','protocol':null,'channels':2,"
      "'ranks':4,'bytes':1000,'link_from':'leaf0','link_to':'node1/gpu0','spec':'cable'},"
      "{'op':'all_gather','dimension':'tensor','algorithm':null,'protocol':'simple','channels':3,'ranks':5,"
      "'bytes':1001,'link_from':null,'link_to':null,'spec':null}],"
      "'lanes':[{'class':0,'stream':'compute','spans':[0,1000,2000,2,-1,1,0,2000,2001,1,-1,1,0,6000,1,6,-1,1]},"
      "{'class':0,'stream':'comm','spans':[1,0,1,3,0,1]},"
      "{'class':1,'stream':'loader','spans':[2,0,3,0,-1,1]},"
      "{'class':1,'stream':'comm','spans':[3,3,0,5,1,1,3,0,1,4,1,1]}]}");
}

/* The lanes of an iteration of 65.536 us that may have so many spans, and how short spans are then drawn together. */
static void
assert_thinned (const FabSpanRecord *spans, guint n, guint most, gint64 short_ns, const char *lanes)
{
  g_autoptr (FabStore) store = fab_store_new (NULL);
  FabStepRecord step = { .times = { .duration_ps = 65536000 } };
  GError *error = NULL;
  gint64 id;

  begin_run (store, &id);
  must (fab_store_add_steps (store, &step, 1, &error), error);
  must (fab_store_add_spans (store, spans, n, &error), error);
  must (fab_store_commit_run (store, &error), error);
  g_autoptr (JsonNode) root = told_of (store, id, most);
  JsonObject *timeline = json_object_get_object_member (item_of (root, "runs", 0), "timeline");
  assert_int_equal (json_object_get_int_member (timeline, "recorded"), n);
  assert_int_equal (json_object_get_int_member (timeline, "short_ns"), short_ns);
  if (lanes != NULL)
    assert_member (timeline, "lanes", lanes);
}

/* Short is 1/65536 of the iteration and 1 ps first, then twice as much. Spans of a lane and a kind become one where
 * less
 * than that lies between them and one of them is shorter than that. */
static void
test_short_spans_are_drawn_together (G_GNUC_UNUSED void **state)
{
  const FabSpanRecord spans[] = {
    span (0, 0, FAB_SPAN_COMPUTE, "a", "1", 0, 1000),
    span (0, 0, FAB_SPAN_COMPUTE, "a", "2", 2001, 9000),   /* 1001 ps later */
    span (0, 0, FAB_SPAN_COMPUTE, "a", "3", 10000, 10500), /* 1000 ps later, and shorter */
    span (0, 0, FAB_SPAN_COMPUTE, "a", "4", 10600, 20000), /* long, as what is before it */
    span (0, 0, FAB_SPAN_COMPUTE, "b", "5", 20000, 20500), /* of another stream */
    span (0, 1, FAB_SPAN_COMPUTE, "b", "6", 20500, 21000), /* of another class */
    span (0, 1, FAB_SPAN_COMM, "b", "7", 21000, 21500),    /* of another kind */
    span (0, 1, FAB_SPAN_COMM, "b", "8", 21100, 21300),    /* within the one before it */
    span (0, 1, FAB_SPAN_COMPUTE, "c", "9", 0, 1001),      /* 1001 ps long, and so is the next */
    span (0, 1, FAB_SPAN_COMPUTE, "c", "10", 1001, 2002),
  };
  const char *rest = "{'class':0,'stream':'b','spans':[0,20,1,4,-1,1]},"
                     "{'class':1,'stream':'b','spans':[0,21,0,5,-1,1,1,0,1,6,-1,2]}";
  const struct {
    guint most;
    gint64 short_ns;
    const char *first, *last;
  } cases[] = { { 8, 1, "0,0,1,0,-1,1,0,2,9,1,-1,2,0,9,9,3,-1,1", "0,0,1,8,-1,1,0,1,1,9,-1,1" },
                { 7, 2, "0,0,11,0,-1,3,0,11,9,3,-1,1", "0,0,2,8,-1,2" },
                { 6, 2, "0,0,11,0,-1,3,0,11,9,3,-1,1", "0,0,2,8,-1,2" },
                { 5, 16, "0,0,20,0,-1,4", "0,0,2,8,-1,2" },
                /* longer than the iteration: nothing else can be drawn together */
                { 4, 65602, "0,0,20,0,-1,4", "0,0,2,8,-1,2" } };

  assert_thinned (spans, G_N_ELEMENTS (spans), G_N_ELEMENTS (spans), 0, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *lanes = g_strdup_printf ("[{'class':0,'stream':'a','spans':[%s]},%s,"
                                              "{'class':1,'stream':'c','spans':[%s]}]",
                                              cases[i].first, rest, cases[i].last);

    assert_thinned (spans, G_N_ELEMENTS (spans), cases[i].most, cases[i].short_ns, lanes);
  }
}

/* All runs of a page share 40000 spans, and each may have 3000. */
static void
test_room_for_spans (G_GNUC_UNUSED void **state)
{
  const struct {
    guint n_runs, n_spans;
    gboolean is_thinned;
  } cases[] = { { 13, 3076, FALSE }, { 13, 3077, TRUE }, { 14, 3000, FALSE }, { 14, 3001, TRUE } };

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++) {
    g_autoptr (FabStore) store = fab_store_new (NULL);
    g_autofree FabSpanRecord *spans = g_new0 (FabSpanRecord, cases[k].n_spans);
    GError *error = NULL;
    gint64 ids[14];

    for (guint i = 0; i < cases[k].n_spans; i++)
      spans[i] = span (1, 0, FAB_SPAN_COMPUTE, "compute", "f", last_start_ps + i, last_start_ps + i + 1);
    begin_run (store, &ids[0]);
    add_steps (store);
    must (fab_store_add_spans (store, spans, cases[k].n_spans, &error), error);
    must (fab_store_commit_run (store, &error), error);
    for (guint i = 1; i < cases[k].n_runs; i++)
      ids[i] = ids[0];
    g_autoptr (JsonNode) root = told (
        &(FabReportRequest){ .store = store, .runs = ids, .n_runs = cases[k].n_runs });
    JsonObject *timeline = json_object_get_object_member (item_of (root, "runs", cases[k].n_runs - 1),
                                                          "timeline");
    JsonObject *lane = json_array_get_object_element (json_object_get_array_member (timeline, "lanes"), 0);
    guint n_drawn = json_array_get_length (json_object_get_array_member (lane, "spans")) / 6;
    assert_int_equal (n_drawn, cases[k].is_thinned ? 1 : cases[k].n_spans);
  }
}

/* A name has at most 120 letters: of a longer one the first 119 stay, and dots. */
static void
test_long_names (G_GNUC_UNUSED void **state)
{
  for (guint length = 119; length <= 122; length++) {
    g_autoptr (FabStore) store = fab_store_new (NULL);
    g_autoptr (GString) name = g_string_new (NULL), wanted = g_string_new (NULL);
    GError *error = NULL;
    gint64 id;

    for (guint i = 0; i < length; i++) {
      g_string_append (name, "\u00e9");
      if (length <= 120 || i < 119)
        g_string_append (wanted, "\u00e9");
    }
    if (length > 120)
      g_string_append (wanted, "\u2026");
    FabSpanRecord one = span (1, 0, FAB_SPAN_COMPUTE, "compute", name->str, last_start_ps,
                              last_start_ps + 1000);
    begin_run (store, &id);
    add_steps (store);
    must (fab_store_add_spans (store, &one, 1, &error), error);
    must (fab_store_commit_run (store, &error), error);
    g_autoptr (JsonNode) root = told_of (store, id, 0);
    JsonObject *timeline = json_object_get_object_member (item_of (root, "runs", 0), "timeline");
    assert_string_equal (json_array_get_string_element (json_object_get_array_member (timeline, "names"), 0),
                         wanted->str);
  }
}

/* --- links --- */

#define ENDS(from, to, is_from_inside, is_to_inside) \
  "{'from':'" from "','to':'" to "','from_inside':" is_from_inside ",'to_inside':" is_to_inside ","
#define IDLE(from, to)                                                                           \
  "'n':1,'carried':0,'bytes':0,'mean':0,'busiest':0,'busiest_from':'" from "','busiest_to':'" to \
  "','strip':[0]}"

/* clang-format off */
static const char groups[] =
    "{'n':8,'tiers':[{'name':'leaf#','n':2},{'name':'pod#/leaf#','n':1},{'name':'core#','n':1},"
    "{'name':'node/x','n':1},{'name':'node#x/#','n':1},{'name':'node#','n':1},{'name':'#up','n':1}],"
    "'parts':[],'groups':["
    ENDS ("gpu0", "leaf#", "1", "0")
    "'spec':'ib','parallel':2,'rate_bytes_per_s':50,'n':3,'carried':2,'bytes':4000,'mean':0.3333333333,"
    "'busiest':0.75,'busiest_from':'node10/gpu0','busiest_to':'leaf1','strip':[750,250,0]},"
    ENDS ("gpu0", "leaf#", "1", "0")
    "'spec':'eth','parallel':1,'rate_bytes_per_s':25," IDLE ("node0/gpu0", "leaf0") ","
    ENDS ("pod#/leaf#", "core#", "0", "0")
    "'spec':'ib','parallel':4,'rate_bytes_per_s':50," IDLE ("pod1/leaf12", "core34") ","
    ENDS ("node/x", "node#x/#", "0", "0")
    "'spec':'ib','parallel':1,'rate_bytes_per_s':50," IDLE ("node/x", "node12x/7") ","
    ENDS ("gpu1", "gpu0", "1", "1")
    "'spec':'nv','parallel':1,'rate_bytes_per_s':9,'n':1,'carried':1,'bytes':7,'mean':0.0009765625,"
    "'busiest':0.0009765625,'busiest_from':'node0/gpu1','busiest_to':'node1/gpu0','strip':[1]},"
    ENDS ("node#", "#up", "0", "0")
    "'spec':'ib','parallel':1,'rate_bytes_per_s':50," IDLE ("node3", "7up") "]}";
/* clang-format on */

/* Nodes lie over one another, and switches go by their names without numbers. */
static void
test_groups_of_links (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStore) store = fab_store_new (NULL);
  const FabLinkRecord links[] = {
    { 0, "node0/gpu0", "leaf0", "ib", 2, 50, 1 },     { 1, "node10/gpu0", "leaf1", "ib", 2, 50, 1 },
    { 2, "node2/gpu0", "leaf0", "ib", 2, 50, 1 },     { 3, "node0/gpu0", "leaf0", "eth", 1, 25, 1 },
    { 4, "pod1/leaf12", "core34", "ib", 4, 50, 1 },   { 5, "node/x", "node12x/7", "ib", 1, 50, 1 },
    { 6, "node0/gpu1", "node1/gpu0", "nv", 1, 9, 1 }, { 7, "node3", "7up", "ib", 1, 50, 1 },
  };
  const FabLinkLoadRecord loads[] = {
    { 0, 2, 8, 1 }, { 1, 0, 1000, 0.25 }, { 1, 1, 3000, 0.75 }, { 1, 6, 7, 1.0 / 1024 }
  };
  GError *error = NULL;
  gint64 id;

  begin_run (store, &id);
  add_links (store, links, G_N_ELEMENTS (links), loads, G_N_ELEMENTS (loads));
  must (fab_store_commit_run (store, &error), error);
  g_autoptr (JsonNode) root = told_of (store, id, 0);
  assert_member (item_of (root, "runs", 0), "links", groups);
}

/* A strip has each link of a group up to 48, then 48 of them at even distances, from the busiest to the idlest. */
static void
test_strips (G_GNUC_UNUSED void **state)
{
  for (guint n = 47; n <= 100; n = n < 50 ? n + 1 : n * 2) {
    g_autoptr (FabStore) store = fab_store_new (NULL);
    g_autofree FabLinkRecord *links = g_new0 (FabLinkRecord, n);
    g_autofree FabLinkLoadRecord *loads = g_new0 (FabLinkLoadRecord, n);
    GError *error = NULL;
    gint64 id;

    for (guint i = 0; i < n; i++) {
      links[i] = (FabLinkRecord){ i, "node0/a", "leaf0", "ib", 1, 1, 1 };
      loads[i] = (FabLinkLoadRecord){ 1, i, 1, (i * 11 % n) / 1000.0 }; /* 0, 1, ... n - 1 thousandths */
    }
    begin_run (store, &id);
    add_links (store, links, n, loads, n);
    must (fab_store_commit_run (store, &error), error);
    g_autoptr (JsonNode) root = told_of (store, id, 0);
    JsonObject *told_links = json_object_get_object_member (item_of (root, "runs", 0), "links");
    JsonObject *group = json_array_get_object_element (json_object_get_array_member (told_links, "groups"),
                                                       0);
    JsonArray *strip = json_object_get_array_member (group, "strip");
    guint shown = MIN (n, 48);

    assert_int_equal (json_array_get_length (strip), shown);
    for (guint i = 0; i < shown; i++)
      assert_int_equal (json_array_get_int_element (strip, i), n - 1 - i * (n - 1) / (shown - 1));
  }
}

/* Up to 400 groups are told. Where there are more, places in nodes lose their numbers too; of more kinds the first 400
 * are told. */
static void
test_many_groups (G_GNUC_UNUSED void **state)
{
  const struct {
    guint n;
    gboolean has_many_specs;
    guint n_groups, n_parts;
  } cases[] = { { 400, FALSE, 400, 0 }, { 401, FALSE, 1, 401 }, { 402, TRUE, 400, 402 } };

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++) {
    g_autoptr (FabStore) store = fab_store_new (NULL);
    g_autofree FabLinkRecord *links = g_new0 (FabLinkRecord, cases[k].n);
    g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
    GError *error = NULL;
    gint64 id;

    for (guint i = 0; i < cases[k].n; i++) {
      char *from = g_strdup_printf ("node0/gpu%u", i),
           *spec = g_strdup_printf ("spec%u", cases[k].has_many_specs ? i : 0);

      g_ptr_array_add (texts, from);
      g_ptr_array_add (texts, spec);
      links[i] = (FabLinkRecord){ i, from, "leaf0", spec, 1, 1, 1 };
    }
    begin_run (store, &id);
    add_links (store, links, cases[k].n, NULL, 0);
    must (fab_store_commit_run (store, &error), error);
    g_autoptr (JsonNode) root = told_of (store, id, 0);
    JsonObject *told_links = json_object_get_object_member (item_of (root, "runs", 0), "links");
    g_autofree char *parts = cases[k].n_parts > 0
                               ? g_strdup_printf ("[{'name':'gpu#','n':%u}]", cases[k].n_parts)
                               : g_strdup ("[]");

    assert_int_equal (json_object_get_int_member (told_links, "n"), cases[k].n);
    assert_int_equal (json_array_get_length (json_object_get_array_member (told_links, "groups")),
                      cases[k].n_groups);
    assert_member (told_links, "parts", parts);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_timeline),        cmocka_unit_test (test_short_spans_are_drawn_together),
    cmocka_unit_test (test_room_for_spans),  cmocka_unit_test (test_long_names),
    cmocka_unit_test (test_groups_of_links), cmocka_unit_test (test_strips),
    cmocka_unit_test (test_many_groups),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
