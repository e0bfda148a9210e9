// A recording of a worker that several storage nodes hold together: a session to each, and a Dealer
// between them. A node that is lost gets nothing until it is back; what it had not acknowledged
// goes to the others. One that cannot be begun with yet is as one that is lost, as long as another
// one is there; one that does not answer gets none until it does (answering.h). The recording ends
// well once every block is acknowledged by one of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "services/model/words/note.h"
#include "services/session/opening/resuming_session.h"
#include "services/session/parts/answering.h"
#include "services/session/parts/dealer.h"

namespace tapedeck::services::parts {

struct DealtNode {
  // Lacks make_end, give_elsewhere and begins_late. Its labels say which part.
  session::ResumingSettings session;
  absl::Status away;  // why it is known to be away as the recording begins; OK: it is not
};

struct DealtSettings {
  std::vector<DealtNode> nodes;  // at least one
  session::TransferEnd end;    // with the stream as its source; the ring is shared by all sessions
  uint64_t block_samples = 0;  // of a full block
  uint32_t copies = 1;         // of each block, as Dealer has it
  // What the nodes accept, or why it will not do.
  std::function<absl::Status(const session::Accept&)> check;
  // What a user wants to know of a part.
  std::function<void(Note)> on_note;
};

// On one executor.
class DealtRecording final : public session::Transfer {
 public:
  DealtRecording(dataplane::Executor& executor, DealtSettings settings);

  void Start(OnChange on_change) override;
  // What the stream has given so far is recorded, and all parts are sealed.
  void Stop() override;
  void EndsEarly(const std::string& why) override;

  const Dealer& dealer() const { return *dealer_; }

 private:
  struct Part {
    std::unique_ptr<session::Transfer> session;
    session::Snapshot last;
    bool ran = false;
    bool told_away = false;
    Answer answer = Answer::kNormal;
  };

  session::ResumingSettings SettingsOf(size_t part);
  absl::StatusOr<session::TransferEnd> MakeEnd(size_t part, const session::Accept& accept);
  const std::string& node(size_t part) const { return settings_.nodes[part].session.session.node; }
  void OnSnapshot(size_t part, const session::Snapshot& snapshot);
  void Look();
  Sign SignOf(size_t part) const;
  void OnAnswer(size_t part, Answer answer);
  void OnAway(size_t part, const absl::Status& cause);
  void OnEnded(size_t part, const absl::Status& error);
  // It begins nowhere, or shall not begin without this node.
  void Refuse(size_t part, const absl::Status& error);
  // `facts` beside those that every note of a part has.
  void Tell(absl::string_view code, size_t part, const std::string& what,
            std::map<std::string, std::string> facts = {});
  // The first block of which there are too few copies now; none: there are enough.
  std::optional<uint64_t> DegradedFrom() const;
  // As Tell, with that block, or with `else_text` while there are enough copies.
  void TellDegraded(absl::string_view code, size_t part, const std::string& what,
                    absl::string_view else_text, absl::string_view then,
                    std::map<std::string, std::string> facts = {});
  void NoteCopies();
  // Parts that are away can add nothing any more.
  void StopThoseAway();
  void Report();
  absl::Status Error() const;

  dataplane::Executor& executor_;
  DealtSettings settings_;
  const std::shared_ptr<Dealer> dealer_;
  OnChange on_change_;
  std::vector<Part> parts_;
  Answering answering_;
  size_t ended_parts_ = 0;
  size_t notes_ = 0;
  absl::Status failed_;  // why it could not begin
  absl::Status last_loss_;
  bool stopped_ = false;
  bool reported_ended_ = false;
  dataplane::Lifetime lifetime_;
};

}  // namespace tapedeck::services::parts
