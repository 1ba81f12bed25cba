#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fusec-tune: its arithmetic; and all of it with a stand-in for fusec-run.

    test_tune.py FUSEC FUSEC-RUN [UNITTEST ARGUMENTS]
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOOL = HERE.parent.parent / "tools/fusec-tune"
EXAMPLES = HERE.parent.parent / "examples"
sys.path.insert(0, str(TOOL.parent / "tune"))

import build  # noqa: E402
import plot  # noqa: E402
import problem  # noqa: E402
import report  # noqa: E402
import stats  # noqa: E402

FUSEC, RUNNER = (str(Path(p).resolve()) for p in sys.argv[1:3])


class Arithmetic(unittest.TestCase):
    def test_ranks(self):
        self.assertEqual(stats.ranks([30, 10, 20]), [3, 1, 2])
        self.assertEqual(stats.ranks([5, 5, 1, 5]), [3, 3, 1, 3])

    def test_spearman(self):
        self.assertAlmostEqual(stats.spearman([1, 2, 3], [10, 20, 90]), 1)
        self.assertAlmostEqual(stats.spearman([1, 2, 3], [3, 2, 1]), -1)
        # A worked example: d = (1, 1, 0), 1 - 6 * 2 / (3 * 8).
        self.assertAlmostEqual(stats.spearman([1, 2, 3], [2, 1, 3]), 0.5)
        self.assertIsNone(stats.spearman([1], [1]))
        self.assertIsNone(stats.spearman([1, 1], [1, 2]))

    def test_regret(self):
        self.assertEqual(stats.regret(3, [3, 2, 4]), 1.5)
        self.assertEqual(stats.summary([None, 1.0, 3.0, 1.2]), (1.2, 3.0))
        self.assertIsNone(stats.summary([None]))

    def test_row_ranges(self):
        ranges = stats.row_ranges([8192, 512, 2048])
        self.assertEqual(ranges, {512: (256, 1024), 2048: (1025, 4096),
                                  8192: (4097, 16384)})
        self.assertEqual(stats.row_ranges([0]), {0: (0, 0)})

    def test_ranges_leave_no_gap(self):
        for rows in ([1, 2], [1, 2, 3], [16, 17, 1000]):
            ranges = stats.row_ranges(rows)
            for r, (least, most) in ranges.items():
                self.assertTrue(least <= r <= most, ranges)
            for a, b in zip(rows, rows[1:]):
                self.assertEqual(ranges[a][1] + 1, ranges[b][0])


class Problems(unittest.TestCase):
    base = problem.Problem("a/f.fusion", None, ("T=f32",), (), ("N",), ())

    def test_line(self):
        p = problem.parse_line("b/g.fusion -D X=1 check=M=5 M=8,N=16 # it",
                               self.base)
        self.assertEqual(p.key, "g T=f32 X=1 M=8 N=16!")
        self.assertEqual(p.check, (("M", 5),))
        self.assertEqual(p.arguments(), ["b/g.fusion", "-DT=f32", "-DX=1",
                                         "--hint", "M=8", "-DN=16"])

    def test_bad_lines(self):
        for line in ("-D X=1", "M=8", "M=8,N", "M=8,N=1,M=2", "N=8 bind=K",
                     "M=8,N=16 check=N=4", "M=8,N=16 check=K=4"):
            with self.assertRaises(problem.Bad, msg=line):
                problem.parse_line(line, self.base)

    def test_shard(self):
        items = list(range(7))
        parts = [problem.shard(items, f"{i}/3") for i in (1, 2, 3)]
        self.assertEqual(sorted(sum(parts, [])), items)
        for text in ("0/3", "4/3", "1", "a/b", "1/0"):
            with self.assertRaises(problem.Bad):
                problem.shard(items, text)


def measured(rows, times, predicted, columns=64):
    plans = [{"name": str(i), "rank": i + 1, "scheduler": "s", "summary": "p",
              "predicted_ns": p, "kernels": "    kernel 0 s {\n      x 1;\n"
              "    }\n"} for i, p in enumerate(predicted)]
    plans[0]["shipped"] = True
    row = {"key": f"f M={rows}", "signature": "0" * 16, "device": "h200",
           "rows": rows, "columns": columns, "plans": plans}
    us = {str(i): t for i, t in enumerate(times) if t}
    return report.Measured(row, {"us": us, "copy_us": 8.0, "wrong": {},
                                 "failed": {}})


class Reports(unittest.TestCase):
    def test_numbers(self):
        m = measured(8, [12, 10, 16], [1000, 2000, 3000])
        self.assertEqual(m.regret, 1.2)
        self.assertAlmostEqual(m.correlation, 0.5)
        self.assertEqual(m.sol(m.best), 0.8)

    def test_shipped_without_time(self):
        m = measured(8, [None, 10], [1000, 2000])
        self.assertIsNone(m.regret)
        self.assertNotIn("\nentry ", report.tuning_file([m], 1.01))
        self.assertIn(" -", report.problem_line(m))

    def test_kernels_of_a_plan(self):
        two = ("plan 1 graph 0\nfusion e {\n  variant 0 {\n    kernel 0 a {\n"
               "    }\n  }\n}\nfusion f {\n  variant 0 when \"N\" {\n"
               "    kernel 0 b {\n    }\n  }\n}\n")
        self.assertEqual(build.kernels_of({"plan": two, "fusion": "f"}),
                         "    kernel 0 b {\n    }\n")
        self.assertNotIn(build.kernels_of({"plan": two, "fusion": "e"}),
                         build.section(two, "f"))

    def test_tuning_file(self):
        both = [measured(512, [12, 10], [1, 2]), measured(64, [10, 12], [1, 2])]
        text = report.tuning_file(both, 1.01)
        self.assertEqual(text, report.tuning_file(both[::-1], 1.01))
        self.assertEqual(text.count("\nentry "), 1)
        self.assertIn("rows 182 1024; columns 64 64;", text)
        self.assertIn("measured_ns 10000; model_ns 12000;", text)

    def test_plot(self):
        text = plot.svg([measured(8, [12, 1000], [1000, 50000])])
        root = xml.etree.ElementTree.fromstring(text)
        dots = [e for e in root.iter() if e.tag.endswith("circle")]
        self.assertEqual(len(dots), 2 + 1)  # and the legend's
        for word in ("predicted time, µs", "measured time, µs"):
            self.assertIn(word, text)
        self.assertIsNone(plot.svg([]))


class Lines(unittest.TestCase):
    def test_cut_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "r.jsonl"
            path.write_text('{"a": 1}\n{"a": 2', encoding="utf-8")
            build.add_line(path, {"a": 3})
            self.assertEqual(build.read_lines(path), [{"a": 1}, {"a": 3}])


class Whole(unittest.TestCase):
    """The program, from a fusion to a tuning file that fusec reads."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.place.name)
        cls.program = cls.folder / "f.fusion"
        cls.program.write_text(
            "fusion f(x: f32[M, N]) -> (y: f32[M, N]) {\n"
            "    y = x - max(x, axis=1, keepdim=true);\n}\n", encoding="utf-8")
        (cls.folder / "problems").write_text("M=64,N=256\nM=512,N=256\n",
                                             encoding="utf-8")
        r = cls.tune("--compile-only", "set")
        assert r.returncode == 0, r.stderr

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    @classmethod
    def command(cls, *args):
        return [sys.executable, str(TOOL), str(cls.program), "--problems",
                "problems", "--bind", "N", "--plans", "4", "--jobs", "2",
                "--fusec", FUSEC, "--runner",
                str(HERE / "fake_runner.py"), *args]

    @classmethod
    def environment(cls, faults=""):
        return {**os.environ, "FAKE_FAULTS": faults,
                "FAKE_LOG": str(cls.folder / "log")}

    @classmethod
    def tune(cls, *args, faults=""):
        return subprocess.run(cls.command(*args), cwd=cls.folder, text=True,
                              capture_output=True, check=False,
                              env=cls.environment(faults))

    def run_set(self, results, *args, faults="", status=0):
        r = self.tune("--run-only", "set", "--results", results, *args,
                      faults=faults)
        self.assertEqual(r.returncode, status, r.stdout + r.stderr)
        return r, build.read_lines(self.folder / results)

    def plans(self):
        return build.read_index(self.folder / "set")[0]["plans"]

    def test_compile_again(self):
        before = {p: p.stat().st_mtime_ns
                  for p in (self.folder / "set").iterdir()}
        r = self.tune("--compile-only", "set")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertEqual(before, {p: p.stat().st_mtime_ns for p in before})
        self.assertEqual(len([p for p in before if p.suffix == ".cubin"]), 8)

    def test_shipped(self):
        self.assertEqual([p["rank"] for p in self.plans()
                          if p.get("shipped")], [1])

    def test_shipped_is_no_candidate(self):
        builder = build.Builder(FUSEC, self.folder / "set", "h200", 4, 1)
        given = problem.make(str(self.program), None, [],
                             problem.parse_dims("M=64,N=256"), ["N"])
        rows = builder.candidates(given)
        for row in rows:
            row["plan"] = row["plan"].replace("kernel 0 ", "kernel 0 not_")
        plans = []
        builder.mark_shipped(given, rows, plans)
        self.assertEqual([p["rank"] for p in plans], [0])
        self.assertGreater(plans[0]["predicted_ns"], 0)
        name = plans[0]["name"]
        for suffix in ("cubin", "json"):
            (self.folder / "set" / f"{name}.{suffix}").unlink()

    def test_lost_cubin(self):
        name = self.plans()[0]["name"]
        for suffix in ("cubin", "json"):
            (self.folder / "set" / f"{name}.{suffix}").unlink()
        self.assertEqual(self.tune("--compile-only", "set").returncode, 0)
        self.assertTrue((self.folder / "set" / f"{name}.cubin").exists())

    def test_shards_and_merge(self):
        self.run_set("whole", "-o", "whole.txt")
        _, one = self.run_set("one", "--shard", "1/2")
        _, two = self.run_set("two", "--shard", "2/2")
        self.assertEqual([len(one), len(two)], [1, 1])
        r = self.tune("--merge", "two", "one", "--run-only", "set", "-o",
                      "merged.txt")
        self.assertEqual(r.returncode, 0, r.stderr)
        for suffix in ("txt", "tsv", "svg"):
            self.assertEqual(
                (self.folder / f"whole.{suffix}").read_bytes(),
                (self.folder / f"merged.{suffix}").read_bytes())
        self.assertIn("regret: median 1.099, worst 1.099", r.stdout)

    def test_resume(self):
        self.run_set("again")
        (self.folder / "log").unlink()
        _, rows = self.run_set("again")
        self.assertFalse((self.folder / "log").exists())
        self.assertEqual(len(rows), 2)

    def test_tuning_file_is_read(self):
        self.run_set("read", "-o", "read.txt")
        best = self.plans()[-1]
        command = [FUSEC, str(self.program), "-DN=256", "--hint", "M=64",
                   "--tuned", str(self.folder / "read.txt"), "--candidates=1"]
        r = subprocess.run(command, text=True, capture_output=True, check=False)
        self.assertEqual(r.returncode, 0, r.stderr)
        row = json.loads(r.stdout)
        self.assertEqual(row["kernels"], best["kernels"])
        self.assertIn("tuned: measured 91.0 us, 100.0 us without",
                      row["summary"])

    def test_wrong_result(self):
        r, rows = self.run_set("wrong", faults="1=wrong", status=1)
        name = self.plans()[1]["name"]
        self.assertIn(name, rows[0]["wrong"])
        self.assertEqual(len(rows[0]["us"]), 3)
        self.assertIn(f"plan {name}: a wrong result", r.stderr)

    def test_failed_plan(self):
        _, rows = self.run_set("failed", faults="0=failed 2=failed", status=1)
        self.assertEqual(len(rows[0]["failed"]), 2)
        self.assertEqual(len(rows[0]["us"]), 2)

    def test_crash_and_hang(self):
        for fault in ("crash", "hang"):
            _, rows = self.run_set(fault, "--timeout", "2", "--shard", "1/2",
                                   faults=f"3={fault}", status=1)
            self.assertEqual(list(rows[0]["failed"]), [self.plans()[3]["name"]])
            self.assertEqual(len(rows[0]["us"]), 3)

    def test_too_fast(self):
        _, rows = self.run_set("fast", faults="0=fast", status=1)
        self.assertIn("faster than the memory",
                      list(rows[0]["failed"].values())[0])

    def test_check_shape(self):
        self.tune("--compile-only", "checked", "--check-shape", "M=7")
        (self.folder / "log").write_text("", encoding="utf-8")
        self.tune("--run-only", "checked")
        words = json.loads((self.folder / "log").read_text().split("\n")[0])
        self.assertEqual(words[words.index("--shape") + 1], "M=7,N=256")
        self.assertEqual(words[words.index("--time-shape") + 1], "M=64,N=256")

    def test_no_driver(self):
        r = self.tune("--run-only", "set", "--results", "none",
                      faults="missing=1")
        self.assertEqual(r.returncode, 3)
        self.assertIn("driver is not installed", r.stderr)
        self.assertFalse((self.folder / "none").exists())

    def test_interrupt(self):
        process = subprocess.Popen(
            self.command("--run-only", "set", "--results", "stopped"),
            cwd=self.folder, text=True, stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL, start_new_session=True,
            env=self.environment("0=hang"))
        process.stderr.readline()
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        words = process.communicate(timeout=30)[1]
        self.assertEqual(process.returncode, 130)
        self.assertIn("the same command goes on", words)
        self.assertEqual(len(self.run_set("stopped")[1]), 2)

    def test_usage(self):
        for args, status, words in (
                (["--shapes", "M"], 2, "NAME=EXTENT"),
                (["--bind", "K"], 2, "no dimension"),
                (["--shard", "3/2", "--compile-only", "x"], 2, "I/N"),
                (["--run-only", "nowhere"], 2, "nothing to run"),
                (["--fusion", "g", "--compile-only", "x"], 1, "no fusion 'g'"),
                (["-D", "Q=1", "--compile-only", "x"], 1, "unknown-binding"),
                (["--fusec", "none", "--compile-only", "x"], 2, "none"),
                (["--merge", "none", "--run-only", "set"], 2, "no results")):
            r = self.tune(*args)
            self.assertEqual(r.returncode, status, f"{args} {r.stderr}")
            self.assertIn(words, r.stderr)

    def test_emulate(self):
        r = subprocess.run(
            [sys.executable, str(TOOL), str(self.program), "--shapes",
             "M=5,N=40", "--plans", "2", "--fusec", FUSEC, "--runner", RUNNER,
             "--emulate", "--dir", "emulated"], cwd=self.folder, text=True,
            capture_output=True, check=False)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("1 problems, 2 plans checked, 0 wrong", r.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
