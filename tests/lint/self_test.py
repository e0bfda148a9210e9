#!/usr/bin/python3
"""Each lint rejects a small bad tree with the right message and accepts the mended one."""
import functools
import importlib
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
sys.path.insert(1, str(HERE.resolve().parent))
from in_child import in_child  # noqa: E402

LONG_BODY = "  x();\n" * 61


@functools.cache
def program(lint):
    """The code of a lint, whose modules are loaded."""
    path = HERE / f"{lint}.py"
    importlib.import_module(lint)
    return compile(path.read_text(), path, "exec")


def run_lint(lint, arguments):
    sys.argv = [f"{lint}.py", *arguments]
    os.environ["TAPEDECK_LONG"] = "1"
    exec(program(lint), {"__name__": "__main__", "__file__": str(HERE / f"{lint}.py")})


def fork(lint, arguments):
    """(status, output) of a lint: in a child, which need not start Python anew."""
    program(lint)
    return in_child(lambda: run_lint(lint, arguments))


def run(lint, files, build=None):
    """Runs a lint over a tree of {path: text}; `build` adds files of its build directory. Returns (status, output)."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        for path, text in {**files, **{f"build/{k}": v for k, v in (build or {}).items()}}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text.replace("@ROOT@", str(root)))
            (root / path).chmod(0o755 if text.startswith("#!") else 0o644)
        return fork(lint, ["--root", str(root), *(["--build", str(root / "build")] if build is not None else [])])


def commands(*paths):
    """A compile_commands.json that compiles these paths."""
    return {"units/compile_commands.json": json.dumps([
        {"directory": "@ROOT@/build/units", "file": f"@ROOT@/{path}",
         "command": f"g++ -std=c++20 -I@ROOT@ -c @ROOT@/{path}"} for path in paths])}


class LintTest(unittest.TestCase):
    def rejects(self, message, lint, files, build=None):
        status, output = run(lint, files, build)
        self.assertEqual(status, 1, output)
        self.assertIn(message, output)

    def accepts(self, lint, files, build=None):
        status, output = run(lint, files, build)
        self.assertEqual(status, 0, output)


class Layering(LintTest):
    def include(self, path, name):
        return "layering", {path: f'#include "{name}"\n'}

    def test_arrows(self):
        for path, name in (("dataplane/a.cc", "services/b.h"), ("services/a.cc", "storage_node/b.h"),
                           ("gpu_worker/a.cc", "storage_node/b.h"), ("storage_node/a.cc", "gpu_worker/b.h")):
            self.rejects("must not include", *self.include(path, name))
        self.accepts(*self.include("gpu_worker/a.cc", "services/b.h"))

    def test_proto(self):
        for path in ("dataplane/a.cc", "services/session/a.cc", "gpu_worker/a.cc", "storage_node/a.cc"):
            self.rejects("may see proto", *self.include(path, "tapedeck/v1/session.pb.h"))
        for path in ("services/session/opening/a.h", "services/base/config/a.h", "services/tapectl/main.cc", "storage_node/a.h"):
            self.rejects("may see gRPC", "layering", {path: "#include <grpcpp/grpcpp.h>\n"})
        self.accepts("layering", {"services/rpc/client/a.h": "#include <grpcpp/grpcpp.h>\n"})
        self.accepts(*self.include("services/rpc/convert/a.cc", "tapedeck/v1/session.pb.h"))

    def test_command_line(self):
        for path in ("services/tapectl/a.h", "gpu_worker/settings.cc", "tests/bench/a.cc"):
            self.rejects("may see CLI11", "layering", {path: "#include <CLI/CLI.hpp>\n"})
        self.accepts("layering", {"services/base/command_line/a.cc": "#include <CLI/CLI.hpp>\n"})

    def test_http(self):
        self.rejects("may see libmicrohttpd", "layering", {"services/daemon/admin/a.cc": "#include <microhttpd.h>\n"})
        self.accepts("layering", {"services/daemon/admin/microhttpd/a.cc": "#include <microhttpd.h>\n"})

    def test_rooms(self):
        for path, name in (("dataplane/memory/host/a.cc", "dataplane/transport/tcp/b.h"),
                           ("dataplane/transport/tcp/a.cc", "dataplane/transport/inproc/b.h"),
                           ("storage_node/node/a.cc", "storage_node/store/posix/b.h"),
                           ("dataplane/transport/tcp/a.cc", "dataplane/memory/host/memory.h"),
                           ("gpu_worker/stages/fft/fftw/a.cc", "gpu_worker/stages/fft/cufft/b.h"),
                           ("gpu_worker/device/host/a.cc", "dataplane/memory/cuda/b.h"),
                           ("gpu_worker/job/a.cc", "gpu_worker/stages/fft/b.h")):
            self.rejects("is a room", *self.include(path, name))
        self.accepts(*self.include("dataplane/transport/tcp/a.cc", "dataplane/transport/tcp/b.h"))
        self.accepts(*self.include("dataplane/transport/list.cc", "dataplane/transport/tcp/b.h"))
        self.accepts(*self.include("gpu_worker/stages/fft/fftw/a.cc", "gpu_worker/stages/fft/fft.h"))
        self.accepts(*self.include("gpu_worker/device/cuda/a.cc", "dataplane/memory/cuda/b.h"))
        self.accepts(*self.include("gpu_worker/stages/power/cuda.cu", "dataplane/memory/cuda/b.h"))
        self.accepts(*self.include("storage_node/store/posix/a.cc", "dataplane/memory/host/memory.h"))

    def test_stage_on_cuda(self):
        includes = "#include <cuda_runtime_api.h>\n"
        for path in ("power/host.cc", "power/transform.h", "fft/fft.h", "list.cc"):
            self.rejects("in its cuda.cu alone", "layering", {f"gpu_worker/stages/{path}": includes})
        for path in ("power/cuda.cu", "fft/cufft/library.h"):
            self.accepts("layering", {f"gpu_worker/stages/{path}": includes})

    def test_order(self):
        for path, name in (("storage_node/recording/a.h", "storage_node/luns/b.h"),
                           ("dataplane/a.h", "dataplane/transport/b.h"), ("gpu_worker/job/a.h", "gpu_worker/b.h")):
            self.rejects("a room builds on", *self.include(path, name))
        self.accepts(*self.include("storage_node/luns/a.h", "storage_node/recording/b.h"))
        self.rejects("in no place of the order", *self.include("storage_node/new/a.cc", "storage_node/disk/b.h"))
        for path, name in (("dataplane/crc/a.cc", "dataplane/block/b.h"), ("dataplane/a.cc", "dataplane/crc/b.h"),
                           ("storage_node/recording/a.cc", "storage_node/recording/reading/b.h"),
                           ("storage_node/recording/reading/a.h", "storage_node/recording/recovery/b.h"),
                           ("storage_node/recording/recovery/a.cc", "storage_node/recording/writing/b.h")):
            self.rejects("a room builds on", *self.include(path, name))
            self.accepts(*self.include(name.replace(".h", ".cc"), path.replace(".cc", ".h")))

    def test_floors(self):
        for path, name in (("services/base/errors.h", "services/model/b.h"), ("services/model/seams/a.h", "services/session/protocol/b.h"),
                           ("services/observe/doctor/a.cc", "services/rpc/server/b.h"), ("services/session/parts/a.h", "services/rpc/limits.h"),
                           ("services/copy/a.cc", "services/formats/io/b.h"), ("services/site/a.cc", "services/tapectl/program/b.h")):
            self.rejects("in the order of services alone", *self.include(path, name))
            self.accepts(*self.include(name.replace(".h", ".cc"), path.replace(".cc", ".h")))

    def test_folders_of_floors(self):
        for folder, path, name in (("services/base", "base/files/a.cc", "base/config/b.h"), ("services/model", "model/recording/a.h", "model/channel.h"),
                                   ("services/rpc", "rpc/convert/a.cc", "rpc/client/b.h"), ("services/formats", "formats/io/a.cc", "formats/wav/b.h"),
                                   ("services/rpc/client", "rpc/client/calls/a.h", "rpc/client/b.h"), ("services/tapectl", "tapectl/jobs/a.h", "tapectl/main.h"),
                                   ("services/session", "session/opening/a.cc", "session/serving/b.h")):
            self.rejects(f"in the order of {folder} alone", *self.include(f"services/{path}", f"services/{name}"))
            self.accepts(*self.include(f"services/{name}", f"services/{path}"))

    def test_programs_are_apart(self):
        self.rejects("in the order of services alone", *self.include("services/console/a.cc", "services/tapectl/program/b.h"))

    def test_nothing_lies_loose(self):
        self.rejects("in no place of the order of services ", *self.include("services/a.cc", "services/base/errors.h"))
        self.rejects("in no place of the order of services ", *self.include("services/new/a.cc", "services/base/errors.h"))
        self.rejects("in no place of the order of services/rpc ", *self.include("services/rpc/new/a.cc", "services/rpc/limits.h"))

    def test_libraries(self):
        low = "tapedeck_library(low SOURCES a.cc LIBS {})\n"
        high = "tapedeck_library(high\n  SOURCES a.cc\n  LIBS {})\ntarget_link_libraries(high PRIVATE z)\n"
        lists = "services/model/CMakeLists.txt", "services/rpc/client/CMakeLists.txt"
        self.rejects("low links high", "layering", {lists[0]: low.format("x high"), lists[1]: high.format("x")})
        self.accepts("layering", {lists[0]: low.format("x"), lists[1]: high.format("x low")})
        self.rejects("low links high", "layering", {lists[0]: low.format("x") + "target_link_libraries(low PRIVATE high)\n", lists[1]: high.format("x")})

    def test_relative_include(self):
        self.rejects("by the path from the root", "layering",
                     {"services/a.cc": '#include "b.h"\n', "services/b.h": ""})

    def test_storage_node_has_no_cuda(self):
        self.rejects("has no CUDA", "layering", {"storage_node/a.cc": "#include <cuda_runtime.h>\n"})
        link = "build bin/tapedeck-storage: LINK a.o | {}\n  LINK_LIBRARIES = {}\n"
        cuda = "/usr/local/cuda/lib64/libcudart_static.a"
        self.rejects("links CUDA", "layering", {}, {"build.ninja": link.format("x.a", cuda)})
        self.accepts("layering", {}, {"build.ninja": link.format("x.a", "x.a")})


class Sizes(LintTest):
    def test_folder(self):
        full = {f"a/b/{number}.cc": "" for number in range(30)}
        self.accepts("sizes", {**full, "a/b/README.md": "", "a/b/c/0.cc": "", "a/0.cc": ""})
        self.rejects("a/b:1: a folder of 31 C++ files, at most 30", "sizes", {**full, "a/b/0.h": ""})
    def test_file(self):
        self.rejects("a.md:3: a line of 121", "sizes", {"a.md": "```sh\n```\n" + "x" * 121})
        self.accepts("sizes", {"a.md": "```sh\na\n```\n```text\n" + "x" * 121 + "\n```\n"})
        self.rejects("501 lines", "sizes", {"a.cc": "\n" * 501})
        status, output = run("sizes", {"a.cc": "\n" * 301})
        self.assertEqual(status, 0)
        self.assertIn("warning: 301 lines", output)

    def test_function(self):
        for head in ("void F(int a) {\n", "A::A(int a)\n    : a_(a), b_{1} {\n", "bool F() const noexcept {\n",
                     "class A {\n int f() {\n", "template <class T>\nauto F(T t) -> int {\n",
                     "namespace a::b {\nnamespace {\nTEST(A, B) {\n", "bool operator==(const A& a) {\n"):
            self.rejects("a function of 63 lines", "sizes", {"a.cc": head + LONG_BODY + "}\n"})
        self.accepts("sizes", {"a.cc": "void F() {\n" + LONG_BODY[:7 * 50] + "}\n"})
        self.accepts("sizes", {"a.cc": "namespace a {\nclass B : public C {\n" + "  int x_;\n" * 70 + "};\n}\n"})
        self.accepts("sizes", {"a.cc": "const char* k[] = {\n" + '  "}{",  // {\n' * 70 + "};\n"})

    def test_seam(self):
        virtual = "  virtual void F() = 0;\n"
        self.rejects("6 pure virtuals", "sizes", {"a.h": "class A {\n" + virtual * 6 + "};\n"})
        self.rejects("a seam of 83 code lines", "sizes",
                     {"a.h": "class A {\n" + virtual + "};\n" + "// why\nint x;\n" * 80})
        self.accepts("sizes", {"a.h": "class A {\n" + virtual * 5 + "};\nclass B {\n" + virtual * 5 + "};\n"})

    def test_lines_of_readmes(self):
        self.rejects("a line of 121 characters", "sizes", {"a.md": "x" * 121 + "\n"})
        self.accepts("sizes", {"a.md": "x" * 120 + "\n|" + "x" * 121 + "|\n"})


class TestsInBuild(LintTest):
    def test_compiled(self):
        self.rejects("no target builds", "tests_in_build", {"tests/a_test.cc": ""}, commands("x.cc"))
        self.accepts("tests_in_build", {"tests/a_test.cc": ""}, commands("tests/a_test.cc"))

    def test_cuda_test_needs_cuda(self):
        self.accepts("tests_in_build", {"tests/cuda/a_test.cc": ""}, commands("x.cc"))
        self.rejects("no target builds", "tests_in_build", {"tests/cuda/a_test.cc": ""}, commands("x.cu"))

    def test_registered(self):
        cmake = "tests/e2e/CMakeLists.txt"
        self.rejects("does not run", "tests_in_build", {"tests/e2e/a.sh": "", cmake: ""})
        self.accepts("tests_in_build", {"tests/e2e/a.sh": "", cmake: "e2e(a)"})


class Headers(LintTest):
    def test_alone(self):
        source = {"r/x.cc": "int main() {}\n"}
        self.rejects("does not compile alone", "headers", {"r/a.h": "inline std::size_t n = 1;\n", **source},
                     commands("r/x.cc"))
        self.accepts("headers", {"r/a.h": "#include <cstddef>\ninline std::size_t n = 1;\n", **source},
                     commands("r/x.cc"))

    def test_cuda_needs_cuda(self):
        files = {"r/cuda/a.h": "#include <cuda_is_not_here.h>\n", "r/x.cc": "int main() {}\n"}
        self.accepts("headers", files, commands("r/x.cc"))
        self.rejects("does not compile alone", "headers", files, commands("r/x.cc", "r/cuda/k.cu"))


class Words(LintTest):
    def test_words(self):
        for text in ("// TO" "DO: more\n", "int x;  // fine for no" "w\n", "// see iss" "ue 12\n", "// a stu" "b\n"):
            self.rejects("say what is", "words", {"a.cc": text})
        self.rejects("say what is", "words", {"a.md": "Pha" "se 2 comes later\n"})
        self.accepts("words", {"a.cc": "auto stub = Service::NewStub();  // for nowhere\n"})

    def test_links(self):
        self.rejects("missing file: b.md", "words", {"a.md": "see [b](b.md#part)\n"})
        self.accepts("words", {"a.md": "see [b](b.md#part), [c](https://example.org)\n", "b.md": "x\n"})


class Reasons(LintTest):
    def test_one_function(self):
        given = 'Status F() {\n  return WithReason(\n      NotFoundError(Cat("a; b")), "NO_A", {{"a", "x"}});\n}\n'
        self.rejects("NO_A is given at services/a.cc:2, too", "reasons", {"services/a.cc": given, "storage_node/b.h": given})
        self.accepts("reasons", {"services/a.cc": given, "tests/b.cc": given, "dataplane/b.cc": given.replace("NO_A", "NO_B")})

    def test_the_list(self):
        root = HERE.parents[1]
        files = {path: (root / path).read_text() for path in ("proto/tapedeck/v1/reason_option.proto", "proto/tapedeck/v1/errors.proto")}
        for good in ('NotFoundError("x"), "LUN_NOT_FOUND", {{"lun", name}})', 'DataLossError("x"), "RECORDING_NOT_FOUND")'):
            self.accepts("reasons", {**files, "services/a.cc": f"WithReason(absl::{good};\n"})
        for bad, message in (('NotFoundError("x"), "LUN_GONE")', "LUN_GONE is no reason"),
                             ('InternalError("x"), "LUN_NOT_FOUND")', "with the code INTERNAL"),
                             ('NotFoundError("x"), "LUN_NOT_FOUND", {{"disk", name}})', "with the metadata disk")):
            self.rejects(message, "reasons", {**files, "services/a.cc": f"WithReason(absl::{bad};\n"})


class Made(LintTest):
    FILES = ("proto/tapedeck/v1/reason_option.proto", "proto/tapedeck/v1/errors.proto", "services/python/tapedeck/errors.py", "services/README.md")

    def test_texts(self):
        root = HERE.parents[1]
        files = {path: (root / path).read_text() for path in self.FILES}
        self.accepts("made", files)
        for path in self.FILES[2:]:
            self.rejects(f"{path}:1: the protos or the programs say something else: run proto/reasons.py", "made",
                         {**files, path: files[path].replace("No such LUN", "No LUN")})


class Notes(LintTest):
    LISTED = {"proto/tapedeck/v1/notes.proto": "enum NoteCode {\n  NOTE_CODE_UNSPECIFIED = 0;\n  NOTE_CODE_WET = 1;\n}\n"}
    GIVEN = {**LISTED, "services/a.cc": 'MakeNote(\n    "WET", "it rains");\n'}

    def test_codes(self):
        self.accepts("notes", self.GIVEN)
        self.rejects("nothing gives the code WET", "notes", self.LISTED)
        self.rejects("DRY is no code", "notes", {**self.GIVEN, "gpu_worker/a.cc": 'notes.push_back(MakeNote("DRY", "no rain"));\n'})

    def test_english(self):
        for name, text in (("tests/e2e/a.sh", "jq '.notes | any(contains(\"rains\"))'"), ("tests/e2e/a.js", "/rain/.exec(job.notes[0].text)"),
                           ("tests/a.cc", 'EXPECT_THAT(job.notes,\n            Contains(HasSubstr("rains")));'),
                           ("tests/b.cc", 'EXPECT_THAT(TextsOf(job->notes), ElementsAre(StartsWith("it")));')):
            self.rejects("looks at the text of a note", "notes", {**self.GIVEN, name: text + "\n"})
        for name, text in (("tests/e2e/a.sh", "jq '.notes | any(.code == \"WET\")'"), ("tests/a.cc", 'EXPECT_THAT(job.notes, Contains(Noted("WET")));'),
                           ("tests/b.cc", 'EXPECT_THAT(job.notes, IsEmpty());\nEXPECT_THAT(text, HasSubstr("rains"));')):
            self.accepts("notes", {**self.GIVEN, name: text + "\n"})


class Prose(LintTest):
    LONG = "The node " + "and the worker " * 10 + "wait.\n"

    def test_sentences(self):
        self.accepts("prose", {"a.md": "# a\n\n" + "The node writes the block.\n" * 6 + "```\n" + self.LONG + "```\n"})
        self.rejects("a.md:2: a sentence of 33 words, at most 30", "prose", {"a.md": "\n" + self.LONG})
        many = "The node writes the block to the disk of its LUN and then it tells the worker so.\n" * 5
        self.rejects("18.0 words in a sentence, at most 15", "prose", {"a.md": many})
        self.accepts("prose", {"a.md": many[:len(many) // 5 * 4]})

    def test_words(self):
        for text in ("Of blocks the last is lost.", "Whoever asks gets it.", "- What is lost comes again.", "| a | One of them waits. |",
                     "It waits so long as it lives.", "It is refused unless told otherwise."):
            self.rejects("say who acts", "prose", {"a.md": text + "\n"})
        self.accepts("prose", {"a.md": "What is a LUN?\n"})

    def test_sources(self):
        for path, text in (("services/a.cc", 'command.AddFlag("--loud", loud, (Given),\n    "So many "\n    "decibels");\n'),
                           ("services/observe/telemetry/metrics.h", '{"a", "Of all blocks."},\n'), ("proto/tapedeck/v1/a.proto", "// Of all blocks.\n"),
                           ("proto/tapedeck/v1/a.proto", 'remedy: "start it; "\n    "Whoever may go"\n')):
            self.rejects(f"{path}:", "prose", {path: text})
        self.accepts("prose", {"services/a.cc": 'command.AddFlag("--loud", loud, "Be louder by this");  // So many decibels\n',
                               "tests/bench/a.cc": 'Print("So many decibels");\n'})

    def test_said(self):
        for text in ('absl::NotFoundError("nobody has it");', 'Log(LogLevel::kError, "disk", "recording goes on\\n");',
                     'MakeNote("CUT", absl::StrCat(n, " blocks are no ", full ? "whole" : "good", " ones"), {});',
                     'absl::StrAppend(&text, "; the node was ", "to ", "write");', 'absl::StrFormat("block %d has not " "the bytes", n);',
                     'constexpr char kWhy[] = "what came was wrong";', 'Fail(absl::StrCat(\'"\', n, " is told so"));',
                     f'absl::InternalError(absl::StrCat("lost: ", {", ".join(chr(34) + " so " + chr(34) + ", Of(n)" for _ in range(13))}));'):
            for path in ("dataplane/a.h", "gpu_worker/a/a.cu"):
                self.rejects(f"{path}:2: ", "prose", {path: f"\n{text}\n"})
            self.accepts("prose", {"services/a.cc": f"// {text}\n", "tests/a.cc": f"{text}\n"})
        for text in ('Find("SELECT a FROM b WHERE nobody");', 'R"({"nobody": "has \\"it"})"', "absl::StrCat(name, \" is gone; \", is, \" no\");"):
            self.accepts("prose", {"storage_node/a.cc": f"{text}\n"})

    def test_page(self):
        path = "services/console/web/src/a.tsx"
        for text in ("const a = 'Of blocks the last is lost.';\n", 'x = <A hint="Of all blocks" />;\n', "const a = `Of ${b ? `${c}` : ''} blocks`;\n",
                     "return (\n  <p>\n    Of {count(x)} blocks\n  </p>\n);\n"):
            self.rejects(f"{path}:", "prose", {path: text})
        self.accepts("prose", {path: "// Of all blocks the last.\nconst a = x > 3 ? <b>{y}</b> : z;  // Of it all\n"})

    def test_exemption(self):
        self.rejects("take it from the exemptions of prose.py", "prose", {"gpu_worker/README.md": "It is short.\n"})
        self.accepts("prose", {"gpu_worker/README.md": "Of it all.\n"})


@unittest.skipUnless(shutil.which("codespell"), "codespell is not installed")
class Spelling(LintTest):
    def test_words(self):
        self.rejects("a.md:2: 'adress' is misspelt: address", "spelling", {"a.md": "# a\nAn adress.\n"})
        self.rejects("b/c.cc:1: 'recieve' is misspelt: receive", "spelling", {"b/c.cc": "void F();  // to recieve\n"})
        self.accepts("spelling", {"a.md": "# a\nAn address.\n", "LICENSE": "recieve\n"})

    def test_list(self):
        readme = "services/base/config/README.md"
        self.accepts("spelling", {readme: "An adress.\n"})
        self.rejects(f"{readme} does not have 'adress': take it from the list", "spelling", {readme: "An address.\n"})


class Walks(LintTest):
    CODE = {"services/a.cc": "absl::Status Desk::Put(int a) {\n}\n", "services/b/b.h": "class Line final : public Way {\n  int Go() override;\n};\n",
            "dataplane/c.cc": "int Sum(int a) {\n}\n"}

    def test_functions(self):
        def walk(step):
            return {"services/README.md": f"# a\n\n## Walks\n### There\n1. {step}\n\n## Else\n1. `services` `Gone`: free\n", **self.CODE}
        self.accepts("walks", walk("`services` `Desk::Put`\n   `Line::Go`; `dataplane` `Sum`: puts `Anything`"))
        self.rejects("services/README.md:5: no function Desk::Get below services", "walks", walk("`services` `Desk::Get`: gets"))
        self.rejects("no function Way::Go", "walks", walk("`services` `Way::Go`: goes"))
        self.rejects("no function Desk::Put below dataplane", "walks", walk("`dataplane` `Desk::Put`: puts"))
        self.rejects("no function Su below", "walks", walk("`dataplane` `Su`: adds"))
        self.rejects("no code lies below services/d", "walks", walk("`services/d` `Sum`: adds"))
        self.rejects("Sum stands before its folder", "walks", walk("`Sum`: adds"))


class Clocks(LintTest):
    def test_waits(self):
        for text in ("m.AwaitWithTimeout(c, t);", "done->WaitForNotificationWithDeadline(t);", "v.WaitWithTimeout(&m, t);",
                     "v.wait_until(l, std::chrono::system_clock::now() + t);", "const auto t = absl::Now();"):
            self.rejects("dataplane/", "clocks", {"tests/a.cc": f"{text}\n"})
            self.accepts("clocks", {"tests/a.h": f"// {text}\n", "dataplane/executor/timed_wait.cc": f"{text}\n"})
        self.accepts("clocks", {"services/a.cc": "dataplane::AwaitFor(m, c, t);\nf.wait_for(std::chrono::seconds(1));\n"})


class Ignored(LintTest):
    def test_reason(self):
        for text in ("  x();\n  a.Put(b).IgnoreError();\n", "  x();\n  a.Run([&] {\n    y();\n  }).IgnoreError();\n"):
            self.rejects("an error is ignored", "ignored", {"services/a.cc": text})
            self.accepts("ignored", {"tests/a.cc": text, "services/a.cc": text.replace("  a.", "  // The next start does it.\n  a.")})
        self.accepts("ignored", {"services/a.cc": "  x();\n  a.Put(b).IgnoreError();  // the next start does it\n"})


class Groups(LintTest):
    def group(self, one, other, build=("t_0", "t_1"), top="tests"):
        text = "namespace a {\nnamespace {\n\n%s\n}  // namespace\n}  // namespace a\n"
        files = {f"{top}/one.cc": text % one, f"{top}/other.cc": text % other}
        return "groups", files, {f"d/groups/{name}.cc": f'#include "{path}"\n' for name, path in zip(build, files)}

    def test_names(self):
        for kept in ("constexpr int kMost = 1;\n", "struct Part {\n};\n", "int Sum(int a,\n        int b) {\n  return 1;\n}\n"):
            self.rejects("tests/one.cc, too", *self.group(kept, kept))
            self.accepts(*self.group(kept, kept, build=("t_1", "t_2")))
            self.rejects("dataplane/one.cc, too", *self.group(kept, kept, build=("t_1", "t_2"), top="dataplane"))
        self.accepts(*self.group("int Sum(int a) {\n}\n", "int Sum(char a) {\n}\n"))
        self.accepts(*self.group("constexpr int kMost = 1;\n", "constexpr int kLeast = 1;\n"))


class ReadmeCommands(LintTest):
    BUILD = {"bin/tapectl": "#!/bin/sh\n[ \"$*\" = --help ] && echo 'Usage: tapectl' && exit\n"
                            "[ \"$*\" = 'lun --help' ] && echo 'Usage: tapectl lun --member DIR'\n",
             "bin/a_test": "#!/bin/sh\n[ \"$2\" != --gtest_filter=Gone.* ] && echo There.Is\n"}

    def test_scripts(self):
        self.rejects("tests/x.sh is no script", "readme_commands", {"a.md": "run `tests/x.sh --all`\n"})
        self.accepts("readme_commands", {"a.md": "```\nA=1 tests/x.sh --all  # it\n```\n", "tests/x.sh": "#!/bin/sh\n"})

    def test_options(self):
        self.rejects("tapectl lun has no option --members", "readme_commands",
                     {"a.md": "`tapectl lun l0 --members DIR`\n"}, self.BUILD)
        self.accepts("readme_commands", {"a.md": "`tapectl lun l0 --member DIR ...`\n"}, self.BUILD)

    def test_choices(self):
        self.rejects("chooses no test", "readme_commands", {"a.md": "`build/bin/a_test --gtest_filter='Gone.*'`\n"}, self.BUILD)
        self.accepts("readme_commands", {"a.md": "`build/bin/a_test --gtest_filter='There.*'`\n"}, self.BUILD)

    def test_choices_of_programs_that_are_not_built(self):
        source = {"tests/b_test.cc": "TEST_F(ScrubTest, Ends) {\n}\n"}
        for command in ("build/bin/b_test --gtest_filter='*Scrub*'", "build/bin/b_test", "ctest --test-dir build -R Scrub"):
            self.accepts("readme_commands", {"a.md": f"`{command}`\n", **source}, self.BUILD)
        for command in ("build/bin/b_test --gtest_filter='Gone.*'", "ctest --test-dir build -R Gone"):
            self.rejects("chooses no test", "readme_commands", {"a.md": f"`{command}`\n", **source}, self.BUILD)


if __name__ == "__main__":
    unittest.main()
