#include "services/site/node_lists.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "dataplane/status_macros.h"
#include "services/base/addresses/node_name.h"
#include "services/base/addresses/resolve.h"
#include "services/base/errors.h"
#include "services/model/words/storage_list.h"
#include "services/rpc/client/calls/channel.h"
#include "services/rpc/client/node_client.h"

namespace tapedeck::services::tapectl {
namespace {

absl::StatusOr<std::vector<std::string>> NodesOf(const Nodes& asked, const std::string& text) {
  if (!naming::IsNodeList(text)) return std::vector<std::string>{text};
  naming::Lookup lookup;
  lookup.timeout = std::min(lookup.timeout, asked.call_timeout());
  return naming::NodesOf(text, lookup);
}

// Whether the rest of a name, behind a node, is one.
bool IsName(absl::string_view text, size_t ids) {
  const size_t parts = static_cast<size_t>(std::ranges::count(text, '/')) + 1;
  return !text.empty() && (parts == ids || parts == 2 * ids);
}

// A recording's ID alone may stand behind an address.
bool IsPlaced(absl::string_view node, absl::string_view rest, size_t ids) {
  return IsName(rest, ids) || (!rest.empty() && !absl::StrContains(rest, '/') && ids == 3 &&
                               absl::StrContains(node, ':'));
}

bool IsNamed(const std::string& node, const naming::NodeName& name) {
  const auto one = naming::ParseNodeName(node);
  return one.ok() && (absl::EqualsIgnoreCase(one->text(), name.text()) ||
                      absl::EqualsIgnoreCase(one->authority(), name.text()));
}

// The machine in what `tapectl nodes` shows as its name, MACHINE/storage; empty of one that does
// not answer.
std::string NameOf(const Nodes& asked, const std::string& node) {
  const auto info = client::GetNode(client::MakeChannel(node, asked.trace, asked.credentials),
                                    asked.call_timeout());
  return info.ok() ? info->name.substr(0, info->name.find('/')) : "";
}

struct Candidates {
  std::vector<std::string> meant;
  std::vector<std::string> all;  // as one would name them
};

Candidates NodesMeant(const Nodes& asked, const std::string& text) {
  const auto name = naming::ParseNodeName(text);
  Candidates found;
  for (const std::string& node : StoragesOf(asked.storage)) {
    const std::string own = name.ok() ? "" : NameOf(asked, node);
    const bool meant = name.ok() ? IsNamed(node, *name) : own == text;
    if (meant) found.meant.push_back(node);
    found.all.push_back(own.empty() ? node : absl::StrCat(node, " (", own, ")"));
  }
  return found;
}

}  // namespace

absl::Status CheckStorages(const std::string& text) {
  for (const std::string& node : StoragesOf(text)) {
    TD_RETURN_IF_ERROR(naming::CheckNodeOrList(node));
  }
  return absl::OkStatus();
}

absl::Status ResolveStorages(Nodes& asked) {
  std::vector<std::string> nodes;
  for (const std::string& text : StoragesOf(asked.storage)) {
    TD_ASSIGN_OR_RETURN(std::vector<std::string> some, NodesOf(asked, text));
    std::ranges::move(some, std::back_inserter(nodes));
  }
  asked.storage = absl::StrJoin(nodes, ",");
  return absl::OkStatus();
}

absl::StatusOr<std::string> OneNode(const Nodes& asked, absl::string_view field,
                                    const std::string& text) {
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> nodes, NodesOf(asked, text));
  if (nodes.size() == 1) return nodes.front();
  return ArgumentInvalid(field, absl::StrCat(text, " is ", nodes.size(),
                                             " nodes, name one: ", absl::StrJoin(nodes, ", ")));
}

std::pair<absl::string_view, absl::string_view> SplitNode(absl::string_view text) {
  const size_t slashes = text.find(":///");
  const size_t begin = slashes != absl::string_view::npos && slashes < text.find('/')
                           ? slashes + sizeof(":///") - 1
                           : 0;
  const size_t slash = text.find('/', begin);
  if (slash == absl::string_view::npos) return {text, ""};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

absl::StatusOr<std::string> TakeNode(Nodes& asked, const std::string& text, size_t ids) {
  const auto [node, rest] = SplitNode(text);
  if (IsName(text, ids) || !IsPlaced(node, rest, ids)) return text;
  const Candidates found = NodesMeant(asked, std::string(node));
  if (found.meant.size() == 1) {
    asked.storage = found.meant.front();
    return std::string(rest);
  }
  if (found.meant.empty()) {
    return NameInvalid(text, absl::StrCat(text, ": no node of --storage is ", node,
                                          ": name one of ", absl::StrJoin(found.all, ", ")));
  }
  return NameInvalid(text,
                     absl::StrCat(text, ": several nodes of --storage are ", node,
                                  ": name one by its address, ", absl::StrJoin(found.meant, ", ")));
}

absl::StatusOr<std::string> TakeAnyNode(Nodes& asked, absl::string_view field,
                                        const std::string& text, size_t ids) {
  const auto [node, rest] = SplitNode(text);
  const std::string name(node);
  const bool has_node = !IsName(text, ids) && IsName(rest, ids);
  if (!has_node || !absl::StrContains(name, ':')) return TakeNode(asked, text, ids);
  TD_RETURN_IF_ERROR(naming::CheckNodeOrList(name));
  const Candidates found = naming::IsNodeList(name) ? Candidates{} : NodesMeant(asked, name);
  if (found.meant.size() == 1) {
    asked.storage = found.meant.front();
  } else {
    TD_ASSIGN_OR_RETURN(asked.storage, OneNode(asked, field, name));
  }
  return std::string(rest);
}

}  // namespace tapedeck::services::tapectl
