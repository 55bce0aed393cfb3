"""A long series of batches through an executor, in processes or threads."""
