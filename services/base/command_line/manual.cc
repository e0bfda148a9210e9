#include <CLI/CLI.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "services/base/command_line/command_line.h"
#include "services/base/command_line/help.h"

namespace tapedeck::services::command_line {
namespace {

// As roff shows it letter by letter: "-" would be a hyphen there, and a dot at the beginning a
// request.
std::string Roff(const std::string& text) {
  const std::string safe =
      absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}, {"\n", " "}, {"^", "\\(ha"}});
  const bool request = !safe.empty() && (safe[0] == '.' || safe[0] == '\'');
  return request ? "\\&" + safe : safe;
}

std::string Bold(const std::string& text) { return absl::StrCat("\\fB", Roff(text), "\\fR"); }
std::string Italic(const std::string& text) { return absl::StrCat("\\fI", Roff(text), "\\fR"); }

std::string Entry(const std::string& term, const std::string& text) {
  return absl::StrCat(".TP\n", term, "\n", text, "\n");
}

std::string TermOf(const CLI::Option& option) {
  if (option.get_positional()) return Italic(option.get_name(/*positional=*/true));
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back(Bold("-" + name));
  for (const std::string& name : option.get_lnames()) names.push_back(Bold("--" + name));
  const std::string type = option.get_type_name();
  const bool takes = option.get_items_expected_max() > 0;
  return absl::StrCat(absl::StrJoin(names, ", "),
                      takes && !type.empty() ? absl::StrCat(" ", Italic(type)) : "");
}

// Below a line for each heading that is no usual one.
std::string OptionsOf(CLI::App& command) {
  std::string out;
  for (const std::string& group : command.get_groups()) {
    const bool usual = group == command.get_help_ptr()->get_group();
    if (!usual && !group.empty()) absl::StrAppend(&out, ".PP\n", Bold(group), "\n");
    for (const CLI::Option* option : command.get_options()) {
      if (option == command.get_help_ptr() || option->get_group() != group) continue;
      absl::StrAppend(&out, Entry(TermOf(*option), Roff(DescriptionOf(*option))));
    }
  }
  return out;
}

// Under `title`, as they would be typed; of a command without any, nothing.
std::string ExamplesOf(const CLI::App& command, const std::string& title) {
  if (command.get_footer().empty()) return "";
  std::string out = absl::StrCat(title, "\n.nf\n");
  for (const absl::string_view line : absl::StrSplit(command.get_footer(), '\n')) {
    absl::StrAppend(&out, Roff(std::string(line)), "\n");
  }
  return out + ".fi\n";
}

// "tapectl lun create [OPTION...] NAME".
std::string UseOf(CLI::App& command, const std::string& name) {
  std::string use = absl::StrCat(Bold(name), " [", Italic("OPTION"), "...]");
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    const std::string argument = Italic(option->get_name(/*positional=*/true));
    absl::StrAppend(&use, " ", option->get_required() ? argument : "[" + argument + "]");
  }
  return use;
}

std::string Head(const std::string& page, const std::string& version, const std::string& purpose) {
  return absl::StrCat(".TH \"", Roff(absl::AsciiStrToUpper(page)), "\" \"1\" \"\" \"Tapedeck ",
                      Roff(version), "\" \"Tapedeck\"\n.SH NAME\n", Roff(page), " \\- ",
                      Roff(purpose), "\n");
}

ManualPage PageOf(CLI::App& command, const std::string& program, const std::string& version) {
  const std::string name = absl::StrCat(program, " ", command.get_name());
  ManualPage page{.name = absl::StrCat(program, "-", command.get_name())};
  page.roff = Head(page.name, version, command.get_description());
  absl::StrAppend(&page.roff, ".SH SYNOPSIS\n");
  const std::vector<CLI::App*> verbs = command.get_subcommands({});
  if (verbs.empty()) {
    absl::StrAppend(&page.roff, UseOf(command, name), "\n.SH OPTIONS\n", OptionsOf(command),
                    ExamplesOf(command, ".SH EXAMPLES"));
  } else {
    absl::StrAppend(&page.roff, Bold(name), " ", Italic("COMMAND"), " ...\n.SH COMMANDS\n");
  }
  for (CLI::App* verb : verbs) {
    absl::StrAppend(&page.roff, ".SS ", Roff(verb->get_name()), "\n",
                    UseOf(*verb, absl::StrCat(name, " ", verb->get_name())), "\n.PP\n",
                    Roff(verb->get_description()), ".\n", OptionsOf(*verb),
                    ExamplesOf(*verb, ".PP\nExamples:"));
  }
  absl::StrAppend(&page.roff, ".SH SEE ALSO\n", Bold(program),
                  "(1), which has the options that all commands take, and the exit status.\n");
  return page;
}

}  // namespace

std::vector<ManualPage> ManualOf(CLI::App& program, const std::string& version,
                                 const std::vector<ManualSection>& sections) {
  const std::string name = program.get_name();
  ManualPage main{.name = name, .roff = Head(name, version, program.get_description())};
  absl::StrAppend(&main.roff, ".SH SYNOPSIS\n", UseOf(program, name), " ", Italic("COMMAND"),
                  " ...\n.SH COMMANDS\n");
  std::vector<ManualPage> pages;
  for (CLI::App* command : program.get_subcommands({})) {
    pages.push_back(PageOf(*command, name, version));
    absl::StrAppend(&main.roff,
                    Entry(Bold(pages.back().name) + "(1)", Roff(command->get_description())));
  }
  absl::StrAppend(&main.roff, ".SH OPTIONS\nThey may stand before the command or after it.\n",
                  OptionsOf(program));
  for (const ManualSection& section : sections) {
    absl::StrAppend(&main.roff, ".SH ", Roff(section.title), "\n");
    for (const auto& [term, text] : section.entries) {
      absl::StrAppend(&main.roff, Entry(Bold(term), Roff(text)));
    }
  }
  pages.insert(pages.begin(), std::move(main));
  return pages;
}

}  // namespace tapedeck::services::command_line
