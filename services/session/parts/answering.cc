#include "services/session/parts/answering.h"

#include <algorithm>

namespace tapedeck::services::parts {
namespace {

// One more, and not around.
uint32_t Next(uint32_t looks) { return looks == UINT32_MAX ? looks : looks + 1; }

}  // namespace

void Answering::Count(const Sign& sign, Part& part) {
  const bool acknowledged = sign.acknowledged != part.last.acknowledged;
  const bool heard = sign.running && sign.rail_up && sign.heard != part.last.heard;
  part.last = sign;
  part.silent_looks = !sign.due || acknowledged || heard ? 0 : Next(part.silent_looks);
  part.stuck_looks = !sign.due || acknowledged || !sign.owes ? 0 : Next(part.stuck_looks);
  part.holding_up_looks = part.stuck_looks == 0 || !sign.holds_up ? 0 : Next(part.holding_up_looks);
  part.since_acknowledged = acknowledged ? 0 : Next(part.since_acknowledged);
}

Answer Answering::AnswerOf(size_t number) const {
  const Part& part = parts_[number];
  if (!part.last.due) return Answer::kNormal;
  const auto any_other = [&](auto is) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (i != number && parts_[i].last.due && parts_[i].last.running && is(parts_[i])) return true;
    }
    return false;
  };
  const uint32_t most = part.last.running ? kSilentLooks : kOpeningLooks;
  if (part.silent_looks >= most &&
      (part.answer == Answer::kSilent ||
       any_other([](const Part& other) { return other.silent_looks < kSilentLooks / 2; }))) {
    return Answer::kSilent;
  }
  // One that was suspected holds nothing up any more.
  if (part.stuck_looks > 0 && part.answer != Answer::kNormal) return Answer::kStuck;
  if ((part.stuck_looks >= kStuckLooks || part.holding_up_looks >= kHoldingUpLooks) &&
      any_other([](const Part& other) { return other.since_acknowledged < kStuckLooks / 2; })) {
    return Answer::kStuck;
  }
  return Answer::kNormal;
}

std::vector<Answer> Answering::Look(const std::vector<Sign>& signs) {
  for (size_t i = 0; i < parts_.size(); ++i) Count(signs[i], parts_[i]);
  std::vector<Answer> answers;
  answers.reserve(parts_.size());
  for (size_t i = 0; i < parts_.size(); ++i) answers.push_back(AnswerOf(i));
  for (size_t i = 0; i < parts_.size(); ++i) parts_[i].answer = answers[i];
  return answers;
}

}  // namespace tapedeck::services::parts
