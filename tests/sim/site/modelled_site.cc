#include "tests/sim/site/modelled_site.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/sim/ends.h"
#include "tests/sim/paced_source.h"

namespace tapedeck::sim {

using services::session::Snapshot;

namespace {

constexpr int64_t kResumeForNs = 60 * dataplane::kSecondNs;
constexpr int64_t kBeginNs = 5 * dataplane::kSecondNs;

}  // namespace

ModelledWorker::ModelledWorker(World& world, Ports& ports, size_t number,
                               std::vector<ModelledNode*> nodes, const WorkerStream& stream)
    : executor_(world.NewExecutor(absl::StrCat("w", number))),
      number_(number),
      machine_(world, ports, absl::StrCat("w", number)),
      stream_(stream),
      ring_(NewModelledRing(stream.slots)),
      parts_(nodes.size()),
      recording_(std::make_unique<services::parts::DealtRecording>(executor_,
                                                                   Settings(std::move(nodes)))) {}

services::parts::DealtSettings ModelledWorker::Settings(std::vector<ModelledNode*> nodes) {
  services::parts::DealtSettings settings{
      .end = End(),
      .block_samples = kModelledSamples,
      .copies = stream_.copies,
      .check =
          [this](const services::session::Accept&) {
            ++accepted_;
            return absl::OkStatus();
          },
      .on_note = [this](services::Note note) { notes_.push_back(std::move(note)); }};
  for (size_t i = 0; i < nodes.size(); ++i) {
    ModelledNode* const node = nodes[i];
    services::session::ClientSessionSettings session{
        .node = absl::StrCat("n", i),
        .open = {.channel = absl::StrCat("c", number_),
                 .slots = static_cast<uint32_t>(stream_.slots),
                 .slot_bytes = kModelledBlockBytes},
        .transports = machine_.transports()};
    settings.nodes.push_back({.session = {.session = std::move(session),
                                          .resume_for_ns = kResumeForNs,
                                          .open_stream = [node] { return node->Dial(); }}});
  }
  return settings;
}

services::session::TransferEnd ModelledWorker::End() {
  services::session::TransferEnd end{.ring = ring_};
  const auto on_acknowledged = [this](uint64_t watermark) { watermark_ = watermark; };
  if (stream_.period_ns > 0) {
    end.source = std::make_unique<PacedSource>(executor_, ring_,
                                               SourcePace{.blocks = stream_.blocks,
                                                          .period_ns = stream_.period_ns,
                                                          .block_bytes = kHeldBlockBytes,
                                                          .on_acknowledged = on_acknowledged},
                                               &lost_);
  } else {
    end.source =
        std::make_unique<PatternSource>(ring_, stream_.blocks, on_acknowledged, kHeldBlockBytes);
  }
  return end;
}

void ModelledWorker::Start() {
  executor_.Post(
      [this] { recording_->Start([this](const Snapshot& snapshot) { result_ = snapshot; }); });
}

Site::Site(const SiteFigures& figures)
    : world_(figures.seed),
      ports_(kModelledBlockBytes / kHeldBlockBytes),
      fate_(world_.NewExecutor("fate")) {
  std::vector<ModelledNode*> nodes;
  for (const DriveFigures& drives : figures.nodes) {
    nodes_.push_back(std::make_unique<ModelledNode>(world_, ports_, nodes_.size(),
                                                    figures.workers.size(), drives));
    nodes.push_back(nodes_.back().get());
  }
  for (const WorkerStream& stream : figures.workers) {
    std::vector<ModelledNode*> own = stream.nodes.empty() ? nodes : std::vector<ModelledNode*>();
    for (const size_t node : stream.nodes) own.push_back(nodes[node]);
    workers_.push_back(
        std::make_unique<ModelledWorker>(world_, ports_, workers_.size(), own, stream));
  }
}

Site::~Site() {
  for (const auto& node : nodes_) {
    if (node->up()) node->Die(/*power_cut=*/false);
  }
  workers_.clear();
}

void Site::Start() {
  for (const auto& worker : workers_) worker->Start();
}

bool Site::Begin() {
  Start();
  return world_.RunUntil(
      [this] { return std::ranges::all_of(workers_, [](const auto& w) { return w->all_run(); }); },
      kBeginNs);
}

bool Site::RunUntil(const std::function<bool()>& done, int64_t limit_ns) {
  return world_.RunUntil(done, limit_ns);
}

void Site::RunFor(int64_t ns) {
  bool over = false;
  fate_.PostAfter(ns, [&over] { over = true; });
  EXPECT_TRUE(world_.RunUntil([&over] { return over; }, INT64_MAX));
}

bool Site::ended() const {
  return std::ranges::all_of(workers_, [](const auto& w) { return w->result().ended; });
}

uint64_t Site::acknowledged() const {
  uint64_t blocks = 0;
  for (const auto& worker : workers_) blocks += worker->acknowledged();
  return blocks;
}

}  // namespace tapedeck::sim
