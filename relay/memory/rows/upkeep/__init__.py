"""What jobs read and leave: writing, indexing, nights, exports, erasing."""
