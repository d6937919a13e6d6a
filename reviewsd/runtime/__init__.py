"""The process and its machine: logs, systemd, sockets, tasks, counters."""
