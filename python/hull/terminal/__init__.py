"""What hull prints: messages, progress and plain tables."""
