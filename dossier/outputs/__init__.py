"""Every file of a dossier from results.json, and the folder that is complete or untouched."""
