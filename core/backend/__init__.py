"""How wheels are built, of the core and of the service: pure, or compiled by mypyc from the same sources.

`projects` says what each of the two compiles, `compiling` is the build backend, `expanding` prepares the
sources for mypyc, and `repeating` makes source distributions whose bytes depend on their sources alone.
"""
