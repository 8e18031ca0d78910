"""What follows from news of below."""
