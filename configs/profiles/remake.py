#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the profiles of this folder again, from the times in the package aiconfigurator-core.

usage: remake.py [--add KIND,...] SYSTEMS KV_PLAN [DEVICE...]
  SYSTEMS: aiconfigurator_core/systems of the unpacked wheel; --add: fits these kinds alone (gemm, decode, ...,
  as in KINDS) and puts their laws into profiles that are there

Of each kind of kernel the newest version of one engine: vLLM, or SGLang where vLLM's times are of modules
(latent attention). Of a shape measured more than once the shortest time. Left out are windows (a plan counts
what a window reads), experts without a gate (the law counts three matrices), products in fp8 blocks (vLLM's
were timed with 60 to 270 us of launching from Python), and what caches served. Laws that predict unseen
shapes badly are taken out of the profile and named. reports/METHOD.md says more. Needs pyarrow.
"""
import collections
import csv
import pathlib
import re
import subprocess
import sys
import tempfile

import pyarrow.parquet as parquet

PACKAGE = "aiconfigurator-core 0.12.0"
DEVICES = {  # the package's folder of each device
    "a100-sxm-80gb": "a100_sxm", "h100-sxm": "h100_sxm", "h200-sxm": "h200_sxm", "b200": "b200_sxm",
    "b300": "b300_sxm", "gb200": "gb200", "gb300": "gb300", "l40s": "l40s",
    "rtx-pro-6000-server": "rtx_pro_6000_server", "arc-pro-b60": "b60"}
WORST = {"median_ape": 0.2, "p90_ape": 0.6}  # of shapes that a law never saw
LEAST_COVERAGE = 0.75
CACHES = {"bfloat16": "bf16", "fp8": "fp8"}
PRODUCTS = {"bfloat16": "bf16", "fp8": "fp8", "nvfp4": "nvfp4"}
# Of int4 experts only Kimi K2's were measured, whose checkpoints have groups of 32.
EXPERTS = {"bfloat16": "bf16", "fp8": "fp8", "fp8_block": "fp8-block128", "nvfp4": "nvfp4", "int4_wo": "int4-g32",
           "w4a16_mxfp4": "mxfp4"}
BYTES = {"bf16": 2, "fp8": 1, "fp8-block128": 1, "nvfp4": 9 / 16, "mxfp4": 17 / 32, "int4-g32": 9 / 16}
ENGINES = {"vllm": "vLLM", "sglang": "SGLang", "trtllm": "TensorRT-LLM", "nccl": "NCCL", "oneccl": "oneCCL"}
UNGATED = {2688, 1856}  # widths of Nemotron 3, whose experts have no gate
# Weights of fewer bytes, a quarter of these parts' last-level caches, were read up to 2.1 times as fast as
# memory can: the tables hold launches that repeat.
CACHED = {"l40s": 24 * 2**20, "rtx_pro_6000_server": 32 * 2**20}


def number(version):
    return [int(x) for x in re.findall(r"\d+", version)]


def newest(folder, name, limit):
    """Versions after the one whose products were measured hold single tables."""
    versions = [p for p in folder.glob("*") if (p / f"{name}.parquet").exists()]
    versions = [p for p in versions if not limit or number(p.name) <= number(limit)]
    return max(versions, key=lambda p: number(p.name), default=None)


def attention(r):
    return None if r.get("window_size") or r["head_dim"] > 256 else {
        "heads": r["num_heads"], "kv_heads": r["num_key_value_heads"], "head_dim": r["head_dim"],
        "kv_dtype": CACHES[r["kv_cache_dtype"]], "batch": r["batch_size"]}


def decode(r):
    row = attention(r)
    return row and {**row, "kv_len": r["step"] + 1}


def prefill(r):
    row = attention(r)
    return row and {**row, "q_len": r["isl"], "past_len": r["step"]}


def latent(r):
    return {"heads": r["num_heads"], "kv_dtype": CACHES[r["kv_cache_dtype"]], "batch": r["batch_size"],
            "kv_len": r["step"] + 1}


def gemm(r):
    dtype = PRODUCTS.get(r["gemm_dtype"])
    return dtype and {"m": r["m"], "n": r["n"], "k": r["k"], "dtype": dtype}


RECURRENCES = {  # kernel of a step, kernels of prompts: what they compute
    "causal_conv1d_update": "short_conv", "causal_conv1d_fn": "short_conv",
    "fused_recurrent_gated_delta_rule_packed_decode": "gated_delta_net",
    "fused_recurrent_gated_delta_rule": "gated_delta_net", "chunk_gated_delta_rule": "gated_delta_net",
    "chunk_gated_delta_rule_flashinfer": "gated_delta_net", "chunk_gated_delta_rule_triton": "gated_delta_net",
    "fused_recurrent_kda_packed_decode": "kda", "flashkda_fwd": "kda", "chunk_kda_with_fused_gate": "kda"}


def recurrence(r):
    kind = RECURRENCES.get(r["kernel_source"])
    step = r["phase"] == "generation"
    if not kind or r["phase"] == "verify" or step != (r["seq_len"] == 1):
        return None
    heads, width = (r["num_k_heads"], r["num_v_heads"]), (r["head_k_dim"], r["head_v_dim"])
    row = {"recurrence": kind, "state_dtype": "fp32", "batch": r["batch_size"], "tokens": r["seq_len"]}
    if kind != "short_conv":  # Qwen 3.5 and Kimi keep their matrices in 32 bits
        return {**row, "k_heads": heads[0], "v_heads": heads[1], "k_width": width[0], "v_width": width[1],
                "channels": 0, "taps": 0}
    return {**row, "state_dtype": "bf16", "k_heads": 0, "v_heads": 0, "k_width": 0, "v_width": 0,
            "channels": 2 * heads[0] * width[0] + heads[1] * width[1], "taps": r["d_conv"]}


def kda(r):  # its three convolutions were launched one by one from Python
    row = recurrence(r)
    return row if row and row["recurrence"] == "kda" else None


SPARSE = {  # hidden, latent of queries, unrotated width and width of values of a head, heads of the indexer
    "deepseek-ai/DeepSeek-V3.2": (7168, 1536, 128, 128, 64), "zai-org/GLM-5": (6144, 2048, 192, 256, 32)}


def sparse(r):
    sizes = SPARSE.get(r["model"].replace("-FP8", "").replace("GLM-5.2", "GLM-5"))
    dtype = {"fp8_block": "fp8-block128", "bfloat16": "bf16"}.get(r["gemm_type"])
    if not sizes or not dtype:
        return None
    hidden, queries, nope, values, scorers = sizes
    heads, step = r["num_heads"], "generation" in r["op_name"]
    if "skip_indexer" in r["op_name"]:
        scorers = 0
    # Prompts of fewer tokens are launched from Python; steps of more sequences over 16 bits take a path of their own.
    if (not step and r["isl"] < 128) or (step and r["batch_size"] > 256 and r["kv_cache_dtype"] == "bfloat16"):
        return None
    projections = (queries + 576) * hidden + heads * (queries * (nope + 64) + 512 * (nope + values) + values * hidden)
    indexer = scorers * (queries * 128 + hidden) + (hidden * 128 if scorers else 0)
    return {"parameters": projections + indexer, "dtype": dtype,
            "kv_dtype": {"fp8": "fp8_ds_mla", "bfloat16": "bf16"}[r["kv_cache_dtype"]], "heads": heads,
            "index_heads": scorers, "chosen": 2048, "batch": r["batch_size"], "q_len": 1 if step else r["isl"],
            "past_len": r["step"]}


def moe(r):
    dtype = EXPERTS.get(r["moe_dtype"])
    if not dtype or r["distribution"] != "balanced":  # plans ask for the even choice
        return None
    if {r["hidden_size"], r["inter_size"]} & UNGATED:
        return None
    return {"dtype": dtype, "tokens": r["num_tokens"], "hidden": r["hidden_size"],
            "inter": r["inter_size"], "topk": r["topk"], "experts": r["num_experts"], "tp": r["moe_tp_size"],
            "ep": r["moe_ep_size"], "distribution": r["distribution"]}


def weights(row):
    """Bytes that a launch reads at least, of one GPU."""
    if "n" in row:
        return row["n"] * row["k"] * BYTES[row["dtype"]]
    if "experts" in row:
        touched = min(row["tokens"] * row["topk"], row["experts"]) / row["ep"]
        return touched * 3 * row["hidden"] * row["inter"] / row["tp"] * BYTES[row["dtype"]]
    return float("inf")


def collective(r):
    size = {"half": 2, "bfloat16": 2, "float16": 2}.get(r.get("nccl_dtype", r.get("allreduce_dtype")))
    return size and {"op": r["op_name"], "backend": r.get("backend", r["kernel_source"]), "n_gpus": r["num_gpus"],
                     "bytes": r["message_size"] * size}


NAMES = {"gemm": "products", "decode": "decode", "prefill": "prefill", "latent": "latent attention",
         "moe": "experts", "delta": "recurrences", "kda": "recurrences",
         "sparse": "sparse attention", "prompts": "sparse attention", "nccl": "collectives", "oneccl": "collectives"}
KINDS = {  # what: folder, table, engines in order of preference, row
    "gemm": ("gemm", "gemm_perf", ["vllm"], gemm),
    "decode": ("attention", "generation_attention_perf", ["vllm"], decode),
    "prefill": ("attention", "context_attention_perf", ["vllm"], prefill),
    "latent": ("mla", "generation_mla_perf", ["sglang", "trtllm"], latent),
    "moe": ("moe", "moe_perf", ["vllm"], moe),
    "delta": ("linear_attention", "gdn_perf", ["vllm", "sglang"], recurrence),
    "kda": ("kda", "kda_perf", ["vllm"], kda),
    "sparse": ("sparse_attention", "dsa_generation_module_perf", ["sglang"], sparse),
    "prompts": ("sparse_attention", "dsa_context_module_perf", ["sglang"], sparse),
    "sums": ("comm", "custom_allreduce_perf", ["vllm"], collective),
    "nccl": ("comm", "nccl_perf", ["nccl"], collective),
    "oneccl": ("comm", "oneccl_perf", ["oneccl"], collective),
}


def commonest(rows):
    """Of experts in one format the kernels that most models get: others are a few models' own."""
    counts = collections.Counter((r["moe_dtype"], r["kernel_source"]) for r in rows)
    most = {dtype: max(n for (d, _), n in counts.items() if d == dtype) for dtype, _ in counts}
    return [r for r in rows if 2 * counts[r["moe_dtype"], r["kernel_source"]] > most[r["moe_dtype"]]]


def tables(systems, gpu, out, wanted=()):
    """Writes a table of each kind, and says whose times they are."""
    kinds_of, limits = {}, {}
    for what, (folder, table, engines, convert) in KINDS.items():
        if wanted and what not in wanted:
            continue
        for engine in engines:
            version = newest(systems / "data" / gpu / folder / engine, table, limits.get(engine))
            if not version:
                continue
            rows = parquet.read_table(version / f"{table}.parquet").to_pylist()
            best = {}
            for r in commonest(rows) if what == "moe" else rows:
                row = convert(r)
                if not row or not r["latency"] > 0 or weights(row) < CACHED.get(gpu, 0):
                    continue
                key = tuple(row.items())
                best[key] = min(best.get(key, float("inf")), 1000 * r["latency"])
            if not best:
                continue
            limits.setdefault(engine, version.name)
            write(out / f"{what}.csv", best)
            kinds_of.setdefault(f"{ENGINES[engine]} {version.name}", []).append(NAMES.get(what, what))
            break
    return "; ".join(f"{', '.join(kinds)} of {engine}" for engine, kinds in kinds_of.items())


def write(path, best):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([name for name, _ in next(iter(best))] + ["time_us"])
        for key, time in best.items():
            writer.writerow([value for _, value in key] + [f"{time:.5g}"])


def sound(fit):
    error = re.search(r"left_out: {.*?median_ape: (\S+), p90_ape: (\S+), coverage: (\S+)}", fit)
    if not error:
        return False
    median, p90, coverage = map(float, error.groups())
    return median <= WORST["median_ape"] and p90 <= WORST["p90_ape"] and coverage >= LEAST_COVERAGE


def parts(path):
    head, *fits = path.read_text().split("  - class: ")
    return head, fits


def names(fit):
    """Class, format, variant."""
    return fit.split("\n", 1)[0], *(re.findall(rf"^    {key}: (.*)", fit, re.M) for key in ("format", "variant"))


def add(path, new, whose):
    (head, old), (_, fits) = parts(path), parts(new)
    added = [names(fit) for fit in fits]
    kept = [fit for fit in old if names(fit) not in added]
    if whose not in head:
        head = re.sub(r'^origin: "(.*)"$', rf'origin: "\1; {PACKAGE}: {whose}"', head, flags=re.M)
    path.write_text(head + "".join("  - class: " + fit for fit in kept + fits))


def prune(path):
    head, fits = parts(path)
    for fit in fits:
        if not sound(fit):
            words = re.findall(r"^(\w+)$|format: (\S+)|variant: \"(.*)\"|left_out: (.*)", fit, re.M)
            print("  left out:", " ".join(filter(None, sum(words, ()))))
    path.write_text(head + "".join("  - class: " + fit for fit in fits if sound(fit)))


def main():
    kinds = sys.argv[2].split(",") if sys.argv[1] == "--add" else ()
    systems, program, *wanted = sys.argv[3 if kinds else 1:]
    for device in wanted or DEVICES:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            whose = tables(pathlib.Path(systems), DEVICES[device], folder, kinds)
            path = pathlib.Path(__file__).parent / f"{device}.yaml"
            made = folder / "made.yaml" if kinds else path
            command = [program, "calibrate", "--device", device, "--save", str(made), "--licence", "Apache-2.0",
                       "--origin", f"ai-dynamo/aiconfigurator, {PACKAGE}: {whose}"]
            for table in sorted(folder.glob("*.csv")):
                command += ["--from", str(table)]
            print(device, flush=True)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            prune(made)
            if kinds:
                add(path, made, whose)


if __name__ == "__main__":
    main()
