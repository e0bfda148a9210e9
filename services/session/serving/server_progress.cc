#include "services/session/serving/server_progress.h"

#include <utility>

namespace tapedeck::services::session {

void ServerProgress::Begin(const DataPath& data_path, const Rails& rails, HostWords host) {
  data_path_ = &data_path;
  rails_ = &rails;
  host_ = std::move(host);
  if (host_.stages == nullptr) return;
  host_.stages->SetAsk([this] {
    StageTimes both = data_path_->stage_times();
    model::Add(peer_stages_, both);
    return both;
  });
}

void ServerProgress::AskNoMore() {
  if (host_.stages != nullptr) host_.stages->SetAsk(nullptr);
}

void ServerProgress::Forget() {
  last_ = full();
  AskNoMore();
  data_path_ = nullptr;
  rails_ = nullptr;
}

Progress ServerProgress::now() const {
  if (data_path_ == nullptr) return last_;
  Progress progress = data_path_->progress();
  progress.rails = rails_->progress();
  if (host_.verifier) progress.verifier = host_.verifier();
  if (host_.captures) progress.captures = host_.captures();
  return progress;
}

Progress ServerProgress::full() const {
  Progress full = now();
  if (data_path_ != nullptr) full.stage_times = data_path_->stage_times();
  return full;
}

void ServerProgress::Tell() {
  Progress now = this->now();
  const int64_t now_ns = clock_.NowNs();
  if (now == told_ && now_ns - told_ns_ < kIdleProgressNs) return;
  Progress full = now;
  full.stage_times = data_path_->stage_times();
  listeners_.control->Send(full);
  if (host_.stages != nullptr) host_.stages->Refresh();
  if (listeners_.on_progress) {
    const Direction direction = data_path_->sending() ? Direction::kPlayback : Direction::kRecord;
    listeners_.on_progress(direction, full, data_path_->window().bytes.size());
  }
  told_ = std::move(now);
  told_ns_ = now_ns;
}

void ServerProgress::Heard(const Progress& news) {
  peer_stages_ = news.stage_times;
  if (news.clock == flight::ClockReading()) return;
  Progress answer = full();
  if (listeners_.trail != nullptr) {
    listeners_.trail->HeardClock(news.clock, clock_.NowNs());
    answer.clock = listeners_.trail->SendClock(clock_.NowNs());
  }
  listeners_.control->Send(answer);
}

}  // namespace tapedeck::services::session
