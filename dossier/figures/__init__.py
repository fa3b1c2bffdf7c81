"""Pictures: one file a chapter, matplotlib and seaborn only. They never compute a statistic."""
