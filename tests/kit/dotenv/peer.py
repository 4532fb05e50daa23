"""Reads .env files with the real Hermes 0.19 and python-dotenv.

Standard input: one JSON object a line, {"hex": "<file bytes>"}.
Standard output: one JSON object a line:
  load_env  what `hermes config` reads, name -> value
  process   what a running Hermes gets (repair pass, python-dotenv, ASCII-only secrets), or null
            when it cannot load the file
  after     the file's bytes in hex after the repair pass

The first argument is a scratch directory; HERMES_HOME must point at it.
"""

import json
import os
import pathlib
import sys

home = pathlib.Path(sys.argv[1])
if os.environ.get("HERMES_HOME") != str(home):
    sys.exit("HERMES_HOME must be the scratch directory")

from dotenv import dotenv_values  # noqa: E402
from hermes_cli import config, env_loader  # noqa: E402

path = home / ".env"
outside = dict(os.environ)


def load_env():
    config.invalidate_env_cache()
    return config.load_env()


def process():
    env_loader._sanitize_env_file_if_needed(path)
    try:
        try:
            values = dotenv_values(path, encoding="utf-8")
        except UnicodeDecodeError:
            values = dotenv_values(path, encoding="latin-1")
    except ValueError:
        return None
    values = {k: v for k, v in values.items() if v is not None}
    if any("\0" in k or "\0" in v for k, v in values.items()):
        return None  # os.environ refuses it
    return {
        k: v.encode("ascii", "ignore").decode() if k.endswith(env_loader._CREDENTIAL_SUFFIXES) else v
        for k, v in values.items()
    }


os.environ.clear()  # `${}` must see the file alone
os.environ["HERMES_HOME"] = str(home)
for line in sys.stdin:
    request = json.loads(line)
    path.write_bytes(bytes.fromhex(request["hex"]))
    first = load_env()
    print(json.dumps({"load_env": first, "process": process(), "after": path.read_bytes().hex()}))
    sys.stdout.flush()
