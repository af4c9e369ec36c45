/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.cu - what multiprocessors do when they, and not a copy engine, move bytes.
 *
 * Compiled to a fat binary and kept in the module as bytes (embed.py); kernels.c launches them, and holds the other
 * half of each argument list.
 */
typedef unsigned long long Word;

static __device__ Word
now_ns (void)
{
  Word ns;

  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

/* Copies with loads and stores of 16 bytes, four in flight in each thread; `me` of `stride` threads. Either memory may
 * be a peer's. Both pointers are multiples of 16; the size need not be. */
static __device__ void
copy_part (uint4 *to, const uint4 *from, Word n_bytes, Word me, Word stride)
{
  const Word n = n_bytes / 16;
  Word i = me;

  for (; i + 3 * stride < n; i += 4 * stride) {
    const uint4 a = from[i], b = from[i + stride], c = from[i + 2 * stride], d = from[i + 3 * stride];

    to[i] = a;
    to[i + stride] = b;
    to[i + 2 * stride] = c;
    to[i + 3 * stride] = d;
  }
  for (; i < n; i += stride)
    to[i] = from[i];
  if (me < n_bytes % 16)
    ((char *) to)[n * 16 + me] = ((const char *) from)[n * 16 + me];
}

extern "C" __global__ void __launch_bounds__ (512) fab_copy (uint4 *to, const uint4 *from, Word n_bytes)
{
  copy_part (to, from, n_bytes, (Word) blockIdx.x * blockDim.x + threadIdx.x, (Word) gridDim.x * blockDim.x);
}

/* Copies both ways at once: even blocks one way, odd blocks the other, so that every multiprocessor works on both. Two
 * kernels of fab_copy would take turns, since each fills all multiprocessors. The number of blocks is even. */
extern "C" __global__ void __launch_bounds__ (512)
    fab_copy_both (uint4 *to, const uint4 *from, uint4 *back_to, const uint4 *back_from, Word n_bytes)
{
  const bool is_back = blockIdx.x % 2 != 0;
  const Word me = (Word) (blockIdx.x / 2) * blockDim.x + threadIdx.x;

  copy_part (is_back ? back_to : to, is_back ? back_from : from, n_bytes, me, (Word) (gridDim.x / 2) * blockDim.x);
}

/* Blocks its stream until the host writes `epoch` or a later one, or limit_ns have passed. */
extern "C" __global__ void
fab_hold (const volatile unsigned *word, unsigned epoch, Word limit_ns)
{
  const Word start_ns = now_ns ();

  while ((int) (*word - epoch) < 0 && now_ns () - start_ns < limit_ns)
    ;
}

/* Waits for the other end's `turn`; returns FALSE after limit_ns. It reads the clock only now and then. */
static __device__ bool
wait_for (const volatile Word *flag, Word turn, Word limit_ns)
{
  const Word start_ns = now_ns ();

  for (unsigned n = 1; *flag < turn; n++)
    if (n % 1024 == 0 && now_ns () - start_ns > limit_ns)
      return false;
  return true;
}

/* One end of a ping-pong; one block. A message is `n_words` words of payload and then a flag, in the other's memory:
 * each thread stores its part, the first one makes all of it visible and raises the flag. Turn base + 1 only finds
 * out that both are there; the next n_rounds are timed by the end that begins.
 * outcome[0]: ns of the n_rounds, outcome[1]: 1 done, 2 the other end did not answer. */
extern "C" __global__ void __launch_bounds__ (1024)
    fab_ping (volatile Word *my_flag, volatile Word *their_flag, volatile Word *their_payload, Word n_words,
              Word base, Word n_rounds, Word limit_ns, unsigned begins, volatile Word *outcome)
{
  __shared__ bool is_there;
  Word start_ns = 0;

  for (Word turn = base + 1; turn <= base + 1 + n_rounds; turn++) {
    for (unsigned half = 0; half < 2; half++) {
      if ((half == 0) == (begins != 0)) {
        for (Word i = threadIdx.x; i < n_words; i += blockDim.x)
          their_payload[i] = turn;
        __syncthreads ();
        if (threadIdx.x == 0) {
          __threadfence_system ();
          *their_flag = turn;
        }
      } else {
        if (threadIdx.x == 0) {
          is_there = wait_for (my_flag, turn, limit_ns);
          __threadfence_system ();
        }
        __syncthreads ();
        if (!is_there) {
          if (threadIdx.x == 0)
            outcome[1] = 2;
          return;
        }
      }
    }
    if (turn == base + 1)
      start_ns = now_ns ();
  }
  if (threadIdx.x == 0) {
    outcome[0] = now_ns () - start_ns;
    outcome[1] = 1;
  }
}
