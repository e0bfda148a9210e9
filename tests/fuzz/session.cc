// What the other end of a session says: bytes, a message of the contract, plain values, the check
// of them.
#include "services/rpc/convert/session.h"

#include <google/protobuf/stubs/logging.h>

#include "services/session/protocol/check.h"
#include "tests/fuzz/input.h"

namespace tapedeck::services {
namespace {

// It would write a line for each text that is not UTF-8.
[[maybe_unused]] const bool kQuiet = (google::protobuf::SetLogHandler(nullptr), true);

// `wire` is of the direction that this end takes.
template <typename Wire, typename ToWire>
void Read(fuzz::Input& input, const session::Known& known, ToWire to_wire) {
  Wire wire;
  const absl::string_view text = input.Text();
  if (!wire.ParseFromArray(text.data(), static_cast<int>(text.size()))) return;
  const auto message = convert::FromProto(wire);
  if (!message.ok() || !session::CheckMessage(known, *message).ok()) return;
  // What was taken can be said again, and is taken then.
  const auto again = to_wire(*message);
  const bool inproc =
      std::holds_alternative<session::RailOffer>(*message) && !wire.rail_offer().has_tcp();
  fuzz::Require(again.ok() || inproc);
  if (!again.ok()) return;
  const auto same = convert::FromProto(*again);
  fuzz::Require(same.ok() && session::CheckMessage(known, *same).ok());
}

}  // namespace
}  // namespace tapedeck::services

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tapedeck::services;  // NOLINT: the names under test
  tapedeck::fuzz::Input input(data, size);
  const auto how = input.Number<uint8_t>();
  session::Known known{.peer = "the peer"};
  if (how & 2) known.sent = 1000;
  if (how & 4) known.block_bytes = 64 << 10;
  if (how & 8) known.arrived = 10;
  if (how & 16) known.total = 20;
  session::Open asked{.slots = 8, .slot_bytes = 64 << 10};
  if (how & 32) known.asked = &asked;
  if (how & 1) {
    Read<tapedeck::v1::TransferResponse>(input, known, convert::ToTransferResponse);
  } else {
    Read<tapedeck::v1::TransferRequest>(input, known, convert::ToTransferRequest);
  }
  return 0;
}
