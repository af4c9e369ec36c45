/* SPDX-License-Identifier: Apache-2.0 */
/* formats.c - the formats that can be read: one row each. Of several that recognise a file the first one reads it. */
#include <string.h>

#include "formats/format.h"

extern const FabFileFormat fab_file_nvidia_smi;
extern const FabFileFormat fab_file_nvidia_nvlink;
extern const FabFileFormat fab_file_nccl_xml;
extern const FabFileFormat fab_file_nccl_tree;
extern const FabFileFormat fab_file_rocm_smi;
extern const FabFileFormat fab_file_amd_smi;
extern const FabFileFormat fab_file_hwloc;
extern const FabFileFormat fab_file_ibnetdiscover;
extern const FabFileFormat fab_file_ibnetdiscover_ports;
extern const FabFileFormat fab_file_iblinkinfo;
extern const FabFileFormat fab_file_lldp;
extern const FabFileFormat fab_file_slurm_topology;
extern const FabFileFormat fab_file_topograph;
extern const FabFileFormat fab_file_huggingface;
extern const FabFileFormat fab_file_perftest;
extern const FabFileFormat fab_file_perftest_json;
extern const FabFileFormat fab_file_p2p;
extern const FabFileFormat fab_file_nvbandwidth;
extern const FabFileFormat fab_file_nvbandwidth_json;
extern const FabFileFormat fab_file_nccl_tests;
extern const FabFileFormat fab_file_kernels;
extern const FabFileFormat fab_file_osu;
extern const FabFileFormat fab_file_fabtests;
extern const FabFileFormat fab_file_csv;
extern const FabFileFormat fab_file_nccl_inspector;
extern const FabFileFormat fab_file_nccl_profiler;
extern const FabFileFormat fab_file_json_trace;
extern const FabFileFormat fab_file_aicb;
extern const FabFileFormat fab_file_simai;
extern const FabFileFormat fab_file_aiob;
extern const FabFileFormat fab_file_xml_trace;
extern const FabFileFormat fab_file_nsys;
extern const FabFileFormat fab_file_nccl_log;
extern const FabFileFormat fab_file_goal;
extern const FabFileFormat fab_file_chakra;
extern const FabFileFormat fab_file_msccl;
extern const FabFileFormat fab_file_teccl;
extern const FabFileFormat fab_file_message_graphs;
extern const FabFileFormat fab_file_swf;
extern const FabFileFormat fab_file_job_table;
extern const FabFileFormat fab_file_torchtitan;
extern const FabFileFormat fab_file_nanotron;
extern const FabFileFormat fab_file_gpt_neox;
extern const FabFileFormat fab_file_composer;
extern const FabFileFormat fab_file_deepspeed;
extern const FabFileFormat fab_file_training_arguments;
extern const FabFileFormat fab_file_accelerate;
extern const FabFileFormat fab_file_megatron;

static const FabFileFormat *const formats[] = {
  /* machines and models */
  &fab_file_nvidia_smi,
  &fab_file_nvidia_nvlink,
  &fab_file_nccl_xml,
  &fab_file_nccl_tree,
  &fab_file_rocm_smi,
  &fab_file_amd_smi,
  &fab_file_hwloc,
  &fab_file_ibnetdiscover,
  &fab_file_ibnetdiscover_ports,
  &fab_file_iblinkinfo,
  &fab_file_lldp,
  &fab_file_slurm_topology,
  &fab_file_topograph,
  &fab_file_huggingface,
  /* measurements */
  &fab_file_perftest,
  &fab_file_perftest_json,
  &fab_file_p2p,
  &fab_file_nvbandwidth,
  &fab_file_nvbandwidth_json,
  &fab_file_nccl_tests,
  &fab_file_kernels,
  &fab_file_osu,
  &fab_file_fabtests,
  &fab_file_csv,
  /* traces; a graph of Chakra has no mark of its own, so it is last */
  &fab_file_nccl_inspector,
  &fab_file_nccl_profiler,
  &fab_file_json_trace,
  &fab_file_aicb,
  &fab_file_simai,
  &fab_file_aiob,
  &fab_file_xml_trace,
  &fab_file_nsys,
  &fab_file_nccl_log,
  &fab_file_goal,
  &fab_file_chakra,
  /* schedules */
  &fab_file_msccl,
  &fab_file_teccl,
  &fab_file_message_graphs,
  /* logs of jobs; a table with a header takes all that is not the other */
  &fab_file_swf,
  &fab_file_job_table,
  /* configurations of jobs; those with the most particular marks first */
  &fab_file_torchtitan,
  &fab_file_nanotron,
  &fab_file_gpt_neox,
  &fab_file_composer,
  &fab_file_deepspeed,
  &fab_file_training_arguments,
  &fab_file_accelerate,
  &fab_file_megatron,
};

const FabFileFormat *
fab_file_format_of (guint kinds, const FabFileText *text)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if ((formats[i]->kind & kinds) != 0 && formats[i]->recognises (text))
      return formats[i];
  return NULL;
}

const FabFileFormat *
fab_file_format_of_bytes (guint kinds, const char *name, const char *bytes, gsize size)
{
  g_autofree char *text = g_malloc (size + 1);

  memcpy (text, bytes, size);
  text[size] = '\0';
  return fab_file_format_of (kinds, &(FabFileText){ name, text, size });
}

const FabFileFormat *
fab_file_format_named (guint kinds, const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if ((formats[i]->kind & kinds) != 0 && strcmp (formats[i]->name, name) == 0)
      return formats[i];
  return NULL;
}

const char **
fab_file_format_names (guint kinds)
{
  GPtrArray *names = g_ptr_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if ((formats[i]->kind & kinds) != 0)
      g_ptr_array_add (names, (gpointer) formats[i]->name);
  g_ptr_array_add (names, NULL);
  return (const char **) g_ptr_array_free (names, FALSE);
}
