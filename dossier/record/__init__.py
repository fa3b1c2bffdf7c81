"""results.json, the whole evidence; what stands beside it, and which criteria it meets."""
