#include "services/tapectl/program/profiles.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "dataplane/status_macros.h"
#include "services/base/command_line/nearest.h"
#include "services/base/config/document.h"
#include "services/base/config/fault.h"
#include "services/base/files/errors.h"
#include "services/base/files/input_file.h"

namespace tapedeck::services::tapectl {
namespace {

using config::Element;
using config::Fault;

const std::vector<std::string> kOptions = {"storage",  "worker",  "output", "timeout",
                                           "tls-cert", "tls-key", "tls-ca"};

std::string NoSuch(absl::string_view what, const std::string& word,
                   const std::vector<std::string>& words) {
  const std::vector<std::string> nearest = command_line::Nearest(word, words);
  return absl::StrCat("there is no ", what, " ", config::Quoted(word), nearest.empty() ? "" : "; ",
                      command_line::DidYouMean(nearest));
}

// Who can write it says which node gets the user's certificate, and their recordings.
absl::Status CheckOwner(const files::InputFile& file) {
  struct stat info = {};
  if (fstat(file.fd.get(), &info) != 0) return files::NotFound(file.path, "fstat", errno);
  if (info.st_uid != geteuid() && info.st_uid != 0) {
    return files::Invalid(file.path, "belongs to another user");
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) == 0) return absl::OkStatus();
  return files::Invalid(file.path, absl::StrCat("others may write it; chmod go-w ", file.path));
}

// Beside the file that names it.
std::string Beside(const std::string& file, const std::string& path) {
  return (std::filesystem::path(file).parent_path() / path).lexically_normal().string();
}

absl::StatusOr<Profile> ProfileOf(const std::string& file, const Element& from) {
  const std::string path = absl::StrCat("profiles.", from.key);
  if (from.kind != Element::Kind::kMap) {
    return Fault({file, from.line, path}, "is not a map of options");
  }
  Profile profile;
  for (const Element& option : from.items) {
    const config::Place place{file, option.key_line, path};
    if (std::ranges::find(kOptions, option.key) == kOptions.end()) {
      return Fault(place, NoSuch("option", option.key, kOptions));
    }
    if (option.kind != Element::Kind::kScalar) {
      return Fault(place, absl::StrCat(config::Quoted(option.key), " is not a single value"));
    }
    const bool is_path = absl::StartsWith(option.key, "tls-");
    profile.options[option.key] = is_path ? Beside(file, option.text) : option.text;
    profile.lines[option.key] = option.key_line;
  }
  return profile;
}

absl::StatusOr<Profiles> ProfilesOf(const std::string& file, const Element& root) {
  if (root.kind != Element::Kind::kMap) return Fault({file, root.line}, "is not a map");
  Profiles profiles{.file = file};
  for (const Element& part : root.items) {
    const config::Place place{file, part.key_line, part.key};
    if (part.key == "default" && part.kind == Element::Kind::kScalar) {
      profiles.by_default = part.text;
    } else if (part.key == "profiles" && part.kind == Element::Kind::kMap) {
      for (const Element& one : part.items) {
        TD_ASSIGN_OR_RETURN(profiles.all[one.key], ProfileOf(file, one));
      }
    } else {
      return Fault(place, "is neither `default: NAME` nor `profiles:` with a map of them");
    }
  }
  return profiles;
}

std::vector<std::string> NamesIn(const Profiles& profiles) {
  std::vector<std::string> names;
  for (const auto& [name, profile] : profiles.all) names.push_back(name);
  return names;
}

}  // namespace

std::string ProfilesFile(const std::string& config_home, const std::string& home) {
  if (!config_home.empty()) return config_home + "/tapedeck/profiles.yaml";
  return home.empty() ? "" : home + "/.config/tapedeck/profiles.yaml";
}

std::string StateFolder(const std::string& state_home, const std::string& home) {
  if (!state_home.empty()) return state_home + "/tapedeck";
  return home.empty() ? "" : home + "/.local/state/tapedeck";
}

absl::StatusOr<Profiles> ReadProfiles(const std::string& file) {
  const auto input = files::OpenInput(file);
  if (absl::IsNotFound(input.status())) return Profiles{.file = file};
  TD_RETURN_IF_ERROR(input.status());
  TD_RETURN_IF_ERROR(CheckOwner(*input));
  TD_ASSIGN_OR_RETURN(const std::string text, files::ReadText(*input, config::kMaxTextBytes));
  TD_ASSIGN_OR_RETURN(const Element root, config::ParseDocument(file, text));
  return ProfilesOf(file, root);
}

absl::StatusOr<command_line::Substitutes> UseProfile(const std::string& file,
                                                     const std::string& name) {
  const auto nothing = [](const std::string&) { return std::vector<command_line::Substitute>(); };
  if (name == kNoProfile) return nothing;
  TD_ASSIGN_OR_RETURN(const Profiles profiles, ReadProfiles(file));
  const std::string wanted = name.empty() ? profiles.by_default : name;
  if (wanted.empty()) return nothing;
  const auto found = profiles.all.find(wanted);
  if (found == profiles.all.end()) {
    return Fault({file}, NoSuch("profile", wanted, NamesIn(profiles)));
  }
  return [file, profile = found->second](const std::string& option) {
    std::vector<command_line::Substitute> substitutes;
    const std::string key = option.substr(std::min<size_t>(option.find_first_not_of('-'), 2));
    const auto value = profile.options.find(key);
    if (value != profile.options.end()) {
      substitutes.push_back({value->second, config::PlaceText({file, profile.lines.at(key), key})});
    }
    return substitutes;
  };
}

}  // namespace tapedeck::services::tapectl
