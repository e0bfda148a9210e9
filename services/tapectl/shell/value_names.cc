#include "services/tapectl/shell/value_names.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "dataplane/datatype.h"
#include "dataplane/deadline.h"
#include "services/rpc/client/calls/channel.h"
#include "services/rpc/client/node_client.h"
#include "services/site/names.h"
#include "services/site/streams.h"
#include "services/site/units.h"
#include "services/tapectl/program/profiles.h"
#include "services/tapectl/shell/stage_words.h"

namespace tapedeck::services::tapectl {
namespace {

// Somebody waits for the key to answer.
constexpr absl::Duration kPatience = absl::Seconds(1);
// Of the newest; who looks for an older one types its channel first.
constexpr int kMostRecordings = 1000;
constexpr char kFileStage[] = "file:";

// Of this machine.
const std::set<std::string> kOfFiles = {"FILE",       "DIR",       "-o",      "--dump",
                                        "--tls-cert", "--tls-key", "--tls-ca"};

const std::set<std::string> kOfWorker = {"--source",         "--sink",  "--transform",
                                         "--also-transform", "--rails", "--device"};

// Of an option that takes a stage; empty: it takes none.
absl::string_view RoleOf(absl::string_view option) {
  if (option == "--source" || option == "--sink") return option.substr(2);
  return absl::EndsWith(option, "transform") ? "transform" : "";
}

// Collects the words of one value.
class Asker {
 public:
  Asker(Program& program, const command_line::Completion& completion)
      : program_(program), completion_(completion), deadline_(dataplane::Deadline::In(kPatience)) {}

  Words Ask();

 private:
  bool Is(absl::string_view value) const { return completion_.value == value; }
  bool IsOf(absl::string_view command) const {
    return absl::StartsWith(completion_.command, command);
  }
  // Of a copy: a channel.
  bool IsTarget() const {
    return Is("--to") && (IsOf("recordings copy") || IsOf("recordings move"));
  }
  void AddLuns();
  void AddChannels(const std::string& after);
  void AddRecordings();
  void AddJobs();
  void AddOfWorker();
  void AddStages(const NodeInfo& worker, absl::string_view kind);
  void AddParameters(absl::string_view kind, absl::string_view stage);
  void AddDatatypes();
  void AddStores();
  void AddProfiles();
  absl::StatusOr<NodeInfo> NodeAt(const std::string& address);
  // False once the second is over.
  bool HasTime();
  void Add(const std::string& name, const std::string& help);

  Program& program_;
  const command_line::Completion& completion_;
  const dataplane::Deadline deadline_;
  Words words_;
};

bool Asker::HasTime() {
  const absl::Duration left = deadline_.left();
  if (left <= absl::ZeroDuration()) return false;
  program_.timeout = absl::StrCat(absl::ToInt64Milliseconds(left) + 1, "ms");
  return true;
}

// A shell takes what is offered as it is: nothing that means something to it is.
bool IsPlain(absl::string_view name) {
  return std::ranges::all_of(name, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("._:/=,@+-", c);
  });
}

void Asker::Add(const std::string& name, const std::string& help) {
  if (IsPlain(name) && absl::StartsWith(name, completion_.typed)) {
    words_.push_back({completion_.before + name, help});
  }
}

void Asker::AddLuns() {
  if (!HasTime()) return;
  const auto luns = program_.Catalog()->ListLuns();
  if (!luns.ok()) return;
  for (const Lun& lun : *luns) Add(ShortName(lun.name), lun.description);
}

void Asker::AddChannels(const std::string& after) {
  if (!HasTime()) return;
  const auto channels = program_.Catalog()->ListChannels("luns/-");
  if (!channels.ok()) return;
  for (const Channel& channel : *channels) {
    Add(ShortName(channel.name) + after, after.empty() ? channel.datatype : "the newest");
  }
}

// Of the channel that was typed, else the newest of all.
void Asker::AddRecordings() {
  AddChannels("/latest");
  if (!HasTime()) return;
  const size_t slash = completion_.typed.rfind('/');
  const auto channel = ChannelNameOf(completion_.typed.substr(0, slash));
  const bool known = slash != std::string::npos && channel.ok();
  const auto recordings =
      program_.Catalog()->ListRecordings(known ? *channel : "luns/-/channels/-", kMostRecordings);
  if (!recordings.ok()) return;
  for (const Stream& stream : StreamsOf(*recordings)) {
    const Recording joined = Joined(stream);
    Add(ShortName(stream.name),
        absl::StrCat(FormatTime(joined.start_time_ns), ", ", FormatBytes(joined.bytes)));
  }
}

void Asker::AddJobs() {
  if (!HasTime()) return;
  const auto jobs = program_.Jobs()->ListJobs();
  if (!jobs.ok()) return;
  // An ID of digits alone is short to type; explain and trace take the full name.
  for (const Job& job : *jobs) {
    Add(Is("JOB") ? job.name.substr(job.name.find('/') + 1) : job.name,
        std::string(model::NameOf(job.state)));
  }
}

absl::StatusOr<NodeInfo> Asker::NodeAt(const std::string& address) {
  if (!HasTime()) return absl::DeadlineExceededError("no time left");
  return client::GetNode(client::MakeChannel(address, program_.trace, program_.credentials),
                         program_.call_timeout());
}

// Stages are named by their kind and name: "source synth".
void Asker::AddStages(const NodeInfo& worker, absl::string_view kind) {
  for (const std::string& stage : worker.stages) {
    const std::vector<std::string> parts = absl::StrSplit(stage, ' ');
    if (parts.size() >= 2 && parts[0] == kind) Add(parts[1], "");
  }
}

// Of what is typed all up to the parameter stays.
void Asker::AddParameters(absl::string_view kind, absl::string_view stage) {
  const std::string& typed = completion_.typed;
  const std::string before = typed.substr(0, typed.find_last_of(":,") + 1);
  for (const absl::string_view parameter : ParametersOf(kind, stage)) {
    const std::string word = absl::StrCat(parameter, "=");
    const bool given = absl::StrContains(typed, ":" + word) || absl::StrContains(typed, "," + word);
    if (!given) Add(before + word, "");
  }
}

void Asker::AddDatatypes() {
  using Kind = dataplane::Datatype::Kind;
  for (const bool complex : {true, false}) {
    for (const Kind kind : {Kind::kFloat, Kind::kInt, Kind::kUint}) {
      for (const int bits : {8, 16, 32, 64}) {
        for (const bool big : {false, true}) {
          const std::string name = dataplane::DatatypeName(
              {.complex = complex, .kind = kind, .bits = bits, .big_endian = big});
          const auto type = dataplane::ParseDatatype(name);
          if (type.ok() && type->big_endian == big) Add(name, "");
        }
      }
    }
  }
}

void Asker::AddOfWorker() {
  const auto worker = NodeAt(program_.worker);
  if (!worker.ok()) return;
  if (!RoleOf(completion_.value).empty()) AddStages(*worker, RoleOf(completion_.value));
  if (Is("--rails")) {
    for (const NodeRail& rail : worker->rails) Add(rail.rail.name, rail.rail.address);
  }
  if (Is("--device")) {
    for (const MemoryKindInfo& memory : worker->memory) Add(memory.device, memory.description);
    if (IsOf("record")) Add("all", "one recording each");
  }
}

void Asker::AddStores() {
  const auto storage = NodeAt(program_.storage);
  if (!storage.ok()) return;
  for (const StoreKindInfo& store : storage->stores) Add(store.name, store.description);
}

void Asker::AddProfiles() {
  const auto profiles = ReadProfiles(program_.profiles);
  if (!profiles.ok()) return;
  for (const auto& [name, profile] : profiles->all) Add(name, "");
  Add(kNoProfile, "");
}

Words Asker::Ask() {
  const bool any_name = Is("NAME");
  if (Is("LUN") || (any_name && (IsOf("lun") || IsOf("scrub")))) AddLuns();
  if (Is("CHANNEL") || Is("--also") || IsTarget() ||
      (any_name && (IsOf("channel") || IsOf("scrub")))) {
    AddChannels("");
  }
  if (Is("RECORDING") || Is("TARGET") || (any_name && IsOf("explain"))) AddRecordings();
  if (Is("JOB") || Is("TARGET") || (any_name && IsOf("explain"))) AddJobs();
  if (Is("--store")) AddStores();
  if (Is("--profile")) AddProfiles();
  if (Is("--datatype")) AddDatatypes();
  const absl::string_view role = RoleOf(completion_.value);
  const std::string& typed = completion_.typed;
  const size_t colon = role.empty() ? typed.npos : typed.find(':');
  if (colon != typed.npos) {
    AddParameters(role, typed.substr(0, colon));
  } else if (kOfWorker.contains(completion_.value)) {
    AddOfWorker();
  }
  return std::move(words_);
}

// --to of what writes a file here.
bool IsTargetFile(const command_line::Completion& completion) {
  const std::string& command = completion.command;
  return completion.value == "--to" &&
         (command == "recordings export" || command == "trace" || command == "manual");
}

}  // namespace

Words ValueNames(Program& program, const command_line::Completion& completion) {
  if (kOfFiles.contains(completion.value) || IsTargetFile(completion)) {
    return {{kFiles, completion.before}};
  }
  // A path of the worker's machine, which often is this one.
  if (!RoleOf(completion.value).empty() && absl::StartsWith(completion.typed, kFileStage)) {
    return {{kFiles, absl::StrCat(completion.before, kFileStage)}};
  }
  return Asker(program, completion).Ask();
}

}  // namespace tapedeck::services::tapectl
