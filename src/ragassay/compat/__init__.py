"""What only one published tool needs, a package a tool."""
