"""What can be wrong, typed until it is printed: where it is (locations), what it is called (wording), all its words."""
