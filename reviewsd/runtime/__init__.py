"""What a daemon needs of its machine: logs, systemd, sockets, tasks, timers, counters."""
