/* SPDX-License-Identifier: Apache-2.0 */
/* test_formats.c - the table of formats keeps its contract, and notes stand at the lines that they are about. */
#include "tests/support/test.h"

#include <string.h>

#include "formats/machine/machine.h"
#include "formats/measurement/measurements.h"
#include "formats/text/notes.h"
#include "formats/trace/trace.h"

static const FabFileKind kinds[] = { FAB_FILE_MACHINE, FAB_FILE_MODEL,    FAB_FILE_MEASUREMENT,
                                     FAB_FILE_TRACE,   FAB_FILE_SCHEDULE, FAB_FILE_JOB_LOG };

/* The line of the first note with these words; fails where there is none of the kind. */
static guint
line_of (const GPtrArray *notes, FabFileNoteKind kind, const char *words)
{
  for (guint i = 0; i < notes->len; i++)
    if (fab_file_note (notes, i)->kind == kind && strstr (fab_file_note (notes, i)->text, words) != NULL)
      return fab_file_note (notes, i)->line;
  fail_msg ("no note says: %s", words);
  return 0;
}

static FabImportedMachine *
read_machine (const char *format, const char *text)
{
  const FabImportRequest request = { .file = { "m", text, strlen (text) } };
  const FabFileFormat *row = fab_file_format_of (FAB_FILE_MACHINE, &request.file);
  FabImportedMachine *machine = fab_imported_machine_new ("test");

  assert_non_null (row);
  assert_string_equal (row->name, format);
  assert_true (row->read.machine (machine, &request, NULL));
  return machine;
}

static void
every_row_is_found_by_its_name (G_GNUC_UNUSED void **state)
{
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
    g_autofree const char **names = fab_file_format_names (kinds[k]);

    assert_non_null (names[0]);
    for (guint i = 0; names[i] != NULL; i++) {
      const FabFileFormat *row = fab_file_format_named (kinds[k], names[i]);

      /* the first of that name: so no two of a kind have one */
      for (guint other = 0; other < i; other++)
        assert_string_not_equal (names[other], names[i]);
      assert_int_equal (row->kind, kinds[k]);
      assert_non_null (row->recognises);
      assert_true ((row->why_not == NULL) == (row->read.machine != NULL));
      if ((row->kind & (FAB_FILE_MACHINE | FAB_FILE_MODEL | FAB_FILE_MEASUREMENT)) != 0)
        assert_true (row->help != NULL || row->tool != NULL); /* `import --help` lists them */
    }
  }
  assert_null (fab_file_format_named (FAB_FILE_MACHINE, "csv"));
}

/* The matrix's first row is line 2 and NIC1, which no GPU is near, line 5. */
static void
a_matrix_is_noted_at_its_rows (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabImportedMachine) machine = read_machine ("nvidia-smi", "      GPU0 GPU1 NIC0 NIC1\n"
                                                                       "GPU0  X    NV4  PXB  SYS\n"
                                                                       "GPU1  NV4  X    PXB  SYS\n"
                                                                       "NIC0  PXB  PXB  X    SYS\n"
                                                                       "NIC1  SYS  SYS  SYS  X\n");

  assert_int_equal (line_of (machine->notes, FAB_NOTE_INFERRED, "accelerator: "), 2);
  assert_int_equal (line_of (machine->notes, FAB_NOTE_LEFT_OUT, "NIC1"), 5);
  assert_int_equal (line_of (machine->notes, FAB_NOTE_READ, "1 NIC beside them"), 2);
}

static void
xml_is_noted_at_its_elements (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabImportedMachine) machine = read_machine (
      "nccl-xml", "<system version=\"1\">\n"
                  "  <cpu numaid=\"0\" arch=\"arm64\">\n"
                  "    <pci busid=\"0000:01:00.0\" class=\"0x030200\">\n"
                  "      <gpu dev=\"0\" sm=\"90\" rank=\"0\"/>\n"
                  "    </pci>\n"
                  "  </cpu>\n"
                  "</system>\n");

  assert_int_equal (line_of (machine->notes, FAB_NOTE_READ, "nv-grace-socket between hosts"), 2);
  assert_int_equal (line_of (machine->notes, FAB_NOTE_INFERRED, "the usual one of its architecture (sm 90)"),
                    3);
  assert_int_equal (line_of (machine->notes, FAB_NOTE_INFERRED, "where the file has no link_speed"), 3);
}

/* Two hosts have a port of QDR each, which the catalogue lacks; the third has no second one. */
static void
cables_are_noted_where_they_are_listed (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabImportedMachine) machine = read_machine ("ibnetdiscover",
                                                         "Switch 36 \"S-01\" # \"leaf\"\n"
                                                         "[1] \"H-0a\"[1] # \"node1 HCA-1\" lid 1 4xQDR\n"
                                                         "[2] \"H-0a\"[2] # \"node1 HCA-1\" lid 1 4xQDR\n"
                                                         "[3] \"H-0b\"[1] # \"node2 HCA-1\" lid 2 4xQDR\n"
                                                         "[4] \"H-0b\"[2] # \"node2 HCA-1\" lid 2 4xQDR\n"
                                                         "[5] \"H-0c\"[1] # \"node3 HCA-1\" lid 3 4xQDR\n");

  assert_int_equal (line_of (machine->notes, FAB_NOTE_INFERRED, "the catalogue has no such link"), 2);
  assert_int_equal (line_of (machine->notes, FAB_NOTE_LEFT_OUT, "1 host with fewer ports"), 6);
}

static void
what_a_benchmark_printed_is_left_out_at_its_line (G_GNUC_UNUSED void **state)
{
  static const char text[] = "# OSU MPI Barrier Latency Test v5.6\n\n"
                             "# OSU MPI Latency Test v5.6\n# Size  Latency (us)\n0  0.90\n1  1.00\n";
  const FabMeasurementRequest request = { .file = { "osu", text, strlen (text) } };
  g_autoptr (FabMeasurements) measurements = fab_measurements_read (&request, NULL);

  assert_non_null (measurements);
  assert_int_equal (line_of (measurements->notes, FAB_NOTE_LEFT_OUT, "Barrier"), 1);
  assert_int_equal (line_of (measurements->notes, FAB_NOTE_LEFT_OUT, "messages of 0 B"), 5);
}

static void
a_log_is_noted_with_its_file (G_GNUC_UNUSED void **state)
{
  static const char text[] = "h:1:1 [0] NCCL INFO Bootstrap\n"
                             "h:1:1 [0] NCCL INFO Channel 00/02 :    0   1\n"
                             "h:1:1 [0] NCCL INFO Channel 01/02 :    1   0\n";
  g_autoptr (FabFileBytes) bytes = fab_file_bytes_new ("nccl.log", text, strlen (text));
  g_autoptr (FabTrace) trace = fab_trace_new ();

  assert_true (fab_file_bytes_next (bytes, NULL) && fab_trace_read_bytes (trace, bytes, NULL));
  assert_int_equal (line_of (trace->notes, FAB_NOTE_READ, "channel 0 goes through"), 2);
  assert_int_equal (line_of (trace->notes, FAB_NOTE_READ, "channel 1 goes through"), 3);
  assert_string_equal (fab_file_note (trace->notes, 0)->file, "nccl.log");
}

/* YAML knows these ends of a line: LF, CR, NEL, LS and PS. It allows no control character but TAB. */
static void
comments_hold_no_end_of_a_line (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *expected;
  } all[] = {
    { "gpu001", "gpu001" },
    { "a\nb: c", "a b: c" },
    { "a\rb", "a b" },
    { "a\xc2\x85"
      "b",
      "a b" },
    { "a\xe2\x80\xa8"
      "b",
      "a b" },
    { "a\xe2\x80\xa9"
      "b",
      "a b" },
    { "a\x7f"
      "b\x01"
      "c",
      "a b c" },
    { "a\xc2\x9b"
      "b",
      "a b" },
    { "\xc3\xa4\xff", "\xc3\xa4\xef\xbf\xbd" },
    { "a\tb", "a b" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    g_autofree char *plain = fab_file_comment (all[i].text);

    assert_string_equal (plain, all[i].expected);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_row_is_found_by_its_name),
    cmocka_unit_test (a_matrix_is_noted_at_its_rows),
    cmocka_unit_test (xml_is_noted_at_its_elements),
    cmocka_unit_test (cables_are_noted_where_they_are_listed),
    cmocka_unit_test (what_a_benchmark_printed_is_left_out_at_its_line),
    cmocka_unit_test (a_log_is_noted_with_its_file),
    cmocka_unit_test (comments_hold_no_end_of_a_line),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
