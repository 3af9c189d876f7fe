"""Compiled products as a processor with AVX2 alone runs them: vectors of eight numbers, by its own instructions."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from llvmlite import binding

AVX2 = ("avx2", "fma", "f16c")
AS_AVX2 = """
import sys
import pytest
from translator.engine.cpu import matmul
assert matmul.LANES == 8 and matmul.has_float16()
code = pytest.main(["-q", "-p", "no:cacheprovider", "--timeout", "0", "-k", "every_kind or three_bytes", sys.argv[1]])
assembly = "".join(matmul.product.inspect_asm().values())
assert "ymm" in assembly and "vcvtph2ps" in assembly, "these are no vectors of AVX2"
assert "zmm" not in assembly, "these are vectors of AVX-512"
sys.exit(code)
"""


@pytest.mark.soak
@pytest.mark.timeout(900)  # all is compiled anew
@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64") or not all(map(binding.get_host_cpu_features().get, AVX2)),
    reason="there is no AVX2 here",
)
def test_products_hold_on_a_processor_with_avx2_alone(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "NUMBA_CPU_NAME": "haswell",
        "NUMBA_CPU_FEATURES": ",".join(f"+{each}" for each in AVX2),
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    products = Path(__file__).with_name("test_matmul.py")
    done = subprocess.run(
        [sys.executable, "-c", AS_AVX2, str(products)],
        env=environment, cwd=products.parents[2], capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
