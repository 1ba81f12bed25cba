#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# python.sh SCRIPT [ARGUMENT...]: runs SCRIPT with a Python that has numpy and
# jsonschema: $FUSEC_PYTHON, the project's .venv, Debian's, or the one on PATH.
# Exits 77, "cannot run here", when none has them; tools/setup.sh brings them.
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
probe='import importlib.util as u, sys
sys.exit(not all(u.find_spec(m) for m in ("numpy", "jsonschema")))'

for python in "${FUSEC_PYTHON:-}" "$here/.venv/bin/python3" \
    /usr/bin/python3 python3; do
    if [ -n "$python" ] && command -v "$python" >/dev/null &&
        "$python" -c "$probe"; then
        exec "$python" "$@"
    fi
done
echo "python.sh: no Python here has numpy and jsonschema; run tools/setup.sh" >&2
exit 77
