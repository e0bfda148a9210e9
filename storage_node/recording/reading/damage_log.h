// Logs which blocks of a recording are found damaged: the first hundred one by one, at the end how
// many there were.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "storage_node/format/damage.h"
#include "storage_node/recording/lun_meter.h"

namespace tapedeck::storage_node::recording {

class DamageLog {
 public:
  DamageLog(std::string recording, std::shared_ptr<LunMeter> meter)
      : recording_(std::move(recording)), meter_(std::move(meter)) {}
  ~DamageLog();
  DamageLog(const DamageLog&) = delete;
  DamageLog& operator=(const DamageLog&) = delete;

  void Add(uint64_t sequence, format::DamageKind kind, const std::string& detail);

  uint64_t blocks() const { return blocks_; }

 private:
  const std::string recording_;
  const std::shared_ptr<LunMeter> meter_;
  uint64_t blocks_ = 0;
};

}  // namespace tapedeck::storage_node::recording
