#include "services/session/transfer/session_trace.h"

#include "services/model/words/names.h"

namespace tapedeck::services::session {

namespace trace = telemetry::trace;

SessionTrace::SessionTrace(const trace::Branch& above, Direction direction)
    : session_(above.Start("session")) {
  session_.Set("tapedeck.direction", model::LabelOf(direction));
}

void SessionTrace::Step(absl::string_view name) {
  if (!recording()) return;
  step_.End(cause_);
  step_ = session_.branch().Start(name);
}

void SessionTrace::Connecting(const std::string& rail, uint32_t connection) {
  const Key key(rail, connection);
  if (!recording() || seen_.contains(key)) return;
  seen_.insert(key);
  trace::Span span = session_.branch().Start("connect");
  span.Set("tapedeck.rail", rail);
  span.Set("tapedeck.connection", int64_t{connection});
  connecting_.emplace(key, std::move(span));
}

void SessionTrace::Up(const std::string& rail, uint32_t connection) {
  if (!recording()) return;
  if (const auto first = connecting_.extract(Key(rail, connection))) first.mapped().End();
  session_.AddEvent("rail up",
                    {{"tapedeck.rail", rail}, {"tapedeck.connection", int64_t{connection}}});
}

void SessionTrace::Down(const std::string& rail, uint32_t connection, const absl::Status& cause) {
  if (!recording()) return;
  if (const auto first = connecting_.extract(Key(rail, connection))) first.mapped().End(cause);
  session_.AddEvent("rail down", {{"tapedeck.rail", rail},
                                  {"tapedeck.connection", int64_t{connection}},
                                  {"tapedeck.cause", std::string(cause.message())}});
}

void SessionTrace::SlowBlock(uint64_t sequence, int64_t took_ns) {
  if (++slow_blocks_ > kMaxSlowBlocks) return;
  trace::Span span = session_.branch().StartedBefore(took_ns, "slow block");
  span.Set("tapedeck.block", static_cast<int64_t>(sequence));
  span.End();
}

void SessionTrace::End(const Progress& progress) {
  if (!recording()) return;
  step_.End(cause_);
  for (auto& [key, span] : connecting_) span.End(cause_);
  connecting_.clear();
  session_.Set("tapedeck.blocks", static_cast<int64_t>(progress.blocks));
  session_.Set("tapedeck.bytes", static_cast<int64_t>(progress.bytes));
  session_.Set("tapedeck.slow_blocks", static_cast<int64_t>(slow_blocks_));
  session_.End(cause_);
}

}  // namespace tapedeck::services::session
