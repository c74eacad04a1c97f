"""What people do with their memory."""
