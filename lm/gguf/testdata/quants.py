"""Writes quants.json beside this file: for each type some blocks of random bytes and the
values that gguf.quants makes of them. To run it:

    pip install gguf==0.19.0 && python quants.py
"""
import base64, json, os
import numpy as np
from gguf import GGUFReader, quants
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType as T

TYPES = ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K"]
# Where a block has its float16 scales.
SCALES = {"Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}
BLOCKS = 6

rng = np.random.default_rng(1)
out = {}
for name in TYPES:
    kind = T[name]
    per, size = GGML_QUANT_SIZES[kind]
    blocks = BLOCKS if per > 1 else 64
    if name == "F32":
        raw = rng.standard_normal(blocks).astype(np.float32).view(np.uint8)
    elif name == "F16":  # all exponents, subnormals, infinities
        raw = np.arange(0, 65536, 65536 // blocks, dtype=np.uint16)
        raw = np.concatenate([raw, [1, 0x3FF, 0x400, 0x7BFF, 0x8001, 0x8000, 0x7C00, 0xFC00]]).astype(np.uint16).view(np.uint8)
    elif name == "BF16":
        raw = (rng.standard_normal(blocks).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).view(np.uint8)
    else:
        raw = rng.integers(0, 256, (blocks, size), dtype=np.uint8)
        for at in SCALES[name]:
            scale = (rng.standard_normal(blocks) * [1, -1, 1e-3, 3e-7, 100, 0][:blocks]).astype(np.float16)
            raw[:, at:at + 2] = scale.view(np.uint8).reshape(blocks, 2)
        raw = raw.reshape(-1)
    values = quants.dequantize(raw, kind) if name != "F32" else raw.view(np.float32)
    values = np.ascontiguousarray(values, dtype=np.float32)
    out[name] = {"src": base64.b64encode(raw.tobytes()).decode(), "dst": base64.b64encode(values.tobytes()).decode()}

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "quants.json"), "w") as f:
    f.write("{\n" + ",\n".join(json.dumps(k) + ": " + json.dumps(v) for k, v in out.items()) + "\n}\n")
