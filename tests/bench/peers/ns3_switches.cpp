// SPDX-License-Identifier: Apache-2.0
// ns3_switches.cpp - what Fabricast's switches are compared with: ns-3's point-to-point devices and channels, and on top
// of them, as ns-3 has none of these, switches with a queue per port, pause frames, marks, DCQCN and packets that
// are sprayed. Store-and-forward. Pause frames and notifications are frames of their own.
//
// usage: ns3_switches PAYLOAD_BYTES HEADER_BYTES [NAME=VALUE ...]     < network and messages
//
//   pause, resume        bytes that came over a link and wait; 0: nothing is paused
//   mark_from, mark_all  bytes that wait for a link; 0: nothing is marked
//   mark_fraction        marked just below mark_all
//   dcqcn                1: senders follow it
//   run                  number of the random numbers that draw marks
//
//   VERTICES LINKS MESSAGES
//   A B BYTES_PER_S LATENCY_S      per link, both directions
//   BYTES PATHS                    per message, and then per path, which its packets take in turn:
//   N V1 V2 ... VN
//
// Prints "marks" and "pauses", and after a line "ends" when each message had arrived, in seconds.
#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;

namespace {

constexpr unsigned ppp_bytes = 2; // that a point-to-point device adds
constexpr uint16_t protocol = 0x0800;
constexpr unsigned control_bytes = 64; // of a pause frame, and of a notification

enum Kind : uint8_t { DATA, PAUSE, RESUME, NOTIFICATION };

class FrameHeader : public Header {
public:
  static TypeId
  GetTypeId ()
  {
    static TypeId id = TypeId ("FrameHeader").SetParent<Header> ().AddConstructor<FrameHeader> ();
    return id;
  }
  TypeId GetInstanceTypeId () const override { return GetTypeId (); }
  uint32_t GetSerializedSize () const override { return 8; }
  void
  Serialize (Buffer::Iterator at) const override
  {
    at.WriteHtonU32 (message);
    at.WriteU8 (path);
    at.WriteU8 (hop);
    at.WriteU8 (kind);
    at.WriteU8 (is_marked);
  }
  uint32_t
  Deserialize (Buffer::Iterator at) override
  {
    message = at.ReadNtohU32 ();
    path = at.ReadU8 ();
    hop = at.ReadU8 ();
    kind = at.ReadU8 ();
    is_marked = at.ReadU8 ();
    return 8;
  }
  void Print (std::ostream &stream) const override { stream << message; }

  uint32_t message = 0;
  uint8_t path = 0, hop = 0, kind = DATA, is_marked = 0; // hop: links behind it
};

struct Options {
  unsigned payload_bytes = 0, header_bytes = 0;
  std::map<std::string, double> values;
  double Get (const char *name) const { return values.count (name) ? values.at (name) : 0; }
};

// The reaction point of DCQCN: Y. Zhu et al., SIGCOMM 2015, section 3, with the constants of Y. Li et al., "HPCC",
// SIGCOMM 2019 (simulation/run.py of its simulator).
class ReactionPoint {
public:
  explicit ReactionPoint (double line) : line_ (line), rate_ (line), target_ (line) {}

  double Rate () const { return rate_; } // payload bytes per second
  void
  Notified ()
  {
    if (n_timer_ > 0 || n_bytes_ > 0)
      target_ = rate_;
    rate_ = std::max (rate_ * (1 - alpha_ / 2), line_ / 100);
    alpha_ = (1 - gain) * alpha_ + gain;
    n_timer_ = n_bytes_ = 0;
    sent_ = 0;
    decay_.Cancel ();
    decay_ = Simulator::Schedule (MicroSeconds (1), &ReactionPoint::Decay, this);
    timer_.Cancel ();
    timer_ = Simulator::Schedule (MicroSeconds (300), &ReactionPoint::Tick, this);
  }
  void
  Sent (unsigned bytes)
  {
    sent_ += bytes;
    if (sent_ < 10000000 || rate_ >= line_)
      return;
    sent_ = 0;
    n_bytes_++;
    Rise ();
  }
  void
  Stop ()
  {
    decay_.Cancel ();
    timer_.Cancel ();
  }

private:
  static constexpr double gain = 1.0 / 256;

  void
  Decay ()
  {
    alpha_ *= 1 - gain;
    decay_ = Simulator::Schedule (MicroSeconds (1), &ReactionPoint::Decay, this);
  }
  void
  Tick ()
  {
    n_timer_++;
    Rise ();
    if (rate_ < line_)
      timer_ = Simulator::Schedule (MicroSeconds (300), &ReactionPoint::Tick, this);
  }
  void
  Rise ()
  {
    const unsigned both = std::min (n_timer_, n_bytes_), either = std::max (n_timer_, n_bytes_);

    if (both > 1)
      target_ += line_ * 0.002 * (both - 1); // 50 Mb/s per 25 Gb/s
    else if (either > 1)
      target_ += line_ * 0.0002;
    target_ = std::min (target_, line_);
    rate_ = std::min ((target_ + rate_) / 2, line_);
  }

  double line_, rate_, target_, alpha_ = 1;
  unsigned n_timer_ = 0, n_bytes_ = 0;
  uint64_t sent_ = 0;
  EventId decay_, timer_;
};

struct Message {
  uint64_t bytes = 0, sent = 0, got = 0;
  unsigned n_packets = 0;
  double end_s = 0;
  Time next, notified = Seconds (-1);           // when it may send again; when its receiver told of marks
  std::vector<std::vector<uint32_t>> paths;     // of nodes
  std::unique_ptr<ReactionPoint> rate;          // none: at the rate of the line
};

class Network;

// One end of a link: what waits for it, in the order in which it came.
class Port {
public:
  Port (Network &network, Ptr<PointToPointNetDevice> device) : network_ (network), device_ (device)
  {
    device->TraceConnectWithoutContext ("PhyTxEnd", MakeCallback (&Port::Sent, this));
  }

  void Begin (uint32_t message);
  void Enqueue (Port *entry, Ptr<Packet> packet, unsigned payload);
  void EnqueueControl (Ptr<Packet> packet);
  void Pause (bool is_paused);
  void Serve ();

private:
  struct Waiting {
    Port *entry;
    Ptr<Packet> packet;
    unsigned payload;
  };

  void Sent (Ptr<const Packet>);
  bool SendWaiting ();
  bool SendOwn ();
  void Send (Ptr<Packet> packet);
  void Hold (int bytes);
  void Tell (Kind kind);

  Network &network_;
  Ptr<PointToPointNetDevice> device_;
  std::deque<Ptr<Packet>> control_;
  std::deque<Waiting> queue_;
  std::deque<uint32_t> own_;       // messages that begin here
  unsigned queued_ = 0, held_ = 0; // payload that waits for this port; that came in here and waits
  bool is_busy_ = false, is_paused_ = false, has_asked_ = false;
  EventId wake_;
};

class Network {
public:
  explicit Network (const Options &options) : options (options), random_ (CreateObject<UniformRandomVariable> ()) {}

  bool Read ();
  void Run ();
  Ptr<Packet> TakePacket (uint32_t number, unsigned *payload);
  bool IsMarked (unsigned queued);

  const Options &options;
  std::vector<Message> messages;
  uint64_t n_marks = 0, n_pauses = 0;

private:
  bool ReadLinks (unsigned n);
  bool ReadMessages (unsigned n);
  bool Receive (Ptr<NetDevice> device, Ptr<const Packet> packet, uint16_t type, const Address &from);
  void Arrived (const FrameHeader &header, unsigned payload);
  void Notify (const FrameHeader &header);
  Port *PortTo (uint32_t node, uint32_t next) { return ports_.at ({ node, next }).get (); }

  NodeContainer nodes_;
  std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<Port>> ports_; // from, to
  std::map<std::pair<uint32_t, uint32_t>, double> rates_;                // bytes per second
  std::map<Ptr<NetDevice>, Port *> port_of_;
  Ptr<UniformRandomVariable> random_;
};

void
Port::Begin (uint32_t message)
{
  own_.push_back (message);
  Serve ();
}

void
Port::Send (Ptr<Packet> packet)
{
  is_busy_ = true;
  device_->Send (packet, device_->GetBroadcast (), protocol);
}

// The device looks for its next packet after this trace, so that the switch gives it one in an event of its own.
void
Port::Sent (Ptr<const Packet>)
{
  is_busy_ = false;
  Simulator::ScheduleNow (&Port::Serve, this);
}

void
Port::Serve ()
{
  if (is_busy_)
    return;
  if (!control_.empty ()) {
    Ptr<Packet> packet = control_.front ();

    control_.pop_front ();
    Send (packet);
  } else if (!is_paused_ && !SendWaiting ()) {
    SendOwn ();
  }
}

bool
Port::SendWaiting ()
{
  if (queue_.empty ())
    return false;
  const Waiting first = queue_.front ();

  queue_.pop_front ();
  queued_ -= first.payload;
  first.entry->Hold (-static_cast<int> (first.payload));
  Send (first.packet);
  return true;
}

bool
Port::SendOwn ()
{
  Time soonest = Time::Max ();

  for (size_t i = 0; i < own_.size (); i++) {
    const uint32_t number = own_.front ();
    Message &message = network_.messages[number];

    own_.pop_front ();
    if (message.sent == message.bytes) {
      i--;
      continue;
    }
    own_.push_back (number);
    if (message.next <= Simulator::Now ()) {
      unsigned payload;
      Ptr<Packet> packet = network_.TakePacket (number, &payload);

      if (message.rate)
        message.next = std::max (message.next, Simulator::Now ()) + Seconds (payload / message.rate->Rate ());
      Send (packet);
      return true;
    }
    soonest = std::min (soonest, message.next);
  }
  if (soonest != Time::Max () && !wake_.IsRunning ())
    wake_ = Simulator::Schedule (soonest - Simulator::Now (), &Port::Serve, this);
  return false;
}

void
Port::Tell (Kind kind)
{
  FrameHeader header;
  Ptr<Packet> packet = Create<Packet> (control_bytes - ppp_bytes - header.GetSerializedSize ());

  header.kind = kind;
  packet->AddHeader (header);
  EnqueueControl (packet);
}

// Counts what came in here and waits for other ports.
void
Port::Hold (int bytes)
{
  const double pause = network_.options.Get ("pause"), resume = network_.options.Get ("resume");

  held_ += bytes;
  if (pause <= 0 || (has_asked_ ? held_ > resume : held_ <= pause))
    return;
  has_asked_ = !has_asked_;
  network_.n_pauses += has_asked_;
  Tell (has_asked_ ? PAUSE : RESUME);
}

void
Port::Enqueue (Port *entry, Ptr<Packet> packet, unsigned payload)
{
  const bool waits = is_busy_ || is_paused_ || !queue_.empty ();

  queued_ += payload;
  if (waits && network_.IsMarked (queued_)) {
    FrameHeader header;

    packet->RemoveHeader (header);
    header.is_marked = 1;
    packet->AddHeader (header);
    network_.n_marks++;
  }
  queue_.push_back ({ entry, packet, payload });
  entry->Hold (static_cast<int> (payload));
  Serve ();
}

void
Port::EnqueueControl (Ptr<Packet> packet)
{
  control_.push_back (packet);
  Serve ();
}

void
Port::Pause (bool is_paused)
{
  is_paused_ = is_paused;
  Serve ();
}

bool
Network::ReadLinks (unsigned n)
{
  for (unsigned i = 0; i < n; i++) {
    uint32_t ends[2];
    double bytes_per_s, latency_s;
    PointToPointHelper helper;

    if (!(std::cin >> ends[0] >> ends[1] >> bytes_per_s >> latency_s))
      return false;
    helper.SetDeviceAttribute ("DataRate", DataRateValue (DataRate (static_cast<uint64_t> (bytes_per_s * 8))));
    helper.SetDeviceAttribute ("Mtu", UintegerValue (65000));
    helper.SetChannelAttribute ("Delay", TimeValue (PicoSeconds (static_cast<int64_t> (latency_s * 1e12 + 0.5))));
    NetDeviceContainer pair = helper.Install (nodes_.Get (ends[0]), nodes_.Get (ends[1]));
    for (unsigned side = 0; side < 2; side++) {
      auto device = DynamicCast<PointToPointNetDevice> (pair.Get (side));
      std::unique_ptr<Port> &port = ports_[{ ends[side], ends[1 - side] }];

      device->SetReceiveCallback (MakeCallback (&Network::Receive, this));
      port = std::make_unique<Port> (*this, device);
      port_of_[device] = port.get ();
      rates_[{ ends[side], ends[1 - side] }] = bytes_per_s;
    }
  }
  return true;
}

bool
Network::ReadMessages (unsigned n)
{
  const double payload_share = 1.0 * options.payload_bytes / (options.payload_bytes + options.header_bytes);

  messages.resize (n);
  for (Message &message : messages) {
    unsigned n_paths;

    if (!(std::cin >> message.bytes >> n_paths) || n_paths == 0 || n_paths > 255)
      return false;
    message.paths.resize (n_paths);
    for (auto &path : message.paths) {
      unsigned n_vertices;

      if (!(std::cin >> n_vertices) || n_vertices < 2)
        return false;
      path.resize (n_vertices);
      for (unsigned i = 0; i < n_vertices; i++)
        if (!(std::cin >> path[i]) || (i > 0 && !ports_.count ({ path[i - 1], path[i] })))
          return false;
    }
    if (options.Get ("dcqcn") > 0)
      message.rate = std::make_unique<ReactionPoint> (rates_[{ message.paths[0][0], message.paths[0][1] }]
                                                      * payload_share);
  }
  return true;
}

bool
Network::Read ()
{
  unsigned n_vertices, n_links, n_messages;

  if (!(std::cin >> n_vertices >> n_links >> n_messages))
    return false;
  nodes_.Create (n_vertices);
  return ReadLinks (n_links) && ReadMessages (n_messages);
}

Ptr<Packet>
Network::TakePacket (uint32_t number, unsigned *payload)
{
  Message &message = messages[number];
  FrameHeader header;

  *payload = std::min<uint64_t> (options.payload_bytes, message.bytes - message.sent);
  header.message = number;
  header.path = message.n_packets++ % message.paths.size ();
  header.hop = 1;
  message.sent += *payload;
  if (message.rate)
    message.rate->Sent (*payload);
  auto packet = Create<Packet> (*payload + options.header_bytes - ppp_bytes - header.GetSerializedSize ());
  packet->AddHeader (header);
  return packet;
}

bool
Network::IsMarked (unsigned queued)
{
  const double from = options.Get ("mark_from"), all = options.Get ("mark_all");

  if (from <= 0 || queued <= from)
    return false;
  return queued >= all || random_->GetValue () < options.Get ("mark_fraction") * (queued - from) / (all - from);
}

// A notification goes back the way of the marked packet.
void
Network::Notify (const FrameHeader &marked)
{
  const std::vector<uint32_t> &path = messages[marked.message].paths[marked.path];
  FrameHeader header = marked;
  Ptr<Packet> packet = Create<Packet> (control_bytes - ppp_bytes - header.GetSerializedSize ());

  header.kind = NOTIFICATION;
  header.hop = path.size () - 2; // where it is next
  packet->AddHeader (header);
  PortTo (path[path.size () - 1], path[header.hop])->EnqueueControl (packet);
}

void
Network::Arrived (const FrameHeader &header, unsigned payload)
{
  Message &message = messages[header.message];

  message.got += payload;
  if (message.got == message.bytes) {
    message.end_s = Simulator::Now ().GetSeconds ();
    if (message.rate)
      message.rate->Stop ();
  } else if (message.rate && header.is_marked && Simulator::Now () - message.notified >= MicroSeconds (50)) {
    message.notified = Simulator::Now ();
    Notify (header);
  }
}

bool
Network::Receive (Ptr<NetDevice> device, Ptr<const Packet> packet, uint16_t, const Address &)
{
  FrameHeader header;
  Port *entry = port_of_[device];
  Ptr<Packet> copy = packet->Copy ();

  copy->RemoveHeader (header);
  if (header.kind == PAUSE || header.kind == RESUME) {
    entry->Pause (header.kind == PAUSE);
    return true;
  }
  Message &message = messages[header.message];
  const std::vector<uint32_t> &path = message.paths[header.path];
  const uint32_t node = path[header.hop];
  if (header.kind == NOTIFICATION) {
    if (header.hop == 0 && message.got < message.bytes) {
      message.rate->Notified ();
    } else if (header.hop > 0) {
      header.hop--;
      copy->AddHeader (header);
      PortTo (node, path[header.hop])->EnqueueControl (copy);
    }
    return true;
  }
  const unsigned payload = packet->GetSize () + ppp_bytes - options.header_bytes;
  if (header.hop + 1u == path.size ()) {
    Arrived (header, payload);
    return true;
  }
  header.hop++;
  copy->AddHeader (header);
  PortTo (node, path[header.hop])->Enqueue (entry, copy, payload);
  return true;
}

void
Network::Run ()
{
  for (uint32_t i = 0; i < messages.size (); i++) {
    const std::vector<uint32_t> &path = messages[i].paths[0];

    Simulator::ScheduleNow (&Port::Begin, PortTo (path[0], path[1]), i);
  }
  Simulator::Run ();
  std::printf ("marks %llu\npauses %llu\nends\n", static_cast<unsigned long long> (n_marks),
               static_cast<unsigned long long> (n_pauses));
  for (const Message &message : messages)
    std::printf ("%.12f\n", message.end_s);
}

} // namespace

int
main (int argc, char **argv)
{
  Options options;

  if (argc < 3 || std::atoi (argv[2]) < 10) {
    std::fprintf (stderr, "usage: ns3_switches PAYLOAD_BYTES HEADER_BYTES (10 or more): see its head\n");
    return 2;
  }
  options.payload_bytes = std::atoi (argv[1]);
  options.header_bytes = std::atoi (argv[2]);
  for (int i = 3; i < argc; i++)
    if (const char *value = std::strchr (argv[i], '='))
      options.values[std::string (argv[i], value - argv[i])] = std::atof (value + 1);
  Time::SetResolution (Time::PS);
  RngSeedManager::SetRun (static_cast<uint64_t> (options.Get ("run")) + 1);
  Network network (options);
  if (!network.Read ()) {
    std::fprintf (stderr, "ns3_switches: the input is not a network\n");
    return 2;
  }
  network.Run ();
  Simulator::Destroy ();
  return 0;
}
