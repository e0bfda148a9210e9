// Profiles: options of tapectl under a name, in a file of the user's. One thread.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "services/base/command_line/command_line.h"

namespace tapedeck::services::tapectl {

// By option without dashes; paths of certificates as the file's own directory has them.
struct Profile {
  std::map<std::string, std::string> options;
  std::map<std::string, int> lines;  // of each, in the file
};

struct Profiles {
  std::string file;
  std::string by_default;  // what counts where none is named; empty: none
  std::map<std::string, Profile> all;
};

// The word for no profile, in spite of a default.
inline constexpr char kNoProfile[] = "none";

// Where the user's are: in the directory for configurations, else beneath the home; empty: neither
// is known.
std::string ProfilesFile(const std::string& config_home, const std::string& home);

// Where programs keep what is to go on later, by the same rules.
std::string StateFolder(const std::string& state_home, const std::string& home);

// None where there is no such file. INVALID_ARGUMENT where others may write it, or it is wrong; it
// says where.
absl::StatusOr<Profiles> ReadProfiles(const std::string& file);

// What the profile of this name has for each option; of no name what the default one has.
absl::StatusOr<command_line::Substitutes> UseProfile(const std::string& file,
                                                     const std::string& name);

}  // namespace tapedeck::services::tapectl
