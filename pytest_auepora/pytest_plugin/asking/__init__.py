"""What answers the cases of a process: asked ahead of time where it may be, judged meanwhile, watched."""
