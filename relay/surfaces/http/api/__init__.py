"""The routes of the API, a module for each subject. Each route is a thin surface over one command."""
