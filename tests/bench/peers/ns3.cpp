// SPDX-License-Identifier: Apache-2.0
// ns3.cpp - what Fabricast's packets are measured against and compared with: ns-3's point-to-point devices and bare
// switches, without IP. Store-and-forward, queues without end, no acknowledgements; the sender paces.
//
// usage: ns3 PAYLOAD_BYTES HEADER_BYTES     < network and messages
//
//   VERTICES LINKS MESSAGES
//   A B BYTES_PER_S LATENCY_S               per link, both directions
//   BYTES PACE N V1 V2 ... VN               per message: from V1 over these vertices to VN, at PACE x the rate of its
//                                           first link
//
// Prints "run_s" (processor time of the run), "hops" (packets times links), "most" (packets in the longest queue), and
// after a line "ends" when each message had arrived, in seconds.
#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <vector>

using namespace ns3;

namespace {

constexpr unsigned ppp_bytes = 2; // that a point-to-point device adds
constexpr uint16_t protocol = 0x0800;

// Which message a packet belongs to; the payload itself is not stored.
class MessageHeader : public Header {
public:
  static TypeId
  GetTypeId ()
  {
    static TypeId id = TypeId ("MessageHeader").SetParent<Header> ().AddConstructor<MessageHeader> ();
    return id;
  }
  TypeId GetInstanceTypeId () const override { return GetTypeId (); }
  uint32_t GetSerializedSize () const override { return 4; }
  void Serialize (Buffer::Iterator at) const override { at.WriteHtonU32 (message); }
  uint32_t
  Deserialize (Buffer::Iterator at) override
  {
    message = at.ReadNtohU32 ();
    return 4;
  }
  void Print (std::ostream &stream) const override { stream << message; }

  uint32_t message = 0;
};

struct Message {
  uint64_t bytes = 0, sent = 0, got = 0;
  double end_s = 0;
  Time gap; // between two full packets
  std::vector<Ptr<PointToPointNetDevice>> out;
  std::map<uint32_t, unsigned> hops; // of the node: its place on the path
};

class Network {
public:
  Network (unsigned payload_bytes, unsigned header_bytes) : payload_bytes_ (payload_bytes), header_bytes_ (header_bytes) {}

  bool Read ();
  void Run ();

private:
  bool ReadLinks (unsigned n);
  bool ReadMessages (unsigned n);
  void SendNext (uint32_t number);
  bool Receive (Ptr<NetDevice> device, Ptr<const Packet> packet, uint16_t type, const Address &from);
  void Forward (const Message &message, unsigned hop, Ptr<Packet> packet);

  unsigned payload_bytes_, header_bytes_;
  uint64_t n_hops_ = 0;
  uint32_t most_ = 0;
  NodeContainer nodes_;
  std::map<std::pair<uint32_t, uint32_t>, Ptr<PointToPointNetDevice>> devices_; // from, to
  std::vector<Message> messages_;
};

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
    helper.SetQueue ("ns3::DropTailQueue", "MaxSize", StringValue ("100000000p"));
    NetDeviceContainer pair = helper.Install (nodes_.Get (ends[0]), nodes_.Get (ends[1]));
    for (unsigned side = 0; side < 2; side++) {
      auto device = DynamicCast<PointToPointNetDevice> (pair.Get (side));
      device->SetReceiveCallback (MakeCallback (&Network::Receive, this));
      devices_[{ ends[side], ends[1 - side] }] = device;
    }
  }
  return true;
}

bool
Network::ReadMessages (unsigned n)
{
  messages_.resize (n);
  for (Message &message : messages_) {
    double pace;
    unsigned n_vertices;
    uint32_t last = 0, next;

    if (!(std::cin >> message.bytes >> pace >> n_vertices))
      return false;
    for (unsigned i = 0; i < n_vertices && std::cin >> next; i++) {
      if (i > 0 && !devices_.count ({ last, next }))
        return false;
      if (i > 0)
        message.out.push_back (devices_[{ last, next }]);
      message.hops[nodes_.Get (next)->GetId ()] = i;
      last = next;
    }
    if (message.out.empty ())
      return false;
    DataRateValue rate;
    message.out[0]->GetAttribute ("DataRate", rate);
    message.gap = Seconds ((payload_bytes_ + header_bytes_) * 8.0 / (static_cast<double> (rate.Get ().GetBitRate ()) * pace));
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

void
Network::Forward (const Message &message, unsigned hop, Ptr<Packet> packet)
{
  n_hops_++;
  message.out[hop]->Send (packet, message.out[hop]->GetBroadcast (), protocol);
  most_ = std::max (most_, message.out[hop]->GetQueue ()->GetNPackets ());
}

void
Network::SendNext (uint32_t number)
{
  Message &message = messages_[number];
  MessageHeader header;
  const auto part = std::min<uint64_t> (payload_bytes_, message.bytes - message.sent);
  auto packet = Create<Packet> (part + header_bytes_ - ppp_bytes - header.GetSerializedSize ());

  header.message = number;
  packet->AddHeader (header);
  message.sent += part;
  Forward (message, 0, packet);
  if (message.sent < message.bytes)
    Simulator::Schedule (message.gap, &Network::SendNext, this, number);
}

bool
Network::Receive (Ptr<NetDevice> device, Ptr<const Packet> packet, uint16_t, const Address &)
{
  MessageHeader header;

  packet->PeekHeader (header);
  Message &message = messages_[header.message];
  const unsigned hop = message.hops[device->GetNode ()->GetId ()];
  if (hop < message.out.size ()) {
    Forward (message, hop, packet->Copy ());
    return true;
  }
  message.got += packet->GetSize () + ppp_bytes - header_bytes_;
  if (message.got == message.bytes)
    message.end_s = Simulator::Now ().GetSeconds ();
  return true;
}

void
Network::Run ()
{
  const std::clock_t since = std::clock ();

  for (uint32_t i = 0; i < messages_.size (); i++)
    Simulator::ScheduleNow (&Network::SendNext, this, i);
  Simulator::Run ();
  std::printf ("run_s %.6f\nhops %llu\nmost %u\nends\n", static_cast<double> (std::clock () - since) / CLOCKS_PER_SEC,
               static_cast<unsigned long long> (n_hops_), most_);
  for (const Message &message : messages_)
    std::printf ("%.12f\n", message.end_s);
}

} // namespace

int
main (int argc, char **argv)
{
  if (argc != 3 || std::atoi (argv[2]) < 6) {
    std::fprintf (stderr, "usage: ns3 PAYLOAD_BYTES HEADER_BYTES (6 or more): see the head of ns3.cpp\n");
    return 2;
  }
  Time::SetResolution (Time::PS);
  Network network (std::atoi (argv[1]), std::atoi (argv[2]));
  if (!network.Read ()) {
    std::fprintf (stderr, "ns3: the input is not a network\n");
    return 2;
  }
  network.Run ();
  Simulator::Destroy ();
  return 0;
}
