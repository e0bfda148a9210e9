// Messages with one field each at a value that cannot be, for both ends of a session.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "services/session/protocol/messages.h"

namespace tapedeck::services::session {

struct BadMessage {
  std::string message;  // its kind
  std::string field;
  Direction direction;  // of the session in which it comes
  Message bad;
};

inline constexpr uint64_t kGoodSlotBytes = 64 << 10;
Open GoodOpen(Direction direction);
Accept GoodAccept();

std::vector<BadMessage> BadOpens();
std::vector<BadMessage> BadAccepts();
// Those that either end may get; `sending` is the direction in which the one that gets them sends.
std::vector<BadMessage> BadShared(Direction sending);

}  // namespace tapedeck::services::session
