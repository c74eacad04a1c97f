"""The input and results of jobs: writing, indexing, nights, exports, erasing."""
