#!/usr/bin/env python3
"""The surface of harbor's and terminal-bench's tmux sessions, on t4a: see `T4aSession`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from t4a import T4aSession  # noqa: E402


def main() -> None:
    session = T4aSession("agent", cmd_args=["bash"], env={"PS1": "$ "})
    session.start()
    assert session.is_session_alive()
    session.get_incremental_output()
    # It returns at the end of the command, not after a guess.
    session.send_keys(["for i in 1 2 3; do echo line $i; done", "Enter"], block=True)
    print(session.get_incremental_output())
    session.send_keys(["seq 1 500", "Enter"], block=True, max_timeout_sec=30)
    assert session.capture_pane(capture_entire=True).count("\n") > 500
    assert session.get_incremental_output().splitlines()[-2] == "500"
    assert session.get_incremental_output().startswith("Current Terminal Screen:")
    try:
        session.send_keys(["sh -c 'echo started; exec sleep 1000'", "Enter"], block=True, max_timeout_sec=0.3)
    except TimeoutError:
        session.t4a.wait(session.id, [{"regex": "^started$"}])
        session.send_keys(["C-c"], block=True)
    session.send_keys(["exit", "Enter"], block=True)
    assert not session.is_session_alive()
    session.stop()


if __name__ == "__main__":
    main()
