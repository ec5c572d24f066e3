"""Models that run in this process: in ONNX without torch, and cross-encoders of whichever library."""
