"""Serves `pets.py` with uvicorn, in one process for each processor.

Argument: the file of the database.
"""

import os
import socket
import sys

import uvicorn
from uvicorn.config import LOGGING_CONFIG

if __name__ == "__main__":
    # The first line of standard output is the address.
    LOGGING_CONFIG["handlers"]["access"]["stream"] = "ext://sys.stderr"
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        # uvicorn takes an inherited socket for a Unix socket, and does not set it.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        os.environ["ADDRESS"] = f"http://127.0.0.1:{listener.getsockname()[1]}"
        os.environ["DATABASE"] = sys.argv[1]
        uvicorn.run("pets:app", fd=listener.fileno(), workers=os.cpu_count(), log_config=LOGGING_CONFIG)
