"""Signatures into OUT/signed, and who signed what."""
