"""Evidence to PDF: chapters, figures, templates, press."""
