"""A server of `dispatch.py`: answers every line of its input with a digest, after as many
milliseconds as it is away.
"""

import hashlib
import sys
import time

if __name__ == "__main__":
    away = float(sys.argv[1]) / 1000.0
    for line in sys.stdin:
        time.sleep(away)
        print(hashlib.pbkdf2_hmac("sha256", line.encode(), b"salt", 50).hex(), flush=True)
