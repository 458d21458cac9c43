# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026, the librpma authors
"""Results as JSON, as a table, and as plots."""

import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess

import figures

PACKAGES = ("libfabric1", "libucx0", "librpma0", "libibverbs1", "librdmacm1", "valgrind")
TOP = pathlib.Path(__file__).resolve().parent.parent


def said(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=TOP)
        return done.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def own_version():
    found = re.search(r"version: '(.*?)'", (TOP / "meson.build").read_text())
    commit = said("git", "describe", "--always", "--dirty") or ""
    return f"{found[1] if found else '?'} {commit}".strip()


def congestion_control():
    """It decides what a bulk transfer gets, over the loopback interface too."""
    path = pathlib.Path("/proc/sys/net/ipv4/tcp_congestion_control")
    return path.read_text().strip() if path.exists() else None


def version_of(package):
    shown = said("dpkg-query", "-W", "-f=${Version}", package)
    if not shown:
        shown = said("apt-cache", "policy", package)
        found = re.search(r"Candidate: (\S+)", shown or "")
        shown = f"{found[1]} (not installed)" if found else None
    return shown


def machine():
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal: +(\d+)", pathlib.Path("/proc/meminfo").read_text())
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": {
            "cpu": cpu[1] if cpu else platform.machine(),
            "cpus": len(os.sched_getaffinity(0)),
            "memory_gib": round(int(memory[1]) / 2**20, 1),
            "load_before": os.getloadavg()[0],
            "tcp_congestion_control": congestion_control(),
        },
        "kernel": platform.release(),
        "versions": {
            "librpma": own_version(),
            "cc": (said("cc", "--version") or "").partition("\n")[0],
            **{package: version_of(package) for package in PACKAGES},
        },
    }


# ---- goals ----------------------------------------------------------------------------

SCALES = {"_ns": [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1, "ns")],
          "_bytes": [(2**20, "MiB"), (2**10, "KiB"), (1, "B")],
          "per_s": [(1e6, "M/s"), (1e3, "k/s"), (1, "/s")],
          "bytes_per_s": [(1e9, "GB/s"), (1e6, "MB/s"), (1, "B/s")]}


def scaled(value, metric):
    if value is None:
        return "-"
    for ending, scales in sorted(SCALES.items(), key=lambda item: -len(item[0])):
        if metric.endswith(ending):
            scale, unit = next((s for s in scales if abs(value) >= s[0]), scales[-1])
            return f"{value / scale:.3g} {unit}"
    return f"{value:.4g}"


def judge(goal, medians, idle):
    series, metric = goal.ours
    ours = medians.get(series, {}).get(metric)
    others = {name: medians[name][metric] for name in goal.beside
              if metric in medians.get(name, {})}
    best = max if goal.want == ">=" else min
    name = best(others, key=others.get) if others else None
    row = {"figure": goal.figure.format(idle=idle), "metric": metric, "ours": ours,
           "beside": name, "others": others.get(name), "want": goal.want, "bound": goal.bound,
           "is_ratio": bool(goal.beside), "value": ours, "met": None}
    if goal.beside:
        row["value"] = ours / others[name] if ours is not None and others.get(name) else None
    if row["value"] is not None:
        within = row["value"] >= goal.bound if goal.want == ">=" else row["value"] <= goal.bound
        row["met"] = within
    return row


def wanted(row):
    sign = {"<=": "≤", ">=": "≥"}[row["want"]]
    if row["is_ratio"]:
        return f"{sign} {row['bound']:g} ×"
    return f"{sign} {scaled(row['bound'], row['metric'])}"


def table(results):
    yield "| figure | ours | beside | of | ratio | goal | |"
    yield "| --- | ---: | ---: | --- | ---: | ---: | --- |"
    for row in results["goals"]:
        if results["names"] and row["ours"] is None:
            continue
        ratio = f"{row['value']:.2f}" if row["is_ratio"] and row["value"] is not None else ""
        verdict = {True: "met", False: "**not met**", None: "not measured"}[row["met"]]
        yield "| " + " | ".join((
            row["figure"], scaled(row["ours"], row["metric"]),
            scaled(row["others"], row["metric"]) if row["beside"] else "",
            row["beside"] or "", ratio, wanted(row), verdict)) + " |"


def heading(results):
    m, v = results["machine"], results["versions"]
    yield (f"{results['date']}, {results['mode']}, {results['seconds']} s; {m['cpus']} CPUs,"
           f" {m['cpu']}, {m['memory_gib']} GiB, load before {m['load_before']:.2f};"
           f" Linux {results['kernel']}, TCP {m['tcp_congestion_control']}")
    if m["load_before"] > 0.5:
        yield "Something else was running: figures of latency mean little, polling ones nothing."
    yield ", ".join(f"{name} {version or '(not here)'}" for name, version in v.items())


def peers(results):
    """All that was measured, also what no goal speaks of."""
    order = ("p50_ns", "p99_ns", "per_s", "bytes_per_s")
    yield "| series | p50 | p99 | rate | bandwidth |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for name, m in results["medians"].items():
        if any(metric in m for metric in order):
            yield f"| {name} | " + " | ".join(scaled(m.get(key), key) for key in order) + " |"


# ---- plots -------------------------------------------------------------------------------

PLOT = """set terminal svg size 720,420 dynamic background rgb 'white'
set output '{file}'
set logscale x 2
set xlabel '{xlabel}'
set ylabel '{ylabel}'
{yscale}
set key left top
set grid
plot {lines}
{data}
"""


def points(medians, lines, metric):
    for name, all_points in lines:
        there = [(x, medians[s.name][metric]) for x, s in all_points if s.name in medians]
        if there:
            yield name, there


def plot(out, name, results):
    xlabel, metric, lines = figures.SWEEPS[name]
    drawn = list(points(results["medians"], lines, metric))
    if not drawn:
        return
    script = PLOT.format(
        file=out / f"{name}.svg", xlabel=xlabel, ylabel=metric,
        yscale="set logscale y" if metric == "bytes_per_s" else "set yrange [0:*]",
        lines=", ".join(f"'-' with linespoints title '{title}'" for title, _ in drawn),
        data="\n".join("\n".join(f"{x} {y}" for x, y in there) + "\ne" for _, there in drawn))
    subprocess.run(["gnuplot"], input=script, text=True, check=False)


def write(out, results):
    results["goals"] = [judge(goal, results["medians"], results["idle"]) for goal in figures.GOALS]
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    text = "\n".join([*heading(results), "", *table(results), "", *peers(results), ""])
    (out / "table.md").write_text(text)
    print(text)
    if shutil.which("gnuplot"):
        for name in figures.SWEEPS:
            plot(out, name, results)
