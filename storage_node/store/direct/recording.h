// A recording of a direct store: payload by the engine, the rest as in every directory.
#pragma once

#include <memory>

#include "storage_node/engine/engine.h"
#include "storage_node/store/directory/recording.h"

namespace tapedeck::storage_node::store::direct {

// The data file as the engine knows it. Held by shared_ptr: by the recording and by each transfer,
// the last of which takes it out of the engine and closes it.
class EngineFile {
 public:
  EngineFile(engine::Engine& engine, std::shared_ptr<store::directory::OpenFiles> files)
      : engine_(engine), files_(std::move(files)) {
    engine_.AddFile(files_->data_fd());
  }
  ~EngineFile() { engine_.RemoveFile(files_->data_fd()); }

  engine::Engine& engine() { return engine_; }
  store::directory::OpenFiles& files() { return *files_; }

 private:
  engine::Engine& engine_;  // waits for its transfers before it goes
  const std::shared_ptr<store::directory::OpenFiles> files_;
};

// Lives on the executor it was opened for.
class DirectRecording final : public store::directory::DirectoryRecording {
 public:
  DirectRecording(engine::Engine& engine, const std::shared_ptr<store::directory::OpenFiles>& files,
                  dataplane::Executor& executor)
      : DirectoryRecording(files, executor), data_(std::make_shared<EngineFile>(engine, files)) {}

  void WriteBlock(format::Place place, dataplane::Block block, BlockDone done) override;
  bool ReadBlock(format::Place place, uint32_t bytes, dataplane::SlotPool& ring,
                 BlockRead done) override;

 private:
  void ReserveAhead(uint64_t end);

  const std::shared_ptr<EngineFile> data_;
  uint64_t asked_for_ = 0;  // end of the space asked for ahead
};

}  // namespace tapedeck::storage_node::store::direct
