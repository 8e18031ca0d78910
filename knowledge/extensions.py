"""What this app adds to the apps below."""
