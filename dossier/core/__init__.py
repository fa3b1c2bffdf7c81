"""Values that cross stages, and what follows from them; nothing here reads, computes a measure or prints."""
