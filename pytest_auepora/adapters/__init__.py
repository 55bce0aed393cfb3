"""From whatever a user's RAG is and returns to `SystemOutputs`."""
