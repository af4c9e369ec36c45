/* SPDX-License-Identifier: Apache-2.0 */
/* test_launch_line.c - lines that start nccl-tests, and the options of `fabricast collective` that they stand for.
 */
#include "tests/support/test.h"

#include "cli/run/launch_line.h"

/* The words of `line` after the name of the program, joined again; NULL: it is refused, with this message. */
static void
assert_line (const char *line, const char *options, const char *message)
{
  g_autofree char *whole = g_strconcat ("fabricast ", line, NULL);
  g_auto (GStrv) words = g_strsplit (whole, " ", -1), expanded = NULL;
  g_autoptr (GError) error = NULL;
  char **argv = words;
  int argc = (int) g_strv_length (words);
  gboolean is_read = launch_line_expand (&argc, &argv, &expanded, &error);

  if (message != NULL) {
    assert_false (is_read);
    assert_non_null (error);
    assert_string_equal (error->message, message);
    return;
  }
  assert_true (is_read);
  assert_null (error);
  g_autofree char *joined = g_strjoinv (" ", argv), *wanted = g_strconcat ("fabricast ", options, NULL);
  if (strcmp (joined, wanted) != 0)
    fail_msg ("%s is read as %s, and not as %s", line, joined, wanted);
  assert_int_equal (argc, g_strv_length (argv));
  assert_ptr_equal (argv == words ? NULL : expanded[1], argv == words ? NULL : argv[1]);
  if (argv != words)
    g_free (argv);
}

static void
stands_for (const char *line, const char *options)
{
  assert_line (line, options, NULL);
}

/* Two nodes of eight ranks. */
#define TWO_NODES "--nodes=2 --gpus-per-node=8 --ngpus=1 --nthreads=8"

static void
test_launchers (G_GNUC_UNUSED void **state)
{
  static const char *const launchers[] = { "mpirun",        "mpiexec", "mpirun.mpich",
                                           "mpiexec.hydra", "orterun", "/opt/bin/mpirun" };
  static const char *const ranks[] = { "-np 16", "--np 16", "-n 16", "--n 16", "-c 16",
                                       "-np=16", "-n16",    "-c16",  NULL };
  static const char *const each[] = { "-N 8",
                                      "-npernode 8",
                                      "--npernode 8",
                                      "-ppn 8",
                                      "--ppn 8",
                                      "-perhost 8",
                                      "-N8",
                                      "--ppn=8",
                                      "-H a:8,b:8",
                                      "--host a:8,b:8",
                                      "-host a:8,b:8",
                                      "-hosts a:8,b:8",
                                      "--hosts a:8,b:8",
                                      "--map-by ppr:8:node",
                                      "-map-by ppr:8:node",
                                      "--map-by ppr:8:node:PE=4",
                                      "-H a,b",
                                      NULL };

  for (guint i = 0; i < G_N_ELEMENTS (launchers); i++)
    for (guint k = 0; ranks[k] != NULL; k++)
      for (guint l = 0; each[l] != NULL; l++) {
        g_autofree char *line = g_strdup_printf ("%s %s --bind-to none %s all_gather_perf", launchers[i],
                                                 ranks[k], each[l]);
        g_autofree char *other = g_strdup_printf ("%s %s %s all_gather_perf", launchers[i], each[l],
                                                  ranks[k]);

        stands_for (line, "--op=all_gather " TWO_NODES);
        stands_for (other, "--op=all_gather " TWO_NODES);
      }
}

static void
test_slurm (G_GNUC_UNUSED void **state)
{
  static const char *const lines[] = { "-N 2 -n 16",
                                       "-N2 -n16",
                                       "--nodes=2 --ntasks=16",
                                       "--nodes 2 --ntasks-per-node 8",
                                       "-n 16 --ntasks-per-node=8",
                                       "--tasks-per-node=8 -N 2",
                                       "-n 16 --tasks-per-node 8 --mpi=pmix" };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_autofree char *line = g_strdup_printf ("/usr/bin/srun %s alltoall_perf_mpi", lines[i]);

    stands_for (line, "--op=alltoall " TWO_NODES);
  }
  stands_for ("srun -N 2 -n 16 --export=ALL,NCCL_ALGO=Ring,X=1 alltoall_perf",
              "--env=NCCL_ALGO=Ring --env=X=1 --op=alltoall " TWO_NODES);
  stands_for ("srun --export=A=1,ALL alltoall_perf", "--env=A=1 --op=alltoall --ngpus=1");
  stands_for ("srun --export ALL alltoall_perf", "--op=alltoall --ngpus=1");
}

/* The first number of ranks of a node that is said counts. Numbers that are none, or 0, say nothing. */
static void
test_ranks (G_GNUC_UNUSED void **state)
{
  stands_for ("mpirun -np 8 -N 4 -H a:8,b:8 all_reduce_perf",
              "--op=all_reduce --nodes=2 --gpus-per-node=4 --ngpus=1 --nthreads=4");
  stands_for ("mpirun -H a:4,b:8,c:8 all_reduce_perf",
              "--op=all_reduce --nodes=3 --gpus-per-node=4 --ngpus=1 --nthreads=4");
  stands_for ("mpirun -H a all_reduce_perf", "--op=all_reduce --nodes=1 --ngpus=1");
  stands_for ("mpirun -np 1 all_reduce_perf", "--op=all_reduce --ngpus=1");
  stands_for ("mpirun -np 1 -H a all_reduce_perf", "--op=all_reduce --nodes=1 --gpus-per-node=1 --ngpus=1");
  stands_for ("mpirun -np 1 -N 1 all_reduce_perf", "--op=all_reduce --nodes=1 --gpus-per-node=1 --ngpus=1");
  stands_for ("mpirun -np 8 -H a all_reduce_perf",
              "--op=all_reduce --nodes=1 --gpus-per-node=8 --ngpus=1 --nthreads=8");
  stands_for ("mpirun -np 0 all_reduce_perf", "--op=all_reduce --ngpus=1");
  stands_for ("mpirun -np many all_reduce_perf", "--op=all_reduce --ngpus=1");
  stands_for ("mpirun -N 2 all_reduce_perf", "--op=all_reduce --gpus-per-node=2 --ngpus=1 --nthreads=2");
  stands_for ("mpirun -np 2 -N 2 all_reduce_perf",
              "--op=all_reduce --nodes=1 --gpus-per-node=2 --ngpus=1 --nthreads=2");
  stands_for ("mpirun -np 2 -N 1 all_reduce_perf", "--op=all_reduce --nodes=2 --gpus-per-node=1 --ngpus=1");
  stands_for ("mpirun -np 4294967295 -N 1 all_reduce_perf",
              "--op=all_reduce --nodes=4294967295 --gpus-per-node=1 --ngpus=1");
  stands_for ("mpirun -np 4294967296 all_reduce_perf", "--op=all_reduce --ngpus=1");
}

/* GPUs of a node: ranks x threads x GPUs of a thread. */
static void
test_threads_and_gpus (G_GNUC_UNUSED void **state)
{
  stands_for ("all_reduce_perf", "--op=all_reduce --ngpus=1");
  stands_for ("all_reduce_perf -g 8", "--op=all_reduce --ngpus=8");
  stands_for ("all_reduce_perf -t 2 -g 4", "--op=all_reduce --ngpus=4 --nthreads=2");
  stands_for ("all_reduce_perf --nthreads 2 --ngpus=4", "--op=all_reduce --ngpus=4 --nthreads=2");
  stands_for ("mpirun -np 2 -N 1 all_reduce_perf -g 8",
              "--op=all_reduce --nodes=2 --gpus-per-node=8 --ngpus=8");
  stands_for ("mpirun -np 2 -N 1 all_reduce_perf -t 2 -g4",
              "--op=all_reduce --nodes=2 --gpus-per-node=8 --ngpus=4 --nthreads=2");
  stands_for ("mpirun -np 4 -N 2 all_reduce_perf -t2 -g 2",
              "--op=all_reduce --nodes=2 --gpus-per-node=8 --ngpus=2 --nthreads=4");
}

static void
test_options_of_nccl_tests (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *letter, *word, *option;
  } same[] = { { "-b", "--minbytes", "--minbytes" },     { "-e", "--maxbytes", "--maxbytes" },
               { "-f", "--stepfactor", "--stepfactor" }, { "-i", "--stepbytes", "--stepbytes" },
               { "-n", "--iters", "--iters" },           { "-w", "--warmup_iters", "--warmup_iters" },
               { "-c", "--check", "--check-data" },      { "-d", "--datatype", "--datatype" } };

  for (guint i = 0; i < G_N_ELEMENTS (same); i++) {
    g_autofree char *options = g_strdup_printf ("--op=broadcast %s=17 --ngpus=1", same[i].option);
    char *lines[] = { g_strdup_printf ("broadcast_perf %s 17", same[i].letter),
                      g_strdup_printf ("broadcast_perf %s17", same[i].letter),
                      g_strdup_printf ("broadcast_perf %s 17", same[i].word),
                      g_strdup_printf ("broadcast_perf -o sum -z 0 --op=sum %s=17 -G 0", same[i].word),
                      g_strdup_printf ("broadcast_perf %s 17 -b", same[i].letter),
                      g_strdup_printf ("broadcast_perf word %s 17 word", same[i].letter) };

    for (guint k = 0; k < G_N_ELEMENTS (lines); k++) {
      stands_for (lines[k], options);
      g_free (lines[k]);
    }
  }
  stands_for ("broadcast_perf -b 8 -e 1G -f 2",
              "--op=broadcast --minbytes=8 --maxbytes=1G --stepfactor=2 --ngpus=1");
}

static void
test_variables (G_GNUC_UNUSED void **state)
{
  stands_for ("mpirun -x NCCL_ALGO=Ring -x PATH -genv A=1 all_reduce_perf",
              "--env=NCCL_ALGO=Ring --env=PATH --env=A=1 --op=all_reduce --ngpus=1");
  stands_for ("NCCL_ALGO=Ring NCCL_PROTO=LL mpirun all_reduce_perf",
              "--env=NCCL_ALGO=Ring --env=NCCL_PROTO=LL --op=all_reduce --ngpus=1");
  stands_for ("mpirun env NCCL_ALGO=Ring OTHER=1 all_reduce_perf",
              "--env=NCCL_ALGO=Ring --op=all_reduce --ngpus=1");
  stands_for ("OTHER=1 all_reduce_perf", "--op=all_reduce --ngpus=1 OTHER=1");
  /* the variable of an option of `fabricast collective` itself */
  stands_for ("-x NCCL_ALGO=Ring all_reduce_perf", "--op=all_reduce --ngpus=1 -x NCCL_ALGO=Ring");
  stands_for ("--env NCCL_ALGO=Ring all_reduce_perf", "--op=all_reduce --ngpus=1 --env NCCL_ALGO=Ring");
  stands_for ("-x NCCL_ALGO=Ring NCCL_PROTO=LL all_reduce_perf",
              "--env=NCCL_PROTO=LL --op=all_reduce --ngpus=1 -x NCCL_ALGO=Ring");
}

static void
test_what_stands_before (G_GNUC_UNUSED void **state)
{
  static const char *const values[] = { "-J", "--json", "--check", "--with", "-o", "--op", "--node" };

  stands_for ("--nic ib-hdr -- all_reduce_perf -b 8", "--op=all_reduce --minbytes=8 --ngpus=1 --nic ib-hdr");
  stands_for ("--no-band mpirun all_reduce_perf", "--op=all_reduce --ngpus=1 --no-band");
  /* words that begin no line */
  stands_for ("--nodes 2 --op all_reduce", "--nodes 2 --op all_reduce");
  stands_for ("NCCL_ALGO=Ring --nodes 2", "NCCL_ALGO=Ring --nodes 2");
  stands_for ("a=all_reduce_perf all_reduce_performance all_reduce_perf_cuda train.py",
              "a=all_reduce_perf all_reduce_performance all_reduce_perf_cuda train.py");
  for (guint i = 0; i < G_N_ELEMENTS (values); i++) {
    g_autofree char *program = g_strdup_printf ("%s all_reduce_perf", values[i]),
                    *launcher = g_strdup_printf ("%s mpirun", values[i]);

    stands_for (program, program);
    stands_for (launcher, launcher);
  }
}

static void
test_lines_that_are_refused (G_GNUC_UNUSED void **state)
{
  assert_line ("mpirun -np 16 ./train.py", NULL,
               "mpirun: the line starts no program of nccl-tests, such as ./build/all_reduce_perf");
  assert_line ("NCCL_ALGO=Ring /usr/bin/srun -n 16", NULL,
               "srun: the line starts no program of nccl-tests, such as ./build/all_reduce_perf");
  assert_line ("mpirun -np 15 -N 8 all_reduce_perf", NULL,
               "the line starts 15 ranks, which are not 1 nodes with 8 each; make -np their product");
  assert_line ("mpirun -np 17 -H a:8,b:8 all_reduce_perf", NULL,
               "the line starts 17 ranks, which are not 2 nodes with 8 each; make -np their product");
  assert_line ("mpirun -np 2 -N 1 -H a all_reduce_perf", NULL,
               "the line starts 2 ranks, which are not 1 nodes with 1 each; make -np their product");
  assert_line ("mpirun -np 1 -N 2 -H a,b all_reduce_perf", NULL,
               "the line starts 1 ranks, which are not 2 nodes with 2 each; make -np their product");
  /* fewer ranks than a node takes, or than there are nodes */
  assert_line ("mpirun -np 4 -N 8 all_reduce_perf", NULL,
               "the line starts 4 ranks, which are not 1 nodes with 8 each; make -np their product");
  assert_line ("srun -n 1 -N 2 all_reduce_perf", NULL,
               "the line starts 1 ranks, which are not 2 nodes with 1 each; make -np their product");
  for (guint i = 0; i < 3; i++) {
    static const char *const lines[] = { "mpirun -np 2 all_reduce_perf",
                                         "mpirun -np 2 --map-by slot all_reduce_perf",
                                         "mpirun -np 2 --map-by ppr:8:socket all_reduce_perf" };

    assert_line (
        lines[i], NULL,
        "the line starts 2 ranks and does not say how many each node has; add -N RANKS or -H NODE:RANKS,... to it");
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_launchers),
    cmocka_unit_test (test_slurm),
    cmocka_unit_test (test_ranks),
    cmocka_unit_test (test_threads_and_gpus),
    cmocka_unit_test (test_options_of_nccl_tests),
    cmocka_unit_test (test_variables),
    cmocka_unit_test (test_what_stands_before),
    cmocka_unit_test (test_lines_that_are_refused),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
