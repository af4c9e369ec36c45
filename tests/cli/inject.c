/* SPDX-License-Identifier: Apache-2.0 */
/* inject.c - a library that is preloaded (LD_PRELOAD) and makes one system call of a program fail.
 *
 *   FAB_FAULT=FAMILY:N:HOW   the N-th call of the family: "write:3:ENOSPC", "read:1:short", "close:2:EIO+"
 *   FAB_FAULT_LOG=FILE       gets a line when that happens; without a line the program made fewer calls
 *   FAB_FAULT_CLOCK=N        from the N-th look on, the clock of the day is an hour earlier
 *
 * With "+" all later calls of the family fail too, as on a disk that stays full. "short" transfers half of the bytes.
 *
 * The C library makes most calls itself (stdio, SQLite's file layer, GLib), where no symbol can be replaced. So the
 * kernel is asked to trap the calls (seccomp), and the signal's handler makes them, or not. It makes them through
 * syscall (), whose address the filter lets pass. Calls on standard error are not counted: the sentence goes there.
 * Memory is not made scarce: GLib ends the program when malloc () fails, and cli/main.c turns that into a sentence.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { MOST_CALLS = 8, SYSCALL_BYTES = 64, LOG_FD = 700, HOUR_S = 3600, N_ARGUMENTS = 6 };

typedef struct {
  const char *name;
  int n, calls[MOST_CALLS];
} Family;

static const Family families[] = {
  { "write", 3, { SYS_write, SYS_pwrite64, SYS_writev } },
  { "read", 3, { SYS_read, SYS_pread64, SYS_readv } },
  { "sync", 2, { SYS_fsync, SYS_fdatasync } },
  { "close", 1, { SYS_close } },
  { "open", 1, { SYS_openat } },
  { "truncate", 2, { SYS_ftruncate, SYS_fallocate } },
  { "map", 1, { SYS_mmap } },
  { "receive", 2, { SYS_recvfrom, SYS_recvmsg } },
  { "send", 2, { SYS_sendto, SYS_sendmsg } },
#ifdef SYS_accept
  { "accept", 2, { SYS_accept, SYS_accept4 } },
#else
  { "accept", 1, { SYS_accept4 } },
#endif
#ifdef SYS_rename
  { "rename", 3, { SYS_rename, SYS_renameat, SYS_renameat2 } },
  { "unlink", 2, { SYS_unlink, SYS_unlinkat } },
#else
  { "rename", 2, { SYS_renameat, SYS_renameat2 } },
  { "unlink", 1, { SYS_unlinkat } },
#endif
};

typedef struct {
  const char *name;
  int number;
} Error;

static const Error errors[] = { { "ENOSPC", ENOSPC }, { "EIO", EIO },       { "EINTR", EINTR },
                                { "EMFILE", EMFILE }, { "EACCES", EACCES }, { "short", 0 } };

static struct {
  const Family *family;
  int nth, error; /* 0: short */
  int stays;
  atomic_int n_seen;
} fault;

/* --- a call --- */

static const char *
name_of (long call, const long *arguments, char *link, size_t size)
{
  char path[64];
  long n;

  if (call == SYS_openat)
    return (const char *) arguments[1];
  if (fault.family->calls[0] == SYS_renameat || strcmp (fault.family->name, "rename") == 0)
    return "a rename";
  if (strcmp (fault.family->name, "unlink") == 0)
    return "an unlink";
  snprintf (path, sizeof path, "/proc/self/fd/%ld", call == SYS_mmap ? arguments[4] : arguments[0]);
  n = syscall (SYS_readlinkat, AT_FDCWD, path, link, size - 1);
  link[n > 0 ? n : 0] = '\0';
  return link;
}

static void
note (long call, const long *arguments, int nth)
{
  char link[256], line[512];
  int n = snprintf (line, sizeof line, "%s %d: %s\n", fault.family->name, nth,
                    name_of (call, arguments, link, sizeof link));

  syscall (SYS_write, LOG_FD, line, n);
}

static int
is_counted (long call, const long *arguments)
{
  if (call == SYS_mmap)
    return (arguments[3] & MAP_ANONYMOUS) == 0;
  return call == SYS_openat || strcmp (fault.family->name, "rename") == 0
      || strcmp (fault.family->name, "unlink") == 0
      || (arguments[0] != STDERR_FILENO && arguments[0] != LOG_FD);
}

static long
raw (long call, const long *a)
{
  long result = syscall (call, a[0], a[1], a[2], a[3], a[4], a[5]);

  return result == -1 ? -errno : result;
}

static long
answer (long call, long *arguments)
{
  int nth = is_counted (call, arguments) ? atomic_fetch_add (&fault.n_seen, 1) + 1 : 0;

  if (nth != fault.nth && !(fault.stays && nth > fault.nth))
    return raw (call, arguments);
  if (nth == fault.nth)
    note (call, arguments, nth);
  if (call == SYS_close) /* the descriptor is gone all the same */
    raw (call, arguments);
  if (fault.error != 0)
    return -fault.error;
  if (call != SYS_writev && call != SYS_readv && call != SYS_sendmsg && call != SYS_recvmsg
      && arguments[2] > 1)
    arguments[2] /= 2;
  return raw (call, arguments);
}

static void
trapped (int number, siginfo_t *info, void *context)
{
  ucontext_t *at = context;
  int kept = errno;
  long arguments[N_ARGUMENTS];

  (void) number;
#ifdef __x86_64__
  static const int registers[N_ARGUMENTS] = { REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9 };

  for (int i = 0; i < N_ARGUMENTS; i++)
    arguments[i] = at->uc_mcontext.gregs[registers[i]];
  at->uc_mcontext.gregs[REG_RAX] = answer (info->si_syscall, arguments);
#else
  for (int i = 0; i < N_ARGUMENTS; i++)
    arguments[i] = (long) at->uc_mcontext.regs[i];
  at->uc_mcontext.regs[0] = (unsigned long long) answer (info->si_syscall, arguments);
#endif
  errno = kept;
}

/* --- the filter --- */

static struct sock_filter
statement (uint16_t code, uint32_t value)
{
  return (struct sock_filter) BPF_STMT (code, value);
}

static struct sock_filter
jump (uint16_t kind, uint32_t value, uint8_t if_true, uint8_t if_false)
{
  return (struct sock_filter) BPF_JUMP ((uint16_t) (BPF_JMP | kind | BPF_K), value, if_true, if_false);
}

static int
trap_calls (void)
{
  enum { LOAD = BPF_LD | BPF_W | BPF_ABS, RETURN = BPF_RET | BPF_K };
  uint64_t from = (uint64_t) (uintptr_t) dlsym (RTLD_NEXT, "syscall");
  const uint32_t counter = offsetof (struct seccomp_data, instruction_pointer);
  struct sock_filter code[MOST_CALLS + 10];
  unsigned short n = 0;

  code[n++] = statement (LOAD, counter + 4);
  code[n++] = jump (BPF_JEQ, (uint32_t) (from >> 32), 0, 4);
  code[n++] = statement (LOAD, counter);
  code[n++] = jump (BPF_JGE, (uint32_t) from, 0, 2);
  code[n++] = jump (BPF_JGT, (uint32_t) from + SYSCALL_BYTES, 1, 0);
  code[n++] = statement (RETURN, SECCOMP_RET_ALLOW);
  code[n++] = statement (LOAD, offsetof (struct seccomp_data, nr));
  for (int i = 0; i < fault.family->n; i++)
    code[n++] = jump (BPF_JEQ, (uint32_t) fault.family->calls[i], (uint8_t) (fault.family->n - i), 0);
  code[n++] = statement (RETURN, SECCOMP_RET_ALLOW);
  code[n++] = statement (RETURN, SECCOMP_RET_TRAP);
  struct sock_fprog program = { n, code };
  return prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
      && prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int
parse (const char *text)
{
  char family[16], error[16];

  if (sscanf (text, "%15[a-z]:%d:%15[A-Za-z+]", family, &fault.nth, error) != 3)
    return 0;
  fault.stays = error[strlen (error) - 1] == '+';
  error[strcspn (error, "+")] = '\0';
  fault.error = -1;
  for (size_t i = 0; i < sizeof families / sizeof *families; i++)
    if (strcmp (families[i].name, family) == 0)
      fault.family = &families[i];
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (strcmp (errors[i].name, error) == 0)
      fault.error = errors[i].number;
  return fault.family != NULL && fault.error >= 0;
}

__attribute__ ((constructor)) static void
begin (void)
{
  const char *wanted = getenv ("FAB_FAULT"), *log = getenv ("FAB_FAULT_LOG");
  struct sigaction action = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART };
  int fd;

  if (wanted == NULL)
    return;
  fd = log != NULL ? open (log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  if (fd < 0 || dup3 (fd, LOG_FD, O_CLOEXEC) < 0 || close (fd) != 0 || !parse (wanted)
      || sigaction (SIGSYS, &action, NULL) != 0 || !trap_calls ()) {
    static const char text[] = "inject: cannot trap calls here\n";

    _exit (write (STDERR_FILENO, text, sizeof text - 1) > 0 ? 99 : 98);
  }
}

/* --- the clock --- */

int
clock_gettime (clockid_t clock, struct timespec *time)
{
  static atomic_int n_looks;
  const char *from = clock == CLOCK_REALTIME ? getenv ("FAB_FAULT_CLOCK") : NULL;
  int result = (int) syscall (SYS_clock_gettime, clock, time);

  if (result == 0 && from != NULL && atomic_fetch_add (&n_looks, 1) + 1 >= strtol (from, NULL, 10))
    time->tv_sec -= HOUR_S;
  return result;
}
