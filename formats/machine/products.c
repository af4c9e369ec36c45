/* SPDX-License-Identifier: Apache-2.0 */
/* products.c - accelerators by the names that drivers print: "NVIDIA H100 80GB HBM3", "Tesla V100-SXM2-16GB".
 *
 * Names as NVML and ROCm print them, in public outputs of nvidia-smi -L, nvidia-smi and rocm-smi. Drivers 470 to 515
 * cut a name to 18 characters in the table of nvidia-smi ("NVIDIA A100-SXM..."), whose memory then decides.
 */
#include <string.h>

#include "formats/machine/known.h"

typedef struct {
  const char *name;        /* a part of what is printed; the first row that fits counts */
  const char *accelerator; /* catalogue entry */
  const char *memory;      /* that must stand in the text too; NULL: nothing must */
  const char *stands_for;  /* the product, where the catalogue lacks it; NULL: the entry is it */
} Product;

static const Product products[] = {
  { "GB300", "gb300", NULL, NULL },
  { "GB200", "gb200", NULL, NULL },
  { "GH200 144G", "gh200-144gb", NULL, NULL },
  { "GH200 120GB", "gh200-120gb", NULL, NULL },
  { "GH200", "gh200-96gb", NULL, NULL },
  { "B300", "b300-sxm", NULL, NULL },
  { "B200", "b200-sxm", NULL, NULL },
  { "H200 NVL", "h200-sxm5", NULL, "H200 NVL" },
  { "H200", "h200-sxm5", NULL, NULL },
  { "H100 NVL", "h100-nvl-94gb", NULL, NULL },
  { "H100 PCIe", "h100-pcie-80gb", NULL, NULL },
  { "H100 80GB HBM2e", "h100-pcie-80gb", NULL, NULL },
  { "H100 64GB HBM2", "h100-sxm5-64gb", NULL, NULL },
  { "H100", "h100-sxm5-80gb", NULL, NULL },
  { "H800", "h800-sxm5", NULL, NULL },
  { "H20", "h20-sxm5", NULL, NULL },
  { "A100-SXM-64GB", "a100-sxm4-64gb", NULL, NULL },
  { "A100-SXM4-40GB", "a100-sxm4-40gb", NULL, NULL },
  { "A100-SXM4-80GB", "a100-sxm4-80gb", NULL, NULL },
  { "A100-SXM", "a100-sxm4-40gb", "/ 40", NULL },
  { "A100-SXM", "a100-sxm4-80gb", NULL, NULL },
  { "A100 80G", "a100-pcie-80gb", NULL, NULL },
  { "A100-PCIE-80GB", "a100-pcie-80gb", NULL, NULL },
  { "A100-PCI", "a100-pcie-40gb", NULL, NULL },
  { "A800-SXM4", "a800-sxm4-80gb", NULL, NULL },
  { "A30", "a30", NULL, NULL },
  { "A10G", "a10g", NULL, NULL },
  { "A40", "rtx-a6000", NULL, "A40" },
  { "RTX A6000", "rtx-a6000", NULL, NULL },
  { "RTX A5000", "rtx-a5000", NULL, NULL },
  { "L40S", "l40s", NULL, NULL },
  { "L40", "l40", NULL, NULL },
  { "L4", "l4", NULL, NULL },
  { "RTX 6000 Ada", "rtx6000-ada", NULL, NULL },
  { "RTX PRO 6000", "rtx-pro-6000", NULL, NULL },
  { "RTX 5090", "rtx5090", NULL, NULL },
  { "RTX 4090", "rtx4090", NULL, NULL },
  { "RTX 3090", "rtx3090", NULL, NULL },
  { "RTX 2080 Ti", "rtx2080ti", NULL, NULL },
  { "V100-SXM3", "v100-sxm3-32gb", NULL, NULL },
  { "V100-SXM2-32GB", "v100-sxm2-32gb", NULL, NULL },
  { "V100-SXM2-16GB", "v100-sxm2-16gb", NULL, NULL },
  { "V100-SXM2", "v100-sxm2-32gb", "/ 32", NULL },
  { "V100-SXM2", "v100-sxm2-16gb", NULL, NULL },
  { "V100-PCIE-16GB", "v100-pcie-16gb", NULL, NULL },
  { "V100-PCI", "v100-pcie-16gb", NULL, "V100 PCIe" },
  { "P100-SXM2", "p100-sxm2", NULL, NULL },
  { "T4", "t4", NULL, NULL },
  { "MI355X", "mi355x", NULL, NULL },
  { "MI350X", "mi350x", NULL, NULL },
  { "MI325X", "mi325x", NULL, NULL },
  { "MI308X", "mi308x", NULL, NULL },
  { "MI300X", "mi300x", NULL, NULL },
  { "MI300A", "mi300a", NULL, NULL },
  { "MI250X", "mi250x-gcd", NULL, NULL },
  { "MI250", "mi250-gcd", NULL, NULL },
  { "MI210", "mi210", NULL, NULL },
  { "MI100", "mi100", NULL, NULL },
  { "MI60", "mi50", NULL, "MI60" },
  { "MI50", "mi50", NULL, NULL },
};

/* Whether the name that is found there is one by itself, and a maker's name stands before it in its line. */
static gboolean
is_product (const FabFileText *file, const char *found, const char *name)
{
  static const char *const makers[] = { "NVIDIA", "Tesla", "GeForce", "Quadro", "AMD", "Instinct" };
  const char *end = file->text + file->size, *behind = found + strlen (name), *line = found;

  if ((found > file->text && g_ascii_isalnum (found[-1])) || (behind < end && g_ascii_isdigit (*behind)))
    return FALSE;
  if (behind < end && g_ascii_isalpha (*behind) && g_ascii_isdigit (behind[-1]))
    return FALSE; /* L40S is no L40 */
  while (line > file->text && line[-1] != '\n')
    line--;
  for (guint i = 0; i < G_N_ELEMENTS (makers); i++)
    if (g_strstr_len (line, found - line, makers[i]) != NULL)
      return TRUE;
  return FALSE;
}

static const char *
find_product (const FabFileText *file, const Product *product)
{
  const char *at = file->text, *end = file->text + file->size;

  if (product->memory != NULL && !fab_file_text_has (file, product->memory))
    return NULL;
  while ((at = g_strstr_len (at, end - at, product->name)) != NULL) {
    if (is_product (file, at, product->name))
      return at;
    at++;
  }
  return NULL;
}

gboolean
fab_known_accelerator_in_text (FabImportedMachine *machine, const FabFileText *file)
{
  for (guint i = 0; i < G_N_ELEMENTS (products); i++) {
    const char *found = find_product (file, &products[i]);
    guint line = 1;

    if (found == NULL)
      continue;
    for (const char *c = file->text; c < found; c++)
      line += *c == '\n';
    if (products[i].stands_for == NULL)
      fab_imported_machine_read (machine, line, "accelerator: %s, as line %u names %s",
                                 products[i].accelerator, line, products[i].name);
    else
      fab_imported_machine_infer (
          machine, line,
          "accelerator: %s stands in for %s, which line %u names and the catalogue lacks; "
          "--accelerator names another",
          products[i].accelerator, products[i].stands_for, line);
    machine->accelerator = products[i].accelerator;
    return TRUE;
  }
  return FALSE;
}
