"""Writes a GGUF file whose tensors are all F32, with the metadata of another one: the same weights, dequantised.

    python bench/sampling/f32.py IN.gguf OUT.gguf

Needs the packages gguf and numpy. bench/README.md says why: engines are compared with the same weight type in memory.
"""

import sys

import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter, LlamaFileType
from gguf.quants import dequantize


def main(source, target):
    reader = GGUFReader(source)
    arch = reader.get_field("general.architecture").contents()
    writer = GGUFWriter(target, arch)
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name in ("general.architecture", "general.file_type", "general.quantization_version"):
            continue
        kind = field.types[0]
        sub = field.types[-1] if kind == GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), kind, sub_type=sub)
    writer.add_file_type(LlamaFileType.ALL_F32)
    for t in reader.tensors:
        data = np.ascontiguousarray(dequantize(t.data, t.tensor_type), dtype=np.float32)
        writer.add_tensor(t.name, data, raw_dtype=GGMLQuantizationType.F32)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
