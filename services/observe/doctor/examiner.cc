#include "services/observe/doctor/examiner.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/timed_wait.h"
#include "services/base/errors.h"

namespace tapedeck::services::doctor {
namespace {

Finding Late(const Check& check, absl::Duration patience) {
  return Found(check.late, absl::StrCat("the check of ", check.name, " has not ended within ",
                                        absl::FormatDuration(patience)));
}

}  // namespace

absl::StatusOr<Diagnosis> Examiner::Examine(const Request& request) {
  const auto round = std::make_shared<Round>();
  round->request = request;
  round->checks = MachineChecks(parts_.scene);
  if (parts_.others) std::ranges::move(parts_.others(), std::back_inserter(round->checks));
  round->left = round->checks.size();
  round->found.resize(round->checks.size());
  round->ended.resize(round->checks.size());
  {
    absl::MutexLock lock(&mutex_);
    if (examining_) {
      return LimitReached(1, "examinations",
                          "another doctor is examining the node; ask again later");
    }
    examining_ = true;
  }
  for (size_t i = 0; i < round->checks.size(); ++i) Begin(round, i);
  const absl::Duration patience = request.measure ? parts_.measuring_patience : parts_.patience;
  Diagnosis diagnosis;
  for (const NodeRail& rail : parts_.scene->rails) {
    diagnosis.rails.push_back(FactsOf(*parts_.scene, rail));
  }
  absl::MutexLock lock(&mutex_);
  const auto ended = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopped_ || round->left == 0;
  };
  dataplane::AwaitFor(mutex_, absl::Condition(&ended), patience);
  examining_ = false;
  for (size_t i = 0; i < round->checks.size(); ++i) {
    if (!round->ended[i]) diagnosis.findings.push_back(Late(round->checks[i], patience));
    std::ranges::move(round->found[i], std::back_inserter(diagnosis.findings));
  }
  SortByWorst(diagnosis.findings);
  return diagnosis;
}

// One whose name is under way since an earlier round hangs: it stays what has not ended.
void Examiner::Begin(const std::shared_ptr<Round>& round, size_t number) {
  {
    absl::MutexLock lock(&mutex_);
    if (stopped_ || !under_way_.insert(round->checks[number].name).second) {
      --round->left;
      return;
    }
  }
  const absl::Status begun = threads_.Run([this, round, number] { Run(*round, number); });
  if (begun.ok()) return;
  absl::MutexLock lock(&mutex_);
  under_way_.erase(round->checks[number].name);
  --round->left;
}

void Examiner::Run(Round& round, size_t number) {
  const Check& check = round.checks[number];
  Findings found;
  const bool stopped = [this] {
    absl::MutexLock lock(&mutex_);
    return stopped_;
  }();
  if (!stopped) check.run(round.request, found);
  absl::MutexLock lock(&mutex_);
  under_way_.erase(check.name);
  round.found[number] = std::move(found);
  round.ended[number] = true;
  --round.left;
}

void Examiner::Stop() {
  absl::MutexLock lock(&mutex_);
  stopped_ = true;
}

}  // namespace tapedeck::services::doctor
