"""``rankstone`` and ``python -m rankstone``: the command line, and what Ctrl-C means to it."""

import os
import signal

__all__ = ["heed_interrupts", "main"]

#: how a process ends that was interrupted, as shells have it: 128 and the number of the signal
_INTERRUPTED = 128 + signal.SIGINT


def heed_interrupts() -> None:
    """Decide what an interrupt does before anything large is imported.

    Before a command runs and after it there is nothing to clean up, so an interrupt ends the process at once;
    a command cleans up and says so.  Where the shell has it ignored (background jobs of scripts), it is
    not let in at all: the readers of files take notice of it nevertheless, and would stop before the end.
    """
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    elif handler is signal.SIG_IGN and hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _leave(_number: int, _frame: object) -> None:
    os._exit(_INTERRUPTED)


def main() -> None:
    """Run the command line and exit."""
    heed_interrupts()
    from rankstone.cli import main as run

    run()


if __name__ == "__main__":
    main()
