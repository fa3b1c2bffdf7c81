"""Pictures: one file a chapter, matplotlib only. They never compute a statistic."""
