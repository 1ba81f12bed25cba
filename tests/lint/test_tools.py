#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scripts that judge others are judged here: each finds what it looks for."""

import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools")

# Stands in for fusec: does what its first argument says.
ACTOR = f"""#!{sys.executable}
import os, sys
word, rest = sys.argv[1], sys.argv[2:]
if word == "write":
    open(rest[0], "w").write("\\n".join(rest[1:]) + "\\n")
elif word == "leave":
    open("left.ptx", "w").close()
    sys.exit(1)
elif word == "die":
    os.abort()
elif word == "complain":
    sys.exit("bad.fusion:1:1: error: bad [bad]")
elif word == "--emit=fusion":
    sys.stdout.write(open(rest[-1]).read() + "#")
elif word == "where":
    print(os.getcwd(), os.environ.get("LC_ALL"))
elif rest[:1] == ["-o"]:
    open(rest[1], "w").write("1" if "LOCPATH" in os.environ or
                             os.environ["LC_ALL"] != "C" else "0")
"""


class Tools(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.root = self.scratch.name
        self.actor = self.write("actor", ACTOR)
        os.chmod(self.actor, os.stat(self.actor).st_mode | stat.S_IXUSR)

    def tearDown(self):
        self.scratch.cleanup()

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def read(self, name):
        with open(os.path.join(self.root, name), encoding="utf-8") as f:
            return f.read()

    def run_tool(self, name, *args):
        run = subprocess.run(
            [sys.executable, os.path.join(TOOLS, name), *args], cwd=self.root,
            capture_output=True, text=True, check=False)
        return run.returncode, run.stdout + run.stderr

    def golden(self, *args):
        return self.run_tool("golden.py", "--fusec", self.actor, *args, "cases")


class Golden(Tools):
    def test_update_then_pass_then_differ(self):
        self.write("cases/a.run", "# RUN: write out.cu hello\n# SHOW: out.cu\n")
        self.assertEqual(self.golden()[0], 1)
        self.assertEqual(self.golden("--update")[0], 0)
        self.assertEqual(
            self.read("cases/a.expect"),
            "$ fusec write out.cu hello\n[exit 0] [files: out.cu]\n"
            "[file out.cu]\nhello\n")
        self.assertEqual(self.golden(), (0, "golden: 1 passed, 0 failed\n"))
        self.write("cases/a.run", "# RUN: write out.cu other\n# SHOW: out.cu\n")
        status, text = self.golden()
        self.assertEqual(status, 1)
        self.assertIn("-hello\n+other\n", text)

    def test_part_of_a_file(self):
        self.write("cases/a.run",
                   "# RUN: write out.cu head 'end of head' 'x = 1' 'sum 7' 'y = 2'\n"
                   "# SHOW: out.cu after of head\n# HIDE: sum time\n")
        self.assertEqual(self.golden("--update")[0], 0)
        self.assertTrue(self.read("cases/a.expect").endswith(
            "[file out.cu]\nx = 1\ny = 2\n"))
        self.write("cases/a.run",
                   "# RUN: write out.cu x\n# SHOW: out.cu after y\n")
        status, text = self.golden("--update")
        self.assertEqual(status, 1)
        self.assertIn("no line to show holds 'y'", text)

    def test_failing_run_may_not_leave_files(self):
        self.write("cases/a.run", "# RUN: leave\n")
        status, text = self.golden("--update")
        self.assertEqual(status, 1)
        self.assertIn("left left.ptx", text)
        self.assertFalse(os.path.exists(os.path.join(self.root, "cases/a.expect")))

    def test_signal_is_a_failure(self):
        self.write("cases/a.run", "# RUN: die\n")
        status, text = self.golden("--update")
        self.assertEqual(status, 1)
        self.assertIn("died by signal 6", text)

    def test_complaint_is_recorded(self):
        self.write("cases/a.run", "# RUN: complain\n")
        self.assertEqual(self.golden("--update")[0], 0)
        self.assertEqual(
            self.read("cases/a.expect"),
            "$ fusec complain\n[stderr]\nbad.fusion:1:1: error: bad [bad]\n"
            "[exit 1] [no output file]\n")

    def test_paths_do_not_show(self):
        self.write("cases/a.run", "# RUN: where\n")
        self.golden("--update")
        self.assertIn("\n$DIR C\n", self.read("cases/a.expect"))

    def test_orphan_and_empty(self):
        self.write("cases/a.expect", "x\n")
        self.assertEqual(self.golden()[0], 1)
        os.remove(os.path.join(self.root, "cases/a.expect"))
        self.assertEqual(self.golden(), (1, "golden: 0 passed, 0 failed\n"))

    def test_roundtrip_differs(self):
        self.write("cases/a.fusion", "fusion x\n")
        self.assertEqual(self.golden("--roundtrip")[0], 1)


class Others(Tools):
    def test_determinism_sees_a_locale(self):
        self.write("cases/a.fusion", "fusion x\n")
        status, text = self.run_tool(
            "determinism.py", "--fusec", self.actor, "cases")
        self.assertEqual(status, 1)
        self.assertIn("differs: a.ptx", text)

    def test_embed_ignores_order_and_folder(self):
        one = self.write("one/b.cuh", "b\n"), self.write("one/a.cuh", '"a"\n')
        two = self.write("two/a.cuh", '"a"\n'), self.write("two/b.cuh", "b\n")
        for out, files in (("1.c", one), ("2.c", two)):
            self.assertEqual(self.run_tool("embed.py", out, "table", *files)[0], 0)
        self.assertEqual(self.read("1.c"), self.read("2.c"))

    def test_layers(self):
        self.write("src/ir/a.c", '#include "support/base.h"\n')
        self.assertEqual(self.run_tool("check_layers.py", self.root)[0], 0)
        for line, fault in (
                ('#include "sched/plan.h"', "a later layer"),
                ('#include "a.h"', "not named by its path"),
                ("p = malloc(3);", "malloc belongs to"),
                ("case OP_ADD:", "make it a column")):
            self.write("src/ir/a.c", f'#include "support/base.h"\n{line}\n')
            status, text = self.run_tool("check_layers.py", self.root)
            self.assertEqual(status, 1, line)
            self.assertIn(f"src/ir/a.c:2: ", text)
            self.assertIn(fault, text)

    def test_layers_ignore_comments_and_strings(self):
        self.write("src/ir/a.c", '#include "support/base.h"\n'
                   '/* malloc(1) */ const char *s = "free(x)";\n')
        self.assertEqual(self.run_tool("check_layers.py", self.root)[0], 0)

    def test_size(self):
        body = "    x();\n"
        for lines, status in ((15, 0), (81, 1)):
            self.write("src/ir/a.c", f"static void\nf(int a)\n{{\n{body * lines}}}\n")
            self.assertEqual(self.run_tool("check_size.py", self.root)[0], status)
        self.write("src/ir/a.c", "void\nf(int a, int b, int c, int d, int e,\n"
                   "  int f, int g)\n{\n}\n")
        self.assertIn("7 parameters", self.run_tool("check_size.py", self.root)[1])

    def test_headers(self):
        self.write("src/a.h", "int f(void);\n")
        self.assertEqual(self.run_tool("check_headers.py", "src")[0], 0)
        self.write("src/b.h", "size_t f(void);\n")
        self.assertEqual(self.run_tool("check_headers.py", "src")[0], 1)

    def test_state(self):
        os.mkdir(os.path.join(self.root, "src"))
        for text, status in (("const int a = 1;", 0), ("static const char *const "
                             "a[] = {\"x\"}; int f(int i) { return *a[i]; }", 0),
                             ("int a;", 1), ("int f(void) { static int k; "
                             "return k++; }", 1)):
            self.write("a.c", text + "\n")
            subprocess.run("cc -fPIC -c a.c && rm -f src/liba.a && "
                           "ar rcs src/liba.a a.o", shell=True, cwd=self.root,
                           check=True)
            got, out = self.run_tool("check_state.py", self.root)
            self.assertEqual(got, status, text + out)

    def test_summary(self):
        def log(name, result, out):
            return json.dumps({"name": name, "result": result, "stdout": out})
        self.write("log", "\n".join([
            log("tap", "FAIL", "ok 1 - a\nnot ok 2 - b\n"),
            log("own", "OK", "golden: 7 passed, 0 failed\n"),
            log("crash", "TIMEOUT", ""), log("skip", "SKIP", "")]))
        status, text = self.run_tool("test_summary.py", "log")
        self.assertEqual(status, 1)
        self.assertTrue(text.endswith("\n8 passed, 2 failed, 1 skipped\n"))


class DrawPlan(Tools):
    """Bars lie where phases say, and a stale picture is named."""

    def explained(self, **changes):
        buffer = {"buffer": "x", "store": "ring", "reuse": "row",
                  "bytes": 3 << 10, "first_phase": 1, "last_phase": 1,
                  "reason": "a < b & c", **changes}
        phase = {"inner_reductions": 1, "outer_reductions": 0, "writes": []}
        keys = {"threads": 512, "threads_per_row": 64, "vector": 8,
                "vectors_per_thread": 2, "persistent": 1, "grid_rows": 132,
                "stages": 2, "cluster": 1, "prefetch": 0,
                "finish": "pdl_kernel"}
        kernel = {"scheduler": "inner_outer_persistent", "keys": keys,
                  "buffers": [buffer]}
        chosen = {"summary": "s", "chosen": True, "roofline_percent": 50,
                  "inflight_bytes": 1 << 16, "registers": 99,
                  "shared_memory": 1 << 16, "blocks_per_sm": 1,
                  "memory_ns": 5000, "issue_ns": 2000, "latency_ns": 1000,
                  "finish_wait_ns": 500, "finish_fold_ns": 0,
                  "launch_ns": 3300, "total_ns": 10000, "kernels": [kernel]}
        return json.dumps([{
            "fusion": "f", "device": "h200", "rows": 8, "phases": [phase] * 2,
            "variants": [{"columns": 1024, "floor_ns": 5000,
                          "candidates": [chosen]}]}])

    def draw(self, **changes):
        self.write("plan.json", self.explained(**changes))
        status, text = self.run_tool("draw_plan.py", "plan.json", "-o", "a.svg")
        self.assertEqual((status, text), (0, ""))
        return self.read("a.svg")

    def test_bars(self):
        late, both = self.draw(), self.draw(first_phase=0)
        middle = (110 + 432 - 14) / 2
        self.assertIn(f'<rect x="{middle + 2:.1f}"', late)
        self.assertNotIn(f'<rect x="{middle + 2:.1f}"', both)
        self.assertIn('<rect x="112.0"', both)
        self.assertIn("a &lt; b &amp; c", late)
        self.assertIn(", 3 KiB<", late)
        self.assertEqual(late.count('fill="#9ecae1"'), 8)
        # 10.0 less 5.0, 1.0, 0.5 and 3.3; a term of nothing isn't drawn.
        self.assertIn("overlap and last round 0.2 µs", late)
        self.assertNotIn("finish: fold", late)
        self.assertEqual(late, self.draw())

    def test_no_such_candidate(self):
        self.write("plan.json", self.explained())
        self.assertEqual(
            self.run_tool("draw_plan.py", "plan.json", "--candidate", "2"),
            (1, "draw_plan.py: candidates are 1 to 1\n"))
        self.assertEqual(
            self.run_tool("draw_plan.py", "plan.json", "--kernel", "1"),
            (1, "draw_plan.py: kernels are 0 to 0\n"))

    def test_stale_picture(self):
        said = self.write("said", self.explained())
        fusec = self.write("fusec", f"#!/bin/sh\ncat {said}\n")
        os.chmod(fusec, 0o755)
        args = ("draw_plan.py", "--pictures", "p", "--fusec", fusec)
        self.assertEqual(self.run_tool(*args), (0, ""))
        self.assertEqual(self.run_tool(*args, "--check")[0], 0)
        self.write("said", self.explained(bytes=5))
        status, text = self.run_tool(*args, "--check")
        self.assertEqual(status, 1)
        self.assertIn("h200-f32-8192.svg: not what is drawn today", text)


class PageOutput(Tools):
    def test_differs_then_update_then_same(self):
        self.write("page.md", "```console\n$ echo 1; actor where\nold\n"
                   "$ echo '' 2>&1\n```\n$ echo no command\n")
        args = ("page_output.py", "page.md", "--fusec", self.actor)
        status, text = self.run_tool(*args)
        self.assertEqual(status, 1)
        self.assertIn("\n-old\n+1\n", text)
        self.assertIn("page: 2 commands, not as shown\n", text)
        self.assertEqual(self.run_tool(*args, "--update"), (0, ""))
        self.assertTrue(self.read("page.md").endswith(
            " C\n$ echo '' 2>&1\n\n```\n$ echo no command\n"))
        self.write("page.md", "```console\n$ echo 1\n1\n```\n")
        self.assertEqual(self.run_tool(*args),
                         (0, "page: 1 commands, as shown\n"))


if __name__ == "__main__":
    unittest.main()
