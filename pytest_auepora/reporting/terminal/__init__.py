"""What people read in the terminal."""
