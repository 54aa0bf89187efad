"""How wheels of the core are built: `building` is the build backend, `expanding` prepares the sources for mypyc."""
