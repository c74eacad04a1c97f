"""Files that are zip archives: Office documents, books, archives."""
