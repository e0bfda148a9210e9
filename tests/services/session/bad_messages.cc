#include "tests/services/session/bad_messages.h"

#include <cmath>
#include <limits>
#include <utility>

#include "services/base/errors.h"

namespace tapedeck::services::session {
namespace {

constexpr uint64_t kHuge = ~uint64_t{0};
const std::string kLong(70'000, 'x');
const std::string kToken(16, 't');

// Rows of one kind of message: each changes one field of a good one.
template <typename M>
class Rows {
 public:
  Rows(std::string message, M good, std::vector<Direction> directions, std::vector<BadMessage>* out)
      : message_(std::move(message)),
        good_(std::move(good)),
        directions_(std::move(directions)),
        out_(out) {}

  template <typename Spoil>
  Rows& Add(const std::string& field, Spoil spoil) {
    for (const Direction direction : directions_) {
      M bad = good_;
      spoil(bad);
      out_->push_back({message_, field, direction, std::move(bad)});
    }
    return *this;
  }

 private:
  const std::string message_;
  const M good_;
  const std::vector<Direction> directions_;
  std::vector<BadMessage>* const out_;
};

const std::vector<Direction> kBoth = {Direction::kRecord, Direction::kPlayback};

template <typename M, typename Get>
void AddCounts(Rows<M> rows, Get progress, bool peer_receives) {
  for (uint64_t Watermarks::*mark :
       {&Watermarks::received, &Watermarks::written, &Watermarks::durable}) {
    const std::string field = mark == &Watermarks::received  ? "received"
                              : mark == &Watermarks::written ? "written"
                                                             : "durable";
    // Of blocks that were never sent, where this end sends.
    const uint64_t most = peer_receives ? 1'000 : kHuge;
    rows.Add(field, [&](M& m) { progress(m).watermarks.*mark = most; });
  }
  for (const auto& counter : dataplane::kCounters) {
    rows.Add(std::string(counter.name),
             [&](M& m) { progress(m).counters.*counter.member = kHuge; });
  }
  rows.Add("blocks", [&](M& m) { progress(m).blocks = kHuge; })
      .Add("bytes", [&](M& m) { progress(m).bytes = kHuge; })
      .Add("verifier", [&](M& m) { progress(m).verifier = kLong; })
      .Add("clock", [&](M& m) { progress(m).clock.sent_ns = -1; })
      .Add("clock", [&](M& m) { progress(m).clock.heard_ns = INT64_MAX; })
      .Add("rails", [&](M& m) { progress(m).rails.resize(1000); })
      .Add("rails.name", [&](M& m) { progress(m).rails = {{.name = "r\n0"}}; })
      .Add("rails.blocks", [&](M& m) { progress(m).rails = {{.blocks = kHuge}}; })
      .Add("rails.bytes", [&](M& m) { progress(m).rails = {{.bytes = kHuge}}; })
      .Add("rails.cause", [&](M& m) { progress(m).rails = {{.cause = kLong}}; })
      .Add("memory_ready", [&](M& m) { progress(m).memory_ready = 1.5; })
      .Add("memory_ready", [&](M& m) { progress(m).memory_ready = std::nan(""); })
      .Add("captures", [&](M& m) { progress(m).captures.resize(257, "c"); })
      .Add("captures", [&](M& m) { progress(m).captures = {kLong}; })
      .Add("captures", [&](M& m) { progress(m).captures = {"c\n0"}; })
      .Add("stage_times", [&](M& m) { progress(m).stage_times.resize(1000); })
      .Add("stage_times.what", [&](M& m) { progress(m).stage_times = {{.what = kLong}}; })
      .Add("stage_times.rail", [&](M& m) { progress(m).stage_times = {{.rail = "r\n0"}}; })
      .Add("stage_times.time", [&](M& m) { progress(m).stage_times = {{.time_ns = -1}}; });
}

}  // namespace

std::vector<BadMessage> BadShared(Direction sending) {
  std::vector<BadMessage> rows;
  const Direction receiving =
      sending == Direction::kRecord ? Direction::kPlayback : Direction::kRecord;
  Rows<RailOffer>("RailOffer", {.rail = "r0"}, kBoth, &rows)
      .Add("rail", [](RailOffer& o) { o.rail = ""; })
      .Add("rail", [](RailOffer& o) { o.rail = kLong; })
      .Add("rail", [](RailOffer& o) { o.rail = "r\x1b[2J"; })
      .Add("region.bytes", [](RailOffer& o) { o.window.bytes = kHuge; })
      .Add("region.address", [](RailOffer& o) { o.window = {.address = kHuge, .bytes = 4096}; })
      .Add("tcp.address",
           [](RailOffer& o) { o.endpoint = dataplane::TcpEndpoint{.address = kLong}; });
  Rows<EndOfStream>("EndOfStream", {.blocks = 1}, {receiving}, &rows)
      .Add("blocks", [](EndOfStream& e) { e.blocks = kHuge; })
      .Add("blocks", [](EndOfStream& e) { e.blocks = kHuge / kGoodSlotBytes; })
      .Add("cause", [](EndOfStream& e) { e.cause = kLong; })
      .Add("cause", [](EndOfStream& e) { e.cause = "c\n0"; });
  const auto of_progress = [](Progress& p) -> Progress& { return p; };
  AddCounts(Rows<Progress>("Progress", {}, {sending}, &rows), of_progress, true);
  AddCounts(Rows<Progress>("Progress", {}, {receiving}, &rows), of_progress, false);
  const auto of_finished = [](Finished& f) -> Progress& { return f.progress; };
  Rows<Finished> finished("Finished", {.cause = absl::AbortedError("why")}, kBoth, &rows);
  AddCounts(finished, of_finished, false);
  finished
      .Add("code",
           [](Finished& f) { f.cause = absl::Status(static_cast<absl::StatusCode>(99), "x"); })
      .Add("code",
           [](Finished& f) { f.cause = absl::Status(static_cast<absl::StatusCode>(-1), "x"); })
      .Add("message", [](Finished& f) { f.cause = absl::AbortedError(kLong); })
      .Add("reason", [](Finished& f) { f.cause = WithReason(f.cause, kLong); })
      .Add("metadata",
           [](Finished& f) {
             f.cause = WithReason(f.cause, "X", {{kLong, ""}});
           })
      .Add("metadata", [](Finished& f) {
        f.cause = WithReason(f.cause, "X", {{"k", kLong}});
      });
  return rows;
}

Accept GoodAccept() {
  return {.session = "s",
          .recording = "luns/l/channels/c/recordings/r",
          .datatype = "cf32_le",
          .op = TransferOp::kRead,
          .block_bytes = kGoodSlotBytes,
          .slots = 8};
}

std::vector<BadMessage> BadAccepts() {
  std::vector<BadMessage> rows;
  Rows<Accept> accept("Accept", GoodAccept(), kBoth, &rows);
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, kGoodSlotBytes + 1, 2 * kGoodSlotBytes,
                               uint64_t{1} << 40, kHuge}) {
    accept.Add("block_bytes", [&](Accept& a) { a.block_bytes = bytes; });
  }
  for (const double rate : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    accept.Add("sample_rate", [&](Accept& a) { a.sample_rate = rate; });
  }
  for (const char* datatype : {"", "cf33_le", "cu16"}) {
    accept.Add("datatype", [&](Accept& a) { a.datatype = datatype; });
  }
  accept.Add("session", [](Accept& a) { a.session = kLong; })
      .Add("recording", [](Accept& a) { a.recording = "a\nb"; })
      .Add("transfer_op", [](Accept& a) { a.op = static_cast<TransferOp>(9); })
      .Add("transfer_op", [](Accept& a) { a.op = TransferOp::kSend; })
      .Add("commit_level", [](Accept& a) { a.commit = static_cast<CommitLevel>(9); })
      .Add("slots", [](Accept& a) { a.slots = 0; })
      .Add("slots", [](Accept& a) { a.slots = 0xffffffff; })
      .Add("blocks", [](Accept& a) { a.blocks = kHuge; })
      .Add("first_block", [](Accept& a) { a.first_block = kHuge; })
      .Add("resume_token", [](Accept& a) { a.resume_token = "short"; })
      .Add("next_block", [](Accept& a) { a.next_block = 1; })
      .Add("next_block", [](Accept& a) { a.next_block = kHuge; })
      .Add("missing_blocks", [](Accept& a) { a.missing_blocks = 1; })
      .Add("verifier", [](Accept& a) { a.verifier = kLong; })
      .Add("rails", [](Accept& a) { a.rails.resize(1000); })
      .Add("rails.name", [](Accept& a) { a.rails = {{.name = kLong}}; })
      .Add("rails.transport", [](Accept& a) { a.rails = {{.transport = kLong}}; })
      .Add("rails.address", [](Accept& a) { a.rails = {{.address = kLong}}; })
      .Add("labels", [](Accept& a) {
        a.labels = {{kLong, ""}};
      });
  return rows;
}

Open GoodOpen(Direction direction) {
  return {
      .direction = direction, .op = TransferOp::kRead, .slots = 8, .slot_bytes = kGoodSlotBytes};
}

// What no copy says of its original.
void AddOriginals(Rows<Open>& open) {
  open.Add("original",
           [](Open& o) {
             o.original = {"", "u"};
           })
      .Add("original.recording",
           [](Open& o) {
             o.original = {kLong, "u"};
           })
      .Add("original.uid",
           [](Open& o) {
             o.original = {"r", kLong};
           })
      .Add("original.open_time",
           [](Open& o) {
             o.original = {"r", "u", INT64_MAX};
           })
      .Add("original.earlier",
           [](Open& o) {
             o.original = {"r", "u", 0, {kLong}};
           })
      .Add("original.earlier", [](Open& o) {
        o.original = {"r", "u", 0, std::vector<std::string>(8, "r")};
      });
}

// How no recording was made.
void AddMaking(Rows<Open>& open) {
  open.Add("origin", [](Open& o) { o.origin.source.name = kLong; })
      .Add("origin", [](Open& o) { o.origin.transforms.resize(40, {.name = "fft"}); })
      .Add("origin",
           [](Open& o) {
             for (int i = 0; i < 20; ++i) {
               o.origin.source.parameters[std::to_string(i)] = std::string(4096, 'x');
             }
           })
      .Add("origin", [](Open& o) { o.origin.datatype = "cf99"; })
      .Add("group", [](Open& o) { o.group.emplace().id = "../g"; })
      .Add("group",
           [](Open& o) {
             o.group = model::RecordingGroup{.id = "g", .name = "g", .number = 1, .members = 65};
           })
      .Add("part", [](Open& o) { o.part = model::Part{.number = 3, .parts = 2, .whole = "r"}; })
      .Add("part", [](Open& o) { o.part = model::Part{.whole = "../r"}; });
}

std::vector<BadMessage> BadOpens() {
  std::vector<BadMessage> rows;
  Rows<Open> open("Open", GoodOpen(Direction::kRecord), {Direction::kRecord}, &rows);
  AddOriginals(open);
  AddMaking(open);
  open.Add("direction", [](Open& o) { o.direction = static_cast<Direction>(9); })
      .Add("channel", [](Open& o) { o.channel = kLong; })
      .Add("recording", [](Open& o) { o.recording = "a\x1b"; })
      .Add("recorder", [](Open& o) { o.recorder = kLong; })
      .Add("request_id", [](Open& o) { o.request_id = kLong; })
      .Add("traceparent", [](Open& o) { o.traceparent = kLong; })
      .Add("tracestate", [](Open& o) { o.tracestate = kLong; })
      .Add("transfer_op", [](Open& o) { o.op = static_cast<TransferOp>(9); })
      .Add("slots", [](Open& o) { o.slots = 0; })
      .Add("slots", [](Open& o) { o.slots = 0xffffffff; })
      .Add("slot_bytes", [](Open& o) { o.slot_bytes = 1; })
      .Add("slot_bytes", [](Open& o) { o.slot_bytes = kHuge; })
      .Add("expected_blocks", [](Open& o) { o.expected_blocks = kHuge; })
      .Add("resume.recording",
           [](Open& o) {
             o.resume = {"a\nb", kToken};
           })
      .Add("resume.token",
           [](Open& o) {
             o.resume = {"r", "short"};
           })
      .Add("resume.first_block",
           [](Open& o) {
             o.resume = {"r", kToken, kHuge};
           })
      .Add("playhead", [](Open& o) { o.playhead.start = -1; })
      .Add("playhead.behind", [](Open& o) { o.playhead.behind_ns = -1; })
      .Add("labels",
           [](Open& o) {
             o.labels = {{"", "x"}};
           })
      .Add("labels",
           [](Open& o) {
             o.labels = {{"x", kLong}};
           })
      .Add("labels", [](Open& o) {
        for (int i = 0; i < 20; ++i) o.labels[std::to_string(i)] = std::string(4096, 'x');
      });
  return rows;
}

}  // namespace tapedeck::services::session
