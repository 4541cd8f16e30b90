"""Serves a GGUF file with the server of llama.cpp until its standard input closes: `llama_server.py GGUF PORT`."""

import sys

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path, port = sys.argv[1:]
parameters.port = int(port)
parameters.n_ctx = 256
parameters.n_parallel = 2
parameters.cpuparams.n_threads = 1
parameters.warmup = False
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
