"""What every process of ours tells of itself, a server as well as an edge.

1. `histogram`: numbers counted in classes, cheap enough for the path of a command.
2. `families`: such numbers as the families of metrics that Prometheus knows.
3. `loop_lag`: how late the event loop is.
4. `process`: the process, its interpreter and its build.
5. `port`: the HTTP port that all of it is read from.
"""
