"""Result files and run folders as series of a picture: who wrote a file, and what it holds."""
