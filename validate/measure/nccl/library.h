/* SPDX-License-Identifier: Apache-2.0 */
/* library.h - declares the NCCL functions in use; the library is found at run time.
 *
 * Names and numbers are those of NCCL 2's ABI. The environment variable FABRICAST_NCCL names another library than
 * libnccl.so.2; tests use it.
 */
#pragma once

#include "validate/measure/cuda/driver.h"

typedef int NcclResult; /* 0: success */
typedef struct NcclCommOpaque *NcclComm;

enum { NCCL_OK = 0 };
enum { NCCL_FLOAT32 = 7 };
enum { NCCL_SUM = 0 };

typedef struct {
  GModule *module;
  NcclResult (*version) (int *version);
  const char *(*error_string) (NcclResult result);
  const char *(*last_error) (NcclComm comm); /* NULL: versions before 2.13 lack it */
  NcclResult (*comm_init_all) (NcclComm *comms, int n, const int *devices);
  NcclResult (*comm_destroy) (NcclComm comm);
  NcclResult (*comm_abort) (NcclComm comm);
  NcclResult (*comm_async_error) (NcclComm comm, NcclResult *result);
  NcclResult (*group_start) (void);
  NcclResult (*group_end) (void);
  NcclResult (*all_reduce) (CuPointer from, CuPointer to, gsize n, int type, int op, NcclComm comm,
                            CuStream stream);
  NcclResult (*all_gather) (CuPointer from, CuPointer to, gsize n_sent, int type, NcclComm comm,
                            CuStream stream);
  NcclResult (*reduce_scatter) (CuPointer from, CuPointer to, gsize n_received, int type, int op,
                                NcclComm comm, CuStream stream);
  NcclResult (*broadcast) (CuPointer from, CuPointer to, gsize n, int type, int root, NcclComm comm,
                           CuStream stream);
  NcclResult (*reduce) (CuPointer from, CuPointer to, gsize n, int type, int op, int root, NcclComm comm,
                        CuStream stream);
  NcclResult (*send) (CuPointer from, gsize n, int type, int peer, NcclComm comm, CuStream stream);
  NcclResult (*receive) (CuPointer to, gsize n, int type, int peer, NcclComm comm, CuStream stream);
} FabNccl;

/* Loads the library and looks up every function. Fails with FAB_ERROR_UNSUPPORTED and what is missing. (transfer
 * full) */
FabNccl *fab_nccl_open (GError **error);
void fab_nccl_close (FabNccl *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabNccl, fab_nccl_close)

/* Returns TRUE when `result` is NCCL_OK, else FALSE with "DOING: unhandled system error". */
gboolean fab_nccl_check (const FabNccl *self, NcclResult result, const char *doing, GError **error);

char *fab_nccl_version (const FabNccl *self); /* "2.21.5"; (transfer full) */
