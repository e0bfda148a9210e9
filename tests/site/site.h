// Storage nodes and workers as users have them: gRPC servers and TCP rails on loopback, members and
// state in a directory of the test. What a test asks of them goes through their gRPC services.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "services/rpc/client/catalog_client.h"
#include "services/rpc/client/jobs_client.h"
#include "services/rpc/client/recorder_client.h"
#include "tests/site/daemon.h"
#include "tests/storage_node/temp_dir.h"

namespace tapedeck::site {

// One thread, as the rest of this file.
class Node {
 public:
  explicit Node(storage_node::Settings of) : settings(std::move(of)) {}

  // Again after Stop: it keeps its address and its state.
  void Start();
  void Stop();

  const std::string& address() const { return settings.listen; }
  services::client::CatalogClient& catalog() { return *catalog_; }
  services::client::RecorderClient& recorder() { return *recorder_; }

  // What there is under these names, or an empty one and a failure.
  services::Lun LunNamed(const std::string& name);
  services::Channel ChannelNamed(const std::string& name);
  services::Recording RecordingNamed(const std::string& name);
  // The newest one of the channel; empty: it has none.
  services::Recording Newest(const std::string& channel);
  // Whether it is recorded into no more.
  bool IsClosed(const std::string& recording);

  storage_node::Settings settings;  // changes count from the next start on

 private:
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<services::client::CatalogClient> catalog_;
  std::unique_ptr<services::client::RecorderClient> recorder_;
};

class Worker {
 public:
  explicit Worker(gpu_worker::Settings of) : settings(std::move(of)) {}

  void Start();

  services::client::JobsClient& jobs() { return *jobs_; }
  services::Job Now(const services::Job& job);
  // As it is once it has ended. One that was refused has the state FAILED and the error.
  services::Job Ended(const absl::StatusOr<services::Job>& started);
  // Runs it to its end.
  services::Job Record(const services::RecordSpec& spec) { return Ended(jobs().StartRecord(spec)); }
  services::Job Play(const services::PlaybackSpec& spec) {
    return Ended(jobs().StartPlayback(spec));
  }

  gpu_worker::Settings settings;

 private:
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<services::client::JobsClient> jobs_;
};

class SiteTest : public testing::Test {
 protected:
  // Started, with two rails, and in this order numbers from 0 on.
  Node& AddNode();
  Worker& AddWorker(bool inlets = false);

  // A LUN `name` of kind posix with the member dir_/NAME.
  void AddLun(Node& node, const std::string& name, uint64_t capacity_bytes);

  // From synth, into the channel.
  static services::RecordSpec Recording(const Node& node, const std::string& channel,
                                        uint64_t blocks = 0);
  // Compared with what synth made.
  static services::PlaybackSpec Playing(const Node& node, const std::string& recording);

  // False: 30 s were over first.
  static bool Await(const std::function<bool()>& reached);
  bool AwaitBlocks(Worker& worker, const services::Job& job, uint64_t blocks);

  const storage_node::TempDir dir_;

 private:
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<Worker>> workers_;  // go first: their jobs use the nodes
};

// Every block was moved, and none was lost, damaged or other than it should be.
void ExpectWhole(const services::Job& job, uint64_t blocks);
// A refusal or failure with that code and reason, whose text has `words`.
void ExpectRefused(const absl::Status& status, absl::StatusCode code, const std::string& reason,
                   const std::string& words = "");

}  // namespace tapedeck::site
