"""The engine for a CPU: linear layers with weights laid out for it, and decoding as machine code made by Numba."""

from translator.engine.cpu.engine import CpuEngine

__all__ = ["CpuEngine"]
