/* SPDX-License-Identifier: Apache-2.0 */
/* network_api.hh - the network of Fabricast behind the verbs that ASTRA-sim asks of a network: sim_send, sim_recv,
 * sim_schedule, sim_get_time. It includes nothing of ASTRA-sim: a backend of it derives a class from AstraNetworkAPI and
 * passes each verb on. Times of ASTRA-sim are nanoseconds, those of Fabricast picoseconds.
 */
#pragma once

#define FABRICAST_UNSTABLE
#include <fabricast.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <tuple>

namespace fabricast {

using Handler = std::function<void ()>;

class Network {
public:
  /* Takes the network. */
  explicit Network (FabricastNetwork *network) : network_ (network, fabricast_network_free) {}

  long double
  sim_get_time () const
  {
    return static_cast<long double> (fabricast_network_now (network_.get ())) / 1000;
  }

  void
  sim_schedule (std::uint64_t delta_ns, Handler handler)
  {
    check ([&] (FabricastError **error) {
      return fabricast_network_at (network_.get (), fabricast_network_now (network_.get ()) + static_cast<std::int64_t> (delta_ns) * 1000,
                                   run, new Handler (std::move (handler)), error);
    });
  }

  /* `sent` runs when the last byte has arrived, and so does the handler of the receive that matches. */
  void
  sim_send (int from, int to, std::uint64_t bytes, int tag, Handler sent)
  {
    const Key key (from, to, tag, bytes);

    check ([&] (FabricastError **error) {
      return fabricast_network_send (network_.get (), static_cast<std::uint32_t> (from), static_cast<std::uint32_t> (to), bytes, run,
                                     new Handler ([this, key, sent] {
                                       sent ();
                                       deliver (key);
                                     }),
                                     error);
    });
  }

  void
  sim_recv (int from, int to, std::uint64_t bytes, int tag, Handler received)
  {
    const Key key (from, to, tag, bytes);

    waiting_[key].push_back (std::move (received));
    match (key);
  }

  /* Runs until nothing is due. */
  void
  simulate ()
  {
    check ([&] (FabricastError **error) { return fabricast_network_advance (network_.get (), INT64_MAX, error); });
  }

private:
  using Key = std::tuple<int, int, int, std::uint64_t>;

  static void
  run (void *user, std::int64_t)
  {
    std::unique_ptr<Handler> handler (static_cast<Handler *> (user));

    (*handler) ();
  }

  template <typename Call>
  static void
  check (Call call)
  {
    FabricastError *error = nullptr;

    if (call (&error) == FABRICAST_OK)
      return;
    std::runtime_error problem (fabricast_error_message (error));
    fabricast_error_free (error);
    throw problem;
  }

  void
  deliver (const Key &key)
  {
    arrived_[key]++;
    match (key);
  }

  void
  match (const Key &key)
  {
    while (arrived_[key] > 0 && !waiting_[key].empty ()) {
      Handler received = std::move (waiting_[key].front ());

      waiting_[key].pop_front ();
      arrived_[key]--;
      received ();
    }
  }

  std::unique_ptr<FabricastNetwork, void (*) (FabricastNetwork *)> network_;
  std::map<Key, std::deque<Handler>> waiting_;
  std::map<Key, int> arrived_;
};

} // namespace fabricast
