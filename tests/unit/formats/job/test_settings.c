/* SPDX-License-Identifier: Apache-2.0 */
/* test_settings.c - configurations of training programs as flat lists: scripts of a shell, TOML, YAML and JSON, each
 * setting with its line. */
#include "tests/support/test.h"

#include <string.h>

#include "formats/format.h"
#include "formats/job/settings.h"

/* "KEY=VALUE@LINE", with "!" behind an argument and ~ for null, and " | " between them; the message where it is
 * refused. (transfer full) */
static char *
flat (const FabJobSettings *settings)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < settings->all->len; i++) {
    const FabJobSetting *setting = &g_array_index (settings->all, FabJobSetting, i);

    g_string_append_printf (out, "%s%s=%s@%u%s", i > 0 ? " | " : "", setting->key,
                            setting->value ? setting->value : "~", setting->line,
                            setting->is_argument ? "!" : "");
  }
  return g_string_free (out, FALSE);
}

static char *
read_all (const char *name, const char *text)
{
  FabFileText file = { name, text, strlen (text) };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabJobSettings) settings = fab_job_settings_read (&file, &error);

  return settings != NULL ? flat (settings) : g_strdup (error->message);
}

typedef struct {
  const char *text, *settings;
} Case;

static void
assert_cases (const char *name, const Case *cases, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_autofree char *found = read_all (name, cases[i].text);

    if (strcmp (found, cases[i].settings) != 0)
      fail_msg ("%s:\n%s\n'%s', and not\n'%s'", name, cases[i].text, found, cases[i].settings);
  }
}

/* --- scripts --- */

static void
words_of_a_script (G_GNUC_UNUSED void **state)
{
  static const Case cases[] = {
    { "--a 1 --b=2 --flag --c-d x\n", "a=1@1! | b=2@1! | flag=@1! | c_d=x@1!" },
    { "x --a\t1\n\n--b 2;--c 3&--d 4|--e 5\n", "a=1@1! | b=2@3! | c=3@3! | d=4@3! | e=5@3!" },
    { "--a -1 --b -x --c -- --d -.5 -e 3\n", "a=-1@1! | b=@1! | c=@1! | d=@1!" },
    { "--a \"x y\" --b 'p \"q\"' --c \"r 's'\" --d x\"y z\"w\n",
      "a=x y@1! | b=p \"q\"@1! | c=r 's'@1! | d=xy zw@1!" },
    { "--a x\\ y --b \"p\\\"q\" --c 'r\\s' --d \\\\\n", "a=x y@1! | b=p\"q@1! | c=r\\s@1! | d=\\@1!" },
    { "--a \"1\n2\" --b 3\n--c 4\n", "a=1\n2@1! | b=3@2! | c=4@3!" },
    { "--a \"1\\\n2\" --b 3\n--c 4\n", "a=12@1! | b=3@2! | c=4@3!" },
    /* a line that goes on: a number is a value there too, and a word is not */
    { "--a \\\n 5 --b \\\n-3 --c \\\nx --d 1\n", "a=5@1! | b=-3@2! | c=@3! | d=1@4!" },
    { "--a\n5\n--b\n\n5\n--c 1\n", "a=5@1! | b=@3! | c=1@6!" },
    { "--a\\\n--b 1\n", "a=@1! | b=1@2!" },
    { "# --a 1\n--b 2 # --c 3\n--d x#y\n", "b=2@2! | d=x#y@3!" },
    { "A=(--x 1 --y-z 2)\n--b 3\n", "x=1@1! | y_z=2@1! | b=3@2!" },
    { "A=\"--x 1\n --y 2\"\nB='--z \"p q\"'\n--b 3\n", "x=1@1! | y=2@2! | z=p q@3! | b=3@4!" },
    { "A=--x\n\"--y 1 --z\"\n--b 3\n", "y=1@2! | z=@2! | b=3@3!" },
    { "A=\"-x --y\" B=\"a--b c\" --c 3\n", "y=@1! | c=3@1!" },
    { "--a $(date --b 1) --c $(f $(g) h)i --d 2\n", "a=$(date --b 1)@1! | c=$(f $(g) h)i@1! | d=2@1!" },
    { "--recompute-modules core_attn moe_act x\n--b 1 y\n",
      "recompute_modules=core_attn moe_act x@1! | b=1@2!" },
    { "N=moe --recompute-modules core $N --b 1\n", "recompute_modules=core moe@1! | b=1@1!" },
    { "--x 1 model.seq=5 ++trainer.devices=8 +a.b=c=d no=1 .x=2 y.=3 1.z=4 --m.n=6\n",
      "x=1@1! | model.seq=5@1 | trainer.devices=8@1 | a.b=c=d@1 | m.n=6@1!" },
    { "x\n", "s.sh: the script has no argument that begins with --" },
    { "--1\n---a\n", "s.sh: the script has no argument that begins with --" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strconcat ("#!/bin/sh\n", cases[i].text, NULL),
                    *found = read_all ("s.sh", text);
    g_auto (GStrv) parts = g_strsplit (cases[i].settings, "@", -1);
    g_autoptr (GString) wanted = g_string_new (parts[0]);

    /* the first line of the script is one more */
    for (guint k = 1; parts[k] != NULL; k++)
      g_string_append_printf (wanted, "@%u%s", (guint) g_ascii_strtoull (parts[k], NULL, 10) + 1,
                              parts[k] + strspn (parts[k], G_CSET_DIGITS));
    if (strcmp (found, wanted->str) != 0)
      fail_msg ("%s\n'%s', and not\n'%s'", text, found, wanted->str);
  }
}

/* What a variable stands for, and what is not known stays as it is written. */
static void
variables_of_a_script (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *word, *value;
  } cases[] = {
    { "$N", "4" },
    { "${N}", "4" },
    { "x${N}y$N", "x4y4" },
    { "${N:-7}", "4" },
    { "${M:-7}", "7" },
    { "${M:=8}", "8" },
    { "${M-9}", "9" },
    { "${E:-5}", "5" },
    { "$E", "" },
    { "$M", "$M" },
    { "${M}", "${M}" },
    { "${M:+x}", "${M:+x}" },
    { "$", "$" },
    { "$N_1", "$N_1" },
    { "${N", "${N" },
    { "$((N))", "4" },
    { "$((N*2))", "8" },
    { "$(( N * 2 * 3 ))", "24" },
    { "$((${N}*2))", "8" },
    { "$((100/7))", "14" },
    { "$((100/7*2))", "28" },
    { "$((7/100))", "$((7/100))" },
    { "$((0*3))", "$((0*3))" },
    { "$((N*M))", "$((N*M))" },
    { "$((N+1))", "$((N+1))" },
    { "$((N*))", "$((N*))" },
    { "$((2147483647*2))", "4294967294" },
    { "$((2147483648*2))", "$((2147483648*2))" },
    { "$((2*2147483648))", "$((2*2147483648))" },
    { "$N-x$M.y", "4-x$M.y" },
    { "$((2147483647*1*1))", "2147483647" },
    { "$((2147483647*2*1))", "$((2147483647*2*1))" },
    { "x$((N*2))y", "x8y" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf ("#!/bin/sh\nN=4; export E=\n1M=3\n--x \"%s\"\n", cases[i].word),
                    *found = read_all ("s.sh", text), *wanted = g_strdup_printf ("x=%s@4!", cases[i].value);

    if (strcmp (found, wanted) != 0)
      fail_msg ("%s: '%s', and not '%s'", cases[i].word, found, wanted);
  }
}

/* How many nodes and GPUs are started: variables of launchers, and the options of Slurm among the comments. */
static void
what_a_script_starts (G_GNUC_UNUSED void **state)
{
  static const Case cases[] = {
    { "#!/bin/sh\nGPUS_PER_NODE=8\nNNODES=$((2*3))\n--a 1\n",
      "a=1@4! | variable.gpus_per_node=8@1! | variable.nodes=6@1!" },
    { "#!/bin/sh\nNUM_NODES=4\nGPUS_PER_NODE=$SLURM_X\n--a 1\n", "a=1@4! | variable.nodes=4@1!" },
    { "#!/bin/sh\n#SBATCH --nodes=4\n#SBATCH --gres=gpu:a100:8 # all\n#SBATCH --time=1:00\n--a 1\n",
      "sbatch.nodes=4@2! | sbatch.gres=8@3! | a=1@5!" },
    { "#!/bin/sh\n#SBATCH -N 2\n#SBATCH --gpus-per-node 4\n#SBATCH --nodes\n# SBATCH -N 3\n--a 1\n",
      "sbatch.nodes=2@2! | sbatch.gpus_per_node=4@3! | a=1@6!" },
    { "#!/bin/sh\n#SBATCH --gpus-per-node=h100:8\n#SBATCH --ntasks 4\n--a 1\n",
      "sbatch.gpus_per_node=8@2! | a=1@4!" },
  };

  assert_cases ("s.sh", cases, G_N_ELEMENTS (cases));
}

/* --- TOML --- */

static void
texts_of_toml (G_GNUC_UNUSED void **state)
{
  static const Case cases[] = {
    { "[t]\na = 1\n", "t.a=1@2" },
    { "b=2\r\n[t]\r\na = 1 \r\n", "b=2@1 | t.a=1@3" },
    { "# c\n\n[t] # d\na = true # e\n  b\t=\t-1_000.5  \n", "t.a=true@4 | t.b=-1_000.5@5" },
    { "[t.u]\na.b = 1\n[ v . \"w x\" ]\n'y'.z = 2\n", "t.u.a.b=1@2 | v.w x.y.z=2@4" },
    { "[t]\na = \"x # y\" # z\nb = 'p\\q'\nc = \"p\\\\q\\\"r\\n\"\nd = ''\n",
      "t.a=x # y@2 | t.b=p\\q@3 | t.c=p\\q\"r\\n@4 | t.d=@5" },
    { "[t]\na = \"\"\"x\n\"y\" z\"\"\"\nb = '''p\nq'r'''\nc = 1\n",
      "t.a=x\n\"y\" z@2 | t.b=p\nq'r@4 | t.c=1@6" },
    { "[t]\na = [1, 2,3]\nb = []\nc = [ \"x\", [ 'y', 4 ], ]\nd = [\n 1, # one\n 2\n]\ne = 1\n",
      "t.a=[1, 2, 3]@2 | t.b=[]@3 | t.c=[x, [y, 4]]@4 | t.d=[1, 2]@5 | t.e=1@9" },
    { "[t]\na = {x = 1, y.z = \"2\"}\nb = {}\nc = { u = { v = 3 }, w = [4] }\n",
      "t.a.x=1@2 | t.a.y.z=2@2 | t.c.u.v=3@4 | t.c.w=[4]@4" },
    { "[[t]]\na = 1\n[[t]]\na = 2\n[[u]]\na = 3\n[t.b]\nc = 4\n",
      "t.0.a=1@2 | t.1.a=2@4 | u.0.a=3@6 | t.b.c=4@8" },
    { "[t]\na = 1979-05-27T07:32:00Z\n", "t.a=1979-05-27T07:32:00Z@2" },
    { "[t]\na = \n", "f.toml:2: TOML: a value is missing" },
    { "[t]\na = # b\n", "f.toml:2: TOML: a value is missing" },
    { "[t\na = 1\n[u]\n", "f.toml:1: TOML: `]` is missing behind the name of a table" },
    { "[[t]\na = 1\n[u]\n", "f.toml:1: TOML: `]]` is missing behind the name of a table" },
    { "[t]\n= 1\n", "f.toml:2: TOML: a key is missing; a line is KEY = VALUE, [TABLE] or a comment" },
    { "[t]\na. = 1\n", "f.toml:2: TOML: a key is missing; a line is KEY = VALUE, [TABLE] or a comment" },
    { "[t]\na 1\n", "f.toml:2: TOML: `=` is missing behind a key" },
    { "[t]\na = 'x\n'\n",
      "f.toml:2: TOML: a string ends at its line; one of several lines has three quotes" },
    { "[t]\na = 'x", "f.toml:2: TOML: a string does not end" },
    { "[t]\na = '''x\ny''", "f.toml:3: TOML: a string does not end" },
    { "[t]\na = [1\n2]\n", "f.toml:3: TOML: `,` or `]` is missing in an array" },
    { "[t]\na = {b = 1 c = 2}\n", "t.a.b=1 c = 2@2" },
    { "[t]\na = {b = 'x' c = 2}\n", "f.toml:2: TOML: `,` or `}` is missing in an inline table" },
    { "[t]\na = 'x' b\n",
      "f.toml:2: TOML: something follows the value at its line; after it comes a line end or a comment" },
    { "[t] a = 1\n[u]\n",
      "f.toml:1: TOML: something follows the value at its line; after it comes a line end or a comment" },
  };

  assert_cases ("f.toml", cases, G_N_ELEMENTS (cases));
}

/* Arrays are nested 32 deep below the value of a key. */
static void
toml_has_a_limit (G_GNUC_UNUSED void **state)
{
  for (guint depth = 31; depth <= 34; depth++) {
    g_autofree char *open = g_strnfill (depth, '['), *close = g_strnfill (depth, ']'),
                    *text = g_strdup_printf ("[t]\na = %s%s\n", open, close),
                    *found = read_all ("f.toml", text), *wanted = g_strdup_printf ("t.a=%s%s@2", open, close);

    assert_string_equal (found, depth <= 33 ? wanted : "f.toml:2: TOML: values are nested deeper than 32");
  }
}

/* --- YAML and JSON --- */

static void
texts_of_yaml (G_GNUC_UNUSED void **state)
{
  static const Case cases[] = {
    { "{\"a\": {\"b\": 1, \"c\": [1, \"x\", null]},\n \"d\": [{\"e\": 2}, 3], \"f\": null}",
      "a.b=1@1 | a.c=[1, x, null]@1 | d.0.e=2@2 | d.1=3@2 | f=~@2" },
    { "a: 1\nb:\n  c: x y\n  d: []\n", "a=1@1 | b.c=x y@3 | b.d=[]@4" },
    { "modules:\n  pre_trainer:\n    overrides:\n      a: 1\n    b: 2\nConfigContainer:\n  c: 3\n",
      "a=1@4 | modules.pre_trainer.b=2@5 | c=3@7" },
    { "ARGS:\n  --a-b: 1\n  --c:\n  x--d: 2\n  --1: 3\n--e: 4\n",
      "a_b=1@2! | c=@3! | ARGS.x--d=2@4 | ARGS.--1=3@5 | e=4@6!" },
    { "a: 1\nb: {c: 2}\na: 3\nb: {d: 4}\n", "a=3@3 | b.d=4@4" },
    { "", "" },
  };

  assert_cases ("f.yaml", cases, G_N_ELEMENTS (cases));
}

static void
keys_that_are_written_twice_are_told (G_GNUC_UNUSED void **state)
{
  static const char text[] = "a: 1\nb: {c: 2}\na: 3\nb: {d: 4}\na: 5\n";
  FabFileText file = { "f.yaml", text, strlen (text) };
  g_autoptr (FabJobSettings) settings = fab_job_settings_read (&file, NULL);

  assert_int_equal (settings->twice->len, 3);
  assert_string_equal (g_ptr_array_index (settings->twice, 0),
                       "f.yaml:3: a is written twice, and the last one counts");
  assert_string_equal (g_ptr_array_index (settings->twice, 1),
                       "f.yaml:4: b is written twice, and the last one counts");
  assert_string_equal (g_ptr_array_index (settings->twice, 2),
                       "f.yaml:5: a is written twice, and the last one counts");
}

/* --- which form a text has --- */

static void
forms_are_told_apart (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name, *text, *settings;
  } cases[] = {
    { "f", "--a 1\n", "a=1@1!" },
    { "f", "  --a 1\n", "a=1@1!" },
    { "f", "x\n\t--a 1\n", "a=1@2!" },
    { "f", "--a: 1\n", "a=1@1!" },
    { "f", "--1: 1\n", "--1=1@1" },
    { "f", "torchrun x.py --a 1\n", "a=1@1!" },
    { "f", "python x.py --a 1\n", "a=1@1!" },
    { "f", "deepspeed x.py --a 1\n", "a=1@1!" },
    { "f", "accelerate launch x.py --a 1\n", "a=1@1!" },
    { "f", "a: b --c\n", "a=b --c@1" },
    { "f", "{\"a\": \"python --b\"}", "a=python --b@1" },
    { "f.yaml", "a: 1 # torchrun x.py --b 2\n", "a=1@1" },
    { "f.yml", "a: 1 # torchrun x.py --b 2\n", "a=1@1" },
    { "f.json", "{\"a\": 1}", "a=1@1" },
    { "f", "[t]\na = 1\n", "t.a=1@2" },
    { "f", "b = 2\n[t]\na = 1\n", "b=2@1 | t.a=1@3" },
    { "f", "[[t]]\na = 1\n", "t.0.a=1@2" },
    { "f", "a:\n- [1, 2]\n", "a.0=[1, 2]@2" },
    { "f", "a: [\n1]\n", "a=[1]@1" },
    { "f", "{\"a\":\n[1]\n}", "a=[1]@2" },
    { "f", "a: 1\n", "a=1@1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *found = read_all (cases[i].name, cases[i].text);

    if (strcmp (found, cases[i].settings) != 0)
      fail_msg ("%s: '%s': '%s', and not '%s'", cases[i].name, cases[i].text, found, cases[i].settings);
  }
}

/* --- looking for settings --- */

static gboolean
is_used (const FabJobSettings *settings, guint index)
{
  return g_array_index (settings->all, FabJobSetting, index).is_used;
}

/* The last one counts. Wherever a key may lie, a null hides no value. */
static void
the_last_setting_counts (G_GNUC_UNUSED void **state)
{
  static const char text[] = "a: {x: 1, z: 5}\nb: {x: 2}\nc: {x: null}\nx: 4\nd: {x: null, y: null}\n";
  FabFileText file = { "f.yaml", text, strlen (text) };
  g_autoptr (FabJobSettings) settings = fab_job_settings_read (&file, NULL);

  assert_string_equal (fab_job_settings_find (settings, "b.x")->value, "2");
  assert_true (is_used (settings, 2));
  assert_false (is_used (settings, 0) || is_used (settings, 1) || is_used (settings, 3));
  assert_null (fab_job_settings_find (settings, "c.x")->value);
  assert_string_equal (fab_job_settings_find (settings, "x")->value, "4");
  assert_int_equal (fab_job_settings_find (settings, "*.x")->line, 4);
  assert_null (fab_job_settings_find (settings, "*.y")->value);
  assert_null (fab_job_settings_find (settings, "*.a"));
  assert_null (fab_job_settings_find (settings, "a"));
  for (guint i = 0; i < settings->all->len; i++)
    assert_true (is_used (settings, i) == (i != 1)); /* all but a.z */

  g_autoptr (FabJobSettings) twice = fab_job_settings_section (settings, "a.");
  g_autofree char *section = flat (twice);
  assert_string_equal (section, "x=1@1 | z=5@1");
  assert_true (is_used (settings, 1));
  assert_false (is_used (twice, 0) || is_used (twice, 1));
  assert_ptr_equal (twice->file, settings->file);
}

static void
dashes_become_underscores (G_GNUC_UNUSED void **state)
{
  static const char text[] = "a-b-c: x-y\n\" d-e \": 1\n";
  FabFileText file = { "f.yaml", text, strlen (text) };
  g_autoptr (FabJobSettings) settings = fab_job_settings_read (&file, NULL);

  fab_job_settings_underscore (settings);
  g_autofree char *found = flat (settings);
  assert_string_equal (found, "a_b_c=x-y@1 | d_e=1@2");
}

/* Each mark of a training program is enough, and half of one is not. */
static void
programs_are_known_by_their_marks (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *format; /* NULL: none */
  } cases[] = {
    { "framework: torchtitan", "torchtitan" },
    { "[training]\ntensor_parallel_degree", "torchtitan" },
    { "[training]\n[parallelism]", "torchtitan" },
    { "[training]\nseq_len", "torchtitan" },
    { "[training]", NULL },
    { "seq_len", NULL },
    { "batch_accumulation_per_replica\nparallelism:", "nanotron" },
    { "batch_accumulation_per_replica", NULL },
    { "parallelism:", NULL },
    { "pipe_parallel_size", "gpt-neox" },
    { "deepspeed_slurm", "gpt-neox" },
    { "device_train_microbatch_size", "composer" },
    { "global_train_batch_size: 8\nfsdp", "composer" },
    { "global_train_batch_size: 8", NULL },
    { "{\"zero_optimization\"}", "deepspeed" },
    { "{\"train_micro_batch_size_per_gpu\"}", "deepspeed" },
    { "{\"train_batch_size\"}", "deepspeed" },
    { "\"train_batch_size\"", NULL },
    { "{\"train_batch_size\", \"per_device_train_batch_size\"}", "training-arguments" },
    { "per_device_train_batch_size", "training-arguments" },
    { "base_model: x\nsequence_len: 1", "training-arguments" },
    { "base_model: x", NULL },
    { "sequence_len: 1", NULL },
    { "distributed_type: FSDP", "accelerate" },
    { "fsdp_config: {}", "accelerate" },
    { "fsdp_sharding_strategy: 1", "accelerate" },
    { "fsdp_sharding_strategy: 1\ntensor_model_parallel_size: 2", "megatron" },
    { "fsdp_reshard_after_forward: 1", "accelerate" },
    { "tensor-model-parallel-size", "megatron" },
    { "tensor_model_parallel_size", "megatron" },
    { "framework: megatron", "megatron" },
    { "--num-layers 2 --hidden-size 3", "megatron" },
    { "--num-layers 2", NULL },
    { "--hidden-size 3", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabFileText file = { "x", cases[i].text, strlen (cases[i].text) };
    const FabFileFormat *format = fab_file_format_of (FAB_FILE_JOB, &file);

    if (g_strcmp0 (format != NULL ? format->name : NULL, cases[i].format) != 0)
      fail_msg ("%s: %s", cases[i].text, format != NULL ? format->name : "none");
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (words_of_a_script),
    cmocka_unit_test (variables_of_a_script),
    cmocka_unit_test (what_a_script_starts),
    cmocka_unit_test (texts_of_toml),
    cmocka_unit_test (toml_has_a_limit),
    cmocka_unit_test (texts_of_yaml),
    cmocka_unit_test (keys_that_are_written_twice_are_told),
    cmocka_unit_test (forms_are_told_apart),
    cmocka_unit_test (the_last_setting_counts),
    cmocka_unit_test (dashes_become_underscores),
    cmocka_unit_test (programs_are_known_by_their_marks),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
