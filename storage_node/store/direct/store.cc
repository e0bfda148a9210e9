#include "storage_node/store/direct/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/disk/fd.h"
#include "storage_node/engine/engine.h"
#include "storage_node/store/direct/recording.h"
#include "storage_node/store/directory/store.h"

namespace tapedeck::storage_node::store::direct {
namespace {

absl::Status NoDirectIo(const std::string& member, const std::string& why) {
  return disk::Unusable(member,
                        absl::StrCat("its file system has no O_DIRECT that a direct LUN can "
                                     "use (",
                                     why, "); use a posix LUN, or a directory on ext4 or xfs"));
}

// Opens a file that has no name, as data files will be opened, and asks for its alignment.
absl::Status CheckDirectIo(const std::string& member) {
  const disk::Fd fd(open(member.c_str(), O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600));
  if (fd.get() < 0) return NoDirectIo(member, std::strerror(errno));
  struct statx status = {};
  if (statx(fd.get(), "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) != 0 ||
      (status.stx_mask & STATX_DIOALIGN) == 0) {
    return absl::OkStatus();  // an older kernel does not say
  }
  const uint32_t needed = std::max(status.stx_dio_offset_align, status.stx_dio_mem_align);
  if (status.stx_dio_offset_align == 0) return NoDirectIo(member, "statx: none");
  if (needed > engine::kAlignment) {
    return NoDirectIo(member, absl::StrCat("statx: transfers must be aligned to ", needed));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<engine::Engine>> EngineOf(uint32_t member) {
  return engine::MakeEngine(absl::StrCat("disk-", member));
}

std::unique_ptr<Store> Make(std::unique_ptr<store::directory::Member> member,
                            const std::shared_ptr<engine::Engine>& engine) {
  dataplane::Log(dataplane::LogLevel::kInfo, "store/direct", "member opened",
                 {{"member", member->path()}, {"engine", engine->description()}});
  store::directory::Kind kind{.data_flags = O_DIRECT};
  kind.open = [engine](const std::shared_ptr<store::directory::OpenFiles>& files,
                       dataplane::Executor& executor) -> std::unique_ptr<RecordingFiles> {
    return std::make_unique<DirectRecording>(*engine, files, executor);
  };
  kind.disk_engine = engine;
  return store::directory::MakeStore(std::move(member), std::move(kind));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> Create(const services::Lun& lun, uint32_t member) {
  // Before anything is made there.
  if (const std::string& path = lun.members[member]; access(path.c_str(), W_OK) == 0) {
    TD_RETURN_IF_ERROR(CheckDirectIo(path));
  }
  TD_ASSIGN_OR_RETURN(const auto engine, EngineOf(member));
  TD_ASSIGN_OR_RETURN(auto made, store::directory::Member::Create(lun, member));
  return Make(std::move(made), engine);
}

absl::StatusOr<std::unique_ptr<Store>> Open(const services::Lun& lun, uint32_t member) {
  TD_ASSIGN_OR_RETURN(auto opened, store::directory::Member::Open(lun, member));
  TD_RETURN_IF_ERROR(CheckDirectIo(opened->path()));
  TD_ASSIGN_OR_RETURN(const auto engine, EngineOf(member));
  return Make(std::move(opened), engine);
}

}  // namespace tapedeck::storage_node::store::direct
