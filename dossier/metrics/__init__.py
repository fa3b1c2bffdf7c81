"""Numbers: one file a chapter, numpy and scipy only. Every measure is a plain function on arrays."""
