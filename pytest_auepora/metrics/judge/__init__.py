"""LLM-as-a-judge: the critic interface, prompts, the client and its cache."""
