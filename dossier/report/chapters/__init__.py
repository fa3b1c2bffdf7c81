"""Sentences: one file a chapter. Each says the chapter's answer in the numbers of the evidence."""
