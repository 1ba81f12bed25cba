# SPDX-License-Identifier: Apache-2.0
"""Files of results: JSON lines, one a problem; and the table of peers' times.

The table keeps for each problem the times of the peers with the copy of the
same run, the version of PyTorch and the date. Later runs compare with it by
the part of the copy's speed, so that the clock of the day falls out.
"""

import hashlib
import json

AGREE = 0.03  # measured again, a peer's part of the copy's speed stays within


def read_lines(paths):
    """{key: row}; a later line replaces an earlier one, a failure never a
    result."""
    rows = {}
    for path in paths:
        if not path.exists():
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue  # cut short when a run was stopped
            old = rows.get(row["key"])
            if old is None or "failed" not in row or "failed" in old:
                rows[row["key"]] = row
    return rows


def append(path, row):
    with path.open("a", encoding="utf-8") as f:
        f.write(json.dumps(row) + "\n")


def read_store(path):
    """{key: row} of the table of peers."""
    if path is None or not path.exists():
        return {}
    return json.loads(path.read_text(encoding="utf-8"))["rows"]


def write_store(path, rows):
    lines = ",\n".join(f" {json.dumps(k)}: {json.dumps(rows[k])}"
                       for k in sorted(rows))
    path.write_text('{"rows": {\n' + lines + "\n}}\n", encoding="utf-8")


def peer_row(row):
    """What the table keeps of a result, or None."""
    peers = {k: row["us"][k] for k in ("eager", "compile")
             if k in row.get("us", {})}  # also where ours failed
    if not peers:
        return None
    return {**peers, "copy": row["us"]["copy"], "torch": row["torch"],
            "gpu": row["gpu"], "date": row["date"]}


def drawn_again(key, seed, part=0.05):
    """Whether a run measures the peers of a problem once more."""
    mark = hashlib.sha256(f"{seed} {key}".encode()).digest()
    return int.from_bytes(mark[:4], "big") < part * 2 ** 32


def disagreements(rows, store):
    """[(key, peer, stored, measured)] beyond AGREE, and how many were
    compared."""
    found, compared = [], 0
    for key, row in sorted(rows.items()):
        old, new = store.get(key), peer_row(row)
        if not old or not new or old == new:
            continue
        for peer in ("eager", "compile"):
            if peer in old and peer in new:
                compared += 1
                a = old["copy"] / old[peer]
                b = new["copy"] / new[peer]
                if abs(b / a - 1) > AGREE:
                    found.append((key, peer, a, b))
    return found, compared


def merge(store, rows):
    """The table with the peers of ROWS that it doesn't have; how many came."""
    came = 0
    for key, row in rows.items():
        new = peer_row(row)
        if new is None:
            continue
        old = store.get(key, {})
        if all(k in old for k in ("eager", "compile") if k in new):
            continue
        store[key] = new
        came += 1
    return came
