"""Directs edge-tts to the stand-in, in a process with this folder in its PYTHONPATH. The library is unmodified; its
address is a constant."""

import importlib.abc
import importlib.machinery
import os
import sys


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name != "edge_tts.constants":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            module.WSS_URL = os.environ["SPEECH_STANDIN_URL"]

        spec.loader.exec_module = exec_module
        return spec


if "SPEECH_STANDIN_URL" in os.environ:
    sys.meta_path.insert(0, _Finder())
